package keep_test

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/world"
)

// The game of the tests: walkers who go where they want, and drop things that vanish.

type walker struct {
	X, Y, Steps int
	Luck        int `world:"server"`
}

func (r *walker) Sync(s *bits.Sync) {
	s.Int(&r.X, -1000, 1000)
	s.Int(&r.Y, -1000, 1000)
	s.Int(&r.Steps, 0, 1<<20)
}

// faulty is the tick from which on this program's rules are not those of the one before.
var faulty world.Tick

func (r *walker) Step(w *world.World, me world.ID) {
	c := world.Command[walk](w, me)
	r.X, r.Y = r.X+int(c.X), r.Y+int(c.Y)
	r.Steps++
	r.Luck = w.Rand().IntN(1000)
	if r.Luck < 200 {
		world.Spawn(w, crumb{Left: r.Luck % 20})
	}
	if faulty > 0 && w.Tick() >= faulty {
		r.Steps++
	}
}

type crumb struct{ Left int }

func (c *crumb) Sync(s *bits.Sync) { s.Int(&c.Left, 0, 100) }

func (c *crumb) Step(w *world.World, me world.ID) {
	if c.Left--; c.Left < 0 {
		w.Remove(me)
	}
}

type walk struct{ X, Y int8 }

func (c *walk) Sync(s *bits.Sync) {
	s.Int8(&c.X, -1, 1)
	s.Int8(&c.Y, -1, 1)
}

func define(name string) *world.Game {
	return world.Define(name, world.Class[walker](),
		world.Class[crumb](world.ClassOptions{Limit: 200}), world.Commands[walk](),
		world.OnJoin(func(w *world.World, p world.Player) {
			w.SetOwner(world.Spawn(w, walker{X: w.Rand().IntN(100)}), p)
		}))
}

var walking = define("walking")

// A moment is what the game was after a tick.
type moment struct {
	hash  uint64
	seats []keep.Seat
}

// A life is a game that is played, with what it was at each tick since it began.
type life struct {
	rand  *det.Rand
	world *world.World
	in    *world.Inputs
	seats map[world.Player]keep.Seat
	past  map[world.Tick]moment
}

func newLife(r *det.Rand) *life {
	w, err := walking.New(world.Settings{Seed: r.Uint64()})
	if err != nil {
		panic(err)
	}
	l := &life{rand: r, world: w, in: walking.NewInputs(), seats: map[world.Player]keep.Seat{},
		past: map[world.Tick]moment{}}
	l.note()
	return l
}

func (l *life) note() { l.past[l.world.Tick()] = moment{l.world.Hash(), l.list()} }

func (l *life) list() (out []keep.Seat) {
	for p := world.Player(1); p < 10; p++ {
		if s, ok := l.seats[p]; ok {
			out = append(out, s)
		}
	}
	return out
}

// resume goes on from what was kept, and forgets what came after.
func (l *life) resume(k *keep.Kept) {
	l.world = k.World
	l.seats = map[world.Player]keep.Seat{}
	for _, s := range k.Seats {
		l.seats[s.Player] = s
	}
	for t := range l.past {
		if t > k.World.Tick() {
			delete(l.past, t)
		}
	}
}

// step plays a tick and gives its frame.
func (l *life) step() *keep.Frame {
	l.in.Reset()
	f := &keep.Frame{Inputs: l.in}
	for p := world.Player(1); p < 6; p++ {
		s, there := l.seats[p]
		switch {
		case !there && l.rand.Chance(0.1):
			s = keep.Seat{Client: l.rand.Uint64(), Player: p, Name: string(rune('a' + p)),
				Inside: true}
			if l.rand.Chance(0.5) {
				s.UserData = []byte{byte(p), 7}
			}
			l.in.Join(p)
			l.seats[p] = s
			f.Seats = append(f.Seats, s)
		case there && l.rand.Chance(0.02):
			l.in.Leave(p)
			delete(l.seats, p)
			f.Seats = append(f.Seats, keep.Seat{Player: p, Empty: true})
		case there && l.rand.Chance(0.9):
			c := walk{int8(l.rand.IntN(3) - 1), int8(l.rand.IntN(3) - 1)}
			if err := world.Give(l.in, p, c); err != nil {
				panic(err)
			}
		}
	}
	if err := l.world.Host().Step(l.in); err != nil {
		panic(err)
	}
	l.note()
	f.Tick = l.world.Tick()
	if f.Hashed = f.Tick%7 == 0; f.Hashed {
		f.Hash = l.world.Hash()
	}
	return f
}

func (l *life) snapshot() *keep.Snapshot {
	s := &keep.Snapshot{World: l.world, Seats: l.list()}
	s.Level.Name, s.Level.Seed, s.Level.Data = "meadow", 5, []byte("a map")
	return s
}
