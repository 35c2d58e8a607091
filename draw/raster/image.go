package raster

import (
	"errors"
	"fmt"
	"image"
	"io/fs"
	"math"

	"github.com/coeval-dev/coeval/draw"
)

// A book holds what a library defines, as far as it has been read.
type book struct {
	done    int // bytes
	err     error
	reader  draw.Reader
	entries []*entry // by number
	missing []string
	pixels  int // of all textures
}

// An entry is a name, and the image that has it.
type entry struct {
	name                   string
	list                   []byte // of a picture
	width, height, density float64
	asked                  bool // whether there is a texture is known
	texture                *texture
}

// read reads what was added.
func (b *book) read(library []byte) error {
	if len(library) < b.done { // it is another
		*b = book{}
	}
	if len(library) == b.done || b.err != nil {
		return b.err
	}
	b.reader.Read(library[b.done:])
	b.done = len(library)
	for c := range b.reader.Calls() {
		switch c.Op {
		case draw.OpName:
			b.entry(c.ID).name = string(c.Bytes)
		case draw.OpPicture:
			if e := b.entry(c.ID); e.list == nil {
				e.list, e.width, e.height, e.density = c.Bytes, c.N[0], c.N[1], c.N[2]
			}
		case draw.OpSamples:
		default:
			b.err = errors.New("a library has a call that belongs in a frame")
			return b.err
		}
	}
	b.err = b.reader.Err()
	return b.err
}

func (b *book) entry(id uint16) *entry {
	for len(b.entries) <= int(id) {
		b.entries = append(b.entries, nil)
	}
	if b.entries[id] == nil {
		b.entries[id] = new(entry)
	}
	return b.entries[id]
}

// A texture is an image, and the same made smaller by half again and again.
type texture struct{ levels []level }

// A level is one of its sizes, in bytes of red, green, blue and opacity; the first three are
// multiplied by the last.
type level struct {
	width, height int
	pix           []uint8
}

// maxDepth is how deep pictures may be within pictures.
const maxDepth = 4

// texture is the image with a number, made the first time it is asked for, or nil.
func (p *page) texture(id uint16) *texture {
	r := p.raster
	b := &r.book
	e := b.entry(id)
	if e.asked || p.depth >= maxDepth {
		return e.texture
	}
	e.asked = true // a picture within itself is missing
	left := r.Pixels
	if left <= 0 {
		left = 32 << 20
	}
	left -= b.pixels
	switch {
	case e.list != nil:
		e.texture = p.picture(e, left)
	case r.Images != nil && e.name != "":
		if img := r.Images(e.name); img != nil {
			if n := img.Bounds().Dx() * img.Bounds().Dy(); n > 0 && n <= left {
				e.texture = convert(img)
			}
		}
	}
	if e.texture == nil {
		name := e.name
		if name == "" {
			name = fmt.Sprintf("image %d without a name", id)
		}
		b.missing = append(b.missing, name)
		return nil
	}
	b.pixels += e.texture.levels[0].width * e.texture.levels[0].height
	return e.texture
}

// picture draws an image that is made of calls.
func (p *page) picture(e *entry, left int) *texture {
	density := e.density
	if need := e.width * e.height * density * density; need > float64(left) {
		density *= math.Sqrt(float64(left) / need)
	}
	w, h := int(math.Ceil(e.width*density)), int(math.Ceil(e.height*density))
	if w <= 0 || h <= 0 || w*h > left {
		return nil
	}
	t := &texture{levels: []level{{w, h, make([]uint8, 4*w*h)}}}
	inner := page{depth: p.depth + 1}
	inner.reset(p.raster, t.levels[0].pix, 4*w, w, h)
	inner.lens = draw.Lens{Scale: float64(w) / e.width, ScaleY: float64(h) / e.height}
	if inner.draw(e.list) != nil {
		return nil
	}
	return t
}

// convert takes an image in.
func convert(img image.Image) *texture {
	b := img.Bounds()
	l := level{b.Dx(), b.Dy(), make([]uint8, 4*b.Dx()*b.Dy())}
	if from, ok := img.(*image.RGBA); ok {
		for y := range l.height {
			copy(l.pix[4*l.width*y:4*l.width*(y+1)], from.Pix[y*from.Stride:])
		}
		return &texture{levels: []level{l}}
	}
	to := l.pix
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, b, a := img.At(x, y).RGBA()
			to[0], to[1], to[2], to[3] = uint8(r>>8), uint8(g>>8), uint8(b>>8), uint8(a>>8)
			to = to[4:]
		}
	}
	return &texture{levels: []level{l}}
}

// at is the level to use where so many of its pixels lie in one of the page's.
func (t *texture) at(density float64) (*level, float64) {
	shrunk, i := 1.0, 0
	for density >= 1.5*shrunk {
		if i+1 == len(t.levels) {
			last := &t.levels[i]
			if last.width == 1 && last.height == 1 {
				break
			}
			t.levels = append(t.levels, half(last))
		}
		shrunk *= 2
		i++
	}
	return &t.levels[i], shrunk
}

// half is a level of half the size. Each of its pixels is the mean of four.
func half(l *level) level {
	s := level{width: (l.width + 1) / 2, height: (l.height + 1) / 2}
	s.pix = make([]uint8, 4*s.width*s.height)
	to := s.pix
	for y := range s.height {
		a := l.pix[4*l.width*min(2*y, l.height-1):]
		b := l.pix[4*l.width*min(2*y+1, l.height-1):]
		for x := range s.width {
			i, j := 4*min(2*x, l.width-1), 4*min(2*x+1, l.width-1)
			for c := range 4 {
				sum := int(a[i+c]) + int(a[j+c]) + int(b[i+c]) + int(b[j+c])
				to[c] = uint8((sum + 2) / 4)
			}
			to = to[4:]
		}
	}
	return s
}

// image draws an image, or a marked box in its place.
func (p *page) image(c *draw.Call) {
	x, y := p.lens.At(c.N[0], c.N[1])
	w, h, angle := c.N[2]*p.lens.Scale, c.N[3]*p.lens.Scale, p.turn(c.N[4])
	if p.source = flat(c.Color); p.source.a == 0 || w == 0 || h == 0 {
		return
	}
	t := p.texture(c.ID)
	if t == nil {
		p.marked(x, y, w, h, angle)
		return
	}
	tint := p.source
	full := &t.levels[0]
	density := max(float64(full.width)/math.Abs(w), float64(full.height)/math.Abs(h))
	l, shrunk := t.at(density)
	// From pixels of the page to those of the level.
	kx, ky := float64(full.width)/shrunk/w, float64(full.height)/shrunk/h
	sin, cos := math.Sincos(angle)
	s := &p.source
	*s = source{r: tint.r, g: tint.g, b: tint.b, a: tint.a, texture: l,
		ux: cos * kx, uy: sin * kx, vx: -sin * ky, vy: cos * ky}
	s.u = float64(full.width)/shrunk/2 - 0.5 + (0.5-x)*s.ux + (0.5-y)*s.uy
	s.v = float64(full.height)/shrunk/2 - 0.5 + (0.5-x)*s.vx + (0.5-y)*s.vy
	p.box(x, y, w, h, angle)
	s.texture = nil
}

// spread draws a small image that is part of the list, between two corners, its top at the top.
func (p *page) spread(x0, y0, x1, y1 float64, columns int, rgba []byte) {
	x0, x1 = min(x0, x1), max(x0, x1)
	y0, y1 = min(y0, y1), max(y0, y1)
	if !(x1 > x0 && y1 > y0) {
		return
	}
	l := &p.small
	l.width, l.height = columns, len(rgba)/4/columns
	l.pix = append(l.pix[:0], rgba...)
	for q := l.pix; len(q) >= 4; q = q[4:] {
		if a := uint32(q[3]); a != 255 {
			q[0], q[1], q[2] = uint8(scale(uint32(q[0]), a)), uint8(scale(uint32(q[1]), a)),
				uint8(scale(uint32(q[2]), a))
		}
	}
	kx, ky := float64(l.width)/(x1-x0), float64(l.height)/(y1-y0)
	p.source = source{r: 255, g: 255, b: 255, a: 255, texture: l, ux: kx, vy: ky,
		u: (0.5-x0)*kx - 0.5, v: (0.5-y0)*ky - 0.5}
	p.rect(x0, y0, x1, y1)
	p.source.texture = nil
}

// marked draws what stands for an image that is not there.
func (p *page) marked(x, y, w, h, angle float64) {
	p.source = flat(draw.RGB(0xff00c8).Alpha(float64(p.source.a) / 255))
	w, h = math.Abs(w), math.Abs(h)
	sin, cos := math.Sincos(angle)
	ax, ay, bx, by := cos*w/2, sin*w/2, -sin*h/2, cos*h/2
	thick := max(1, min(w, h)/16)
	dark := p.source
	dark.r, dark.g, dark.b = dark.r/4, dark.g/4, dark.b/4
	bright := p.source
	p.source = dark
	p.box(x, y, w, h, angle)
	for _, l := range [...][4]float64{
		{-ax - bx, -ay - by, ax - bx, ay - by}, {ax - bx, ay - by, ax + bx, ay + by},
		{ax + bx, ay + by, -ax + bx, -ay + by}, {-ax + bx, -ay + by, -ax - bx, -ay - by},
		{-ax - bx, -ay - by, ax + bx, ay + by}, {ax - bx, ay - by, -ax + bx, -ay + by},
	} {
		p.source = bright
		p.line(x+l[0], y+l[1], x+l[2], y+l[3], thick)
	}
}

// textured puts a texture on a row of pixels.
func (p *page) textured(to []uint8, y, x0 int, cover []uint8) {
	s := &p.source
	plain := s.r&s.g&s.b&s.a == 255
	u := s.u + float64(x0)*s.ux + float64(y)*s.uy
	v := s.v + float64(x0)*s.vx + float64(y)*s.vy
	for i, c := range cover {
		if c != 0 {
			r, g, b, a := s.texture.sample(u, v)
			if !plain { // the tint's colors hold its opacity already
				r, g, b, a = scale(r, s.r), scale(g, s.g), scale(b, s.b), scale(a, s.a)
			}
			if k := uint32(c); k != 255 {
				r, g, b, a = scale(r, k), scale(g, k), scale(b, k), scale(a, k)
			}
			if a != 0 || r|g|b != 0 {
				p.put(to[4*i:4*i+4:4*i+4], r, g, b, a)
			}
		}
		u, v = u+s.ux, v+s.vx
	}
}

// sample is the color between pixels, at a place where the middle of the first is zero.
func (l *level) sample(u, v float64) (r, g, b, a uint32) {
	u = max(0, min(u, float64(l.width-1)))
	v = max(0, min(v, float64(l.height-1)))
	if u != u || v != v {
		return 0, 0, 0, 0
	}
	x, y := int(u), int(v)
	fx, fy := uint32((u-float64(x))*256), uint32((v-float64(y))*256)
	right, down := 4, 4*l.width
	if x+1 >= l.width {
		right = 0
	}
	if y+1 >= l.height {
		down = 0
	}
	q := l.pix[4*(y*l.width+x):]
	wa, wb := (256-fx)*(256-fy), fx*(256-fy)
	wc, wd := (256-fx)*fy, fx*fy
	mix := func(c int) uint32 {
		return (uint32(q[c])*wa + uint32(q[c+right])*wb + uint32(q[c+down])*wc +
			uint32(q[c+right+down])*wd + 1<<15) >> 16
	}
	return mix(0), mix(1), mix(2), mix(3)
}

// Files gives the images of a file system, for Raster.Images. They are of the formats that the
// program has registered with package image, by importing image/png and the like. Files that are
// not images, or have more pixels than most, are missing.
func Files(files fs.FS, most int) func(name string) image.Image {
	return func(name string) image.Image {
		if files == nil {
			return nil
		}
		f, err := files.Open(name)
		if err != nil {
			return nil
		}
		defer f.Close()
		size, _, err := image.DecodeConfig(f)
		if err != nil || size.Width <= 0 || size.Height <= 0 || size.Width > most/size.Height {
			return nil
		}
		again, err := files.Open(name)
		if err != nil {
			return nil
		}
		defer again.Close()
		img, _, err := image.Decode(again)
		if err != nil {
			return nil
		}
		return img
	}
}
