package crowd

import (
	"strconv"
	"testing"

	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// A run is a square full of bots that see everything.
type run struct {
	w    *world.World
	in   *world.Inputs
	bots []*Mind
}

func newRun(t testing.TB, players int, s world.Settings) *run {
	t.Helper()
	w, err := Game.New(s)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{w: w, in: Game.NewInputs()}
	for i := range players {
		r.bots = append(r.bots, NewBot(uint64(i)))
		r.in.Join(world.Player(i + 1))
	}
	r.step(t)
	return r
}

func (r *run) step(t testing.TB) {
	if err := r.w.Host().Step(r.in); err != nil {
		t.Fatal(err)
	}
	r.in.Reset()
	for i, b := range r.bots {
		p := world.Player(i + 1)
		if err := world.Give(r.in, p, b.Think(r.w, p)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDeterminism(t *testing.T) {
	o := world.CheckOptions{Settings: SettingsFor(60, 1), Ticks: 600, Players: 40}
	if d, err := world.CheckRollback(Game, o); d != nil || err != nil {
		t.Error(d, err)
	}
	rep, err := world.CheckHidden(Game, o)
	if err != nil || rep.Wrong > 0 {
		t.Errorf("%+v, %v", rep, err)
	}
}

// TestSameEverywhere pins a whole run, so that a machine that computes it otherwise is found out.
func TestSameEverywhere(t *testing.T) {
	r := newRun(t, 100, SettingsFor(100, 1))
	for range 900 {
		r.step(t)
	}
	if got := r.w.Hash(); got != 0x5e9a2630a393eb5a {
		t.Errorf("hash %#016x", got)
	}
}

func TestNothingIsTooCoarse(t *testing.T) {
	s := SettingsFor(40, 1)
	s.Develop = true
	r := newRun(t, 40, s)
	for range 1200 {
		r.step(t)
	}
	for _, x := range r.w.Host().Warnings() {
		t.Error(x)
	}
}

// TestEveryoneSeesAboutThirty: however many players there are, the square is such that thirty
// others are in view.
func TestEveryoneSeesAboutThirty(t *testing.T) {
	for _, players := range []int{60, 250, 1000} {
		r := newRun(t, players, SettingsFor(players, 1))
		ix := interest.NewIndex(Index())
		follower := interest.NewFollower(ix, descriptions()...)
		rules, finder := Rules(), interest.NewFinder()
		views := make([]interest.View, players)
		var seen [4]float64
		n := 0.0
		for tick := range 600 {
			r.step(t)
			if tick < 300 || tick%60 != 0 {
				continue
			}
			follower.Follow(r.w)
			for i := range views {
				o := interest.Observer{Player: world.Player(i + 1)}
				observe(r.w, o.Player, &o)
				if a := world.Get[Avatar](r.w, avatarOf(r.w, o.Player)); a == nil ||
					o.Pos != place(a.Pos) || r.w.Owner(avatarOf(r.w, o.Player)) != o.Player {
					t.Fatalf("player %d looks from %v", o.Player, o.Pos)
				}
				finder.Update(&views[i], ix, rules, o)
				for _, e := range views[i].Entries() {
					seen[e.ID.Class()]++
				}
				n++
			}
		}
		if others := seen[1]/n - 1; others < 27 || others > 36 {
			t.Errorf("%d players: %.1f others in view", players, others)
		}
		if seen[2] == 0 || seen[3] == 0 {
			t.Errorf("%d players see %.1f bolts and %.1f gems", players, seen[2]/n, seen[3]/n)
		}
		t.Logf("%d players on a side of %v: %.1f others, %.1f bolts, %.1f gems in view", players,
			SideFor(players), seen[1]/n-1, seen[2]/n, seen[3]/n)
	}
}

// TestTheGameIsPlayed: there are shots, hits, deaths and gems, and a record is kept for those who
// come later.
func TestTheGameIsPlayed(t *testing.T) {
	r := newRun(t, 200, SettingsFor(200, 3))
	shots, struck, fell, taken := 0, 0, 0, 0
	for range 3000 {
		r.step(t)
		for range world.Events[Shot](r.w) {
			shots++
		}
		for e, v := range world.Events[Struck](r.w) {
			struck++
			if v.Health == 0 {
				fell++
			}
			if world.Get[Avatar](r.w, e.About) == nil {
				t.Fatal("no one was struck")
			}
		}
		for range world.Events[Taken](r.w) {
			taken++
		}
	}
	p := world.StateOf[Plaza](r.w)
	if shots == 0 || struck == 0 || taken == 0 || p.Hits != struck || p.Found != taken {
		t.Errorf("%d shots, %d struck, %d fell, %d taken; %+v", shots, struck, fell, taken, p)
	}
	if world.Count[Gem](r.w) != 200 || world.Count[Avatar](r.w) != 200 {
		t.Errorf("%d gems, %d avatars", world.Count[Gem](r.w), world.Count[Avatar](r.w))
	}
	records := 0
	for range world.SavedEvents[Record](r.w) {
		records++
	}
	if records == 0 || records != p.Best {
		t.Errorf("%d records are saved, the best is %d", records, p.Best)
	}
	t.Logf("%d shots, %d struck, %d fell, %d taken; %+v", shots, struck, fell, taken, *p)
}

// TestNearest compares the cells with a look at everyone.
func TestNearest(t *testing.T) {
	r := newRun(t, 300, SettingsFor(300, 5))
	p := world.StateOf[Plaza](r.w)
	hits := 0
	for range 200 {
		r.step(t)
		p.cells.fill(r.w)
		for range 20 {
			rand := r.w.Rand()
			at := somewhere(r.w.Rand(), p.Side)
			distance := rand.Range(0.1, cellSide-walked)
			var want world.ID
			best := distance * distance
			for id, a := range world.All[Avatar](r.w) {
				if d := a.Pos.Sub(at).LenSq(); d < best {
					best, want = d, id
				}
			}
			if got, _ := p.meets(at, distance); got != want {
				t.Fatalf("%v is nearest to %v, not %v", want, at, got)
			}
			if want != world.None {
				hits++
			}
		}
	}
	if hits == 0 {
		t.Error("no one was near")
	}
}

// BenchmarkStep is what a tick costs for each player, bots included.
func BenchmarkStep(b *testing.B) {
	for _, players := range []int{100, 1000, 10000} {
		b.Run(strconv.Itoa(players), func(b *testing.B) {
			r := newRun(b, players, SettingsFor(players, 1))
			for range 120 {
				r.step(b)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				r.step(b)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(players),
				"ns/player")
		})
	}
}
