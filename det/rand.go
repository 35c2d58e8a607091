package det

import "math/bits"

// Draw is the random number with this seed, entity, tick and ordinal: a pure function, so that a
// machine that sees half of the world draws the same numbers for that half, in any order. Nothing
// can be foreseen from draws of other seeds, but whoever knows the seed knows every number, and
// whoever has seen some may find the seed. What players must not foresee is drawn by Keyed.
func Draw(seed, entity, tick, ordinal uint64) uint64 {
	r := At(seed, entity, tick)
	return r.plain(ordinal)
}

// Rand draws the numbers of one entity at one tick, one ordinal after another. Make it with At
// where it is needed; it is a small value, and costs less than a look-up.
type Rand struct {
	// a key of 128 bits, so that no two entities and ticks ever share a stream by chance
	a, b  uint64
	next  uint64
	keyed bool // made by Keyed
}

// At starts at ordinal 0 of an entity's numbers at a tick. Use entity 0 for what belongs to the
// world itself.
func At(seed, entity, tick uint64) Rand {
	a := mix(seed ^ 0x6A09E667F3BCC908) // the roots of 2 and 3, for constants that hide nothing
	b := mix(seed + 0xBB67AE8584CAA73B)
	a = mix(a ^ entity)
	b = mix(b + bits.RotateLeft64(entity, 32))
	a = mix(a ^ tick)
	b = mix(b + bits.RotateLeft64(tick, 32))
	return Rand{a: a, b: b}
}

// mix spreads every bit of x over the whole word, and can be undone, so that it loses nothing. It
// is the scheme of shifts and multiplications known from SplitMix and MurmurHash, with the golden
// ratio and Pi for multipliers and a third round.
func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0x9E3779B97F4A7C15
	x ^= x >> 29
	x *= 0xC90FDAA22168C235
	x ^= x >> 32
	x *= 0x9E3779B97F4A7C15
	return x ^ x>>29
}

// Nth is the number with this ordinal, without moving on.
func (r *Rand) Nth(ordinal uint64) uint64 {
	if r.keyed {
		return r.secret(ordinal)
	}
	return r.plain(ordinal)
}

func (r *Rand) plain(ordinal uint64) uint64 {
	return mix(mix(r.a+ordinal*0x9E3779B97F4A7C15) ^ r.b)
}

// Uint64 is the next number, all bits random.
func (r *Rand) Uint64() uint64 {
	v := r.Nth(r.next)
	r.next++
	return v
}

// Float64 is the next number from 0 up to but not including 1, in steps of 2^-53.
func (r *Rand) Float64() float64 { return float64(float64(r.Uint64()>>11) * 0x1p-53) }

// Uint64N is the next number below n, each equally likely. It is 0 where n is 0.
func (r *Rand) Uint64N(n uint64) uint64 {
	// Lemire, "Fast random integer generation in an interval" (2019): the upper half of a product,
	// less the few values that would come once too often.
	hi, lo := bits.Mul64(r.Uint64(), n)
	if lo < n {
		for least := -n % max(n, 1); lo < least; {
			hi, lo = bits.Mul64(r.Uint64(), n)
		}
	}
	return hi
}

// IntN is the next number from 0 to n-1, each equally likely: a die. It is 0 where n is not
// positive.
func (r *Rand) IntN(n int) int { return int(r.Uint64N(uint64(max(n, 0)))) }

// Range is the next number from lo up to hi.
func (r *Rand) Range(lo, hi float64) float64 { return Lerp(lo, hi, r.Float64()) }

// Chance is true with probability p.
func (r *Rand) Chance(p float64) bool { return r.Float64() < p }

// Shuffle brings n things into random order, each order equally likely; swap exchanges two of them.
func (r *Rand) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, r.IntN(i+1))
	}
}

// Angle is a random direction.
func (r *Rand) Angle() Angle { return Angle(r.Range(-Pi, Pi)).Wrap() }

// Unit2 is a random direction in the plane.
func (r *Rand) Unit2() Vec2 { return r.Angle().Vec() }

// Unit3 is a random direction in space.
func (r *Rand) Unit3() Vec3 {
	// Slices of equal height have equal area on a sphere.
	z := r.Range(-1, 1)
	v := r.Unit2().Mul(Sqrt(max(0, 1-float64(z*z))))
	return Vec3{v.X, v.Y, z}
}

// Normal is the next number of a normal distribution with mean 0 and standard deviation 1.
func (r *Rand) Normal() float64 {
	// Box and Muller's way. 1-u is never zero.
	u := 1 - r.Float64()
	return float64(Sqrt(float64(-2*Log(u))) * Cos(float64(2*Pi*r.Float64())))
}
