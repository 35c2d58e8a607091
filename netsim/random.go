package netsim

import (
	"encoding/binary"
	"math/bits"
	"time"
)

// golden is the odd constant that Weyl sequences step by: 2^64 over the golden ratio.
const golden = 0x9e3779b97f4a7c15

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood, 2014): a bijection
// whose output passes for random even when its input merely counts.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// draws gives the random numbers of one datagram by counter: draw k is always
// the same for the same path, datagram and k. So a decision about one datagram
// never shifts those about the next, and a run from which a fault was taken away
// differs only by what that fault did.
type draws uint64

func drawsFor(seed, number uint64) draws { return draws(mix(seed + number*golden)) }

// at is the kth draw.
func (d draws) at(k uint64) uint64 { return mix(uint64(d) + k*golden) }

// chance is a probability scaled to 63 bits, so that 1 is always and 0 is never.
type chance uint64

func chanceOf(p float64) chance {
	switch {
	case !(p > 0):
		return 0
	case p >= 1:
		return 1 << 63
	}
	return chance(p * (1 << 63))
}

func (c chance) hit(draw uint64) bool { return draw>>1 < uint64(c) }

// below is uniform in [0, n) for positive n.
func below(draw, n uint64) uint64 {
	hi, _ := bits.Mul64(draw, n)
	return hi
}

// Rand gives a test the random numbers for its own traffic, so that the whole
// run hangs on the one seed. Get it from [Net.Rand].
type Rand struct{ state uint64 }

// Uint64 returns 64 random bits.
func (r *Rand) Uint64() uint64 {
	r.state += golden
	return mix(r.state)
}

// IntN is uniform in [0, n), and 0 when n is not positive.
func (r *Rand) IntN(n int) int {
	if n <= 0 {
		return 0
	}
	return int(below(r.Uint64(), uint64(n)))
}

// Float64 is uniform in [0, 1).
func (r *Rand) Float64() float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// Duration is uniform in [0, d), and 0 when d is not positive.
func (r *Rand) Duration(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(below(r.Uint64(), uint64(d)))
}

// Chance is true with probability p.
func (r *Rand) Chance(p float64) bool { return chanceOf(p).hit(r.Uint64()) }

// Fill overwrites b with random bytes.
func (r *Rand) Fill(b []byte) {
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, r.Uint64())
		b = b[8:]
	}
	for w := r.Uint64(); len(b) > 0; b, w = b[1:], w>>8 {
		b[0] = byte(w)
	}
}

// hashName tells names apart; it only feeds mix.
func hashName(s string) uint64 {
	h := uint64(len(s)) + 1
	for i := 0; i < len(s); i++ {
		h = mix(h ^ uint64(s[i])*golden)
	}
	return h
}
