package crimp

import "math/bits"

// pool keeps buffers by size.
type pool struct {
	free [poolClasses][][]byte
}

const (
	poolSmallest = 6 // 64 bytes
	poolClasses  = 10
	poolKeep     = 4 << 20 // bytes kept of each size
)

// get returns an empty buffer that holds n bytes.
func (p *pool) get(n int) []byte {
	class := 0
	if n > 1<<poolSmallest {
		class = bits.Len(uint(n-1)) - poolSmallest
	}
	if class >= poolClasses {
		return make([]byte, 0, n)
	}
	if list := p.free[class]; len(list) > 0 {
		b := list[len(list)-1]
		list[len(list)-1] = nil
		p.free[class] = list[:len(list)-1]
		return b
	}
	return make([]byte, 0, 1<<(class+poolSmallest))
}

// put takes a buffer back.
func (p *pool) put(b []byte) {
	n := cap(b)
	if n < 1<<poolSmallest || n&(n-1) != 0 {
		return
	}
	class := bits.Len(uint(n)) - 1 - poolSmallest
	if class < poolClasses && len(p.free[class]) < max(poolKeep>>(class+poolSmallest), 1) {
		p.free[class] = append(p.free[class], b[:0])
	}
}
