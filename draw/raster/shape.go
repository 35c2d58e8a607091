package raster

import "math"

// rect fills a rectangle between two corners.
func (p *page) rect(x0, y0, x1, y1 float64) {
	x0, x1 = min(x0, x1), max(x0, x1)
	y0, y1 = min(y0, y1), max(y0, y1)
	if !(x1 > 0 && y1 > 0 && x0 < float64(p.width) && y0 < float64(p.height)) {
		return
	}
	x0, x1 = max(x0, 0), min(x1, float64(p.width))
	y0, y1 = max(y0, 0), min(y1, float64(p.height))
	left, right := pixel(x0, 0, p.width), pixel(math.Ceil(x1), 0, p.width)
	top, bottom := pixel(y0, 0, p.height), pixel(math.Ceil(y1), 0, p.height)
	for y := top; y < bottom; y++ {
		part := min(y1, float64(y+1)) - max(y0, float64(y))
		if part >= 1 && x0 == float64(left) && x1 == float64(right) {
			p.solid(y, left, right)
			continue
		}
		a, b := left, right // what is covered from side to side
		if x0 > float64(a) {
			p.one(y, a, part*(min(x1, float64(a+1))-x0))
			a++
		}
		if x1 < float64(b) && b > a {
			b--
			p.one(y, b, part*(x1-max(x0, float64(b))))
		}
		if a >= b {
			continue
		}
		if part >= 1 {
			p.solid(y, a, b)
			continue
		}
		cover, c := p.cover[:b-a], share(part)
		for i := range cover {
			cover[i] = c
		}
		p.row(y, a, cover)
	}
}

// one covers a part of a pixel.
func (p *page) one(y, x int, part float64) {
	p.cover[0] = share(part)
	p.row(y, x, p.cover[:1])
}

// share is a part from 0 to 1 as a byte.
func share(part float64) uint8 {
	if !(part > 0) {
		return 0
	}
	return uint8(min(part, 1)*255 + 0.5)
}

// thin makes what is thinner than a pixel a pixel thick, and paler in its place.
func (p *page) thin(half, power float64) float64 {
	if half >= 0.5 {
		return half
	}
	part := uint32(share(math.Pow(2*max(half, 0), power)))
	s := &p.source
	s.r, s.g, s.b, s.a = scale(s.r, part), scale(s.g, part), scale(s.b, part), scale(s.a, part)
	return 0.5
}

// circle fills a circle.
func (p *page) circle(x, y, radius float64) { p.disc(x, y, 0, p.thin(math.Abs(radius), 2)) }

// ring draws the line of a circle, half of it on each side.
func (p *page) ring(x, y, radius, width float64) {
	half := math.Abs(width) / 2
	inner, outer := math.Abs(radius)-half, math.Abs(radius)+half
	if outer < 0.5 {
		outer = p.thin(outer, 2)
	}
	p.disc(x, y, max(inner, 0), outer)
}

// rows are those that something from one height to another may touch.
func (p *page) rows(y0, y1 float64) (top, bottom int) {
	return pixel(y0, 0, p.height), pixel(math.Ceil(y1), 0, p.height)
}

// disc fills what is further from a middle than inner, and nearer than outer. An inner radius of
// zero is no hole.
func (p *page) disc(x, y, inner, outer float64) {
	reach, core, hole := outer+0.5, outer-0.5, inner-0.5
	top, bottom := p.rows(y-reach, y+reach)
	for row := top; row < bottom; row++ {
		dy := float64(row) + 0.5 - y
		half := chord(reach, dy)
		left, right := pixel(x-half, 0, p.width), pixel(math.Ceil(x+half), 0, p.width)
		if left >= right {
			continue
		}
		if inner == 0 { // what is covered whole is one piece
			if half := chord(core, dy); half > 0 {
				a := pixel(math.Ceil(x-half-0.5), left, right)
				b := pixel(math.Floor(x+half+0.5), a, right)
				p.rim(row, left, a, x, dy, 0, outer)
				if a < b {
					p.solid(row, a, b)
				}
				p.rim(row, b, right, x, dy, 0, outer)
				continue
			}
		} else if half := chord(hole, dy); half > 0 { // nor is the hole
			a := pixel(math.Ceil(x-half-0.5), left, right)
			b := pixel(math.Floor(x+half+0.5), a, right)
			p.rim(row, left, a, x, dy, inner, outer)
			p.rim(row, b, right, x, dy, inner, outer)
			continue
		}
		p.rim(row, left, right, x, dy, inner, outer)
	}
}

// chord is half of how wide a circle is at a height.
func chord(radius, dy float64) float64 {
	if !(radius > math.Abs(dy)) {
		return 0
	}
	return math.Sqrt(radius*radius - dy*dy)
}

// rim draws the pixels at which a disc begins or ends.
func (p *page) rim(row, left, right int, x, dy, inner, outer float64) {
	if left >= right {
		return
	}
	cover := p.cover[:right-left]
	for i := range cover {
		dx := float64(left+i) + 0.5 - x
		d := math.Sqrt(dx*dx + dy*dy)
		part := min(outer+0.5-d, 1)
		if inner > 0 {
			part -= max(0, min(inner+0.5-d, 1))
		}
		cover[i] = share(part)
	}
	p.row(row, left, cover)
}

// glow draws light whose strength falls to nothing at the radius, as the square of how far it is to
// there.
func (p *page) glow(x, y, radius float64) {
	radius = math.Abs(radius)
	if radius < 0.75 {
		p.circle(x, y, radius/2)
		return
	}
	top, bottom := p.rows(y-radius, y+radius)
	for row := top; row < bottom; row++ {
		dy := float64(row) + 0.5 - y
		half := chord(radius, dy)
		left, right := pixel(x-half, 0, p.width), pixel(math.Ceil(x+half), 0, p.width)
		if left >= right {
			continue
		}
		cover := p.cover[:right-left]
		for i := range cover {
			dx := float64(left+i) + 0.5 - x
			part := max(0, 1-math.Sqrt(dx*dx+dy*dy)/radius)
			cover[i] = share(part * part)
		}
		p.row(row, left, cover)
	}
}

// line draws a line with round ends.
func (p *page) line(x0, y0, x1, y1, width float64) {
	p.stroke(x0, y0, x1, y1, p.thin(math.Abs(width)/2, 1), p.row)
}

// stroke finds what a line with round ends covers, row by row.
func (p *page) stroke(x0, y0, x1, y1, half float64, row func(y, x0 int, cover []uint8)) {
	reach, core := half+0.5, max(half-0.5, 0)
	dx, dy := x1-x0, y1-y0
	square := dx*dx + dy*dy
	if math.IsInf(square, 1) || math.IsInf(reach, 1) {
		return
	}
	inverse := 0.0
	if square > 0 {
		inverse = 1 / square
	}
	low, high := min(x0, x1)-reach, max(x0, x1)+reach
	aside := math.Inf(1) // how far the line's sides are from its middle, along a row
	if dy != 0 {
		aside = reach * math.Sqrt(square) / math.Abs(dy)
	}
	top, bottom := p.rows(min(y0, y1)-reach, max(y0, y1)+reach)
	for y := top; y < bottom; y++ {
		py := float64(y) + 0.5 - y0
		from, to := low, high
		if !math.IsInf(aside, 1) {
			// Beyond its ends the line goes on for this; the round ends are within.
			middle := x0 + py*dx/dy
			from, to = max(from, middle-aside), min(to, middle+aside)
		}
		left, right := pixel(from, 0, p.width), pixel(math.Ceil(to), 0, p.width)
		if left >= right {
			continue
		}
		cover := p.cover[:right-left]
		for i := range cover {
			px := float64(left+i) + 0.5 - x0
			t := max(0, min((px*dx+py*dy)*inverse, 1))
			ex, ey := px-t*dx, py-t*dy
			switch d := ex*ex + ey*ey; {
			case d <= core*core:
				cover[i] = 255
			case d >= reach*reach:
				cover[i] = 0
			default:
				cover[i] = share(reach - math.Sqrt(d))
			}
		}
		row(y, left, cover)
	}
}
