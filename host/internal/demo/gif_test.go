package demo

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/gif"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	paint "golang.org/x/image/draw"
)

// shrink makes a picture smaller.
func shrink(m image.Image, width int) *image.RGBA {
	size := m.Bounds().Size()
	out := image.NewRGBA(image.Rect(0, 0, width, size.Y*width/size.X))
	paint.CatmullRom.Scale(out, out.Bounds(), m, m.Bounds(), paint.Src, nil)
	return out
}

// differs is by how much two colours differ, as the eye has it more or less.
func differs(a, b color.RGBA) int {
	r, g, u := int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B)
	return 3*r*r + 6*g*g + u*u
}

// liveliest finds where n frames begin in which the most changes from one to the next.
func liveliest(frames []*image.RGBA, n int) int {
	sum := make([]int, len(frames)+1)
	for i := 1; i < len(frames); i++ {
		a, b := frames[i-1], frames[i]
		moved := 0
		for p := 0; p < len(a.Pix); p += 4 * 7 {
			if d := int(a.Pix[p+1]) - int(b.Pix[p+1]); d > 24 || d < -24 {
				moved++
			}
		}
		sum[i+1] = sum[i] + moved
	}
	best := 0
	for i := 0; i+n < len(sum); i++ {
		if sum[i+n]-sum[i] > sum[best+n]-sum[best] {
			best = i
		}
	}
	return best
}

// A box is a part of the colours there are, for median cut.
type box struct {
	list    []color.RGBA
	channel int
	spread  int
}

func newBox(list []color.RGBA) box {
	b := box{list: list}
	for c, weight := range []int{3, 6, 2} {
		lo, hi := 255, 0
		for _, x := range list {
			v := int([]uint8{x.R, x.G, x.B}[c])
			lo, hi = min(lo, v), max(hi, v)
		}
		if s := (hi - lo) * weight; s > b.spread {
			b.channel, b.spread = c, s
		}
	}
	return b
}

// paletteOf finds n colours by which frames can be drawn, the first of them for what shines
// through.
func paletteOf(frames []*image.RGBA, n int) color.Palette {
	r := rand.New(rand.NewPCG(1, 2))
	var all []color.RGBA
	for range 60_000 {
		f := frames[r.IntN(len(frames))]
		all = append(all, f.RGBAAt(r.IntN(f.Rect.Dx()), r.IntN(f.Rect.Dy())))
	}
	// Of many that are nearly the same a few will do, or the dark takes every place.
	seen := map[color.RGBA]int{}
	all = slices.DeleteFunc(all, func(c color.RGBA) bool {
		k := color.RGBA{c.R &^ 7, c.G &^ 7, c.B &^ 7, 255}
		seen[k]++
		return seen[k] > 12
	})
	boxes := []box{newBox(all)}
	for len(boxes) < n-1 {
		i := 0
		for j := range boxes {
			if boxes[j].spread*len(boxes[j].list) > boxes[i].spread*len(boxes[i].list) {
				i = j
			}
		}
		b := boxes[i]
		if len(b.list) < 2 {
			break
		}
		slices.SortFunc(b.list, func(x, y color.RGBA) int {
			return cmp.Compare([]uint8{x.R, x.G, x.B}[b.channel], []uint8{y.R, y.G, y.B}[b.channel])
		})
		half := len(b.list) / 2
		boxes[i] = newBox(b.list[:half])
		boxes = append(boxes, newBox(b.list[half:]))
	}
	p := color.Palette{color.RGBA{}}
	for _, b := range boxes {
		var r, g, u int
		for _, c := range b.list {
			r, g, u = r+int(c.R), g+int(c.G), u+int(c.B)
		}
		k := max(len(b.list), 1)
		p = append(p, color.RGBA{uint8(r / k), uint8(g / k), uint8(u / k), 255})
	}
	return p
}

// animate makes a GIF. What has hardly changed since the frame before, by less than slack, is left
// as it is, which takes no bytes to speak of.
func animate(frames []*image.RGBA, step time.Duration, slack int) ([]byte, error) {
	palette := paletteOf(frames, filmColors)
	nearest := map[color.RGBA]uint8{}
	find := func(c color.RGBA) uint8 {
		k := color.RGBA{c.R &^ 3, c.G &^ 3, c.B &^ 3, 255}
		i, ok := nearest[k]
		if !ok {
			best := 1
			for j := 2; j < len(palette); j++ {
				if differs(k, palette[j].(color.RGBA)) < differs(k, palette[best].(color.RGBA)) {
					best = j
				}
			}
			i = uint8(best)
			nearest[k] = i
		}
		return i
	}
	bounds := frames[0].Bounds()
	shown := image.NewPaletted(bounds, palette)
	out := gif.GIF{
		Config: image.Config{ColorModel: palette, Width: bounds.Dx(), Height: bounds.Dy()}}
	for n, f := range frames {
		m := image.NewPaletted(bounds, palette)
		for i := range m.Pix {
			c := color.RGBA{f.Pix[4*i], f.Pix[4*i+1], f.Pix[4*i+2], 255}
			if n > 0 && differs(c, palette[shown.Pix[i]].(color.RGBA)) < slack {
				continue
			}
			if k := find(c); n == 0 || k != shown.Pix[i] {
				m.Pix[i], shown.Pix[i] = k, k
			}
		}
		out.Image = append(out.Image, m)
		out.Delay = append(out.Delay, int(step/(10*time.Millisecond)))
		out.Disposal = append(out.Disposal, gif.DisposalNone)
	}
	var b bytes.Buffer
	err := gif.EncodeAll(&b, &out)
	return b.Bytes(), err
}

const filmColors = 128

// TestAnimate draws a square that moves: the film shows it where it is, and nothing that it left
// behind.
func TestAnimate(t *testing.T) {
	var frames []*image.RGBA
	for i := range 8 {
		m := image.NewRGBA(image.Rect(0, 0, 64, 32))
		paint.Draw(m, m.Bounds(), image.NewUniform(color.RGBA{10, 20, 40, 255}), image.Point{},
			paint.Src)
		paint.Draw(m, image.Rect(6*i, 8, 6*i+8, 16),
			image.NewUniform(color.RGBA{250, 120, 30, 255}), image.Point{}, paint.Src)
		frames = append(frames, m)
	}
	const slack = 10 * 8 * 8
	data, err := animate(frames, filmStep, slack)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gif.DecodeAll(bytes.NewReader(data))
	if err != nil || len(g.Image) != len(frames) {
		t.Fatal(len(g.Image), err)
	}
	canvas := image.NewRGBA(frames[0].Bounds())
	for n, m := range g.Image {
		paint.Draw(canvas, m.Bounds(), m, m.Bounds().Min, paint.Over)
		for i := 0; i < len(canvas.Pix); i += 4 {
			is := color.RGBA{canvas.Pix[i], canvas.Pix[i+1], canvas.Pix[i+2], 255}
			want := color.RGBA{frames[n].Pix[i], frames[n].Pix[i+1], frames[n].Pix[i+2], 255}
			if differs(is, want) > slack {
				t.Fatalf("frame %d, pixel %d is %v, want %v", n, i/4, is, want)
			}
		}
	}
	if from := liveliest(append(slices.Repeat(frames[:1], 20), frames...), 7); from < 18 {
		t.Errorf("nothing happens at %d", from)
	}
}
