package arena

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
	"pgregory.net/rapid"
)

// within says whether a point is in a polygon around a middle: on the inner side of the edge in
// whose angle it lies.
func within(shape []det.Vec2, from, p det.Vec2) bool {
	d := p.Sub(from)
	for i := range shape {
		a, b := shape[i].Sub(from), shape[(i+1)%len(shape)].Sub(from)
		if a.Cross(d) >= 0 && d.Cross(b) > 0 {
			return b.Sub(a).Cross(p.Sub(shape[i])) >= 0
		}
	}
	return false
}

// A point is in the region exactly if it is near enough and no wall or door is between.
func TestEyeSeesWhatIsClear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, err := MapNamed(rapid.SampledFrom([]string{"duel", "foundry", "maze"}).Draw(t, "map"))
		if err != nil {
			t.Fatal(err)
		}
		var s Scene
		s.set(m)
		for i := range s.Open {
			s.Open[i] = uint8(rapid.IntRange(0, DoorOpen).Draw(t, "open"))
		}
		point := func(name string) det.Vec2 {
			for {
				p := det.Vec2{
					X: float64(rapid.IntRange(0, 32*m.Width).Draw(t, name))/32 + 0.0137,
					Y: float64(rapid.IntRange(0, 32*m.Height).Draw(t, name))/32 + 0.0071}
				if i := m.at(p); i >= 0 && !m.cells[i].opaque() {
					return p
				}
			}
		}
		from := point("from")
		var e Eye
		shape := e.See(&s, from, 18)
		for range 40 {
			p := point("p")
			d := det.Sqrt(p.Sub(from).LenSq())
			if d > 17.9 || nearEdge(shape, from, p) {
				continue
			}
			if got, want := within(shape, from, p), s.Clear(from, p); got != want {
				t.Fatalf("from %v to %v: in the region %v, clear %v", from, p, got, want)
			}
		}
	})
}

// nearEdge says whether a point is so close to the border that rounding may decide.
func nearEdge(shape []det.Vec2, from, p det.Vec2) bool {
	for i := range shape {
		a, b := shape[i], shape[(i+1)%len(shape)]
		d := b.Sub(a)
		if d.LenSq() == 0 {
			continue
		}
		u := det.Clamp(p.Sub(a).Dot(d)/d.LenSq(), 0, 1)
		if p.Sub(a.MulAdd(d, u)).LenSq() < 0.02*0.02 {
			return true
		}
	}
	return false
}

// picture draws a world from above, with what one fighter sees in the light.
func picture(w *world.World, id world.ID, scale int) *image.RGBA {
	var s Scene
	s.Look(w)
	m := s.Map
	img := image.NewRGBA(image.Rect(0, 0, m.Width*scale, m.Height*scale))
	f := world.Get[Fighter](w, id)
	var e Eye
	shape := e.See(&s, f.Pos, ViewReach)
	at := func(x, y int) det.Vec2 {
		return det.Vec2{
			X: (float64(x) + 0.5) / float64(scale), Y: (float64(y) + 0.5) / float64(scale)}
	}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			p := at(x, y)
			c := color.RGBA{16, 17, 22, 255}
			switch m.Cell(int(p.X), int(p.Y)) {
			case Wall:
				c = color.RGBA{82, 88, 104, 255}
			case Floor, Pit:
				lit := within(shape, f.Pos, p)
				c = color.RGBA{34, 36, 44, 255}
				if lit {
					c = color.RGBA{206, 198, 172, 255}
				}
				if m.Cell(int(p.X), int(p.Y)) == Pit {
					c.R, c.G, c.B = c.R/2, c.G/2+c.G/8, c.B/2+c.B/4
				}
			}
			for d := range m.Doors {
				for _, r := range s.Leaves(d) {
					if p.X > r.Min.X && p.X < r.Max.X && p.Y > r.Min.Y && p.Y < r.Max.Y {
						c = color.RGBA{196, 120, 48, 255}
					}
				}
			}
			img.Set(x, y, c)
		}
	}
	disc := func(at det.Vec2, r float64, c color.RGBA) {
		n := int(r*float64(scale)) + 1
		for y := -n; y <= n; y++ {
			for x := -n; x <= n; x++ {
				if float64(x*x+y*y) <= r*r*float64(scale*scale) {
					img.Set(int(at.X*float64(scale))+x, int(at.Y*float64(scale))+y, c)
				}
			}
		}
	}
	for _, p := range world.All[Pickup](w) {
		if p.There(w) {
			disc(p.Pos, 0.25, color.RGBA{60, 150, 90, 255})
		}
	}
	for _, o := range world.All[Shot](w) {
		disc(o.Pos, 0.2, color.RGBA{250, 90, 30, 255})
	}
	for other, o := range world.All[Fighter](w) {
		if !o.Alive() {
			continue
		}
		c := color.RGBA{210, 50, 60, 255}
		if other == id {
			c = color.RGBA{40, 110, 220, 255}
		}
		disc(o.Pos, Radius, c)
		disc(o.Pos.MulAdd(o.Aim.Vec(), 0.5), 0.12, color.RGBA{20, 20, 20, 255})
	}
	return img
}

// TestPictures keeps a drawing of each map under the directory that -pictures names.
func TestPictures(t *testing.T) {
	maps := []struct {
		name        string
		bots, scale int
	}{{"duel", 4, 20}, {"foundry", 12, 14}, {"maze", 200, 6}}
	if *pictures == "" {
		*pictures = t.TempDir()
		if !soak {
			maps = maps[:1] // one shows that they can be drawn
		}
	}
	for _, x := range maps {
		w, _, _ := crowded(t, x.name, x.bots)
		for id, f := range world.All[Fighter](w) {
			if !f.Alive() {
				continue
			}
			out, err := os.Create(filepath.Join(*pictures, x.name+".png"))
			if err != nil {
				t.Fatal(err)
			}
			if err := png.Encode(out, picture(w, id, x.scale)); err != nil {
				t.Fatal(err)
			}
			if err := out.Close(); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
}
