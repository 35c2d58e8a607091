package gateway

import (
	"math"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// oracle knows where all walkers were, by what the zones themselves computed.
type oracle struct {
	at     map[world.ID]map[world.Tick]det.Vec2
	zones  map[world.ID]map[zone.ID]bool
	fired  map[world.ID]int
	tally  int
	double int // how often something was in two zones
}

func (s *sim) watch() *oracle {
	o := &oracle{at: map[world.ID]map[world.Tick]det.Vec2{}, fired: map[world.ID]int{},
		zones: map[world.ID]map[zone.ID]bool{}}
	told := map[zone.ID]world.Tick{}
	s.net.Every(ms, func() {
		for _, x := range s.servers {
			if x.dead {
				continue
			}
			for _, z := range x.Zones() {
				w := x.World(z)
				if told[z] == w.Tick() {
					continue
				}
				told[z] = w.Tick()
				o.look(w, z)
			}
		}
	})
	return o
}

func (o *oracle) look(w *world.World, z zone.ID) {
	for id, p := range world.All[walker](w) {
		if w.Ghost(id) {
			continue
		}
		if o.at[id] == nil {
			o.at[id], o.zones[id] = map[world.Tick]det.Vec2{}, map[zone.ID]bool{}
		}
		if at, ok := o.at[id][w.Tick()]; ok && at != p.Pos {
			o.double++
		}
		o.at[id][w.Tick()] = p.Pos
		o.zones[id][z] = true
		o.fired[id] = p.Fired
	}
	if !w.Ghost(world.StateID[tally](w)) {
		o.tally = world.StateOf[tally](w).Marks
	}
}

// track compares what a player is shown of itself and of others with what was.
type track struct {
	me    map[world.Tick]det.Vec2 // as first shown
	other map[world.ID]map[world.Tick]det.Vec2
	id    world.ID
	most  int // bodies of the player's that were shown at once
	gaps  int // frames without one
	fired int // commands that fire
	back  bool
}

func newTrack() *track {
	return &track{me: map[world.Tick]det.Vec2{}, other: map[world.ID]map[world.Tick]det.Vec2{}}
}

func (k *track) see(v *client.View) {
	if v.World == nil || v.Me == world.Nobody {
		return
	}
	mine := 0
	for id, p := range world.All[walker](v.World) {
		if v.World.Owner(id) == v.Me {
			mine++
			k.id = id
			if _, ok := k.me[v.World.Tick()]; !ok {
				k.me[v.World.Tick()] = p.Pos
			}
		}
	}
	if k.most = max(k.most, mine); mine == 0 && k.id != world.None {
		k.gaps++
	}
	for id, p := range world.All[walker](v.Truth) {
		if k.other[id] == nil {
			k.other[id] = map[world.Tick]det.Vec2{}
		}
		k.other[id][v.Truth.Tick()] = p.Pos
	}
}

// off is by how much what was shown of the player differed from what was, and in how many ticks at
// all.
func (k *track) off(o *oracle) (most float64, wrong, all int) {
	for t, at := range k.me {
		if was, ok := o.at[k.id][t]; ok {
			all++
			d := was.Sub(at).Len()
			if most = math.Max(most, d); d > 0 {
				wrong++
			}
		}
	}
	return most, wrong, all
}

// walk has a player go to and fro over the middle of the field, where a border is, and fire now
// and then.
func (k *track) walk(w *world.World, me world.Player, t world.Tick, in *world.Inputs) {
	for id, p := range world.All[walker](w) {
		switch {
		case w.Owner(id) != me:
		case p.Pos.X > walkLong/2+8:
			k.back = true
		case p.Pos.X < walkLong/2-8:
			k.back = false
		}
	}
	c := going{X: 1, Fire: t%6 == 0}
	if k.back {
		c.X = -1
	}
	if c.Fire {
		k.fired++
	}
	_ = world.Give(in, me, c)
}

type viewOf = client.View

// owner is the server that has a zone.
func (s *sim) owner(z zone.ID) *zoned {
	for _, x := range s.servers {
		if !x.dead && x.World(z) != nil {
			return x
		}
	}
	s.t.Fatalf("nobody has zone %d", z)
	return nil
}

// kill ends a server without a word.
func (s *sim) kill(x *zoned) { x.dead = true }

func (s *sim) middle() det.Vec3 { return det.Vec3{X: walkLong / 2, Y: walkWide / 2} }
