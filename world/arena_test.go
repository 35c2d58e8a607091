package world

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
)

// The game of the tests has one of everything.

// ship is driven by a player, and fires.
type ship struct {
	Pos, Vel det.Vec2
	Aim      det.Angle
	Health   int
	Burning  bool
	Heat     int
	Name     string
	Reload   int
	Nose     det.Vec2 `world:"derived"`
	Shots    int      `world:"server"`
	Mood     float64  `world:"server"`
	Motto    string   `world:"server"`
}

func (s *ship) Sync(b *bits.Sync) {
	b.Vec2(&s.Pos, -200, 200, 1.0/64)
	b.Vec2(&s.Vel, -64, 64, 1.0/256)
	b.Angle(&s.Aim, 12)
	b.Int(&s.Health, 0, 100)
	if b.Bool(&s.Burning) {
		b.Int(&s.Heat, 3, 90)
	}
	b.String(&s.Name, 12)
	b.Int(&s.Reload, 0, 30)
}

func (s *ship) Derive() { s.Nose = s.Pos.MulAdd(s.Aim.Vec(), 2) }

func (s *ship) Step(w *World, me ID) {
	c := Command[steer](w, me)
	s.Aim = c.Aim
	s.Vel = s.Vel.MulAdd(s.Aim.Vec(), float64(float64(c.Thrust)*w.Seconds())).ClampLen(20)
	s.Pos = s.Pos.MulAdd(s.Vel, w.Seconds())
	s.Reload = max(s.Reload-1, 0)
	if c.Fire && s.Reload == 0 {
		s.Reload = 5
		s.Shots++
		s.Mood += 0.1
		s.Motto = "fire"
		Spawn(w, shell{Pos: s.Nose, Vel: s.Aim.Vec().Mul(40), Life: 50 + w.Rand().IntN(20),
			From: uint64(me)})
		Emit(w, me, fired{Loud: s.Shots % 8})
	}
	if s.Burning = s.Health < 50; s.Burning {
		s.Heat = min(max(s.Heat, 3)+1, 90)
	}
	if s.Health == 0 {
		Emit(w, None, sunk{By: me})
		s.Health = 100
		s.Pos = det.Vec2{X: w.Rand().Range(-50, 50), Y: w.Rand().Range(-50, 50)}
	}
}

// shell flies, hits and is gone.
type shell struct {
	Pos, Vel det.Vec2
	Life     int
	From     uint64
}

func (s *shell) Sync(b *bits.Sync) {
	b.Vec2(&s.Pos, -200, 200, 1.0/64)
	b.Vec2(&s.Vel, -64, 64, 1.0/256)
	b.Int(&s.Life, 0, 100)
	b.Uvarint(&s.From)
}

func (s *shell) Step(w *World, me ID) {
	s.Pos = s.Pos.MulAdd(s.Vel, w.Seconds())
	if s.Life--; s.Life <= 0 {
		w.Remove(me)
		return
	}
	for id, t := range All[ship](w) {
		if uint64(id) != s.From && t.Pos.Sub(s.Pos).LenSq() < 9 {
			t.Health = max(t.Health-30, 0)
			w.Remove(me)
			Emit(w, id, hit{At: s.Pos})
			return
		}
	}
}

// drone wanders alone.
type drone struct {
	Pos  det.Vec2
	Turn det.Angle
}

func (d *drone) Sync(b *bits.Sync) {
	b.Vec2(&d.Pos, -200, 200, 1.0/64)
	b.Angle(&d.Turn, 10)
}

func (d *drone) Step(w *World, me ID) {
	d.Turn = (d.Turn + det.Angle(w.Rand().Range(-0.1, 0.1))).Wrap()
	d.Pos = d.Pos.MulAdd(d.Turn.Vec(), 0.1)
	if d.Pos.LenSq() > 10000 {
		d.Pos = det.Vec2{}
	}
}

// trail has a slice, and so a copy of its own.
type trail struct {
	Points []point
	Next   int
}

type point struct{ X, Y int16 }

func (p *point) Sync(b *bits.Sync) { b.Int16(&p.X, -999, 999); b.Int16(&p.Y, -999, 999) }

func (t *trail) Sync(b *bits.Sync) {
	bits.Slice(b, &t.Points, 8, (*point).Sync)
	b.Int(&t.Next, 0, 7)
}

func (t *trail) CopyFrom(from *trail) {
	points := append(t.Points[:0], from.Points...)
	*t = *from
	t.Points = points
}

func (t *trail) Step(w *World, me ID) {
	p := point{int16(w.Rand().IntN(1000)), int16(w.Tick() % 1000)}
	if len(t.Points) < 8 {
		t.Points = append(t.Points, p)
		return
	}
	t.Points[t.Next] = p // in place: the slice itself stays as it is
	t.Next = (t.Next + 1) % 8
	if w.Tick()%100 == 0 {
		t.Points = t.Points[:2]
		t.Next = 0
	}
}

// match is a state.
type match struct {
	Ticks int
	Sunk  int
	Wind  det.Vec2
}

func (m *match) Sync(b *bits.Sync) {
	b.Int(&m.Ticks, 0, 1<<30)
	b.Int(&m.Sunk, 0, 1<<20)
	b.Vec2(&m.Wind, -8, 8, 1.0/16)
}

func (m *match) Step(w *World, me ID) { m.Ticks++ }

type steer struct {
	Aim    det.Angle
	Thrust int8
	Fire   bool `world:"edge"`
}

func (c *steer) Sync(b *bits.Sync) {
	b.Angle(&c.Aim, 12)
	b.Int8(&c.Thrust, 0, 15)
	b.Bool(&c.Fire)
}

type fired struct{ Loud int }

func (e *fired) Sync(b *bits.Sync) { b.Int(&e.Loud, 0, 7) }

type hit struct{ At det.Vec2 }

func (e *hit) Sync(b *bits.Sync) { b.Vec2(&e.At, -200, 200, 0.25) }

type sunk struct{ By ID }

func (e *sunk) Sync(b *bits.Sync) { bits.Integer(b, &e.By, 0, 1<<62) }

func arenaParts() []Declaration {
	return []Declaration{
		Class[ship](), Class[shell](ClassOptions{Limit: 300}), Class[drone](), Class[trail](),
		State[match](),
		Commands[steer](),
		Event[fired](EventOptions{Delivery: Unreliable, Weak: true}), Event[hit](),
		Event[sunk](EventOptions{Delivery: Saved, Limit: 1000}),
		OnStart(func(w *World) {
			for i := range 70 {
				Spawn(w, drone{Pos: det.Vec2{X: float64(i), Y: float64(-i)}})
			}
			for range 5 {
				Spawn(w, trail{})
			}
		}),
		OnJoin(func(w *World, p Player) {
			id := Spawn(w,
				ship{Health: 100, Name: "player " + string(rune('a'+p)),
					Pos: det.Vec2{X: w.Rand().Range(-20, 20)}})
			w.SetOwner(id, p)
		}),
	}
}

var arena = Define("arena", arenaParts()...)
