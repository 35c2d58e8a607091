package link

import "math/bits"

// Buffers keeps buffers that are done with, by size, for whoever needs one next. The zero value
// is ready. It belongs to one goroutine.
type Buffers struct {
	// Keep is how many bytes are kept of each size; zero means 1 MiB.
	Keep int
	free [bufferClasses][][]byte
}

// Buffers are kept in sizes that are powers of two, from 64 bytes to 512 KiB.
const (
	bufferSmallest = 6
	bufferClasses  = 14
)

func bufferClass(n int) int {
	if n <= 1<<bufferSmallest {
		return 0
	}
	return bits.Len(uint(n-1)) - bufferSmallest
}

// Get returns a buffer of length n with old bytes in it.
func (p *Buffers) Get(n int) []byte {
	class := bufferClass(n)
	if class >= bufferClasses {
		return make([]byte, n)
	}
	if list := p.free[class]; len(list) > 0 {
		b := list[len(list)-1]
		list[len(list)-1] = nil
		p.free[class] = list[:len(list)-1]
		return b[:n]
	}
	return make([]byte, n, 1<<(class+bufferSmallest))
}

// Put takes a buffer back. One that Get did not make is left to the garbage collector.
func (p *Buffers) Put(b []byte) {
	n := cap(b)
	class := bufferClass(n)
	if n != 1<<(class+bufferSmallest) || class >= bufferClasses {
		return
	}
	keep := p.Keep
	if keep == 0 {
		keep = 1 << 20
	}
	if len(p.free[class]) < max(keep/n, 1) {
		p.free[class] = append(p.free[class], b[:0])
	}
}
