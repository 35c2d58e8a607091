package rooms

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// layoutOf makes a layout of any bytes: first how many rooms and how much effort, then portals of
// 20 bytes each.
func layoutOf(data []byte) (Layout, []byte) {
	next := func(n int) []byte {
		b := make([]byte, n)
		copy(b, data)
		data = data[min(n, len(data)):]
		return b
	}
	float := func() float64 {
		b := binary.LittleEndian.Uint32(next(4))
		if b&3 == 0 {
			return float64(math.Float32frombits(b)) // anything at all
		}
		return float64(int32(b)>>24) / 4
	}
	head := next(4)
	l := Layout{Rooms: int(head[0])%64 + 1, Effort: int(head[1]) * 4, Total: int(head[2]) * 64,
		Locate: func(p det.Vec2) int { return int(det.Int32(p.X)) }}
	for i := 0; i < int(head[3]) && len(data) > 0; i++ {
		b := next(4)
		l.Portals = append(l.Portals, Portal{
			A: int(b[0]) % 64, B: int(b[1]) % 64, Door: int(b[2] % 8), Depth: float64(b[3]%4) / 4,
			P: det.Vec2{X: float(), Y: float()}, Q: det.Vec2{X: float(), Y: float()}})
	}
	return l, data
}

// FuzzPlan: a plan of any layout is refused, or made within its effort, and keeps what it promises
// whatever doors do: sight is mutual, one sees the room beyond an open door, and doors that are
// shut never show more than open ones.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{3, 9, 9, 2, 0, 1, 1, 2, 1, 0, 0, 8, 1, 0, 0, 0, 1, 0, 0, 8, 1, 0, 0, 16})
	f.Add([]byte{63, 0, 0, 200})
	f.Fuzz(func(t *testing.T, data []byte) {
		l, moves := layoutOf(data)
		p, err := NewPlan(l)
		if err != nil {
			return
		}
		if s := p.Summary(); s.Steps > p.layout.Total || s.Most > l.Rooms {
			t.Fatalf("%+v of %d", s, p.layout.Total)
		}
		for a := range l.Rooms {
			for b := range l.Rooms {
				if p.Sees(a, b) != p.Sees(b, a) || a == b && !p.Sees(a, b) {
					t.Fatalf("rooms %d and %d", a, b)
				}
			}
		}
		ix := interest.NewIndex(interest.Options{})
		r := New(p, ix, Options{Effort: 50})
		rules := &interest.Rules{Sources: []interest.Source{
			&Sight{In: r, Reach: 30}, &Hearing{In: r}}}
		finder, view := interest.NewFinder(), new(interest.View)
		for i, m := range moves[:min(len(moves), 40)] {
			id := world.MakeID(1, 0, int(m%16), 1)
			ix.Set(id, interest.Traits{
				Pos: det.Vec3{X: float64(m%64) - 1, Y: float64(i)}, Sound: 10, Speed: 5})
			r.Set(id)
			r.SetDoor(int(m>>4)%8, i%3 > 0)
			r.Refresh()
			finder.Update(view, ix, rules, interest.Observer{
				Pos: det.Vec3{X: float64(m >> 2)}, Speed: 9, RoundTrip: 100 * time.Millisecond})
			checkDoors(t, r)
		}
	})
}

func checkDoors(t *testing.T, r *Rooms) {
	t.Helper()
	for n := range r.plan.layout.Portals {
		if o := &r.plan.layout.Portals[n]; !r.isShut(n) &&
			(!r.Sees(o.A, o.B) || !r.Sees(o.B, o.A)) {
			t.Fatalf("portal %d is open, and room %d does not see %d", n, o.A, o.B)
		}
	}
	for a := range r.sees {
		for b := range r.sees {
			if r.Sees(a, b) && !r.plan.Sees(a, b) {
				t.Fatalf("room %d sees %d, which no open door would show", a, b)
			}
		}
	}
}
