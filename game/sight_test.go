package game_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// A scout is what players move about in: it stands where it was put.
type scout struct{ Pos det.Vec2 }

func (a *scout) Sync(s *bits.Sync)   { s.Vec2(&a.Pos, -1000, 1000, 0.5) }
func (a *scout) Hints(h *game.Hints) { h.Body(1) }

// Step has the one at 60 go away after a while.
func (a *scout) Step(w *world.World, me world.ID) {
	if a.Pos.X == 60 && w.Tick() == 5 {
		w.Remove(me)
	}
}

// An owl is a scout with eyes of its own, above its place.
type owl struct{ Pos det.Vec2 }

func (a *owl) Sync(s *bits.Sync) { s.Vec2(&a.Pos, -1000, 1000, 0.5) }
func (a *owl) Look(*world.World, world.ID) interest.Observer {
	return interest.Observer{Pos: det.Vec3{X: a.Pos.X, Y: a.Pos.Y + 100}, Speed: 3, Channels: 2}
}

// A tree is where its place says, a banner is for everyone, a secret for no one, and of a rumour
// nothing is said.
type (
	tree   struct{ Pos det.Vec2 }
	banner struct{ Pos det.Vec2 }
	secret struct{ Pos det.Vec2 }
	rumour struct{ Size int }
)

func (a *tree) Sync(s *bits.Sync)   { s.Vec2(&a.Pos, -1000, 1000, 0.5) }
func (a *banner) Sync(s *bits.Sync) { s.Vec2(&a.Pos, -1000, 1000, 0.5) }
func (a *secret) Sync(s *bits.Sync) { s.Vec2(&a.Pos, -1000, 1000, 0.5) }
func (a *rumour) Sync(s *bits.Sync) { s.Int(&a.Size, 0, 9) }

func (a *banner) Traits(*world.World, world.ID) interest.Traits {
	return interest.Traits{Always: true, Nowhere: true}
}

func (a *secret) Traits(*world.World, world.ID) interest.Traits {
	return interest.Traits{Never: true}
}

// field is a game with two scouts of players 1 and 3, an owl of player 5 who has a scout as well,
// and a tree at every tenth unit to the right.
var field = world.Define("field",
	world.Class[scout](), world.Class[owl](), world.Class[tree](), world.Class[banner](),
	world.Class[secret](), world.Class[rumour](), world.State[weather](),
	world.OnStart(func(w *world.World) {
		w.SetOwner(world.Spawn(w, scout{det.Vec2{X: 0}}), 1)
		w.SetOwner(world.Spawn(w, scout{det.Vec2{X: 100}}), 3)
		w.SetOwner(world.Spawn(w, owl{det.Vec2{X: 200}}), 5)
		world.Spawn(w, owl{det.Vec2{X: 50}}) // nobody's
		for i := range 20 {
			world.Spawn(w, tree{det.Vec2{X: float64(10 * i)}})
		}
		world.Spawn(w, banner{})
		world.Spawn(w, secret{})
		world.Spawn(w, rumour{})
	}))

// sees lists what a player is shown, by class.
func sees(t *testing.T, v game.Views, w *world.World, p world.Player,
	o *interest.Observer) map[string]int {
	t.Helper()
	if err := v.Follow(w); err != nil {
		t.Fatal(err)
	}
	ix, rules := v.Sight(w, p, o)
	var view interest.View
	interest.NewFinder().Update(&view, ix, rules, *o)
	out := map[string]int{}
	for _, e := range view.Entries() {
		out[w.Game().Classes()[e.ID.Class()].Name()]++
	}
	return out
}

func started(t *testing.T, g *world.Game) *world.World {
	t.Helper()
	w, err := g.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Host().Step(nil); err != nil {
		t.Fatal(err)
	}
	return w
}

func views(t *testing.T, title *game.Title, w *world.World) game.Views {
	t.Helper()
	v, err := title.NewViews(w, game.Level{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestEverything: a title that says nothing shows everyone everything but what is for no one.
func TestEverything(t *testing.T) {
	w := started(t, field)
	v := views(t, &game.Title{Game: field}, w)
	for _, p := range []world.Player{world.Nobody, 1, 2, 5} {
		o := interest.Observer{Player: p}
		want := map[string]int{"scout": 2, "owl": 2, "tree": 20, "banner": 1, "rumour": 1}
		if got := sees(t, v, w, p, &o); !maps.Equal(got, want) {
			t.Errorf("player %d sees %v, want %v", p, got, want)
		}
	}
}

// TestReach: players are shown what is within reach of their eyes, what is theirs, and what is for
// all.
func TestReach(t *testing.T) {
	w := started(t, field)
	v := views(t, &game.Title{Game: field, Sight: game.Sight{Reach: 25}}, w)
	for _, x := range []struct {
		player world.Player
		want   map[string]int
		from   det.Vec3
	}{
		// The eye of a class that has one is not where its place is, so the trees are out of reach.
		{5, map[string]int{"owl": 1, "banner": 1, "rumour": 1}, det.Vec3{X: 200, Y: 100}},
		// There are eyes, so the bodies of others are none: they look from where they looked last.
		{1, map[string]int{"scout": 1, "tree": 3, "banner": 1, "rumour": 1}, det.Vec3{X: 0}},
		// Who watches looks over the shoulder of the first player who has eyes.
		{world.Nobody, map[string]int{"banner": 1, "rumour": 1}, det.Vec3{X: 200, Y: 100}},
	} {
		o := interest.Observer{Player: x.player, RoundTrip: 40 * time.Millisecond}
		if got := sees(t, v, w, x.player, &o); !maps.Equal(got, x.want) {
			t.Errorf("player %d sees %v, want %v", x.player, got, x.want)
		}
		if o.Pos != x.from || o.Player != x.player || o.RoundTrip != 40*time.Millisecond {
			t.Errorf("player %d looks from %+v", x.player, o)
		}
		if x.player == 5 && (o.Speed != 3 || o.Channels != 2) {
			t.Errorf("what the eye says is lost: %+v", o)
		}
	}
}

// plain is the field without owls.
var plain = world.Define("plain", world.Class[scout](), world.Class[tree](),
	world.OnStart(func(w *world.World) {
		w.SetOwner(world.Spawn(w, scout{det.Vec2{X: 100}}), 3)
		w.SetOwner(world.Spawn(w, scout{det.Vec2{X: 60}}), 2)
		for i := range 20 {
			world.Spawn(w, tree{det.Vec2{X: float64(10 * i)}})
		}
	}))

// TestBody: without an eye players look from their bodies.
func TestBody(t *testing.T) {
	w := started(t, plain)
	v := views(t, &game.Title{Game: plain, Sight: game.Sight{Reach: 25}}, w)
	for p, at := range map[world.Player]float64{3: 100, 2: 60, world.Nobody: 60} {
		o := interest.Observer{Player: p}
		got := sees(t, v, w, p, &o)
		if o.Pos != (det.Vec3{X: at}) || got["tree"] != 5 || got["scout"] != 1 {
			t.Errorf("player %d looks from %v and sees %v", p, o.Pos, got)
		}
	}
	for w.Tick() < 6 {
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
	}
	// with the first player's body, whom those who watched looked over the shoulder
	gone := interest.Observer{}
	if sees(t, v, w, world.Nobody, &gone); gone.Pos != (det.Vec3{X: 100}) {
		t.Errorf("who watches looks from %v, where nobody is any more", gone.Pos)
	}
	// who has no body stays where they looked
	o := interest.Observer{Player: 9, Pos: det.Vec3{X: 150}}
	if got := sees(t, v, w, 9, &o); got["tree"] != 5 || o.Pos != (det.Vec3{X: 150}) {
		t.Errorf("a player without a body looks from %v and sees %v", o.Pos, got)
	}
}

// TestSightRules: rules of one's own are made anew for each world, and those who watch may have
// others.
func TestSightRules(t *testing.T) {
	w := started(t, plain)
	made := 0
	title := &game.Title{
		Game: plain, Sight: game.Sight{Rules: func() (players, spectators *interest.Rules) {
			made++
			return &interest.Rules{Sources: []interest.Source{&interest.Owned{}}}, &interest.Rules{
				Sources: []interest.Source{&interest.Everything{}}}
		}}}
	for range 2 {
		v := views(t, title, w)
		if got := sees(t, v, w, 3, &interest.Observer{Player: 3}); !maps.Equal(got,
			map[string]int{"scout": 1}) {
			t.Errorf("a player sees %v", got)
		}
		if got := sees(t, v, w, world.Nobody, &interest.Observer{}); !maps.Equal(got,
			map[string]int{"scout": 2, "tree": 20}) {
			t.Errorf("who watches sees %v", got)
		}
	}
	if made != 2 {
		t.Errorf("two worlds have the rules of %d", made)
	}
}

// TestSightViews: a title may find views by itself, and is given its own traits.
func TestSightViews(t *testing.T) {
	w := started(t, field)
	lost := errors.New("there is no such map")
	var level game.Level
	var parts []interest.Description
	title := &game.Title{
		Game: field, Sight: game.Sight{
			Views: func(_ *world.World, l game.Level, traits []interest.Description) (game.Views,
				error) {
				level, parts = l, traits
				return nil, lost
			}}}
	if _, err := title.NewViews(w, game.Level{Name: "hill"}); !errors.Is(err, lost) ||
		level.Name != "hill" {
		t.Errorf("%v, for level %q", err, level.Name)
	}
	ix := interest.NewIndex(interest.Options{})
	interest.NewFollower(ix, parts...).Follow(w)
	got := map[string]interest.Traits{}
	for id := range w.Entities() {
		if x := ix.Traits(id); x != nil {
			got[w.Game().Classes()[id.Class()].Name()] = *x
		}
	}
	if got["tree"].Pos != (det.Vec3{X: 190}) || got["scout"].Owner != 3 || !got["banner"].Always ||
		!got["secret"].Never || !got["rumour"].Always {
		t.Errorf("%+v", got)
	}
}

// crowded is a square with so many people who walk about.
func crowded(tb testing.TB, players int) (*world.World, func()) {
	tb.Helper()
	w, err := crowd.Game.New(crowd.SettingsFor(players, 1))
	if err != nil {
		tb.Fatal(err)
	}
	in := crowd.Game.NewInputs()
	bots := make([]game.Bot, players)
	for i := range bots {
		bots[i] = crowd.Title.NewBot(uint64(i))
		in.Join(world.Player(i + 1))
	}
	step := func() {
		if err := w.Host().Step(in); err != nil {
			tb.Fatal(err)
		}
		in.Reset()
		for i, b := range bots {
			if err := b(w, world.Player(i+1), w.Tick()+1, in); err != nil {
				tb.Fatal(err)
			}
		}
	}
	for range 120 {
		step()
	}
	return w, step
}

// A byHand does what the server did before there were titles: the game describes its classes by
// type, and knows where each player is.
type byHand struct {
	index    *interest.Index
	follower *interest.Follower
	rules    *interest.Rules
	avatars  map[world.Player]det.Vec2
}

func (v *byHand) Follow(w *world.World) error {
	v.follower.Follow(w)
	for id, a := range world.All[crowd.Avatar](w) {
		v.avatars[w.Owner(id)] = a.Pos
	}
	return nil
}

func (v *byHand) Sight(w *world.World, p world.Player, o *interest.Observer) (*interest.Index,
	*interest.Rules) {
	o.Pos, o.Speed = inPlane(v.avatars[p]), 8
	return v.index, v.rules
}

func newByHand() game.Views {
	ix := interest.NewIndex(crowd.Index())
	follower := interest.NewFollower(ix,
		interest.Describe(func(_ *world.World, _ world.ID, a *crowd.Avatar) interest.Traits {
			return interest.Traits{Pos: inPlane(a.Pos), Speed: 8}
		}),
		interest.Describe(func(_ *world.World, _ world.ID, b *crowd.Bolt) interest.Traits {
			return interest.Traits{Pos: inPlane(b.Pos), Speed: 40}
		}),
		interest.Describe(func(_ *world.World, _ world.ID, g *crowd.Gem) interest.Traits {
			return interest.Traits{Pos: inPlane(g.Pos), Importance: 0.25}
		}))
	return &byHand{ix, follower, crowd.Rules(), map[world.Player]det.Vec2{}}
}

func inPlane(p det.Vec2) det.Vec3 { return det.Vec3{X: p.X, Y: p.Y} }

// TestCrowdSight: the title of the crowd shows what the game showed by hand.
func TestCrowdSight(t *testing.T) {
	w, step := crowded(t, 150)
	title, hand := views(t, crowd.Title, w), newByHand()
	for range 5 {
		step()
		for p := range world.Player(150) {
			a, b := interest.Observer{Player: p + 1}, interest.Observer{Player: p + 1}
			if x, y := sees(t, title, w, p+1, &a), sees(t, hand, w, p+1, &b); !maps.Equal(x, y) ||
				a != b {
				t.Fatalf("player %d sees %v from %v, and by hand %v from %v", p+1, x, a, y, b)
			}
		}
	}
}

// BenchmarkViews is a tick of finding out where everyone is and what the rules for each of 1000
// players are, of a title and by hand.
func BenchmarkViews(b *testing.B) {
	const players = 1000
	w, step := crowded(b, players)
	title, err := crowd.Title.NewViews(w, game.Level{})
	if err != nil {
		b.Fatal(err)
	}
	for _, x := range []struct {
		name  string
		views game.Views
	}{{"title", title}, {"by hand", newByHand()}} {
		b.Run(x.name, func(b *testing.B) {
			var o interest.Observer
			tick := func() {
				if err := x.views.Follow(w); err != nil {
					b.Fatal(err)
				}
				for p := range world.Player(players) {
					o.Player = p + 1
					x.views.Sight(w, p+1, &o)
				}
			}
			tick()
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				step()
				b.StartTimer()
				tick()
			}
		})
	}
}
