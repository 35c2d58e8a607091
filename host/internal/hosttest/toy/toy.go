// Package toy is a title for tests of screens: it has every call of a surface, an image and a sound
// of its own and some that are missing, and it breaks when it is asked to.
package toy

import (
	"embed"
	"encoding/binary"
	"io/fs"
	"math"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

//go:embed assets
var embedded embed.FS

// Side is how wide and high the world is.
const Side = 40

// Game has a pawn for each player, which counts what its player does.
var Game = world.Define("toy",
	world.Class[Pawn](), world.Commands[Do](),
	world.Event[Beep](world.EventOptions{Delivery: world.Unreliable}),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, Pawn{Pos: det.Vec2{X: Side / 2, Y: Side / 2}}), p)
	}),
	world.OnLeave(func(w *world.World, p world.Player) {
		for id := range world.All[Pawn](w) {
			if w.Owner(id) == p {
				w.Remove(id)
			}
		}
	}),
)

// Do is what a player does.
type Do struct {
	Move, At det.Vec2
	Fire     bool
	Tap      bool `world:"edge"` // the key E was pressed
}

// Sync names the fields.
func (d *Do) Sync(s *bits.Sync) {
	s.Vec2(&d.Move, -1, 1, 1.0/64)
	s.Vec2(&d.At, -Side, 2*Side, 1.0/16)
	s.Bool(&d.Fire)
	s.Bool(&d.Tap)
}

// A Pawn goes where its player pushes.
type Pawn struct {
	Pos, At     det.Vec2
	Fires, Taps int
}

// Sync names the fields.
func (p *Pawn) Sync(s *bits.Sync) {
	s.Vec2(&p.Pos, 0, Side, 1.0/256)
	s.Vec2(&p.At, -Side, 2*Side, 1.0/16)
	s.Int(&p.Fires, 0, 1<<20)
	s.Int(&p.Taps, 0, 1<<20)
}

// Hints say that it is what a player moves.
func (p *Pawn) Hints(h *game.Hints) { h.Body(2) }

// Step moves and counts.
func (p *Pawn) Step(w *world.World, me world.ID) {
	c := world.Command[Do](w, me)
	p.Pos = p.Pos.MulAdd(c.Move, float64(8*w.Seconds()))
	p.Pos = det.Vec2{X: det.Clamp(p.Pos.X, 0, Side), Y: det.Clamp(p.Pos.Y, 0, Side)}
	p.At = c.At
	if c.Fire {
		p.Fires++
	}
	if c.Tap {
		p.Taps++
		world.Emit(w, me, Beep{})
	}
}

// Beep is heard when a player taps.
type Beep struct{}

// Sync names the fields.
func (*Beep) Sync(*bits.Sync) {}

// Title is the toy as programs run it.
var Title = &game.Title{
	Game: Game,
	Screen: game.Screen{
		New: newDrawer, Assets: assets(), Scores: scores,
		Hint: "E taps, X breaks the drawing, C the controls",
	},
	Control: game.NewControls(newControl),
}

func assets() fs.FS {
	f, err := fs.Sub(embedded, "assets")
	if err != nil {
		panic(err) // it is part of the program
	}
	return withClick{f}
}

// withClick has a sound besides what is embedded.
type withClick struct{ fs.FS }

// ReadFile reads a file.
func (w withClick) ReadFile(name string) ([]byte, error) {
	if name != "click.wav" {
		return fs.ReadFile(w.FS, name)
	}
	const rate, samples = 8000, 400
	b := []byte("RIFF....WAVEfmt ")
	// 16 bits of one channel
	for _, x := range []uint32{16, 1 | 1<<16, rate, 2 * rate, 2 | 16<<16} {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	b = binary.LittleEndian.AppendUint32(append(b, "data"...), 2*samples)
	for i := range samples {
		x := int16(20000 * math.Exp(-float64(i)/80) * math.Sin(float64(i)))
		b = binary.LittleEndian.AppendUint16(b, uint16(x))
	}
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	return b, nil
}

func scores(w *world.World) (list []game.Score) {
	for id, p := range world.All[Pawn](w) {
		list = append(list, game.Score{Player: w.Owner(id), Points: p.Taps})
	}
	return list
}

// broken is what the keys X asks for: the controls know the keys, and the drawing breaks.
var broken bool

func newControl() func(in *game.Input) Do {
	return func(in *game.Input) Do {
		broken = broken || in.Pressed(game.KeyX)
		if in.Pressed(game.KeyC) {
			panic("the controls are broken\nas they were asked to be")
		}
		d := Do{Move: in.Stick, Fire: in.Fire, Tap: in.Pressed(game.KeyE)}
		if in.Pointer.There {
			d.At = in.Pointer.Place
		}
		return d
	}
}

func newDrawer() func(s *draw.Surface, f *game.Frame) {
	return func(s *draw.Surface, f *game.Frame) {
		if broken {
			panic("the drawing is broken")
		}
		s.Clear(draw.RGB(0x14181f))
		s.Camera(draw.Camera{X: Side / 2, Y: Side / 2, Width: Side, Height: Side, Up: true})
		s.Picture("ground", Side, Side, 8, ground)
		s.Image("ground", Side/2, Side/2, Side, Side, 0, draw.White)
		shapes(s, f.Time)
		for id, p := range world.All[Pawn](f.World) {
			c := draw.RGB(0xff8040)
			if f.World.Owner(id) == f.Me {
				c = draw.RGB(0x40ff80)
			}
			s.Circle(p.Pos.X, p.Pos.Y, 1, c)
			s.Text(p.Pos.X, p.Pos.Y+1.8, 1.2, f.Name(f.World.Owner(id)), draw.White, draw.Center)
		}
		s.Samples("made", 8000, func() []float32 {
			wave := make([]float32, 800)
			for i := range wave {
				wave[i] = float32(math.Sin(float64(i) / 3))
			}
			return wave
		})
		for range game.Events[Beep](f) {
			s.Tone(draw.Tone{Wave: draw.Sine, From: 440, To: 220, Seconds: 0.1}, 0.5, -0.5)
			s.Tone(draw.Tone{Wave: draw.Noise, From: 900, Seconds: 0.1}, 0.2, 0.5)
			s.Sound("made", 0.5, 0)
			s.Sound("click.wav", 0.5, 0)
			s.Sound("none.mp3", 0.5, 0)
		}
	}
}

// ground is drawn once.
func ground(s *draw.Surface) {
	for x := range Side / 2 {
		for y := range Side / 2 {
			if (x+y)%2 == 0 {
				s.Rect(float64(2*x), float64(2*y), 2, 2, draw.RGB(0x1c222c))
			}
		}
	}
	s.Image("mark.svg", 4, 4, 4, 4, 0, draw.White)
}

// shapes are all there are, in a row.
func shapes(s *draw.Surface, t float64) {
	s.Rect(2, 34, 3, 3, draw.RGB(0xd04040))
	s.Box(8, 35.5, 3, 2, 0.5, draw.RGB(0x40d040))
	s.Circle(13, 35.5, 1.5, draw.RGB(0x4060d0))
	s.Ring(18, 35.5, 1.5, 0.4, draw.RGB(0xd0d040))
	s.Glow(23, 35.5, 2.5, draw.RGB(0xffffff).Alpha(0.8))
	s.Line(26, 34, 30, 37, 0.5, draw.RGB(0x40d0d0))
	s.Polygon(draw.RGB(0xd040d0), 32, 34, 35, 34, 33.5, 37)
	s.Image("mark.svg", 5, 28, 4, 4, 0.4, draw.White)
	s.Image("mark.svg", 11, 28, 4, 4, t, draw.RGB(0xff8080))
	s.Image("none.png", 18, 28, 4, 3, 0, draw.White)
	s.Blend(draw.Add)
	s.Circle(24, 28, 2, draw.RGB(0x803000))
	s.Circle(26, 28, 2, draw.RGB(0x003080))
	s.Blend(draw.Multiply)
	s.Rect(29, 26, 4, 4, draw.RGB(0xff8080))
	s.Blend(draw.Over)
	s.Clip(35, 26, 39, 26, 37, 30)
	s.Rect(34, 25, 8, 8, draw.RGB(0xf0f0f0))
	s.Clip()
	s.Text(20, 22, 2, "upright, in the middle", draw.White, draw.Center)
}
