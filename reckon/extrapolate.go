package reckon

import "github.com/coeval-dev/coeval/codec"

// Now sets now to what an entity's image should be, given what is known of it: the base carried on
// by its age, within the ranges. It has the form of codec.Class.Reckon. With nothing known, or
// images of another class, it leaves now alone.
func (m *Motion) Now(h *codec.History, now []int32) {
	if h.Len == 0 || len(h.Images[0]) != m.fields || len(now) != m.fields {
		return
	}
	copy(now, h.Images[0])
	n := int64(min(max(h.Ages[0], 0), m.horizon))
	var gap [2]int64 // between the newest three images, zero where there is none
	for i := range gap {
		if i+1 >= h.Len || len(h.Images[i+1]) != m.fields {
			break
		}
		g := int64(h.Ages[i+1]) - int64(h.Ages[i])
		if g < 1 || g > maxGap {
			break
		}
		gap[i] = g
	}
	for i := range m.axes {
		a := &m.axes[i]
		switch {
		case a.velocity < 0:
			now[a.slot] = a.watch(h, n, gap)
		case a.order == Second && gap[0] > 0:
			change := int64(h.Images[0][a.velocity]) - int64(h.Images[1][a.velocity])
			m.carry(a, now, n, change, gap[0])
		case m.once:
			m.carry(a, now, n, a.accNum, a.accDen)
		default:
			for range n {
				m.carry(a, now, 1, a.accNum, a.accDen)
			}
		}
	}
}

// After is Now for one image that is all that is known: what it should be some ticks later. A
// sender uses it to know what the receivers of an update show. The two slices may be the same.
func (m *Motion) After(image []int32, ticks int32, now []int32) {
	var h codec.History
	h.Add(image, ticks)
	m.Now(&h, now)
}

// carry moves a position and its velocity on by n ticks under a constant acceleration of num/den.
// All sums are kept as one fraction until the end, where they are rounded once.
func (m *Motion) carry(a *axis, now []int32, n, num, den int64) {
	// Twice what n ticks of unit acceleration add to the position.
	twice := n * n
	switch m.scheme {
	case VelocityFirst:
		twice += n
	case PositionFirst:
		twice -= n
	}
	v := int64(now[a.velocity])
	whole, rest := floorDiv(v*n*a.unitNum, a.unitDen)
	now[a.slot] = a.keep(nearest(int64(now[a.slot])+whole, rest*2*den+num*a.unitNum*twice,
		2*den*a.unitDen))
	now[a.velocity] = int32(min(max(nearest(v, num*n, den), a.vLow), a.vHigh))
}

// watch finds where a number is going from where it was, after Singhal and Cheriton's position
// history.
func (a *axis) watch(h *codec.History, n int64, gap [2]int64) int32 {
	x0 := int64(h.Images[0][a.slot])
	if gap[0] == 0 {
		return a.keep(x0)
	}
	x1 := int64(h.Images[1][a.slot])
	d0, g0, g1 := a.difference(x0, x1), gap[0], gap[1]
	if a.order == Second && g1 > 0 {
		// Newton's polynomial through three images.
		d1 := a.difference(x1, int64(h.Images[2][a.slot]))
		num := n*d0*g1*(g0+g1) + n*(n+g0)*(d0*g1-d1*g0)
		return a.keep(nearest(x0, num, g0*g1*(g0+g1)))
	}
	// The mean velocity between the images was that of a moment g0/2 before the base.
	whole, rest := floorDiv(n*d0, g0)
	return a.keep(nearest(x0+whole, rest*2*a.accDen+a.accNum*n*(n+g0)*g0, 2*a.accDen*g0))
}

// difference is how far it is from y to x, the short way around if the number wraps.
func (a *axis) difference(x, y int64) int64 {
	d := x - y
	if a.wraps {
		return shortWay(d, a.span)
	}
	return d
}

// keep brings a number into its range.
func (a *axis) keep(x int64) int32 {
	if a.wraps {
		_, x = floorDiv(x-a.low, a.span)
		return int32(x + a.low)
	}
	return int32(min(max(x, a.low), a.high))
}

// shortWay brings the difference of two values of a circle into -span/2 .. (span-1)/2.
func shortWay(d, span int64) int64 {
	_, d = floorDiv(d+span/2, span)
	return d - span/2
}

// nearest is whole + num/den, rounded to the nearest whole number, the even one of two, as package
// bits rounds.
func nearest(whole, num, den int64) int64 {
	q, r := floorDiv(num, den)
	whole += q
	if twice := 2 * r; twice > den || twice == den && whole&1 != 0 {
		whole++
	}
	return whole
}

// floorDiv is the quotient rounded down, and what remains.
func floorDiv(num, den int64) (quotient, rest int64) {
	if den == 1 {
		return num, 0
	}
	quotient, rest = num/den, num%den
	if rest < 0 {
		return quotient - 1, rest + den
	}
	return quotient, rest
}
