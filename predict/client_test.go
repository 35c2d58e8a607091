package predict

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

func wrongs(c *Client) (n int) {
	for _, r := range c.Report() {
		n += r.Wrong
	}
	return n
}

// TestExact is a player alone on a good network: all that moves does so by rules, so nothing is
// ever predicted wrongly, and nothing is computed twice but for a shell that gets its real name.
func TestExact(t *testing.T) {
	s := newSite(t, yard, 1)
	g := s.join(netsim.Cable, 1, Options{}, fight)
	s.run(5 * time.Second)
	before, wrong := g.c.Stats(), wrongs(g.c)
	g.c.Corrections()
	s.run(20 * time.Second)
	after := g.c.Stats()
	for _, r := range g.c.Report() {
		if r.Compared == 0 {
			t.Errorf("%v: nothing was compared", &r)
		}
	}
	if n := wrongs(g.c) - wrong; n != 0 || len(g.c.Corrections()) > 0 {
		t.Errorf("%d images were predicted wrongly: %v", n, g.c.Report())
	}
	spawns := after.SpawnsConfirmed - before.SpawnsConfirmed
	if n := after.Repredictions - before.Repredictions; n > spawns || spawns < 30 {
		t.Errorf("predicted again %d times for %d spawns: %+v", n, spawns, after)
	}
	if after.SpawnsDenied != before.SpawnsDenied {
		t.Errorf("%+v", after)
	}
}

// TestOwnCommandAtOnce: what a player does is to be seen in the tick for which it was done,
// whatever the network.
func TestOwnCommandAtOnce(t *testing.T) {
	for _, style := range []Style{Doom3, Quake3, HalfLife, QuakeWorld} {
		for _, c := range []netsim.Conditions{netsim.LAN, netsim.LTE, netsim.Satellite} {
			s := newSite(t, yard, 2)
			var want det.Angle
			var tick world.Tick
			looks := 0
			g := s.join(c, 5, Options{Style: style}, func(g *guest, w *world.World) drive {
				if w != nil && w.Tick() == tick && tick > 0 {
					if _, f := own(w, g.me); f != nil {
						looks++
						if f.Aim != want {
							t.Fatalf("%v over %s: at tick %d the aim is %v and not %v", style,
								c.Name, tick, f.Aim, want)
						}
					}
				}
				r := det.At(9, uint64(g.c.Tick()), 1)
				want, tick = r.Angle(), g.c.Tick()+1
				var sync bits.Sync
				d := drive{Aim: want}
				sync.StartQuantise()
				d.Sync(&sync)
				want = d.Aim
				return d
			})
			s.run(6 * time.Second)
			if looks < 200 {
				t.Errorf("%v over %s: looked %d times only: %+v", style, c.Name, looks, g.c.Stats())
			}
		}
	}
}

// eachSeed runs a test with some seeds, or that many times COEVAL_SEEDS for a soak.
func eachSeed(t *testing.T, n int, f func(t *testing.T, seed uint64)) {
	if k, err := strconv.Atoi(os.Getenv("COEVAL_SEEDS")); err == nil && k > 0 {
		n *= k
	}
	if testing.Short() {
		n = min(n, 1)
	}
	for seed := range uint64(n) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { f(t, seed) })
	}
}

// TestFaults: whatever the network does, in the end the client's world is the server's; no event is
// shown twice or left undecided; nothing grows.
func TestFaults(t *testing.T) {
	eachSeed(t, 4, func(t *testing.T, seed uint64) {
		var troubles []netsim.Conditions
		troubles = append(troubles, netsim.Presets()...)
		troubles = append(troubles,
			netsim.Both(netsim.Profile{Latency: 30 * time.Millisecond, Loss: 0.4}))
		for i, c := range troubles {
			style := []Style{Doom3, Quake3, QuakeWorld}[(i+int(seed))%3]
			s := newSite(t, yard, seed)
			s.reach = 30
			a := s.join(c, seed, Options{Style: style}, fight)
			b := s.join(netsim.Cable, seed+7, Options{Style: style}, fight)
			a.check = noStrangers
			s.run(8 * time.Second)
			switch seed % 4 {
			case 0: // a stall
				a.up.Cut()
				a.down.Cut()
				s.run(5 * time.Second)
				a.up.Heal()
				a.down.Heal()
			case 1: // a clock that runs fast, and jumps
				a.fast = 0.01
				a.shift = -time.Duration(float64(s.now) * 0.01)
				s.run(2 * time.Second)
				a.shift += time.Second
			case 2: // a server that stops for a moment
				s.hiccup = true
				s.run(400 * time.Millisecond)
				s.hiccup = false
			case 3: // a machine that sleeps
				a.frozen = true
				s.run(3 * time.Second)
				a.frozen = false
			}
			s.run(6 * time.Second)
			for _, g := range []*guest{a, b} { // a good network, and no one moves
				g.up.SetProfile(netsim.Cable.Up)
				g.down.SetProfile(netsim.Cable.Down)
				g.think = stand
			}
			s.run(12 * time.Second)
			for _, g := range []*guest{a, b} {
				g.converged(fmt.Sprintf("%s, seed %d, %v", c.Name, seed, style))
			}
		}
	})
}

// noStrangers checks that nothing is predicted that the client was not told of.
func noStrangers(g *guest, s *replica.Snapshot) {
	w := g.c.past.at(g.c.known)
	for id := range w.Entities() {
		if id.Allocator() != world.Predicted && !g.c.truth.Has(id) {
			g.site.t.Fatalf("tick %d: %v is out of view and is predicted", s.Tick, id)
		}
	}
}

// converged checks that the present, as the client predicts it, is what the server then comes to.
func (g *guest) converged(what string) {
	s := g.site
	s.t.Helper()
	tick := g.c.Tick()
	got := map[world.ID][]int32{}
	for id := range g.c.past.at(tick).Entities() {
		if id.Class() == 0 || g.c.style == Doom3 {
			got[id] = slices.Clone(g.c.past.at(tick).Host().Image(id))
		}
	}
	for s.w.Tick() < tick {
		s.run(time.Millisecond)
	}
	id, _ := own(s.w, g.me)
	if got[id] == nil {
		s.t.Errorf("%s: the player's own entity is missing", what)
	}
	for id, image := range got {
		if want := s.images[tick][id]; !slices.Equal(image, want) {
			s.t.Errorf("%s: player %d, tick %d, %v: predicted %v, and it is %v", what, g.me, tick,
				id, image, want)
		}
	}
	s.run(2 * time.Second)
	for k, f := range g.notices {
		if f.shown != 1 && !(f.shown == 0 && f.decided == 0) || f.decided != 1 {
			s.t.Errorf("%s: event %+v was shown %d times and decided %d times: %v", what, k,
				f.shown, f.decided, f.what)
		}
	}
	c := g.c
	if len(c.notices.pending) > 0 || len(c.notices.decided) > maxPending ||
		len(c.tracks.of) > 200 || len(c.blends.of) > 200 || len(c.outdated) > 200 {
		s.t.Errorf("%s: %d pending, %d decided, %d tracks, %d blends, %d outdated", what,
			len(c.notices.pending), len(c.notices.decided), len(c.tracks.of), len(c.blends.of),
			len(c.outdated))
	}
}

// TestRelayed: others are predicted by the commands that are relayed, and so better than if they
// were taken to stop.
func TestRelayed(t *testing.T) {
	s := newSite(t, yard, 4)
	a := s.join(netsim.Cable, 1, Options{}, stand)
	// Two who walk on for long, so that what was relayed holds.
	s.join(netsim.Cable, 2, Options{},
		func(g *guest, w *world.World) drive { return wander(g, 300, false) })
	s.join(netsim.Cable, 3, Options{},
		func(g *guest, w *world.World) drive { return wander(g, 300, false) })
	s.run(5 * time.Second)
	before := a.c.Report()[0]
	s.run(20 * time.Second)
	r := a.c.Report()[0]
	if part := float64(r.Wrong-before.Wrong) / float64(r.Compared-before.Compared); part > 0.05 {
		t.Errorf("%.3f of images are wrong: %v", part, &r)
	}
	if a.c.Stats().Relayed == 0 {
		t.Error("no command was relayed")
	}
}

// TestSwitch changes the style back and forth in a game under way.
func TestSwitch(t *testing.T) {
	s := newSite(t, yard, 5)
	g := s.join(netsim.WiFi, 1, Options{Classes: map[string]Class{"walker": {Obstacle: true}}},
		fight)
	s.join(netsim.WiFi, 2, Options{}, fight)
	for i := range 9 {
		s.run(1500 * time.Millisecond)
		if n := world.Count[walker](g.shown); n != 2 {
			t.Fatalf("%d walkers are shown, style %v", n, g.c.Style())
		}
		if n := world.Count[bird](g.shown); n != 12 {
			t.Fatalf("%d birds are shown, style %v", n, g.c.Style())
		}
		old := g.c.Seen()
		g.c.SetStyle(Style((i + 1) % len(styleNames)))
		s.run(100 * time.Millisecond)
		if now := g.c.Seen(); g.c.Style() == Doom3 && now < old {
			t.Errorf("seen %v and then %v", old, now)
		}
	}
	for _, g := range s.guests {
		g.c.SetStyle(Doom3)
		g.think = stand
	}
	s.run(5 * time.Second)
	g.converged("after changes of style")
}

// TestInterpolated: what is interpolated is shown where it was at the moment that is said to be
// shown.
func TestInterpolated(t *testing.T) {
	s := newSite(t, yard, 6)
	g := s.join(netsim.Cable, 1, Options{Style: Quake3}, stand)
	s.join(netsim.Cable, 2, Options{},
		func(g *guest, w *world.World) drive { return wander(g, 120, false) })
	s.run(5 * time.Second)
	worst, n := 0.0, 0
	for range 500 {
		s.run(7 * time.Millisecond)
		seen := g.c.Seen()
		at := world.Tick(seen)
		part := seen - float64(at)
		for id, f := range world.All[walker](g.shown) {
			if g.shown.Owner(id) == g.me || s.images[at] == nil {
				continue
			}
			a, b := s.images[at][id], s.images[at+1][id]
			if a == nil || b == nil {
				continue
			}
			x := (float64(a[0])*(1-part) + float64(b[0])*part) / 1024
			y := (float64(a[1])*(1-part) + float64(b[1])*part) / 1024
			worst = max(worst, f.Pos.Sub(det.Vec2{X: x, Y: y}).Len())
			n++
		}
	}
	if worst > 0.06 || n < 400 { // a snapshot every third tick cuts corners
		t.Errorf("of %d looks the worst was off by %.3f", n, worst)
	}
}

// TestNewest: as QuakeWorld did, things are shown where the newest state has them, and other
// players where they were half of the time since then later.
func TestNewest(t *testing.T) {
	s := newSite(t, yard, 6)
	g := s.join(netsim.Cable, 1, Options{Style: QuakeWorld}, stand)
	s.join(netsim.Cable, 2, Options{},
		func(g *guest, w *world.World) drive { return wander(g, 120, false) })
	s.run(5 * time.Second)
	worst, n := 0.0, 0
	for range 500 {
		s.run(7 * time.Millisecond)
		for id := range world.All[bird](g.shown) {
			if !slices.Equal(g.shown.Host().Image(id), g.c.truth.Host().Image(id)) {
				t.Fatalf("tick %d: a bird is not where it was told to be", g.c.latest)
			}
		}
		seen := g.c.Seen()
		if seen < float64(g.c.latest)+0.5 || seen > float64(g.c.latest)+3 {
			t.Fatalf("players are shown at %v, and %d is the newest", seen, g.c.latest)
		}
		at := world.Tick(seen)
		part := seen - float64(at)
		for id, f := range world.All[walker](g.shown) {
			a, b := s.images[at][id], s.images[at+1][id]
			if g.shown.Owner(id) == g.me || a == nil || b == nil {
				continue
			}
			x := (float64(a[0])*(1-part) + float64(b[0])*part) / 1024
			y := (float64(a[1])*(1-part) + float64(b[1])*part) / 1024
			worst = max(worst, f.Pos.Sub(det.Vec2{X: x, Y: y}).Len())
			n++
		}
	}
	if worst > 0.6 || n < 400 { // who turns or stops is overrun
		t.Errorf("of %d looks the worst was off by %.3f", n, worst)
	}
}

// TestSmooth: an error that is found out is not to be seen as a jump, unless it is too large.
func TestSmooth(t *testing.T) {
	conv := reckon.Converge{By: reckon.Exponential, Ticks: 6, Limit: det.FixedInt(3)}
	s := newSite(t, yard, 7)
	g := s.join(netsim.LTE, 1, Options{Classes: map[string]Class{"walker": {Smooth: conv}}}, stand)
	s.join(netsim.LTE, 2, Options{},
		func(g *guest, w *world.World) drive { return wander(g, 20, false) })
	s.run(5 * time.Second)
	var last det.Vec2
	var lastTick world.Tick
	worst, raw, corrections := 0.0, 0.0, 0
	for range 3000 {
		s.run(5 * time.Millisecond)
		for _, x := range g.c.Corrections() {
			raw = max(raw, x.Distance)
			corrections++
		}
		if g.shown.Tick() == lastTick {
			continue
		}
		for id, f := range world.All[walker](g.shown) {
			if g.shown.Owner(id) == g.me {
				continue
			}
			if lastTick > 0 {
				worst = max(worst, f.Pos.Sub(last).Len()/float64(g.shown.Tick()-lastTick))
			}
			last = f.Pos
		}
		lastTick = g.shown.Tick()
	}
	if corrections < 50 || raw < 0.3 {
		t.Fatalf("%d corrections, the largest of %.2f: nothing to smooth", corrections, raw)
	}
	if limit := 9.0/60 + raw/4; worst > limit {
		t.Errorf("in one tick what is shown moved by %.3f, with corrections of up to %.3f", worst,
			raw)
	}
}

// TestAlone: entities that look at nothing else, where they were wrong, are predicted again by
// themselves, with the same result.
func TestAlone(t *testing.T) {
	results := [2][]string{}
	for i, alone := range []bool{false, true} {
		s := newSite(t, yard, 8)
		g := s.join(netsim.WiFi, 1, Options{Classes: map[string]Class{"bird": {Alone: alone}}},
			roam)
		n := 0
		g.check = func(g *guest, x *replica.Snapshot) {
			// let some birds have been predicted wrongly
			if n++; n%10 == 0 && g.c.past.has(g.c.known) {
				for id := range g.c.past.at(g.c.known + 1).Host().Of(2) {
					if id.Index()%5 == n/10%5 {
						for t := g.c.known + 1; t <= g.c.past.now; t++ {
							w := g.c.past.at(t)
							image := slices.Clone(w.Host().Image(id))
							image[0] = 2000
							if err := w.Host().Put(id, w.Host().Entry(id), image); err != nil {
								s.t.Fatal(err)
							}
						}
					}
				}
			}
		}
		s.run(4 * time.Second)
		for range 200 {
			s.run(20 * time.Millisecond)
			w := g.c.past.at(g.c.known)
			var b strings.Builder
			for id := range w.Entities() {
				fmt.Fprint(&b, id, w.Host().Image(id))
			}
			results[i] = append(results[i], b.String())
		}
		if st := g.c.Stats(); alone != (st.Alone > 0) {
			t.Errorf("alone %v: %+v", alone, st)
		}
	}
	if !slices.Equal(results[0], results[1]) {
		t.Error("not the same result")
	}
}

// TestLeap: entities that leap are at present where one step of integers takes them, and are not
// computed again.
func TestLeap(t *testing.T) {
	schema := yard.Classes()[2].Schema()
	leap := func(image []int32, ticks int32, now []int32) {
		copy(now, image)
		for i := range 2 { // 256 steps a unit, velocities as well, 60 ticks
			x := int64(image[i]) + int64(image[i+2])*int64(ticks)/60
			now[i] = int32(min(max(x, int64(schema.Slots[i].Min)), int64(schema.Slots[i].Max)))
		}
	}
	s := newSite(t, yard, 9)
	g := s.join(netsim.WiFi, 1, Options{Classes: map[string]Class{"bird": {Leap: leap}}}, fight)
	s.join(netsim.WiFi, 2, Options{}, fight)
	s.run(10 * time.Second)
	if g.c.Stats().Leaps == 0 || g.c.Stats().Steps == 0 {
		t.Errorf("%+v", g.c.Stats())
	}
	for range 50 {
		s.run(40 * time.Millisecond)
		if n := world.Count[bird](g.shown); n != 12 {
			t.Fatalf("%d birds are shown", n)
		}
		w := g.c.past.at(g.c.past.now)
		for id := range w.Host().Of(2) {
			at, truth := g.c.past.now-g.c.known, g.c.truth.Host().Image(id)
			if d := g.c.classes[2].fields.distance(w.Host().Image(id),
				truth); d > float64(at)*8*1.5/60+0.2 {
				t.Errorf("a bird is %.2f away from where it was %d ticks ago", d, at)
			}
		}
	}
}

// dice is a game whose author asks a global variable.
var diceCount int

type die struct{ A, B int }

func (d *die) Sync(s *bits.Sync) { s.Int(&d.A, 0, 255); s.Int(&d.B, 0, 1<<20) }

func (d *die) Step(w *world.World, me world.ID) {
	d.A = int(w.Tick()) & 255
	diceCount++
	d.B = diceCount & (1<<20 - 1)
}

// TestNotDeterministic: a game that is not deterministic shows as corrections, and the report names
// the field.
func TestNotDeterministic(t *testing.T) {
	g := world.Define("dice", world.Class[die](), world.Commands[drive](),
		world.OnStart(func(w *world.World) { world.Spawn(w, die{}) }))
	s := newSite(t, g, 1)
	x := s.join(netsim.Cable, 1, Options{}, stand)
	s.run(3 * time.Second)
	r := x.c.Report()[0]
	if r.Wrong == 0 || r.First == nil || r.First.Field != "B" || r.Fields[1] != r.Wrong {
		t.Fatalf("%v", &r)
	}
	if text := r.String(); !strings.Contains(text, "B was predicted as") {
		t.Error(text)
	}
}

// TestAllocations: in a steady state a tick, a snapshot and a frame allocate nothing.
func TestAllocations(t *testing.T) {
	for _, style := range []Style{Doom3, Quake3, None} {
		b := newBench(t, 200, style)
		for range 200 {
			b.round(true)
		}
		if n := testing.AllocsPerRun(100, func() { b.round(true) }); n > 0 {
			t.Errorf("%v: %v allocations", style, n)
		}
	}
}

// A bench is a client and its server's world, without a network between.
type bench struct {
	t     testing.TB
	w     *world.World
	c     *Client
	now   time.Duration
	snap  replica.Snapshot
	space []int32
	n     int
}

func newBench(t testing.TB, n int, style Style) *bench {
	g := world.Define("bench", world.Class[mover](world.ClassOptions{Limit: 4 * n}),
		world.Commands[drive](), world.OnStart(func(w *world.World) {
			for range n {
				r := w.Rand()
				world.Spawn(w,
					mover{Pos: det.Vec3{X: r.Range(0, 1000), Y: r.Range(0, 1000)},
						Vel: r.Unit3().Mul(5)})
			}
		}))
	w, err := g.New(world.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(g, Options{Style: style, Player: 1})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, w: w, c: c}
	c.SetQuality(133*time.Millisecond, 0)
	for range 60 {
		b.round(false)
	}
	return b
}

// round lets three ticks pass, and takes a snapshot. If wrong, some of it is not as it was
// predicted.
func (b *bench) round(wrong bool) {
	for range 3 {
		if err := b.w.Host().Step(nil); err != nil {
			b.t.Fatal(err)
		}
		b.now += time.Second / 60
		for range b.c.Due(b.now) {
			if err := world.Give(b.c.Next(), 1, drive{}); err != nil {
				b.t.Fatal(err)
			}
			b.c.Step()
		}
	}
	b.n++
	b.snap.Tick, b.snap.Certain, b.snap.Report, b.snap.Early = b.w.Tick(), true, true, 4
	b.snap.Updates = b.snap.Updates[:0]
	b.space = b.space[:0]
	for id := range b.w.Entities() {
		from := len(b.space)
		b.space = append(b.space, b.w.Host().Image(id)...)
		image := b.space[from:]
		if wrong && id.Index()%64 == b.n%64 {
			image[0] ^= 64
		}
		b.snap.Updates = append(b.snap.Updates,
			replica.Update{ID: id, What: replica.Held, Entry: b.w.Host().Entry(id), Image: image})
	}
	b.c.Snapshot(b.now, &b.snap)
	b.c.Show(b.now)
	b.c.Corrections()
}

type mover struct {
	Pos, Vel det.Vec3
	Yaw      det.Angle
	Health   uint8
}

func (m *mover) Sync(s *bits.Sync) {
	s.Vec3(&m.Pos, 0, 1023, 1.0/64)
	s.Vec3(&m.Vel, -64, 64, 1.0/64)
	s.Angle(&m.Yaw, 12)
	s.Uint8(&m.Health, 0, 200)
}

func (m *mover) Step(w *world.World, me world.ID) {
	m.Pos = m.Pos.MulAdd(m.Vel, w.Seconds())
	if m.Pos.X < 1 || m.Pos.X > 1000 {
		m.Vel.X = -m.Vel.X
	}
	if m.Pos.Y < 1 || m.Pos.Y > 1000 {
		m.Vel.Y = -m.Vel.Y
	}
	if m.Pos.Z < 1 || m.Pos.Z > 1000 {
		m.Vel.Z = -m.Vel.Z
	}
	m.Yaw += 0.01
}
