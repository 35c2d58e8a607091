package trace

import (
	"bytes"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// The game of the tests is a small shooter: players run, look around, fire and say things.

type runner struct {
	Pos, Vel det.Vec2
	Aim      det.Angle
	Score    int
	Said     string
	Shots    int `world:"server"`
}

func (r *runner) Sync(s *bits.Sync) {
	s.Vec2(&r.Pos, -100, 100, 1.0/64)
	s.Vec2(&r.Vel, -20, 20, 1.0/64)
	s.Angle(&r.Aim, 12)
	s.Int(&r.Score, 0, 1000)
	s.String(&r.Said, 12)
}

func (r *runner) Step(w *world.World, me world.ID) {
	c := world.Command[run](w, me)
	r.Aim = c.Aim
	r.Vel = det.Vec2{X: float64(c.X), Y: float64(c.Y)}.Mul(8)
	r.Pos = r.Pos.MulAdd(r.Vel, w.Seconds()).ClampLen(60)
	if c.Say != "" {
		r.Said = c.Say
	}
	if c.Fire {
		r.Shots++
		world.Spawn(w, bolt{Pos: r.Pos, Vel: r.Aim.Vec().Mul(30), Left: 20 + w.Rand().IntN(10)})
	}
	if faulty > 0 && w.Tick() >= faulty && w.Owner(me) == 1 {
		r.Score++
	}
}

// faulty is the tick from which on this machine's rules are not what they should be; 0 is never.
var faulty world.Tick

type bolt struct {
	Pos, Vel det.Vec2
	Left     int
}

func (b *bolt) Sync(s *bits.Sync) {
	s.Vec2(&b.Pos, -200, 200, 1.0/64)
	s.Vec2(&b.Vel, -40, 40, 1.0/64)
	s.Int(&b.Left, 0, 100)
}

func (b *bolt) Step(w *world.World, me world.ID) {
	b.Pos = b.Pos.MulAdd(b.Vel, w.Seconds())
	if b.Left--; b.Left <= 0 {
		w.Remove(me)
	}
	for _, r := range world.All[runner](w) {
		if d := r.Pos.Sub(b.Pos).LenSq(); d > 0 && d < 0.25 {
			r.Score = min(r.Score+1, 1000)
		}
	}
}

type run struct {
	X, Y int8
	Aim  det.Angle
	Fire bool `world:"edge"`
	Slot uint8
	Gold int64
	Say  string
}

func (c *run) Sync(s *bits.Sync) {
	s.Int8(&c.X, -1, 1)
	s.Int8(&c.Y, -1, 1)
	s.Angle(&c.Aim, 12)
	s.Bool(&c.Fire)
	s.Uint8(&c.Slot, 0, 200)
	s.Varint(&c.Gold)
	s.String(&c.Say, 12)
}

var shooter = world.Define("shooter", world.Class[runner](),
	world.Class[bolt](world.ClassOptions{Limit: 500}), world.Commands[run](),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w,
			runner{Pos: det.Vec2{X: w.Rand().Range(-20, 20), Y: w.Rand().Range(-20, 20)}}), p)
	}))

// People play as people do: keys are held for a good part of a second, the view follows something
// for a while and then rests, triggers are pulled in bursts, and a command in a hundred does not
// arrive.
type people struct {
	rand  *det.Rand
	now   []run
	turn  []float64 // radians a tick
	rest  []int     // ticks for which the view does not move
	fires []int
}

func newPeople(seed uint64, n int) *people {
	r := det.At(seed, 0, 0)
	return &people{
		rand: &r, now: make([]run, n), turn: make([]float64, n), rest: make([]int, n),
		fires: make([]int, n)}
}

func (p *people) act(t world.Tick, in *world.Inputs) {
	in.Reset()
	for i := range p.now {
		player := world.Player(i + 1)
		if t == 1 {
			in.Join(player)
		}
		c := &p.now[i]
		if p.rand.Chance(1.0 / 25) {
			c.X = int8(p.rand.IntN(3) - 1)
		}
		if p.rand.Chance(1.0 / 25) {
			c.Y = int8(p.rand.IntN(3) - 1)
		}
		switch {
		case p.rest[i] > 0:
			p.rest[i]--
		case p.rand.Chance(1.0 / 30):
			p.rest[i], p.turn[i] = 5+p.rand.IntN(40), 0
		default: // a hand on a mouse: it goes on, with a jitter
			p.turn[i] = float64(0.85*p.turn[i]) + p.rand.Range(-0.012, 0.012)
			c.Aim = (c.Aim + det.Angle(p.turn[i])).Wrap()
		}
		if p.fires[i]--; p.fires[i] < -60 && p.rand.Chance(1.0/60) {
			p.fires[i] = 30
		}
		c.Fire = p.fires[i] > 0 && p.fires[i]%6 == 0
		if p.rand.Chance(0.01) {
			continue
		}
		if err := world.Give(in, player, *c); err != nil {
			panic(err)
		}
	}
}

type play struct {
	ticks   int
	inputs  func(t world.Tick, in *world.Inputs)
	options Options
	each    func(w *world.World, in *world.Inputs)
	open    bool // leave the trace without its end
}

// record plays a game and gives the trace, and the last world.
func (p play) record(t testing.TB, g *world.Game) ([]byte, *world.World) {
	t.Helper()
	w, err := g.New(world.Settings{Seed: 7, Secret: 9})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	tw, err := NewWriter(&out, w, p.options)
	if err != nil {
		t.Fatal(err)
	}
	in := g.NewInputs()
	for range p.ticks {
		p.inputs(w.Tick()+1, in)
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		if err := tw.Tick(in, w); err != nil {
			t.Fatal(err)
		}
		if p.each != nil {
			p.each(w, in)
		}
	}
	if !p.open {
		if err := tw.Close(); err != nil {
			t.Fatal(err)
		}
		if int64(out.Len()) != tw.Size() {
			t.Errorf("Size is %d, written were %d", tw.Size(), out.Len())
		}
	}
	return out.Bytes(), w
}

func open(t testing.TB, data []byte) *Reader {
	t.Helper()
	r, err := Open(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
