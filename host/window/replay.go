//go:build desktop && !js

package window

import (
	"image"
	"image/color"
	"math"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/coeval-dev/coeval/draw"
)

// A replayer draws lists.
type replayer struct {
	lib    *library
	sound  *speaker // nil for pictures
	reader draw.Reader
	lens   draw.Lens
	blend  draw.Blend
	// screen is what is drawn on in the end, and dst that or the layer.
	screen, dst   *ebiten.Image
	width, height float64
	batch         batch
	clipping
	faces  map[float64]*typeface
	pix    []byte
	smalls map[image.Point]*ebiten.Image
}

// A clipping has what is drawn go to a layer, of which only what is within a shape is put on the
// screen.
type clipping struct {
	points      []float64 // of the shape, in pixels; none for the whole screen
	layer, mask *ebiten.Image
	darkens     bool // the layer multiplies the screen, rather than covers it
}

// Ways to put one thing on another. Add and Multiply leave alone how much is covered, so that a
// layer of them can be put on the screen later.
var blends = [...]ebiten.Blend{
	draw.Over: ebiten.BlendSourceOver,
	draw.Add: {
		BlendFactorSourceRGB: ebiten.BlendFactorOne, BlendFactorSourceAlpha: ebiten.BlendFactorZero,
		BlendFactorDestinationRGB:   ebiten.BlendFactorOne,
		BlendFactorDestinationAlpha: ebiten.BlendFactorOne,
	},
	draw.Multiply: {
		BlendFactorSourceRGB:        ebiten.BlendFactorDestinationColor,
		BlendFactorSourceAlpha:      ebiten.BlendFactorZero,
		BlendFactorDestinationRGB:   ebiten.BlendFactorOneMinusSourceAlpha,
		BlendFactorDestinationAlpha: ebiten.BlendFactorOne,
	},
}

// frame draws one on the screen.
func (r *replayer) frame(to *ebiten.Image, library, list []byte, width, height float64) {
	r.lib.read(library)
	to.Fill(color.Black)
	r.begin(to, width, height)
	r.list(list)
	r.end()
}

// begin has what follows drawn on an image of so many units.
func (r *replayer) begin(to *ebiten.Image, width, height float64) {
	r.screen, r.dst, r.blend, r.points = to, to, draw.Over, r.points[:0]
	r.width, r.height = float64(to.Bounds().Dx()), float64(to.Bounds().Dy())
	whole := draw.Camera{X: width / 2, Y: height / 2, Width: width, Height: height}
	r.lens = whole.Lens(r.width, r.height)
}

// end puts what is left on the screen.
func (r *replayer) end() { r.unclip() }

func (r *replayer) list(list []byte) {
	r.reader.Read(list)
	for c := range r.reader.Calls() {
		r.call(c)
	}
}

func (r *replayer) call(c *draw.Call) {
	n, k := &c.N, r.lens.Scale
	x, y := r.lens.At(n[0], n[1])
	t := ink(c.Color)
	switch c.Op {
	case draw.OpClear:
		r.flush()
		r.dst.Fill(rgba(c.Color))
	case draw.OpCamera, draw.OpOverlay:
		r.lens = c.Lens(r.width, r.height)
	case draw.OpRect:
		x1, y1 := r.lens.At(n[0]+n[2], n[1]+n[3])
		r.quad([4]point{{x, y}, {x1, y}, {x1, y1}, {x, y1}}, t)
	case draw.OpBox:
		r.quad(corners(x, y, n[2]*k, n[3]*k, r.turn(n[4])), t)
	case draw.OpCircle:
		r.disc(x, y, math.Abs(n[2])*k, t)
	case draw.OpRing:
		r.ring(x, y, math.Abs(n[2])*k, math.Abs(n[3])*k, t)
	case draw.OpGlow:
		d := 2 * math.Abs(n[2]) * k
		r.sprite(glow(), corners(x, y, d, d, 0), t)
	case draw.OpLine:
		x1, y1 := r.lens.At(n[2], n[3])
		r.line(x, y, x1, y1, math.Abs(n[4])*k/2, t)
	case draw.OpPolygon:
		r.polygon(c.Points, c.Color)
	case draw.OpImage:
		if i := r.lib.image(c.ID); i != nil {
			r.sprite(i, corners(x, y, n[2]*k, n[3]*k, r.turn(n[4])), t)
		}
	case draw.OpPixels:
		r.pixels(c, x, y)
	case draw.OpText:
		r.text(string(c.Bytes), x, y, math.Abs(n[2])*k, draw.Align(c.Flags), t)
	case draw.OpBlend:
		r.mix(draw.Blend(c.Flags))
	case draw.OpClip:
		r.clip(c.Points)
	case draw.OpUnclip:
		r.unclip()
	case draw.OpSound, draw.OpTone:
		if r.sound != nil {
			r.sound.call(c)
		}
	}
}

// turn is an angle on the screen.
func (r *replayer) turn(angle float64) float64 { return math.Copysign(1, r.lens.ScaleY) * angle }

// mix has what follows put on what is there in another way.
func (r *replayer) mix(b draw.Blend) {
	if b == r.blend {
		return
	}
	r.flush()
	r.blend = b
	if len(r.points) > 0 && (b == draw.Multiply) != r.darkens {
		r.settle()
		r.begun()
	}
}

// clip has what follows go to a layer.
func (r *replayer) clip(points []float64) {
	r.unclip()
	for i := 0; i+1 < len(points); i += 2 {
		x, y := r.lens.At(points[i], points[i+1])
		r.points = append(r.points, x, y)
	}
	if w, h := int(r.width), int(r.height); r.layer == nil || r.layer.Bounds().Dx() != w ||
		r.layer.Bounds().Dy() != h {
		for _, l := range []**ebiten.Image{&r.layer, &r.mask} {
			if *l != nil {
				(*l).Deallocate()
			}
			*l = ebiten.NewImageWithOptions(image.Rect(0, 0, w, h),
				&ebiten.NewImageOptions{Unmanaged: true})
		}
	}
	r.mask.Clear()
	fill(r.mask, r.points, draw.White, ebiten.BlendSourceOver)
	r.begun()
}

// begun empties the layer: of one that multiplies, nothing is white.
func (r *replayer) begun() {
	r.dst, r.darkens = r.layer, r.blend == draw.Multiply
	if r.darkens {
		r.layer.Fill(color.White)
	} else {
		r.layer.Clear()
	}
}

// settle puts what of the layer is within the shape on the screen.
func (r *replayer) settle() {
	r.layer.DrawImage(r.mask, &ebiten.DrawImageOptions{Blend: ebiten.BlendDestinationIn})
	o := &ebiten.DrawImageOptions{}
	if r.darkens {
		r.mask.Fill(color.White)
		r.layer.DrawImage(r.mask, &ebiten.DrawImageOptions{Blend: ebiten.BlendDestinationOver})
		r.mask.Clear()
		fill(r.mask, r.points, draw.White, ebiten.BlendSourceOver)
		o.Blend = blends[draw.Multiply]
	}
	r.screen.DrawImage(r.layer, o)
	r.dst = r.screen
}

func (r *replayer) unclip() {
	r.flush()
	if len(r.points) > 0 {
		r.settle()
		r.points = r.points[:0]
	}
}

// pixels spreads a small image. Around it is a border that is like its edge, as what lies outside
// of an image counts as nothing.
func (r *replayer) pixels(c *draw.Call, x, y float64) {
	w, h := int(c.ID), len(c.Bytes)/4/int(c.ID)
	r.pix = r.pix[:0]
	for j := -1; j <= h; j++ {
		for i := -1; i <= w; i++ {
			p := c.Bytes[4*(min(max(j, 0), h-1)*w+min(max(i, 0), w-1)):]
			a := uint32(p[3])
			r.pix = append(r.pix, uint8(uint32(p[0])*a/255), uint8(uint32(p[1])*a/255),
				uint8(uint32(p[2])*a/255), p[3])
		}
	}
	r.flush()
	size := image.Pt(w+2, h+2)
	small := r.smalls[size]
	if small == nil {
		if r.smalls == nil || len(r.smalls) > 16 {
			r.smalls = map[image.Point]*ebiten.Image{}
		}
		small = ebiten.NewImageWithOptions(image.Rectangle{Max: size},
			&ebiten.NewImageOptions{Unmanaged: true})
		r.smalls[size] = small
	}
	small.WritePixels(r.pix)
	x1, y1 := r.lens.At(c.N[0]+c.N[2], c.N[1]+c.N[3])
	y, y1 = min(y, y1), max(y, y1)
	r.use(small, false)
	r.piece([4]point{{x, y}, {x1, y}, {x1, y1}, {x, y1}},
		[4]float32{1, 1, float32(w + 1), float32(h + 1)}, tint{1, 1, 1, 1})
	r.flush()
}
