package det

// A double is an unevaluated sum hi+lo with |lo| at most half an ulp of hi, good for about 106
// bits. The elementary functions carry their critical steps in it, so that the last rounding is
// nearly the only one. The algorithms are those of Dekker ("A floating-point technique for
// extending the available precision", 1971) and Knuth, which need no fused multiply-add.
type double struct{ hi, lo float64 }

// sumOf is exactly a+b.
func sumOf(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

// fastSum is exactly a+b where |a| >= |b| or a is zero.
func fastSum(a, b float64) double {
	s := a + b
	return double{s, b - (s - a)}
}

// split cuts x into two halves of at most 26 bits. |x| must be below 2^996.
func split(x float64) (hi, lo float64) {
	t := float64(x * (1<<27 + 1))
	hi = t - (t - x)
	return hi, x - hi
}

// productOf is exactly a*b, short of overflow and underflow.
func productOf(a, b float64) double {
	p := float64(a * b)
	ah, al := split(a)
	bh, bl := split(b)
	e := float64(ah*bh) - p
	e += float64(ah * bl)
	e += float64(al * bh)
	e += float64(al * bl)
	return double{p, e}
}

func (a double) add(b double) double {
	s := sumOf(a.hi, b.hi)
	return fastSum(s.hi, s.lo+(a.lo+b.lo))
}

func (a double) mul(b double) double {
	p := productOf(a.hi, b.hi)
	return fastSum(p.hi, p.lo+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a double) div(b double) double {
	q := a.hi / b.hi
	p := productOf(q, b.hi)
	r := ((a.hi - p.hi) - p.lo) + (a.lo - float64(q*b.lo))
	return fastSum(q, r/b.hi)
}

func (a double) neg() double { return double{-a.hi, -a.lo} }

// sqrt is the root of a positive number.
func (a double) sqrt() double {
	s := Sqrt(a.hi)
	p := productOf(s, s)
	return fastSum(s, ((a.hi-p.hi)-p.lo+a.lo)/float64(2*s))
}

func (a double) value() float64 { return a.hi + a.lo }
