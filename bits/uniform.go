package bits

// A UniformEncoder codes numbers that are all equally likely and wastes no part of a bit on ranges
// that are not a power of two: ten numbers of range 5 take 24 bits where plain packing takes 30. It
// is Gamenet's arithmetic packing; package entropy's range coder is one.
type UniformEncoder interface {
	// EncodeUniform codes v, which is below n; n is 1 to 1<<32.
	EncodeUniform(v, n uint64)
}

// A UniformDecoder is the other side of a UniformEncoder.
type UniformDecoder interface {
	// DecodeUniform gives back what EncodeUniform was given, always below n.
	DecodeUniform(n uint64) uint64
	// Err is the first thing that was wrong with the data, or nil.
	Err() error
}

// encodeUniform codes u in 0..span. Wider spans than a coder takes are cut in two; the lower part's
// range is full unless the upper part is at its end.
func encodeUniform(e UniformEncoder, u, span uint64) {
	if span < 1<<32 {
		if span > 0 {
			e.EncodeUniform(u, span+1)
		}
		return
	}
	top, low := span>>32, uint64(1<<32)
	e.EncodeUniform(u>>32, top+1)
	if u>>32 == top {
		low = span&0xffffffff + 1
	}
	e.EncodeUniform(u&0xffffffff, low)
}

// decodeUniform gives a number in 0..span, whatever the decoder says.
func decodeUniform(d UniformDecoder, span uint64) uint64 {
	if span < 1<<32 {
		if span == 0 {
			return 0
		}
		return min(d.DecodeUniform(span+1), span)
	}
	top, low := span>>32, uint64(1<<32)
	u := min(d.DecodeUniform(top+1), top)
	if u == top {
		low = span&0xffffffff + 1
	}
	return u<<32 | min(d.DecodeUniform(low), low-1)
}
