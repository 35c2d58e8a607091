package raster

import "math"

// An area finds how much of each pixel is within an outline.
//
// It follows the outline, and adds at each pixel by how much the height of what is covered to the
// right of it changes. The sum along a row is then how often each pixel is covered, in parts of a
// pixel; what is covered once or more is inside. It is the method of Raph Levien's font-rs, with
// rows that know where they begin and end, so that a long thin shape costs what it covers.
type area struct {
	width, height int
	sums          []float32 // a row has one more, and one more for what is beyond
	low, high     []int32   // of each row, what was touched
	top, bottom   int
}

// begin makes room for a page.
func (a *area) begin(width, height int) {
	if a.width != width || a.height != height {
		a.width, a.height = width, height
		a.sums = make([]float32, (width+2)*height)
		a.low, a.high = make([]int32, height), make([]int32, height)
		for y := range a.low {
			a.low[y], a.high[y] = math.MaxInt32, -1
		}
	}
	a.top, a.bottom = height, 0
}

// edge follows a piece of the outline.
func (a *area) edge(x0, y0, x1, y1 float64) {
	sign := 1.0
	if y0 > y1 {
		x0, y0, x1, y1, sign = x1, y1, x0, y0, -1
	}
	w, h := float64(a.width), float64(a.height)
	if !(y1 > 0 && y0 < h && y1 > y0) {
		return
	}
	slope := (x1 - x0) / (y1 - y0)
	if math.IsInf(slope, 0) || math.IsNaN(slope) {
		return
	}
	if y0 < 0 {
		x0, y0 = x0-slope*y0, 0
	}
	if y1 > h {
		x1, y1 = x0+slope*(h-y0), h
	}
	// What is left of the page counts at its side, and what is right of it does not.
	cut := func(x float64) float64 { // the height at which the edge is there
		if (x0 < x) == (x1 < x) {
			return y0
		}
		return max(y0, min(y0+(x-x0)/slope, y1))
	}
	ya, yb := cut(0), cut(w)
	if ya > yb {
		ya, yb = yb, ya
	}
	from, x := y0, x0
	for _, to := range [...]float64{ya, yb, y1} {
		if to <= from {
			continue
		}
		next := x1
		if to < y1 {
			next = x0 + slope*(to-y0)
		}
		switch middle := (x + next) / 2; {
		case middle <= 0:
			a.piece(0, from, 0, to, sign)
		case middle < w:
			a.piece(max(0, min(x, w)), from, max(0, min(next, w)), to, sign)
		default:
			a.touch(from, to)
		}
		from, x = to, next
	}
}

// touch says that rows are not empty, though what is in them is beyond their end.
func (a *area) touch(y0, y1 float64) {
	a.top = min(a.top, pixel(y0, 0, a.height))
	a.bottom = max(a.bottom, pixel(math.Ceil(y1), 0, a.height))
}

// piece follows a part of the outline that is on the page, downwards.
func (a *area) piece(x0, y0, x1, y1, sign float64) {
	a.touch(y0, y1)
	slope := (x1 - x0) / (y1 - y0)
	x := x0
	for y := pixel(y0, 0, a.height); y < pixel(math.Ceil(y1), 0, a.height); y++ {
		dy := min(y1, float64(y+1)) - max(y0, float64(y))
		next := max(0, min(x+slope*dy, float64(a.width)))
		a.cross(y, x, next, sign*dy)
		x = next
	}
}

// cross goes through a row from one place to another, over a height.
func (a *area) cross(y int, x0, x1, height float64) {
	x0, x1 = min(x0, x1), max(x0, x1)
	first, last := int(x0), max(int(x0), int(math.Ceil(x1))-1)
	sums := a.sums[y*(a.width+2) : (y+1)*(a.width+2)]
	a.low[y] = min(a.low[y], int32(first))
	a.high[y] = max(a.high[y], int32(last+1))
	if first == last {
		right := height * ((x0+x1)/2 - float64(first)) // of the pixel, what is left of the edge
		sums[first] += float32(height - right)
		sums[first+1] += float32(right)
		return
	}
	each := height / (x1 - x0)
	done := 0.0 // what has been added before
	for i := first; i <= last; i++ {
		// How much of the pixel is right of the edge, and so covered by it.
		l, r := max(x0, float64(i)), min(x1, float64(i+1))
		covered := each*(r-l)*(float64(i+1)-(l+r)/2) + each*(l-x0)
		sums[i] += float32(covered - done)
		done = covered
	}
	sums[last+1] += float32(height - done)
}

// fill gives the rows of what was outlined, and forgets it.
func (a *area) fill(cover []uint8, row func(y, x0 int, cover []uint8)) {
	for y := a.top; y < a.bottom; y++ {
		low, high := int(a.low[y]), int(a.high[y])
		if high < 0 {
			continue
		}
		a.low[y], a.high[y] = math.MaxInt32, -1
		sums := a.sums[y*(a.width+2) : (y+1)*(a.width+2)]
		sum, c := float32(0), uint8(0)
		end := min(high+1, a.width)
		for x := low; x < end; x++ {
			if s := sums[x]; s != 0 {
				sums[x] = 0
				sum += s
				c = uint8(min(max(sum, -sum), 1)*255 + 0.5)
			}
			cover[x] = c
		}
		for x := end; x <= high; x++ {
			sums[x] = 0
		}
		if c != 0 { // its end is beyond the page
			for x := end; x < a.width; x++ {
				cover[x] = c
			}
			end = a.width
		}
		if low < end {
			row(y, low, cover[low:end])
		}
	}
}

// outline begins the area of a shape, whose points are in units of the lens.
func (p *page) outline(points []float64) {
	p.area.begin(p.width, p.height)
	n := len(points)
	x, y := p.lens.At(points[n-2], points[n-1])
	for i := 0; i+1 < n; i += 2 {
		nx, ny := p.lens.At(points[i], points[i+1])
		p.area.edge(x, y, nx, ny)
		x, y = nx, ny
	}
}

// polygon fills a shape.
func (p *page) polygon(points []float64) {
	p.outline(points)
	p.area.fill(p.cover, p.row)
}

// box fills a rectangle around its middle.
func (p *page) box(x, y, w, h, angle float64) {
	sin, cos := math.Sincos(angle)
	if math.Abs(sin) < 1e-9 {
		p.rect(x-w/2, y-h/2, x+w/2, y+h/2)
		return
	}
	// Half of its sides.
	ax, ay, bx, by := cos*w/2, sin*w/2, -sin*h/2, cos*h/2
	a := &p.area
	a.begin(p.width, p.height)
	a.edge(x-ax-bx, y-ay-by, x+ax-bx, y+ay-by)
	a.edge(x+ax-bx, y+ay-by, x+ax+bx, y+ay+by)
	a.edge(x+ax+bx, y+ay+by, x-ax+bx, y-ay+by)
	a.edge(x-ax+bx, y-ay+by, x-ax-bx, y-ay-by)
	a.fill(p.cover, p.row)
}

// clip sets what follows to be drawn within a shape only.
func (p *page) clip(points []float64) {
	if p.mask == nil {
		p.mask = make([]uint8, p.width*p.height)
		p.within = rect{}
	}
	for y := p.within.y0; y < p.within.y1; y++ {
		clear(p.mask[y*p.width+p.within.x0 : y*p.width+p.within.x1])
	}
	p.within = rect{p.width, p.height, 0, 0}
	p.clipped = true
	p.outline(points)
	p.area.fill(p.cover, p.allow)
	if p.within.x0 > p.within.x1 {
		p.within = rect{}
	}
}

// allow sets a row of the mask.
func (p *page) allow(y, x0 int, cover []uint8) {
	copy(p.mask[y*p.width+x0:], cover)
	in := &p.within
	in.x0, in.x1 = min(in.x0, x0), max(in.x1, x0+len(cover))
	in.y0, in.y1 = min(in.y0, y), max(in.y1, y+1)
}
