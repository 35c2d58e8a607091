package paperlab

import (
	"context"
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/world"
)

// The tree and those who walk around it, in the world's units.
const (
	treeWide   = 1.0 // from its middle
	walkAway   = 3.0 // how far from the middle players walk
	walkSpeed  = 9.0 // a second
	bodyWide   = 0.4 // from its middle
	shotsEvery = 12  // ticks
)

// An orbiter walks around the tree, always opposite of the other one, and shoots at where its
// command says.
type orbiter struct {
	Pos   det.Vec2
	Side  int
	Ready int
}

func (x *orbiter) Sync(s *bits.Sync) {
	s.Vec2(&x.Pos, -8, 8, 1.0/256)
	s.Int(&x.Side, 0, 1)
	s.Int(&x.Ready, 0, 63)
}

// Hints say what it is.
func (x *orbiter) Hints(h *game.Hints) { h.Body(2 * bodyWide) }

// Rewind has where it was remembered.
func (x *orbiter) Rewind(r *world.Rewinding) { r.Place(&x.Pos) }

// aim is a command: to shoot at a place.
type aim struct {
	At   det.Vec2
	Fire bool `world:"edge"`
}

func (c *aim) Sync(s *bits.Sync) {
	s.Vec2(&c.At, -8, 8, 1.0/256)
	s.Bool(&c.Fire)
}

// A shot was fired, and hit a player or nobody.
type shot struct{ By, Hit world.Player }

func (e *shot) Sync(s *bits.Sync) {
	bits.Integer(s, &e.By, 0, 1<<16-1)
	bits.Integer(s, &e.Hit, 0, 1<<16-1)
}

// rule is how shots are judged: by whose screen, and whether there must also be a clear line at
// present, as the paper proposes.
type rule struct {
	Favour int
	Sight  bool
}

func (r *rule) Sync(s *bits.Sync) {
	s.Int(&r.Favour, 0, 15)
	s.Bool(&r.Sight)
}

// open says whether the tree does not stand between two places.
func open(a, b det.Vec2) bool { return (det.Vec2{}).Nearest(a, b).Len() > treeWide }

// round is where a player walks at a tick.
func round(t world.Tick, side int, seconds float64) det.Vec2 {
	sin, cos := det.Sincos(walkSpeed/walkAway*seconds*float64(t) + halfTurn*float64(side))
	return det.Vec2{X: walkAway * cos, Y: walkAway * sin}
}

const halfTurn = 3.141592653589793

// Step walks on, and shoots by the command.
func (x *orbiter) Step(w *world.World, me world.ID) {
	x.Pos = round(w.Tick(), x.Side, w.Seconds())
	x.Ready = max(x.Ready-1, 0)
	c := world.Command[aim](w, me)
	if !c.Fire || x.Ready > 0 {
		return
	}
	x.Ready = shotsEvery
	rule := world.StateOf[rule](w)
	by := world.Shot{By: w.Owner(me), From: det.Vec3{X: x.Pos.X, Y: x.Pos.Y},
		Favour: world.Favour(rule.Favour)}
	e := shot{By: w.Owner(me)}
	beyond := x.Pos.MulAdd(c.At.Sub(x.Pos), 2)
	for id, other := range world.All[orbiter](w) {
		if id == me {
			continue
		}
		seen, _ := w.Sees(by, id)
		at := det.Vec2{X: seen.X, Y: seen.Y}
		if at.Sub(at.Nearest(x.Pos, beyond)).Len() > bodyWide || !open(x.Pos, at) ||
			rule.Sight && !open(x.Pos, round(w.Tick(), other.Side, w.Seconds())) {
			continue
		}
		if w.Strike(by, id) {
			e.Hit = w.Owner(id)
		}
	}
	world.Emit(w, world.None, e)
}

// treeRules are the game of two players and a tree.
var treeRules = world.Define("tree", world.Class[orbiter](), world.State[rule](),
	world.Commands[aim](), world.Event[shot](),
	world.OnJoin(func(w *world.World, p world.Player) {
		side := world.Count[orbiter](w) % 2
		w.SetOwner(world.Spawn(w, orbiter{Side: side, Pos: round(w.Tick(), side, w.Seconds())}), p)
	}))

// tree is the title, with shots judged by a rule.
func tree(r rule) *game.Title {
	return &game.Title{
		Game: treeRules, About: "two players walk around a tree", Players: 2,
		Levels: game.Levels{Settings: func(game.Level) (world.Settings, error) {
			state := r
			return world.Settings{States: []bits.Syncer{&state}}, nil
		}},
		Bot: game.Bots(func(uint64) func(w *world.World, me world.Player) aim { return takeAim }),
		Shots: game.Shots{
			Clear: func(_ *world.World, a, b det.Vec3) bool {
				return open(det.Vec2{X: a.X, Y: a.Y}, det.Vec2{X: b.X, Y: b.Y})
			},
			Hits: func(w *world.World, yield func(game.Hit) bool) {
				for _, e := range world.Events[shot](w) {
					if e.Hit != world.Nobody &&
						!yield(game.Hit{By: e.By, Victim: e.Hit, Direct: true}) {
						return
					}
				}
			},
		},
	}
}

// takeAim shoots whenever the tree is not in the way on one's own screen.
func takeAim(w *world.World, me world.Player) (c aim) {
	if w == nil {
		return c
	}
	if own, other := pair(w, me); own != nil && other != nil && open(own.Pos, other.Pos) {
		c.At, c.Fire = other.Pos, own.Ready == 0
	}
	return c
}

// pair are a player's own body and the other's, as a world has them.
func pair(w *world.World, me world.Player) (own, other *orbiter) {
	for id, x := range world.All[orbiter](w) {
		if w.Owner(id) == me {
			own = x
		} else {
			other = x
		}
	}
	return own, other
}

// A witness counts what happens around the tree.
type witness struct {
	open     map[world.Player]bool // whether the tree was not in the way on each one's last picture
	shots    map[world.Player]int
	hits     map[world.Player]int // by who shot
	hidden   int                  // of those, on who saw the tree in between
	pictures map[world.Player]int
	clear    map[world.Player]int // pictures with a clear line
}

func newWitness() *witness {
	return &witness{open: map[world.Player]bool{}, shots: map[world.Player]int{},
		hits: map[world.Player]int{}, pictures: map[world.Player]int{},
		clear: map[world.Player]int{}}
}

// truth counts shots and hits.
func (x *witness) truth(w *world.World) {
	for _, e := range world.Events[shot](w) {
		x.shots[e.By]++
		if e.Hit == world.Nobody {
			continue
		}
		x.hits[e.By]++
		if !x.open[e.Hit] {
			x.hidden++
		}
	}
}

// shown notes what a player sees.
func (x *witness) shown(s *tunnel.Seat, w *world.World) {
	own, other := pair(w, s.Me)
	if own == nil || other == nil {
		return
	}
	x.open[s.Me] = open(own.Pos, other.Pos)
	x.pictures[s.Me]++
	if x.open[s.Me] {
		x.clear[s.Me]++
	}
}

// A treeCase is one way to play and to judge.
type treeCase struct {
	about, arch string
	rule        rule
	published   string
}

var treeCases = []treeCase{
	{"Quake III: judged by the present", "quake3", rule{Favour: int(world.FavourPresent)},
		"the far player has to lead"},
	{"Half-Life: the server goes back", "halflife", rule{Favour: int(world.FavourShooter)},
		"the near player is hit through the tree"},
	{"... and the line must be clear at present", "halflife",
		rule{Favour: int(world.FavourShooter), Sight: true}, "not in this case"},
	{"DOOM III: all is predicted", "doom3", rule{Favour: int(world.FavourPresent)}, "–"},
	{"coeval", "coeval", rule{Favour: int(world.FavourDefault)}, "–"},
	{"lock step", "lockstep", rule{Favour: int(world.FavourPresent)}, "–"},
}

// circling is the case of the tree.
func circling(ctx context.Context, o *Options, p lab.Progress) (*Finding, error) {
	f := &Finding{Game: "two players who walk around a tree, 9 units a second, 3 from its middle",
		Seeds: o.seeds()}
	t := Table{Title: "One player 5 ms away, one 120 ms. In truth the tree is always between " +
		"them, and each shoots when it is not on the own screen", Keys: 1,
		Heads: []string{"how it is judged", "published", "far one sees a clear line, %",
			"near one does, %", "shots of the far one, a minute", "of the near one",
			"hits, a minute", "of them on who saw the tree in between"}}
	for i, c := range treeCases {
		share := 1 / float64(len(treeCases))
		s, err := lab.NewSubject(tree(c.rule), "", 2)
		if err != nil {
			return nil, err
		}
		var seen []*witness
		for range o.Seeds {
			seen = append(seen, newWitness())
		}
		row, err := circle(ctx, o, p.Within(float64(i)*share, share), c, s, seen)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.about, err)
		}
		t.Rows = append(t.Rows, row)
		hits := 0
		for _, x := range seen {
			for _, n := range x.hits {
				hits += n
			}
		}
		through := c.arch == "halflife" && !c.rule.Sight
		f.expect(through == (hits > 0), "%s: %d hits", c.about, hits)
	}
	f.Tables = append(f.Tables, t)
	f.differs("The paper tells the case and no figures. It comes out as told: a server that goes " +
		"back in time lets the far player hit somebody on whose screen the tree is always in " +
		"between, and a check of the present line takes just that away.")
	f.differs("Where everything is predicted, as in DOOM III, both see the other where that one " +
		"is, as far as walking on can be foreseen, and nobody shoots. Walkers that turn back now " +
		"and then would be seen past the tree for as long as it takes to learn of it.")
	return f, nil
}

// circle plays one case with all seeds, and makes its row.
func circle(ctx context.Context, o *Options, p lab.Progress, c treeCase, s *lab.Subject,
	seen []*witness) ([]string, error) {
	const near, far = world.Player(1), world.Player(2)
	samples, err := tunnelFigures(ctx, o, p, trial{arch: c.arch,
		network: "latency=5ms+latency=120ms", players: 2, subject: s,
		watch: func(i int) watcher { return seen[i] }})
	if err != nil {
		return nil, err
	}
	var farClear, nearClear, farShots, nearShots, hits, hidden []float64
	for i, x := range seen {
		minutes := samples[i].Seconds / 60
		share := func(p world.Player) float64 { return 100 * lab.Per(x.clear[p], x.pictures[p]) }
		farClear, nearClear = append(farClear, share(far)), append(nearClear, share(near))
		farShots = append(farShots, float64(x.shots[far])/minutes)
		nearShots = append(nearShots, float64(x.shots[near])/minutes)
		hits = append(hits, float64(x.hits[far]+x.hits[near])/minutes)
		hidden = append(hidden, float64(x.hidden)/minutes)
	}
	return []string{c.about, c.published, interval(farClear, 0), interval(nearClear, 0),
		interval(farShots, 0), interval(nearShots, 0), interval(hits, 0), interval(hidden, 0)}, nil
}
