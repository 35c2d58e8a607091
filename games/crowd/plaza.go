package crowd

import (
	"math"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// Plaza is the square, and how the game goes. Its counts are brought up to date once a second, as
// everyone is told of each change.
type Plaza struct {
	Side        float64 // metres
	Gems        int     // how many lie about
	Hits, Found int     // by all players, so far
	Best        int     // tens of gems that someone has

	hits, taken int    `world:"server"`  // since the last second
	cells       *cells `world:"derived"` // who is where: made anew at each tick
}

// Sync names the fields.
func (p *Plaza) Sync(s *bits.Sync) {
	s.Float(&p.Side, 0, extent, 1)
	s.Int(&p.Gems, 0, 2*Most)
	s.Int(&p.Hits, 0, 1<<30)
	s.Int(&p.Found, 0, 1<<30)
	s.Int(&p.Best, 0, 999)
}

// Derive has nothing to do: Step makes what it needs.
func (p *Plaza) Derive() {}

// CopyFrom keeps the memory for the cells, as two worlds must not share it.
func (p *Plaza) CopyFrom(from *Plaza) {
	cells := p.cells
	*p = *from
	p.cells = cells
}

// Gather sorts everyone into cells, for all that step.
func (p *Plaza) Gather(w *world.World, me world.ID) {
	if p.cells == nil {
		p.cells = new(cells)
	}
	p.cells.fill(w)
}

// Step brings the counts up to date.
func (p *Plaza) Step(w *world.World, me world.ID) {
	if w.Tick()%world.Tick(w.Game().Rate()) == 0 {
		p.Hits = min(p.Hits+p.hits, 1<<30)
		p.Found = min(p.Found+p.taken, 1<<30)
		p.hits, p.taken = 0, 0
	}
}

// A tally is what players did, to be counted.
type tally struct {
	Hits, Taken int
	By          world.Player // who has so many tens of gems
	Tens        int
}

// Sync names the fields.
func (t *tally) Sync(s *bits.Sync) {
	s.Int(&t.Hits, 0, 1)
	s.Int(&t.Taken, 0, 1)
	bits.Integer(s, &t.By, 0, 1<<16-1)
	s.Int(&t.Tens, 0, 999)
}

// count is a tally's: the square may be at home on another server than who did it.
func count(w *world.World, _, _ world.ID, t *tally) {
	p := world.StateOf[Plaza](w)
	p.hits += t.Hits
	p.taken += t.Taken
	if t.Tens > p.Best {
		p.Best = t.Tens
		world.Emit(w, world.None, Record{By: t.By, Tens: t.Tens})
	}
}

// meets finds the nearest avatar within a distance, which must be less than a cell; of two that are
// as near, the one with the lower identifier.
func (p *Plaza) meets(at det.Vec2, distance float64) (world.ID, *Avatar) {
	if p.cells == nil {
		return world.None, nil
	}
	return p.cells.nearest(at, distance)
}

// cellSide is how large a cell is. Someone may walk out of the cell in which the tick began, but
// not by more than walked is.
const cellSide, walked = 4.0, 0.25

// cells is a grid without bounds: the number of a cell is hashed into one of so many lists.
type cells struct {
	heads  []int32 // 1 and up; 0 is an empty list
	people []person
}

type person struct {
	*Avatar
	id   world.ID
	next int32
}

func (c *cells) fill(w *world.World) {
	n := world.Count[Avatar](w)
	size := 64
	for size < 2*n {
		size *= 2
	}
	if len(c.heads) != size {
		c.heads = make([]int32, size)
	}
	clear(c.heads)
	c.people = c.people[:0]
	for id, a := range world.All[Avatar](w) {
		head := c.list(cellOf(a.Pos.X), cellOf(a.Pos.Y))
		c.people = append(c.people, person{a, id, *head})
		*head = int32(len(c.people))
	}
}

func cellOf(x float64) int32 { return det.Int32(det.Floor(x / cellSide)) }

func (c *cells) list(x, y int32) *int32 {
	h := uint64(uint32(x))*0x9E3779B97F4A7C15 ^ uint64(uint32(y))*0xC90FDAA22168C235
	return &c.heads[(h>>32)&uint64(len(c.heads)-1)]
}

func (c *cells) nearest(at det.Vec2, distance float64) (found world.ID, who *Avatar) {
	best := float64(distance * distance)
	margin := distance + walked
	for y := cellOf(at.Y - margin); y <= cellOf(at.Y+margin); y++ {
		for x := cellOf(at.X - margin); x <= cellOf(at.X+margin); x++ {
			for i := *c.list(x, y); i != 0; i = c.people[i-1].next {
				p := &c.people[i-1]
				if d := p.Pos.Sub(at).LenSq(); d < best || d == best && p.id < found {
					best, found, who = d, p.id, p.Avatar
				}
			}
		}
	}
	return found, who
}

// SideFor is how large a square must be so that each of so many players has Others in sight on
// average, those at its edges included.
func SideFor(players int) float64 {
	// The chance that two of a unit square are within r of each other, r up to 1, is pi r^2 - 8/3
	// r^3 + r^4/2.
	want := Others / float64(max(players-1, Others))
	lo, hi := 0.0, 1.0
	for range 40 {
		r := (lo + hi) / 2
		rr := float64(r * r)
		if float64(rr*(math.Pi-float64(8.0/3*r)+float64(rr/2))) < want {
			lo = r
		} else {
			hi = r
		}
	}
	return min(det.Ceil(Sight/hi), extent)
}

// SettingsFor makes a world for so many players: a square of the right size, with a gem for each.
func SettingsFor(players int, seed uint64) world.Settings {
	players = min(max(players, 1), Most)
	return world.Settings{
		Seed: seed, Secret: seed + 1, States: []bits.Syncer{
			&Plaza{Side: SideFor(players), Gems: players}}}
}
