package det

import "math/bits"

// Keyed is At for what nobody may foresee who does not know the key: cards, loot, where someone
// appears. Its numbers are a stream of the ChaCha20 cipher, so whoever has seen any number of them
// can tell neither the key nor the next one from those. They cost some twenty times as much as
// those of At. The key has 64 bits: draw all of them from a source for cryptography.
func Keyed(key, entity, tick uint64) Rand {
	// The stream of an entity and a tick has a key of its own, which follows from that of all. The
	// second half is a constant: the digits of the root of 5.
	b := chacha(key, 0x3C6EF372FE94F82B, tick, entity)
	return Rand{a: b[0], b: b[1], keyed: true}
}

// secret is Nth of a stream with a key: eight numbers come from each block of the cipher.
func (r *Rand) secret(ordinal uint64) uint64 {
	b := chacha(r.a, r.b, ordinal>>3, 0)
	return b[ordinal&7]
}

// chacha gives a block of ChaCha20 in its form with a key of 128 bits, a counter and a nonce of 64
// bits each (D. J. Bernstein, "ChaCha, a variant of Salsa20", 2008).
func chacha(k0, k1, counter, nonce uint64) (out [8]uint64) {
	s := [16]uint32{0x61707865, 0x3120646e, 0x79622d36, 0x6b206574} // "expand 16-byte k"
	for i, k := range [...]uint64{k0, k1, k0, k1, counter, nonce} {
		s[4+2*i], s[5+2*i] = uint32(k), uint32(k>>32)
	}
	chachaBlock(&s)
	for i := range out {
		out[i] = uint64(s[2*i]) | uint64(s[2*i+1])<<32
	}
	return out
}

// chachaBlock does the twenty rounds, and adds what they began with.
func chachaBlock(s *[16]uint32) {
	x0, x1, x2, x3, x4, x5, x6, x7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
	x8, x9, x10, x11, x12, x13, x14, x15 := s[8], s[9], s[10], s[11], s[12], s[13], s[14], s[15]
	for range 10 {
		x0, x4, x8, x12 = quarterRound(x0, x4, x8, x12)
		x1, x5, x9, x13 = quarterRound(x1, x5, x9, x13)
		x2, x6, x10, x14 = quarterRound(x2, x6, x10, x14)
		x3, x7, x11, x15 = quarterRound(x3, x7, x11, x15)
		x0, x5, x10, x15 = quarterRound(x0, x5, x10, x15)
		x1, x6, x11, x12 = quarterRound(x1, x6, x11, x12)
		x2, x7, x8, x13 = quarterRound(x2, x7, x8, x13)
		x3, x4, x9, x14 = quarterRound(x3, x4, x9, x14)
	}
	for i, x := range [16]uint32{
		x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15} {
		s[i] += x
	}
}

func quarterRound(a, b, c, d uint32) (uint32, uint32, uint32, uint32) {
	a += b
	d = bits.RotateLeft32(d^a, 16)
	c += d
	b = bits.RotateLeft32(b^c, 12)
	a += b
	d = bits.RotateLeft32(d^a, 8)
	c += d
	b = bits.RotateLeft32(b^c, 7)
	return a, b, c, d
}
