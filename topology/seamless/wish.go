package seamless

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// wish is what a gateway asks zones to show: what is near the bodies of its players, by cells, or
// all.
type wish struct {
	watch
	reach  float64
	body   int // the class that players move about in, or -1
	whole  bool
	told   map[zone.ServerID]toldWish
	buf    []byte
	next   world.Tick
	wanted map[cell]struct{}
}

type toldWish struct {
	serial uint64
	at     time.Duration
}

const (
	// wishTicks is how many ticks apart it is looked where players are.
	wishTicks = 5
	// wishAgain is how often servers are told what to show.
	wishAgain = 500 * time.Millisecond
	// wishSpare is by what part of their sight more than players see is asked for, so that it is
	// here when they see it.
	wishSpare = 0.25
)

func (w *wish) open(o *Options, p *Plan) {
	w.reach = cmp.Or(o.Gate.Reach, o.Title.Sight.Reach)
	w.body = -1
	if c, _, ok := o.Title.Body(); ok {
		w.body = c.Number()
	}
	w.size, w.serial = max(w.reach/2, 1e-3), 1
	w.all = w.reach == 0 || w.body < 0
	w.cells, w.players = map[cell]struct{}{}, map[world.Player]struct{}{}
	w.wanted, w.told = map[cell]struct{}{}, map[zone.ServerID]toldWish{}
}

// SetWhole has the gateway be shown the whole world, for those who only watch.
func (g *Gate) SetWhole(on bool) { g.watch.whole = on }

// update finds anew what to ask for.
func (w *wish) update(g *Gate) {
	if g.w.Tick() < w.next {
		return
	}
	w.next = g.w.Tick() + wishTicks
	clear(w.wanted)
	all := w.whole || w.reach == 0 || w.body < 0
	if !all {
		for who := range w.players {
			w.near(g, who)
		}
		all = len(w.wanted) > maxCells
	}
	if all == w.all && (all || maps.Equal(w.wanted, w.cells)) {
		return
	}
	w.all, w.serial = all, w.serial+1
	w.cells, w.wanted = w.wanted, w.cells
	if all {
		clear(w.cells)
	}
}

// near adds what a player may see.
func (w *wish) near(g *Gate, who world.Player) {
	id, ok := g.sight.bodies[who]
	if !ok || !g.w.Has(id) || g.w.Owner(id) != who {
		delete(g.sight.bodies, who)
		return
	}
	p := &g.n.where[id.Class()]
	if len(p.slots) == 0 {
		return
	}
	at, far := p.at(g.w.Host().Image(id)), w.reach*(1+wishSpare)
	s := g.due.find(who)
	s.about = g.n.head.Plan.about(&at, s.about[:0])
	lo, hi := at, at
	for i := range at {
		lo[i], hi[i] = at[i]-far, at[i]+far
	}
	from, to := cellOf(&lo, w.size), cellOf(&hi, w.size)
	for x := from[0]; x <= to[0]; x++ {
		for y := from[1]; y <= to[1]; y++ {
			for z := from[2]; z <= to[2] && len(w.wanted) <= maxCells; z++ {
				w.wanted[cell{x, y, z}] = struct{}{}
			}
		}
	}
}

// expect has what belongs to a player be shown, wherever it is; or no more.
func (w *wish) expect(who world.Player, on bool) {
	if _, was := w.players[who]; was == on || who == world.Nobody {
		return
	}
	if w.serial++; on {
		w.players[who] = struct{}{}
	} else {
		delete(w.players, who)
	}
}

// tell tells all servers what to show.
func (w *wish) tell(g *Gate) {
	n := g.n
	w.buf = w.buf[:0]
	for _, l := range n.lines.list {
		if x := w.told[l.id]; !l.open() || x.serial == w.serial && n.now-x.at < wishAgain {
			continue
		}
		if len(w.buf) == 0 {
			w.buf = w.append(append(w.buf, saysWatch))
		}
		w.told[l.id] = toldWish{w.serial, n.now}
		n.lines.send(l.id, false, w.buf)
	}
	for id := range w.told {
		if n.lines.all[id] == nil {
			delete(w.told, id)
		}
	}
}

func sortedCells(m map[cell]struct{}) []cell {
	list := slices.Collect(maps.Keys(m))
	slices.SortFunc(list, func(a, b cell) int { return slices.Compare(a[:], b[:]) })
	return list
}

func sortedPlayers(m map[world.Player]struct{}) []world.Player {
	return slices.Sorted(maps.Keys(m))
}
