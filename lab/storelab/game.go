package storelab

import (
	"strconv"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

// A body has as many fields as a player of a first-person shooter, and always moves. Where it is
// and what it has is kept.
type body struct {
	kept.Mark   `world:"server"`
	Pos, Vel    det.Vec3
	Yaw, Pitch  det.Angle
	Health      int
	Legs, Torso int
	Gold        int
	Still       bool // it does not move
}

func (b *body) Sync(s *bits.Sync) {
	s.Vec3(&b.Pos, -32768, 32768, 1.0/8)
	s.Vec3(&b.Vel, -2048, 2048, 1.0/8)
	s.Angle(&b.Yaw, 12)
	s.Angle(&b.Pitch, 12)
	s.Int(&b.Health, 0, 200)
	s.Int(&b.Legs, 0, 1<<12)
	s.Int(&b.Torso, 0, 1<<12)
	s.Int(&b.Gold, 0, 1<<20)
	s.Bool(&b.Still)
}

func (b *body) Kept(k *kept.Fields) {
	k.Thing()
	k.Keep(&b.Pos, &b.Yaw, &b.Health, &b.Gold)
}

func (b *body) Step(w *world.World, _ world.ID) {
	if b.Still {
		return
	}
	b.Pos = b.Pos.MulAdd(b.Vel, w.Seconds())
	b.Yaw = (b.Yaw + 0.01).Wrap()
	b.Legs = (b.Legs + 1) % 4096
	if b.Pos.X > 32000 || b.Pos.X < -32000 {
		b.Vel.X = -b.Vel.X
	}
}

// A pack is what a body carries. Its ammunition changes all the time.
type pack struct {
	kept.Mark `world:"server"`
	Ammo      [8]int
	Turn      int
	Still     bool
}

func (p *pack) Sync(s *bits.Sync) {
	for i := range p.Ammo {
		s.Int(&p.Ammo[i], 0, 255)
	}
	s.Int(&p.Turn, 0, 1<<12)
	s.Bool(&p.Still)
}

func (p *pack) Kept(k *kept.Fields) {
	k.Thing()
	k.Keep(&p.Ammo)
}

func (p *pack) Step(*world.World, world.ID) {
	if p.Still {
		return
	}
	p.Turn = (p.Turn + 1) % 4096
	p.Ammo[p.Turn%8] = (p.Ammo[p.Turn%8] + 1) % 256
}

// A trade moves gold between two bodies.
type trade struct {
	Asked  uint64 // the tick
	Amount int
}

func (t *trade) Sync(s *bits.Sync) {
	s.Uint64(&t.Asked, 0, 1<<64-1)
	s.Int(&t.Amount, 0, 100)
}

type traded struct{}

func (*traded) Sync(*bits.Sync) {}

func execute(d *kept.Deal, q *trade) (traded, error) {
	from, to := kept.Party[body](d, 0), kept.Party[body](d, 1)
	if from.Gold < q.Amount || to.Gold+q.Amount > 1<<20 {
		return traded{}, nil
	}
	from.Gold, to.Gold = from.Gold-q.Amount, to.Gold+q.Amount
	return traded{}, nil
}

// riches is the gold that each body has at first.
const riches = 1000

// A fair is where bodies trade: so many trades in a second.
type fair struct {
	Bodies int // that there are
	Wanted int // of them, whose data was asked for
	Trades int
}

func (f *fair) Sync(s *bits.Sync) {
	s.Int(&f.Bodies, 0, 1<<20)
	s.Int(&f.Wanted, 0, 1<<20)
	s.Int(&f.Trades, 0, 1<<20)
}

func (f *fair) Step(w *world.World, _ world.ID) {
	f.load(w)
	rate := w.Game().Rate()
	now := int(w.Tick() % world.Tick(rate))
	for n := f.Trades * now / rate; n < f.Trades*(now+1)/rate; n++ {
		f.ask(w)
	}
}

// ask has two bodies trade that are not at another trade.
func (f *fair) ask(w *world.World) {
	for range 10 {
		r := w.Rand()
		a, b := f.pick(w, r.IntN(f.Bodies), r.IntN(f.Bodies))
		q := trade{uint64(w.Tick()), 1 + r.IntN(100)}
		if kept.Ask(w, q, a, b) == nil { // otherwise one of them is not loaded, or trades already
			return
		}
	}
}

// pick finds two bodies by their places among all.
func (f *fair) pick(w *world.World, i, j int) (a, b world.ID) {
	n := 0
	for id := range world.All[body](w) {
		if n == i {
			a = id
		}
		if n == j {
			b = id
		}
		if n++; n > i && n > j {
			break
		}
	}
	return a, b
}

// define makes the game: so many bodies, each with a pack. Answered is told how many ticks each
// answer has taken.
func define(entities int, answered func(ticks int)) *world.Game {
	settled := func(w *world.World, q *trade, _ *traded, _ error) {
		answered(int(uint64(w.Tick()) - q.Asked))
	}
	return world.Define("storelab", world.Class[body](world.ClassOptions{Limit: entities}),
		world.Class[pack](world.ClassOptions{Limit: entities}), world.State[fair](),
		kept.Declare(kept.Request(execute, settled)),
		world.OnStart(func(w *world.World) {
			f := world.StateOf[fair](w)
			for range entities {
				r := w.Rand()
				at := det.Vec3{X: r.Range(0, 16000), Y: r.Range(0, 16000), Z: r.Range(0, 2000)}
				world.Spawn(w, pack{})
				world.Spawn(w, body{Pos: at, Vel: det.Vec3{X: r.Range(-300, 300)}, Health: 100,
					Gold: riches})
				f.Bodies++
			}
		}))
}

// load asks for what is kept of some more, as if they came one after the other.
func (f *fair) load(w *world.World) {
	const most = 100 // in a tick
	if f.Wanted >= f.Bodies {
		return
	}
	to := min(f.Wanted+most, f.Bodies)
	i := 0
	for id := range world.All[body](w) {
		if i >= f.Wanted && i < to {
			load(w, id, i)
		}
		i++
	}
	i = 0
	for id := range world.All[pack](w) {
		if i >= f.Wanted && i < to {
			load(w, id, i)
		}
		i++
	}
	f.Wanted = to
}

func load(w *world.World, id world.ID, i int) {
	if err := kept.LoadAs(w, id, "number "+strconv.Itoa(i)); err != nil {
		panic(err) // the name is a good one
	}
}
