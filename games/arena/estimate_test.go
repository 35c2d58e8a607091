package arena

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// An estimate is where one player is, as a cheating client reckons that has the game's own physics
// and the map: a cloud of guesses that walk as fighters do, by the commands of that player where
// the client is told them and otherwise as people walk. Guesses that the client would see are
// thrown out.
type estimate struct {
	rand   det.Rand
	cloud  [40]guess
	cmd    Command
	driven bool // the cloud goes by cmd
	deaths int
	back   uint32 // of someone who died: tick at which they are thought to have come back
}

type guess struct {
	pos, vel det.Vec2
	wish     det.Vec2 // where it wants to go
	turn     int      // ticks until it wants to go elsewhere
}

func newEstimate(seed uint64, m *Map) *estimate {
	e := &estimate{rand: det.At(seed, 5, 5)}
	e.scatter(m)
	return e
}

// scatter knows nothing but where fighters appear.
func (e *estimate) scatter(m *Map) {
	for i := range e.cloud {
		e.cloud[i] = guess{pos: m.Spawns[e.rand.IntN(len(m.Spawns))].Pos}
	}
}

// at knows where the player is.
func (e *estimate) at(pos, vel det.Vec2) {
	for i := range e.cloud {
		e.cloud[i] = guess{pos: pos, vel: vel}
		if vel.LenSq() > 1 && i%4 != 0 {
			e.cloud[i].wish, e.cloud[i].turn = vel.Unit(), 10+e.rand.IntN(50)
		}
	}
	e.back = 0
}

// died knows that the player is no more, and will appear at one of the spawns.
func (e *estimate) died(now uint32) { e.back = now + comeBack + 50 }

// advance lets a tick pass.
func (e *estimate) advance(s *Scene, now uint32) {
	if e.back > now {
		return
	}
	if e.back != 0 {
		e.back = 0
		e.scatter(s.Map)
	}
	for i := range e.cloud {
		g := &e.cloud[i]
		c := e.cmd
		if !e.driven {
			if g.turn--; g.turn < 0 {
				g.wish, g.turn = e.rand.Unit2(), 10+e.rand.IntN(60)
				if e.rand.IntN(6) == 0 {
					g.wish = det.Vec2{}
				}
			}
			c = Command{X: int8(g.wish.X * Push), Y: int8(g.wish.Y * Push)}
		}
		f := Fighter{Pos: g.pos, Vel: g.vel}
		f.hasten(c, 1.0/rate)
		g.pos, g.vel = s.walk(f.Pos, f.Vel, f.Vel.Mul(1.0/rate))
		if !e.driven && g.vel.LenSq() < 1 && g.wish != (det.Vec2{}) {
			g.turn = min(g.turn, 3) // it ran into a wall
		}
	}
}

// unseen throws guesses out that the client would be shown.
func (e *estimate) unseen(s *Scene, eye det.Vec2) {
	var out [len(e.cloud)]bool
	left := make([]int, 0, len(e.cloud))
	for i := range e.cloud {
		p := e.cloud[i].pos
		out[i] = p.Sub(eye).LenSq() < (ViewReach-1)*(ViewReach-1) && s.Clear(eye, p)
		if !out[i] {
			left = append(left, i)
		}
	}
	if len(left) == 0 {
		return
	}
	for i := range e.cloud {
		if out[i] {
			e.cloud[i] = e.cloud[left[e.rand.IntN(len(left))]]
			e.cloud[i].turn = e.rand.IntN(20)
		}
	}
}

// best is the guess that most others are near to.
func (e *estimate) best() det.Vec2 {
	most, at := -1, 0
	for i := range e.cloud {
		n := 0
		for j := range e.cloud {
			if e.cloud[i].pos.Sub(e.cloud[j].pos).LenSq() < wallhackReach*wallhackReach {
				n++
			}
		}
		if n > most {
			most, at = n, i
		}
	}
	return e.cloud[at].pos
}

// A spy is the estimates of all players by one client. If it is greedy, it uses whatever the client
// is sent; otherwise the images of what is in view, sounds and sparks, and the map.
type spy struct {
	greedy bool
	of     map[world.Player]*estimate
	seed   uint64
}

func (y *spy) about(p world.Player, m *Map) *estimate {
	if y.of[p] == nil {
		y.of[p] = newEstimate(y.seed*100+uint64(p), m)
	}
	return y.of[p]
}

// see takes over what the client's world shows: who is there, and who has died.
func (y *spy) see(w *world.World, m *Map) {
	for id, s := range world.All[Sheet](w) {
		e := y.about(w.Owner(id), m)
		if s.Deaths > e.deaths {
			e.died(now(w))
		}
		e.deaths = s.Deaths
	}
	for id, f := range world.All[Fighter](w) {
		switch e := y.about(w.Owner(id), m); {
		case f.Alive():
			e.at(f.Pos, f.Vel)
		case f.Back > now(w):
			e.back = f.Back + 50
		}
	}
}

// hear takes over an event.
func (y *spy) hear(m *Map, from, about world.Player, e any, pickup det.Vec2) {
	move := func(p world.Player, to det.Vec2) {
		if p != world.Nobody {
			x := y.about(p, m)
			x.at(to, x.cloud[0].vel)
		}
	}
	switch e := e.(type) {
	case *Spawned:
		move(about, e.At)
	case *Beam:
		move(about, e.From)
	case *Fired:
		move(about, e.At)
	case *PickedUp:
		move(e.By, pickup)
	case *Damaged:
		if x := y.about(e.By, m); e.Weapon == Rail && about == from && x.back == 0 && y.greedy {
			x.hint(y.about(from, m).cloud[0].pos, e.From)
		}
	}
}

// hint keeps those guesses that lie in the direction from which a shot came.
func (e *estimate) hint(at det.Vec2, dir det.Angle) {
	var left []guess
	for _, g := range e.cloud {
		if d := g.pos.Sub(at); det.Abs(float64(d.Angle().Sub(dir))) < 0.2 {
			left = append(left, g)
		}
	}
	for i := range e.cloud {
		if len(left) > 0 {
			e.cloud[i] = left[e.rand.IntN(len(left))]
		}
	}
}
