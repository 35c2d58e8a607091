package raster

import "github.com/coeval-dev/coeval/draw"

// A source is what a shape is filled with: a color, already multiplied by its opacity, or with a
// texture, of which the color is the tint.
type source struct {
	r, g, b, a uint32
	texture    *level
	u, v       float64 // of the texture, at the middle of the first pixel
	ux, vx     float64 // and how they change to the right
	uy, vy     float64 // and downwards
}

func flat(c draw.Color) source {
	r, g, b, a := c.Channels()
	k := uint32(a)
	return source{r: scale(uint32(r), k), g: scale(uint32(g), k), b: scale(uint32(b), k), a: k}
}

// scale is x·k/255, rounded.
func scale(x, k uint32) uint32 {
	x = x*k + 128
	return (x + x>>8) >> 8
}

// solid puts what fills a shape on pixels that it covers whole, if there are any.
func (p *page) solid(y, x0, x1 int) {
	if x0 >= x1 {
		return
	}
	if p.source.texture == nil && p.source.a == 255 && p.blend == draw.Over && !p.clipped {
		fillRow(p.pix[y*p.stride+4*x0:y*p.stride+4*x1], &p.source)
		return
	}
	cover := p.cover[:x1-x0]
	for i := range cover {
		cover[i] = 255
	}
	p.row(y, x0, cover)
}

// row puts what fills a shape on a row of pixels, as far as it covers each. It changes cover.
func (p *page) row(y, x0 int, cover []uint8) {
	if p.clipped {
		if y < p.within.y0 || y >= p.within.y1 {
			return
		}
		lo, hi := max(x0, p.within.x0), min(x0+len(cover), p.within.x1)
		if lo >= hi {
			return
		}
		cover, x0 = cover[lo-x0:hi-x0], lo
		mask := p.mask[y*p.width+x0:]
		for i, c := range cover {
			if m := mask[i]; m != 255 {
				cover[i] = uint8(scale(uint32(c), uint32(m)))
			}
		}
	}
	to := p.pix[y*p.stride+4*x0 : y*p.stride+4*(x0+len(cover))]
	if p.source.texture != nil {
		p.textured(to, y, x0, cover)
		return
	}
	if p.blend != draw.Over {
		for i, c := range cover {
			if c != 0 {
				k := uint32(c)
				s := &p.source
				p.put(to[4*i:4*i+4:4*i+4], scale(s.r, k), scale(s.g, k), scale(s.b, k),
					scale(s.a, k))
			}
		}
		return
	}
	r, g, b, a := p.source.r, p.source.g, p.source.b, p.source.a
	for i, c := range cover {
		switch {
		case c == 0:
		case c == 255 && a == 255:
			q := to[4*i : 4*i+4 : 4*i+4]
			q[0], q[1], q[2], q[3] = uint8(r), uint8(g), uint8(b), 255
		default:
			k := uint32(c)
			q := to[4*i : 4*i+4 : 4*i+4]
			left := 255 - scale(a, k)
			q[0] = uint8(scale(r, k) + scale(uint32(q[0]), left))
			q[1] = uint8(scale(g, k) + scale(uint32(q[1]), left))
			q[2] = uint8(scale(b, k) + scale(uint32(q[2]), left))
			q[3] = uint8(255 - left + scale(uint32(q[3]), left))
		}
	}
}

// put puts a color, multiplied by its opacity, on a pixel.
func (p *page) put(q []uint8, r, g, b, a uint32) {
	left := 255 - a
	switch p.blend {
	case draw.Add:
		q[0] = uint8(min(255, uint32(q[0])+r))
		q[1] = uint8(min(255, uint32(q[1])+g))
		q[2] = uint8(min(255, uint32(q[2])+b))
		q[3] = uint8(min(255, uint32(q[3])+a))
	case draw.Multiply:
		bare := 255 - uint32(q[3]) // what is not covered yet takes the color itself
		q[0] = multiply(q[0], r, left, bare)
		q[1] = multiply(q[1], g, left, bare)
		q[2] = multiply(q[2], b, left, bare)
		q[3] = uint8(a + scale(uint32(q[3]), left))
	default:
		q[0] = uint8(min(255, r+scale(uint32(q[0]), left)))
		q[1] = uint8(min(255, g+scale(uint32(q[1]), left)))
		q[2] = uint8(min(255, b+scale(uint32(q[2]), left)))
		q[3] = uint8(a + scale(uint32(q[3]), left))
	}
}

func multiply(under uint8, over, left, bare uint32) uint8 {
	d := uint32(under)
	return uint8(min(255, scale(d, over)+scale(d, left)+scale(over, bare)))
}
