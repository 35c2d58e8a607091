package kept

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"github.com/coeval-dev/coeval/det"
)

// A kind is how a value stands in a row. Fields of all widths are of one kind, so that a field can
// be widened without anything being rewritten.
type kind uint8

const (
	kindBool kind = iota
	kindInt
	kindUint
	kindFloat
	kindText
	kinds
)

var kindNames = [kinds]string{"bool", "int", "uint", "float", "text"}

func (k kind) String() string { return kindNames[k] }

// A value is one plain value of a row. Booleans are 0 and 1 in u.
type value struct {
	kind kind
	i    int64
	u    uint64
	f    float64
	s    string
}

// maxText is how long a text in a row may be.
const maxText = 1 << 12

// append writes the value as it stands in a row.
func (v value) append(dst []byte) []byte {
	switch v.kind {
	case kindBool:
		return append(dst, byte(v.u))
	case kindInt:
		return binary.AppendVarint(dst, v.i)
	case kindUint:
		return binary.AppendUvarint(dst, v.u)
	case kindFloat:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.f))
	}
	return append(binary.AppendUvarint(dst, uint64(len(v.s))), v.s...)
}

var errRow = errors.New("a row that is damaged")

// readValue takes a value off the beginning of data.
func readValue(k kind, data []byte) (v value, rest []byte, err error) {
	v.kind = k
	n := 0
	switch k {
	case kindBool:
		if len(data) == 0 || data[0] > 1 {
			return v, nil, errRow
		}
		v.u, n = uint64(data[0]), 1
	case kindInt:
		v.i, n = binary.Varint(data)
	case kindUint:
		v.u, n = binary.Uvarint(data)
	case kindFloat:
		if len(data) < 8 {
			return v, nil, errRow
		}
		v.f, n = math.Float64frombits(binary.LittleEndian.Uint64(data)), 8
	default:
		size, at := binary.Uvarint(data)
		if at <= 0 || size > maxText || size > uint64(len(data)-at) {
			return v, nil, errRow
		}
		v.s, n = string(data[at:at+int(size)]), at+int(size)
	}
	if n <= 0 {
		return v, nil, errRow
	}
	return v, data[n:], nil
}

// String writes the value for people.
func (v value) String() string {
	switch v.kind {
	case kindBool:
		return strconv.FormatBool(v.u != 0)
	case kindInt:
		return strconv.FormatInt(v.i, 10)
	case kindUint:
		return strconv.FormatUint(v.u, 10)
	case kindFloat:
		return strconv.FormatFloat(v.f, 'g', -1, 64)
	}
	return strconv.Quote(v.s)
}

// limits are what a field of a kind may hold. Of texts it is the length.
type limits struct {
	lo, hi       int64 // of kindInt, and hi of kindText
	most         uint64
	least, bound float64 // of kindFloat
}

// in says whether a value of the limits' kind is within.
func (l *limits) in(v value) bool {
	switch v.kind {
	case kindInt:
		return v.i >= l.lo && v.i <= l.hi
	case kindUint:
		return v.u >= uint64(l.lo) && v.u <= l.most
	case kindFloat:
		return v.f >= l.least && v.f <= l.bound
	case kindText:
		return int64(len(v.s)) <= l.hi
	}
	return true
}

// text writes limits as a schema has them.
func (l *limits) text(k kind) string {
	switch k {
	case kindInt:
		return strconv.FormatInt(l.lo, 10) + ".." + strconv.FormatInt(l.hi, 10)
	case kindUint:
		return strconv.FormatInt(l.lo, 10) + ".." + strconv.FormatUint(l.most, 10)
	case kindFloat:
		return strconv.FormatFloat(l.least, 'g', -1, 64) + ".." +
			strconv.FormatFloat(l.bound, 'g', -1, 64)
	case kindText:
		return "0.." + strconv.FormatInt(l.hi, 10)
	}
	return ""
}

// parseLimits reads what text writes.
func parseLimits(k kind, s string) (l limits, err error) {
	if k == kindBool {
		if s != "" {
			err = errSchema
		}
		return l, err
	}
	lo, hi, ok := strings.Cut(s, "..")
	if !ok {
		return l, errSchema
	}
	var first, second error
	switch k {
	case kindFloat:
		l.least, first = strconv.ParseFloat(lo, 64)
		l.bound, second = strconv.ParseFloat(hi, 64)
	case kindUint:
		l.lo, first = strconv.ParseInt(lo, 10, 64)
		l.most, second = strconv.ParseUint(hi, 10, 64)
	default:
		l.lo, first = strconv.ParseInt(lo, 10, 64)
		l.hi, second = strconv.ParseInt(hi, 10, 64)
	}
	return l, errors.Join(first, second)
}

// as makes a value one of another kind without changing what it says, or says why that cannot be.
func (v value) as(k kind) (value, error) {
	out := value{kind: k}
	switch {
	case v.kind == k:
		return v, nil
	case k == kindText || v.kind == kindText || k == kindBool:
	case k == kindInt:
		i, ok := v.integer()
		if out.i = i; ok {
			return out, nil
		}
	case k == kindUint:
		if v.kind == kindBool {
			out.u = v.u
			return out, nil
		}
		i, ok := v.integer()
		if out.u = uint64(i); ok && i >= 0 {
			return out, nil
		}
	case k == kindFloat:
		if out.f = float64(v.i); v.kind != kindInt {
			out.f = float64(v.u)
		}
		if math.Abs(out.f) <= 1<<53 {
			return out, nil
		}
	}
	return out, fmt.Errorf("%v is no %v", v, k)
}

// integer is the whole number that a value is.
func (v value) integer() (int64, bool) {
	switch v.kind {
	case kindInt:
		return v.i, true
	case kindFloat:
		return det.Int64(v.f), v.f == math.Trunc(v.f) && math.Abs(v.f) <= 1<<53
	case kindText:
		return 0, false
	}
	return int64(v.u), v.u <= math.MaxInt64
}

// A leaf is one plain value in a struct that is kept.
type leaf struct {
	path   string
	offset uintptr
	size   uintptr
	of     reflect.Kind
	kind   kind
	limits limits
	was    []string // earlier paths
}

// get reads the value out of a struct.
func (l *leaf) get(from unsafe.Pointer) value {
	at := unsafe.Add(from, l.offset)
	v := value{kind: l.kind}
	switch l.kind {
	case kindBool:
		if *(*bool)(at) {
			v.u = 1
		}
	case kindInt:
		switch l.size {
		case 1:
			v.i = int64(*(*int8)(at))
		case 2:
			v.i = int64(*(*int16)(at))
		case 4:
			v.i = int64(*(*int32)(at))
		default:
			v.i = *(*int64)(at)
		}
	case kindUint:
		switch l.size {
		case 1:
			v.u = uint64(*(*uint8)(at))
		case 2:
			v.u = uint64(*(*uint16)(at))
		case 4:
			v.u = uint64(*(*uint32)(at))
		default:
			v.u = *(*uint64)(at)
		}
	case kindFloat:
		if l.size == 4 {
			v.f = float64(*(*float32)(at))
		} else {
			v.f = *(*float64)(at)
		}
	default:
		v.s = *(*string)(at)
	}
	return v
}

// set writes a value into a struct. The error is that the field cannot hold it.
func (l *leaf) set(to unsafe.Pointer, v value) error {
	v, err := v.as(l.kind)
	if err != nil {
		return fmt.Errorf("field %s: %w", l.path, err)
	}
	if !l.limits.in(v) {
		return fmt.Errorf("field %s: %v is not within %s", l.path, v, l.limits.text(l.kind))
	}
	at := unsafe.Add(to, l.offset)
	switch l.kind {
	case kindBool:
		*(*bool)(at) = v.u != 0
	case kindInt:
		switch l.size {
		case 1:
			*(*int8)(at) = int8(v.i)
		case 2:
			*(*int16)(at) = int16(v.i)
		case 4:
			*(*int32)(at) = int32(v.i)
		default:
			*(*int64)(at) = v.i
		}
	case kindUint:
		switch l.size {
		case 1:
			*(*uint8)(at) = uint8(v.u)
		case 2:
			*(*uint16)(at) = uint16(v.u)
		case 4:
			*(*uint32)(at) = uint32(v.u)
		default:
			*(*uint64)(at) = v.u
		}
	case kindFloat:
		if l.size == 4 {
			*(*float32)(at) = float32(v.f)
		} else {
			*(*float64)(at) = v.f
		}
	default:
		*(*string)(at) = v.s
	}
	return nil
}
