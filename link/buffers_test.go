package link_test

import (
	"testing"

	"github.com/coeval-dev/coeval/link"
)

func TestBuffers(t *testing.T) {
	var p link.Buffers
	for n := range 70_000 {
		b := p.Get(n)
		if len(b) != n {
			t.Fatalf("%d bytes asked for, %d given", n, len(b))
		}
		p.Put(b)
	}
	one := p.Get(100)
	p.Put(one)
	if two := p.Get(120); &two[0] != &one[:1][0] {
		t.Error("a returned buffer is not used again")
	}
}

// TestBuffersKeep: no more is kept than was allowed, but one buffer at least, and none that Get
// would not have made.
func TestBuffersKeep(t *testing.T) {
	for _, x := range []struct{ size, put, kept int }{
		{128, 128, 2}, {200, 256, 1}, {1000, 1024, 1}, {100, 100, 0}, {10, 32, 0}, {
			1 << 20, 1 << 20, 0},
	} {
		p := link.Buffers{Keep: 300}
		returned := map[*byte]bool{}
		for range 10 {
			b := make([]byte, x.put)
			returned[&b[0]] = true
			p.Put(b)
		}
		kept := 0
		for range 10 {
			if b := p.Get(x.size); returned[&b[0]] {
				kept++
			}
		}
		if kept != x.kept {
			t.Errorf("of buffers of %d bytes %d are kept, want %d", x.put, kept, x.kept)
		}
	}
}
