package det

import "math"

// The language leaves it to the processor what becomes of a float outside the integer's range.
// These conversions drop the fraction, as the plain ones do, keep to the nearest bound, and make 0
// of NaN. There is none for int, whose size differs between machines.

// Int8 is x without its fraction, kept within int8.
func Int8(x float64) int8 { return int8(clampTo(x, math.MinInt8, math.MaxInt8)) }

// Int16 is x without its fraction, kept within int16.
func Int16(x float64) int16 { return int16(clampTo(x, math.MinInt16, math.MaxInt16)) }

// Int32 is x without its fraction, kept within int32.
func Int32(x float64) int32 { return int32(clampTo(x, math.MinInt32, math.MaxInt32)) }

// Uint8 is x without its fraction, kept within uint8.
func Uint8(x float64) uint8 { return uint8(clampTo(x, 0, math.MaxUint8)) }

// Uint16 is x without its fraction, kept within uint16.
func Uint16(x float64) uint16 { return uint16(clampTo(x, 0, math.MaxUint16)) }

// Uint32 is x without its fraction, kept within uint32.
func Uint32(x float64) uint32 { return uint32(clampTo(x, 0, math.MaxUint32)) }

// Int64 is x without its fraction, kept within int64.
func Int64(x float64) int64 {
	switch {
	case x >= 1<<63:
		return math.MaxInt64
	case x >= -1<<63:
		return int64(x)
	case x != x:
		return 0
	}
	return math.MinInt64
}

// Uint64 is x without its fraction, kept within uint64.
func Uint64(x float64) uint64 {
	switch {
	case x >= 1<<64:
		return math.MaxUint64
	case x >= 1<<63: // by way of int64, the one conversion every processor agrees on
		return uint64(int64(x-1<<63)) + 1<<63
	case x >= 1:
		return uint64(int64(x))
	}
	return 0
}

// clampTo is for bounds that a float64 holds exactly.
func clampTo(x, lo, hi float64) int64 {
	switch {
	case x >= hi:
		return int64(hi)
	case x >= lo:
		return int64(x)
	case x != x:
		return 0
	}
	return int64(lo)
}
