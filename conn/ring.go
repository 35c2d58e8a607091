package conn

// ring holds things that are numbered in a row: number n is at n modulo its length, which is a
// power of two. Whoever has it knows which numbers are in it.
type ring[N uint16 | uint32, T any] []T

func (r ring[N, T]) at(n N) *T { return &r[n&N(len(r)-1)] }

// resized has those from base up to next in a ring of another length.
func (r ring[N, T]) resized(base, next N, size int) ring[N, T] {
	out := make(ring[N, T], size)
	for n := base; n != next; n++ {
		*out.at(n) = *r.at(n)
	}
	return out
}

// shrunk is the ring itself, or a shorter one where a burst has left it nearly empty.
func (r ring[N, T]) shrunk(base, next N) ring[N, T] {
	if size := len(r); size > 4*sentFirst && int(next-base) <= size/8 {
		return r.resized(base, next, size/4)
	}
	return r
}
