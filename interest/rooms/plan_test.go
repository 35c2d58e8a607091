package rooms

import (
	"testing"

	"github.com/coeval-dev/coeval/det"
	"pgregory.net/rapid"
)

// A grid is a map of squares for tests: solid or open, with doorways one square thick. The oracle
// knows only the squares; the plan knows only rooms and portals.
type grid struct {
	w, h    int
	solid   []bool
	room    []int // by square; -1 for solid, and the portal's first room for doorways
	portal  []int // by square; -1 for none
	portals []Portal
	across  []bool
	rooms   int
}

// drawGrid makes up a map: fields of open ground with walls between, some walls left out, doorways
// in most others, pillars.
func drawGrid(t *rapid.T) *grid {
	columns, rows := rapid.IntRange(1, 5).Draw(t, "columns"), rapid.IntRange(1, 5).Draw(t, "rows")
	line := func(n int, name string) []int {
		at := []int{0}
		for range n {
			at = append(at, at[len(at)-1]+rapid.IntRange(4, 8).Draw(t, name))
		}
		return at
	}
	xs, ys := line(columns, "x"), line(rows, "y")
	g := &grid{w: xs[columns] + 1, h: ys[rows] + 1}
	for range g.w * g.h {
		g.solid, g.room, g.portal = append(g.solid, false), append(g.room, -1), append(g.portal, -1)
	}
	for _, x := range xs {
		for y := range g.h {
			g.solid[y*g.w+x] = true
		}
	}
	for _, y := range ys {
		for x := range g.w {
			g.solid[y*g.w+x] = true
		}
	}
	chance := func(name string, n int) bool { return rapid.IntRange(1, n).Draw(t, name) == 1 }
	for j := range rows {
		for i := range columns {
			if i+1 < columns && chance("no wall", 6) {
				for y := ys[j] + 1; y < ys[j+1]; y++ {
					g.solid[y*g.w+xs[i+1]] = false
				}
			}
			for y := ys[j] + 2; y < ys[j+1]-1; y++ {
				for x := xs[i] + 2; x < xs[i+1]-1; x++ {
					g.solid[y*g.w+x] = chance("pillar", 9)
				}
			}
		}
	}
	var openings [][]int
	for j := range rows {
		for i := range columns {
			if i+1 < columns && g.solid[(ys[j]+1)*g.w+xs[i+1]] && !chance("shut", 4) {
				openings = append(openings, g.opening(t, xs[i+1], ys[j]+1, 0, 1, ys[j+1]-ys[j]-1))
			}
			if j+1 < rows && !chance("shut", 4) {
				openings = append(openings, g.opening(t, xs[i]+1, ys[j+1], 1, 0, xs[i+1]-xs[i]-1))
			}
		}
	}
	g.fill()
	for n, squares := range openings {
		first, last := squares[0], squares[len(squares)-1]
		across := len(squares) > 1 && squares[1] == first+g.w || len(squares) == 1 &&
			g.solid[first-g.w]
		x, y := float64(first%g.w), float64(first/g.w)
		var o Portal
		if n%3 == 0 {
			o.Door = n/3 + 1
		}
		// X grows from A to B; with P below Q, A must be where the cross product is positive
		if across {
			o.A, o.B = g.room[first-1], g.room[first+1]
			o.P, o.Q = det.Vec2{X: x + 0.5, Y: y}, det.Vec2{X: x + 0.5, Y: float64(last/g.w) + 1}
		} else {
			o.A, o.B = g.room[first+g.w], g.room[first-g.w]
			o.P, o.Q = det.Vec2{X: x, Y: y + 0.5}, det.Vec2{X: float64(last%g.w) + 1, Y: y + 0.5}
		}
		if o.A == o.B {
			// It is no doorway, but a hole in a room's own wall.
			for _, s := range squares {
				g.room[s], g.portal[s] = o.A, -1
			}
			continue
		}
		for _, s := range squares {
			g.portal[s] = len(g.portals)
		}
		g.portals = append(g.portals, o)
		g.across = append(g.across, across)
	}
	return g
}

// opening makes a doorway in a wall, and gives its squares.
func (g *grid) opening(t *rapid.T, x, y, dx, dy, n int) (squares []int) {
	from := rapid.IntRange(0, n-1).Draw(t, "from")
	wide := rapid.IntRange(1, min(3, n-from)).Draw(t, "wide")
	for i := from; i < from+wide; i++ {
		s := (y+i*dy)*g.w + x + i*dx
		g.solid[s], g.portal[s] = false, 1<<30
		squares = append(squares, s)
	}
	return squares
}

// fill numbers the rooms.
func (g *grid) fill() {
	for i := range g.solid {
		if g.solid[i] || g.portal[i] >= 0 || g.room[i] >= 0 {
			continue
		}
		stack := []int{i}
		g.room[i] = g.rooms
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, to := range []int{at - 1, at + 1, at - g.w, at + g.w} {
				if !g.solid[to] && g.portal[to] < 0 && g.room[to] < 0 {
					g.room[to] = g.rooms
					stack = append(stack, to)
				}
			}
		}
		g.rooms++
	}
}

func (g *grid) locate(p det.Vec2) int {
	x, y := int(p.X), int(p.Y)
	if p.X < 0 || p.Y < 0 || x >= g.w || y >= g.h || g.solid[y*g.w+x] {
		return -1
	}
	if n := g.portal[y*g.w+x]; n >= 0 {
		o := &g.portals[n]
		if o.Q.Sub(o.P).Cross(p.Sub(o.P)) > 0 {
			return o.A
		}
		return o.B
	}
	return g.room[y*g.w+x]
}

// clear is the oracle: it tries the line from a to b against every solid square, and every doorway
// that is shut.
func (g *grid) clear(a, b det.Vec2, shut func(portal int) bool) bool {
	d := b.Sub(a)
	inside := func(x0, y0, x1, y1 float64) bool {
		lo, hi := 0.0, 1.0
		for _, s := range [2][4]float64{{a.X, d.X, x0, x1}, {a.Y, d.Y, y0, y1}} {
			if s[1] == 0 {
				if s[0] <= s[2] || s[0] >= s[3] {
					return false
				}
				continue
			}
			u, v := (s[2]-s[0])/s[1], (s[3]-s[0])/s[1]
			lo, hi = max(lo, min(u, v)), min(hi, max(u, v))
		}
		return hi-lo > 1e-9
	}
	for i, solid := range g.solid {
		if x, y := float64(i%g.w), float64(i/g.w); solid && inside(x, y, x+1, y+1) {
			return false
		}
	}
	for n, o := range g.portals {
		if !shut(n) {
			continue
		}
		u, v := o.Q.Sub(o.P).Cross(a.Sub(o.P)), o.Q.Sub(o.P).Cross(b.Sub(o.P))
		s, t := d.Cross(o.P.Sub(a)), d.Cross(o.Q.Sub(a))
		if u*v <= 0 && s*t <= 0 {
			return false
		}
	}
	return true
}

// drawPoint is somewhere in the open, off the lattice: a line along the border of two solid squares
// would pass between them.
func (g *grid) drawPoint(t *rapid.T, off float64) (det.Vec2, int) {
	for {
		p := det.Vec2{
			X: off + float64(rapid.IntRange(0, 64*g.w).Draw(t, "px"))/64, Y: 2*off +
				float64(rapid.IntRange(0, 64*g.h).Draw(t, "py"))/64}
		if r := g.locate(p); r >= 0 {
			return p, r
		}
	}
}

// A bend is an affine map, which changes neither what is seen nor what is left of what: portals
// need not be along the axes.
type bend struct{ x, y, o det.Vec2 }

func (b *bend) to(p det.Vec2) det.Vec2 { return b.o.MulAdd(b.x, p.X).MulAdd(b.y, p.Y) }

// Whatever the map, whichever doors are shut, from wherever to wherever: if there is a clear line
// between two points, their rooms see each other.
func TestNothingVisibleIsMissed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		// Jambs are at right angles only where nothing is bent.
		depth := rapid.SampledFrom([]float64{0, 0.25, 0.5}).Draw(t, "depth")
		turn := det.Angle(rapid.Float64Range(0, 6).Draw(t, "turn")).Vec()
		b := bend{turn.Mul(1.5), turn.Perp().Mul(0.8).MulAdd(turn, 0.3), det.Vec2{X: -30, Y: 7}}
		if depth > 0 {
			b = bend{turn, turn.Perp(), det.Vec2{X: -30, Y: 7}}
		}
		l := Layout{Rooms: g.rooms, Locate: func(det.Vec2) int { return -1 }}
		for _, o := range g.portals {
			o.P, o.Q, o.Depth = b.to(o.P), b.to(o.Q), depth
			l.Portals = append(l.Portals, o)
		}
		plan, err := NewPlan(l)
		if err != nil {
			t.Fatal(err)
		}
		rooms := New(plan, newIndex(), Options{})
		never := func(int) bool { return false }
		for range 4 {
			for d := 1; d < len(plan.doors); d++ {
				rooms.SetDoor(d, rapid.Bool().Draw(t, "open"))
			}
			rooms.Refresh()
			for range 30 {
				p, r := g.drawPoint(t, 0.0012345)
				q, s := g.drawPoint(t, 0.0031416)
				if g.clear(p, q, never) && (!plan.Sees(r, s) || !plan.Sees(s, r)) {
					t.Fatalf("one sees from %v in room %d to %v in room %d, but the plan says no",
						p, r, q, s)
				}
				if g.clear(p, q, rooms.isShut) && (!rooms.Sees(r, s) || !rooms.Sees(s, r)) {
					t.Fatalf("with some doors shut one sees from %v in room %d to %v in room %d, "+
						"but the rooms say no", p, r, q, s)
				}
			}
		}
	})
}
