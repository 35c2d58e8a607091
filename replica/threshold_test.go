package replica

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
	"pgregory.net/rapid"
)

// What walkers have thresholds of in tests. Health and Name have none.
const (
	posBy = 3
	velBy = 4
	aimBy = 0.5
)

var walkerBeyond = map[string]Policy{
	"walker": {Beyond: []Threshold{{"Pos", posBy}, {"Vel", velBy}, {"Aim", aimBy}}},
}

var walkerLayout, _ = bits.NewLayout(&walker{})

// decode reads a walker's image.
func decode(t testing.TB, image []int32) (a walker) {
	t.Helper()
	if err := walkerLayout.Unpack(new(bits.Sync), &a, image); err != nil {
		t.Fatal(err)
	}
	return a
}

// within says whether a walker is as near to another as the thresholds of tests ask for.
func (a *walker) within(b *walker) bool {
	turn := math.Abs(math.Remainder(float64(a.Aim)-float64(b.Aim), 2*math.Pi))
	return a.Health == b.Health && a.Name == b.Name && turn <= aimBy+1e-9 &&
		math.Hypot(a.Pos.X-b.Pos.X, a.Pos.Y-b.Pos.Y) <= posBy+1e-9 &&
		math.Hypot(a.Vel.X-b.Vel.X, a.Vel.Y-b.Vel.Y) <= velBy+1e-9
}

// wrongBeyond is wrong for a guest whose walkers have thresholds. It counts those that are behind.
func (g *guest) wrongBeyond(behind *int) string {
	for id := range g.w.Entities() {
		image, want := g.w.Host().Image(id), g.site.w.Host().Image(id)
		if id.Class() != 1 || !g.view.Has(id) || slices.Equal(image, want) ||
			g.w.Owner(id) != g.site.w.Owner(id) {
			continue
		}
		a, b := decode(g.t, image), decode(g.t, want)
		if !a.within(&b) {
			return fmt.Sprintf("%v is shown as %+v and is %+v", id, a, b)
		}
		*behind++
		if err := g.w.Host().Put(id, world.Entry{Owner: g.w.Owner(id)}, want); err != nil {
			g.t.Fatal(err)
		}
	}
	return g.wrong()
}

// Under loss, duplication and reordering a client ends up within the thresholds in the fields that
// have them, and with nothing wrong in all others.
func TestBeyondUnderLoss(t *testing.T) {
	ticks, behind, lost := 240, 0, uint64(0)
	if testing.Short() {
		ticks = 100
	}
	rapid.Check(t, func(rt *rapid.T) {
		strategy := Strategy(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3, 4, 5, 6}).Draw(rt,
			"strategy"))
		seed := rapid.Uint64().Draw(rt, "seed")
		s := newSite(t, Options{Strategy: strategy, Classes: walkerBeyond}, seed, 6)
		s.hist = map[world.ID]map[uint32][]int32{}
		var guests []*guest
		for i := range 3 {
			g := newGuest(s, world.Player(i+1), seed)
			g.disturb(rt)
			guests = append(guests, g)
		}
		for range ticks {
			s.step()
			for _, g := range guests {
				g.tick()
			}
		}
		for i, g := range guests {
			g.calm()
			for range 60 * g.every {
				g.tick()
			}
			if wrong := g.wrongBeyond(&behind); wrong != "" {
				rt.Fatalf("guest %d: %s; %v", i, wrong, g.fails)
			}
			if st := g.r.Stats(); st.Mismatch+st.Repairs > 0 {
				rt.Fatalf("guest %d and the server disagreed about bases: %v, %+v", i, g.fails, st)
			}
			lost += g.s.Ledger().Lost
		}
	})
	t.Logf("%d walkers were behind in the end, %d packets were lost", behind, lost)
	if behind == 0 || lost == 0 {
		t.Error("the test shows nothing")
	}
}

// disturb makes a guest's way as bad as chance has it.
func (g *guest) disturb(rt *rapid.T) {
	g.loss = rapid.SampledFrom([]float64{0, 0.1, 0.4}).Draw(rt, "loss")
	g.ackLoss = rapid.SampledFrom([]float64{0, 0.1}).Draw(rt, "ackLoss")
	g.twice = rapid.SampledFrom([]float64{0, 0.2}).Draw(rt, "twice")
	g.delay = rapid.IntRange(1, 9).Draw(rt, "delay")
	g.jitter = rapid.SampledFrom([]int{0, 4, 12}).Draw(rt, "jitter")
	g.every = rapid.IntRange(1, 3).Draw(rt, "every")
	if rapid.IntRange(0, 3).Draw(rt, "tight") == 0 {
		g.room = Room{Packet: 200, Budget: 120}
	}
}

// calm ends all that disturbs a guest.
func (g *guest) calm() {
	g.loss, g.ackLoss, g.twice, g.jitter = 0, 0, 0, 0
	g.room = Room{Packet: 1150, Budget: 1150}
}

// Where nothing is lost, a walker is told again only if it is beyond a threshold, and then at once,
// however slowly it got there.
func TestBeyondTellsWhatItMust(t *testing.T) {
	for _, strategy := range everyStrategy {
		t.Run(strategy.String(), func(t *testing.T) { testBeyondTells(t, strategy) })
	}
}

func testBeyondTells(t *testing.T, strategy Strategy) {
	s := newSite(t, Options{Strategy: strategy, Classes: walkerBeyond}, 21, 6)
	g := newGuest(s, 1, 21)
	g.delay, g.every = 1, 1
	shown := map[world.ID]walker{}
	updates, changes := 0, 0
	g.check = func(n *Snapshot) {
		for _, u := range n.Updates {
			if u.What != Held {
				delete(shown, u.ID)
			}
			if u.ID.Class() != 1 || u.What != Held {
				continue
			}
			now := decode(t, u.Image)
			// The older strategies repeat what they are not sure of.
			if before, ok := shown[u.ID]; ok && now.within(&before) && strategy == Coeval {
				t.Errorf("tick %d: %v was told again, as %+v after %+v", n.Tick, u.ID, now, before)
			}
			shown[u.ID] = now
			updates++
		}
	}
	for range 900 {
		s.step()
		g.tick()
		for i := range g.s.view.list {
			v := &g.s.view.list[i]
			r, sl := &g.s.handles.list[v.handle], &s.pub.slots[v.slot]
			if v.id.Class() != 1 || v.player != world.Nobody {
				continue
			}
			_, image := sl.now()
			_, said := sl.find(r.number)
			if r.told != Held || said == nil {
				t.Fatalf("tick %d: %v was not told", s.w.Tick(), v.id)
			}
			a, b := decode(t, said), decode(t, image)
			if !a.within(&b) {
				t.Fatalf("tick %d: %v was told as %+v and is %+v", s.w.Tick(), v.id, a, b)
			}
			if s.w.Host().Changed(v.id) {
				changes++
			}
		}
	}
	if updates < 20 || updates > changes/4 {
		t.Errorf("%d updates for %d changes", updates, changes)
	}
	t.Logf("%d updates for %d changes", updates, changes)
}

// stream is all that a server says to its clients in a while, under loss.
func stream(t *testing.T, o Options) string {
	s := newSite(t, o, 31, 6)
	var all strings.Builder
	g := newGuest(s, 1, 31)
	g.loss, g.twice, g.jitter = 0.2, 0.1, 4
	for range 600 {
		s.step()
		g.tick()
		for i := range g.s.Staged() {
			fmt.Fprintf(&all, "%d %x\n", s.w.Tick(), g.s.Packet(i))
		}
	}
	return all.String()
}

// Thresholds that nothing stays within change no bit of what is sent, nor does it that clients take
// nothing over; and where they take over all, it is Takeover.
func TestPoliciesThatComeToTheSame(t *testing.T) {
	always := func(yes bool) Policy {
		return Policy{TakenOver: func(*world.World, world.ID) bool { return yes }}
	}
	plain := stream(t, Options{})
	for name, p := range map[string]Policy{
		"beyond 0": {Beyond: []Threshold{{"Pos", 0}, {"Aim", 0}}},
		"never":    always(false),
	} {
		if stream(t, Options{Classes: map[string]Policy{"walker": p}}) != plain {
			t.Errorf("%s: packets differ", name)
		}
	}
	class := Options{Classes: map[string]Policy{"pebble": {Takeover: true}}}
	asked := Options{Classes: map[string]Policy{"pebble": always(true)}}
	if a := stream(t, class); a == plain || a != stream(t, asked) {
		t.Error("what is always taken over is not sent as a class that is")
	}
}

// The hash of a protocol covers what changes how a class is sent.
func TestPolicyHash(t *testing.T) {
	hash := func(p Policy) uint64 {
		t.Helper()
		made, err := NewProtocol(testGame, Options{Classes: map[string]Policy{"walker": p}})
		if err != nil {
			t.Fatal(err)
		}
		return made.Hash()
	}
	no := func(*world.World, world.ID) bool { return false }
	seen := map[uint64]bool{}
	for _, p := range []Policy{
		{}, {Takeover: true}, {TakenOver: no}, {Interval: 3}, {Interval: 3, TakenOver: no},
		{Beyond: []Threshold{{"Pos", 1}}}, {Beyond: []Threshold{{"Pos", 2}}},
		{Beyond: []Threshold{{"Vel", 1}}},
	} {
		if h := hash(p); seen[h] {
			t.Errorf("%+v has the hash of another", p)
		} else {
			seen[h] = true
		}
	}
	if hash(Policy{Beyond: []Threshold{}}) != hash(Policy{}) {
		t.Error("a policy without thresholds has another hash")
	}
}

// All that is wrong with policies is said at once, each with its class and field.
func TestWrongPolicies(t *testing.T) {
	yes := func(*world.World, world.ID) bool { return true }
	_, err := NewProtocol(testGame, Options{Classes: map[string]Policy{
		"walker": {Beyond: []Threshold{
			{"Pos", -1}, {"Aim", math.NaN()}, {"Place", 1}, {"Name", 1}, {"Vel", 1}, {"Vel.X", 2}, {
				"", 1},
		}},
		"lamp":   {Beyond: []Threshold{{"On", 1}}, Rates: map[string]string{"Pos.X": "Vel.X"}},
		"pebble": {Takeover: true, TakenOver: yes},
		"stone":  {},
	}})
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	for _, want := range []string{
		"class walker: the threshold of Pos is -1; give a distance of 0 or more",
		"class walker: the threshold of Aim is NaN",
		"class walker: there is no field \"Place\" to have a threshold; there are Pos.X, Pos.Y",
		"class walker: Name.len is of kind string, which has no distance",
		"class walker: Vel.X has a threshold twice, as Vel and as Vel.X",
		"class walker: there is no field \"\" to have a threshold",
		"class lamp: On is of kind bool, which has no distance",
		"class lamp: there are no fields \"Pos.X\" and \"Vel.X\"",
		"class pebble: it has both Takeover and TakenOver",
		"options for class \"stone\"",
	} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, want) }) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
	if len(lines) != 10 {
		t.Errorf("%d lines:\n%v", len(lines), err)
	}
	for _, l := range lines {
		if !strings.HasPrefix(l, "replica: ") {
			t.Errorf("%q does not say where it comes from", l)
		}
	}
}

type compass struct {
	Needle det.Angle
	Count  int
	Level  float64
	Pos    det.Vec3
}

func (c *compass) Sync(s *bits.Sync) {
	s.Angle(&c.Needle, 8)
	s.Int(&c.Count, -1000, 1000)
	s.Float(&c.Level, 0, 10, 0.25)
	s.Vec3(&c.Pos, -100, 100, 0.5)
}

// A difference counts as the straight line, in units, and angles go the short way round.
func TestThresholdDistance(t *testing.T) {
	layout, err := bits.NewLayout(&compass{})
	if err != nil {
		t.Fatal(err)
	}
	list := []Threshold{{"Needle", 0.1}, {"Count", 5}, {"Level", 1}, {"Pos", 5}}
	th, wrong := newThresholds(list, layout.Schema())
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	image := func(c compass) []int32 {
		m := make([]int32, layout.Len())
		if err := layout.Pack(new(bits.Sync), &c, m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct {
		a, b compass
		near bool
	}{
		{compass{}, compass{}, true},
		{compass{Needle: math.Pi - 0.03}, compass{Needle: -math.Pi + 0.03}, true},
		{compass{Needle: math.Pi - 0.1}, compass{Needle: -math.Pi + 0.1}, false},
		{compass{Needle: 0}, compass{Needle: math.Pi}, false},
		{compass{Count: -2}, compass{Count: 3}, true},
		{compass{Count: -2}, compass{Count: 4}, false},
		{compass{Level: 3}, compass{Level: 2}, true},
		{compass{Level: 3}, compass{Level: 1.75}, false},
		{compass{Pos: det.Vec3{X: 3}}, compass{Pos: det.Vec3{Y: 4}}, true},
		{compass{Pos: det.Vec3{X: 3}}, compass{Pos: det.Vec3{Y: 4, Z: 0.5}}, false},
		{compass{Count: 5, Level: 1, Pos: det.Vec3{X: 5}}, compass{}, true}, // each by itself
	} {
		a, b := image(c.a), image(c.b)
		if th.within(a, b) != c.near || th.within(b, a) != c.near {
			t.Errorf("%+v and %+v: within is not %v", c.a, c.b, c.near)
		}
	}
}
