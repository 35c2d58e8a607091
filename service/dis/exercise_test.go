package dis

import (
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/reckon"
)

// tank is an entity that drives, as a PDU of a moment.
func tank(id ID, at time.Duration) *EntityState {
	p := &EntityState{ID: id, Force: 1, Type: Type{Kind: Platform, Domain: Land, Country: 225},
		Marking: Mark("tank"), Vel: Vec{10}, Pos: det.Vec3{X: 6378137 + 10*at.Seconds()},
		Model: reckon.FPW}
	p.Exercise = 3
	p.Time = Relative(at)
	return p
}

func receive(x *Exercise, now time.Duration, p PDU) (taken bool) {
	x.Receive(now, Relative(now), p.Append(nil), func(PDU) { taken = true })
	return taken
}

func TestEntitiesAreReckonedAndForgotten(t *testing.T) {
	x := NewExercise(Options{})
	id := ID{1, 2, 3}
	if !receive(x, time.Second, tank(id, time.Second)) || x.Len() != 1 {
		t.Fatalf("%v", x.Counters.Refused)
	}
	e := x.Entity(id)
	if got := e.At(3*time.Second).Pos.X - 6378137; math.Abs(got-30) > 1e-6 {
		t.Errorf("after 3 s it is at %v", got)
	}
	if e.Marking.String() != "tank" || e.Heard(3*time.Second) != 2*time.Second {
		t.Errorf("%v was heard %v ago", e.Marking, e.Heard(3*time.Second))
	}
	x.Tick(12900 * time.Millisecond)
	if x.Len() != 1 {
		t.Error("forgotten before its time")
	}
	x.Tick(13 * time.Second)
	if x.Len() != 0 || x.Counters.Forgotten != 1 {
		t.Error("after 12 s of silence it is still there")
	}
	// What stands still may be silent for longer.
	p := tank(id, 20*time.Second)
	p.Vel = Vec{}
	receive(x, 20*time.Second, p)
	x.Tick(163 * time.Second)
	if x.Len() != 1 {
		t.Error("what stands still is forgotten too soon")
	}
	x.Tick(165 * time.Second)
	if x.Len() != 0 {
		t.Error("what stands still is never forgotten")
	}
}

func TestRemoved(t *testing.T) {
	x := NewExercise(Options{})
	for i, end := range []func(id ID) PDU{
		func(id ID) PDU { p := tank(id, 2); p.Looks |= 1 << 23; return p },
		func(id ID) PDU { return &RemoveEntity{Request: Request{From: id, To: id}} },
	} {
		id := ID{1, 2, uint16(i + 1)}
		receive(x, 1, tank(id, 1))
		receive(x, 2, end(id))
		if x.Len() != 0 || x.Counters.Removed != uint64(i+1) {
			t.Errorf("%d: it is still there", i)
		}
	}
	// Another cannot remove it.
	receive(x, 1, tank(ID{1, 2, 9}, 1))
	receive(x, 2, &RemoveEntity{Request: Request{From: ID{5, 5, 5}, To: ID{1, 2, 9}}})
	if x.Len() != 1 {
		t.Error("anyone can remove it")
	}
}

// Each kind of lie is refused for its own reason, and changes nothing.
func TestLies(t *testing.T) {
	id := ID{1, 2, 3}
	second := time.Second
	for _, c := range []struct {
		name string
		lie  func(p *EntityState)
		want Refusal
	}{
		{"nothing wrong", func(*EntityState) {}, Taken},
		{"another exercise", func(p *EntityState) { p.Exercise = 4 }, Elsewhere},
		{"ours", func(p *EntityState) { p.ID = ID{7, 8, 1} }, Ours},
		{"all of us", func(p *EntityState) { p.ID = ID{7, 8, Everyone} }, Ours},
		{"no one", func(p *EntityState) { p.ID.Number = NoOne }, Nobody},
		{"everyone", func(p *EntityState) { p.ID.Site = Everyone }, Nobody},
		{"nowhere", func(p *EntityState) { p.Pos.Y = math.NaN() }, NoNumber},
		{"endless speed", func(p *EntityState) { p.Vel[1] = float32(math.Inf(1)) }, NoNumber},
		{"beyond space", func(p *EntityState) { p.Pos.Z = 1e9 }, TooFar},
		{"faster than anything", func(p *EntityState) { p.Vel[1] = 1e6 }, TooFast},
		{"spinning without end", func(p *EntityState) { p.Spin[1] = 1e6 }, TooFast},
		{"from before", func(p *EntityState) { p.Time = Relative(second / 2) }, Late},
		{"jumping", func(p *EntityState) { p.Pos.Y = 20000 }, Jumped},
	} {
		x := NewExercise(Options{Exercise: 3, Site: 7, Application: 8})
		receive(x, second, tank(id, second))
		p := tank(id, 2*second)
		c.lie(p)
		x.Receive(2*second, 0, p.Append(nil), nil)
		got := Taken
		for r := range x.Counters.Refusals() {
			got = r
		}
		if got != c.want || x.Len() != 1 {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
		want := 6378137 + 20.0
		if at := x.Entity(id).At(2 * second).Pos; math.Abs(at.X-want) > 1e-6 || at.Y != 0 {
			t.Errorf("%s: it is at %v", c.name, at)
		}
	}
}

// A jump that is told twice is believed, since an exercise may move what it likes.
func TestJumpTwice(t *testing.T) {
	x := NewExercise(Options{})
	id := ID{1, 2, 3}
	receive(x, 1, tank(id, 1))
	for i, want := range []bool{false, true} {
		p := tank(id, time.Duration(i+2)*time.Second)
		p.Pos.Y += 50000
		if got := receive(x, time.Duration(i+2)*time.Second, p); got != want {
			t.Errorf("told %d times, it is taken: %v", i+1, got)
		}
	}
}

// Clocks that agree let a body be reckoned from when it was sent; one that is of another day does
// not, and is counted.
func TestClocks(t *testing.T) {
	start := time.Date(2026, 3, 1, 11, 59, 59, 5e8, time.UTC)
	for _, c := range []struct {
		name string
		sent time.Time
		x    float64
		odd  uint64
	}{
		{"agrees", start, 20, 0}, // over the full hour
		{"another day", start.Add(17 * time.Minute), 10, 1},
	} {
		x := NewExercise(Options{})
		p := tank(ID{1, 2, 3}, 0)
		p.Time = Absolute(c.sent)
		x.Receive(time.Minute, Absolute(start.Add(time.Second)), p.Append(nil), nil)
		got := x.Entity(p.ID).At(time.Minute+time.Second).Pos.X - 6378137
		if math.Abs(got-c.x) > 1e-3 || x.Counters.OddClocks != c.odd {
			t.Errorf("%s: at %v, %d odd clocks", c.name, got, x.Counters.OddClocks)
		}
	}
}

// A flood of names takes no more memory than was allowed for, and those who were there stay.
func TestFlood(t *testing.T) {
	x := NewExercise(Options{Entities: 100})
	var b []byte
	for i := range 50000 {
		id := ID{uint16(i%250 + 1), uint16(i/250 + 1), 1}
		b = tank(id, time.Second).Append(b[:0])
		x.Receive(time.Second, 0, b, nil)
	}
	if x.Len() != 100 || x.Counters.Refused[Full] != 49900 {
		t.Errorf("%d entities, %d refused", x.Len(), x.Counters.Refused[Full])
	}
	if x.Entity(ID{1, 1, 1}) == nil {
		t.Error("the first is gone")
	}
}

// With 30 % lost, doubled and out of order, each entity whose newest update has arrived is where
// its sender has it, within the bounds; and nearly all are known after some beats.
func TestSenderOverABadNetwork(t *testing.T) {
	more, _ := strconv.Atoi(os.Getenv("COEVAL_SEEDS"))
	for seed := range uint64(max(3, more)) {
		badNetwork(t, seed)
	}
}

// onWay is a datagram that arrives at a time.
type onWay struct {
	at time.Duration
	b  []byte
}

func badNetwork(t *testing.T, seed uint64) {
	r := det.At(seed, 1, 1)
	s := Sender{Header: Header{Version: Version7, Exercise: 1}, Site: 1, Application: 2}
	x := NewExercise(Options{Site: 9, Application: 9})
	const n = 20
	start := time.Date(2026, 3, 1, 11, 59, 50, 0, time.UTC)
	var bodies [n]reckon.Body
	var newest [n]Stamp
	for i := range bodies {
		s.Describe(uint16(i+1), &EntityState{Marking: Mark("plane")})
		bodies[i] = reckon.Body{Pos: det.Vec3{X: 6378137, Y: float64(i) * 100},
			Vel: det.Vec3{X: 30}, Facing: det.Identity, Spin: r.Unit3().Mul(0.1)}
	}
	var air []onWay
	current, all := 0, 0
	for tick := range 60 * 30 {
		now := time.Duration(tick) * time.Second / 60
		stamp := Absolute(start.Add(now))
		for i := range bodies {
			if r.Chance(1.0 / 300) {
				bodies[i].Spin = r.Unit3().Mul(0.2)
			}
			bodies[i] = reckon.RPB.After(&bodies[i], 1.0/60)
			b, why := s.Move(nil, now, stamp, uint16(i+1), reckon.RPB, &bodies[i])
			if why == reckon.Kept {
				continue
			}
			newest[i] = stamp
			for r.Chance(0.7) { // lost, once, twice...
				air = append(air, onWay{now + time.Duration(r.IntN(200))*time.Millisecond, b})
				if r.Chance(0.8) {
					break
				}
			}
		}
		kept := air[:0]
		for _, d := range air {
			if d.at > now {
				kept = append(kept, d)
				continue
			}
			x.Receive(now, stamp, d.b, nil)
		}
		air = kept
		x.Tick(now)
		if tick < 60*15 {
			continue
		}
		if x.Len() < n*3/4 { // the silence of two lost beats is taken for the end
			t.Fatalf("seed %d, tick %d: %d of %d are known", seed, tick, x.Len(), n)
		}
		for i := range bodies {
			e := x.Entity(ID{1, 2, uint16(i + 1)})
			all++
			if e == nil || e.stamp != newest[i] {
				continue
			}
			current++
			got := e.At(now)
			if d := got.Pos.Sub(bodies[i].Pos).Len(); d > 1.001 {
				t.Fatalf("seed %d, tick %d: %v is off by %v m", seed, tick, e.ID, d)
			}
			if d := got.Facing.To(bodies[i].Facing).Degrees(); d > 3.001 {
				t.Fatalf("seed %d, tick %d: %v is off by %v degrees", seed, tick, e.ID, d)
			}
		}
	}
	if current*2 < all {
		t.Fatalf("seed %d: the newest had arrived %d times of %d", seed, current, all)
	}
}

func TestSender(t *testing.T) {
	s := Sender{Header: Header{Exercise: 5}, Site: 1, Application: 2,
		Rules: reckon.Rules{Slow: 0.01}, Quiet: true}
	x := NewExercise(Options{})
	body := reckon.Body{Pos: det.Vec3{X: 6378137}, Facing: det.Identity}
	if b, _ := s.Move(nil, 0, 0, 1, reckon.FPW, &body); len(b) != 0 {
		t.Error("what was never described is told")
	}
	s.Describe(1, &EntityState{Marking: Mark("hut"), Force: 3, Parts: make([]Parameter, 1)})
	told := 0
	for sec := range 1200 {
		now := time.Duration(sec) * time.Second
		b, why := s.Move(nil, now, Relative(now), 1, reckon.FPW, &body)
		if why != reckon.Kept {
			told++
			x.Receive(now, 0, b, nil)
		}
	}
	if told != lastBeats {
		t.Errorf("what is quiescent was told %d times in 20 minutes", told)
	}
	if e := x.Entity(ID{1, 2, 1}); e == nil || e.Marking.String() != "hut" || e.Force != 3 {
		t.Errorf("it is known as %v", e)
	}
	body.Pos.Y = 2
	if _, why := s.Move(nil, 1200*time.Second, 0, 1, reckon.FPW, &body); why != reckon.Drifted {
		t.Errorf("it moved: %v", why)
	}
	var r Reader
	var kinds []Kind
	for p, err := range r.All(s.Remove(nil, Relative(0), 1)) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, HeaderOf(p).Kind)
		x.Receive(1201*time.Second, 0, p.Append(nil), nil)
	}
	if len(kinds) != 2 || x.Len() != 0 || s.Len() != 0 {
		t.Errorf("removed by %v, %d are left", kinds, x.Len())
	}
}

// Anything at all may come to an exercise, and in any order.
func FuzzExercise(f *testing.F) {
	for _, v := range vectors(f, "pdus.json") {
		f.Add(v.bytes(f), v.bytes(f))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x := NewExercise(Options{Site: 1, Application: 2, Entities: 4})
		for i, d := range [][]byte{a, b, a} {
			now := time.Duration(i) * time.Second
			x.Receive(now, Relative(now), d, func(p PDU) {
				if e, ok := p.(*EntityState); ok && e.ID.From(1, 2) {
					t.Fatal("it was believed what is ours")
				}
			})
			for e := range x.Entities() {
				p := e.At(now).Pos
				if s := p.X + p.Y + p.Z; s-s != 0 {
					t.Fatalf("%v is at %v", e.ID, p)
				}
			}
			x.Tick(now)
		}
		if x.Len() > 4 {
			t.Fatal("more than there may be")
		}
	})
}

// A second of ten thousand entities at the standard's beat: their PDUs decoded and judged, and all
// of them reckoned 30 times. Real time is 1e9 ns.
func BenchmarkTenThousand(b *testing.B) {
	x := NewExercise(Options{})
	datagrams := make([][]byte, 10000)
	for i := range datagrams {
		p := tank(ID{1, uint16(i/1000 + 1), uint16(i%1000 + 1)}, 0)
		p.Model, p.Spin = reckon.Model(1+i%9), Vec{0, 0, 0.1}
		datagrams[i] = p.Append(nil)
		x.Receive(0, 0, datagrams[i], nil)
	}
	var sum float64
	b.ReportAllocs()
	for b.Loop() {
		for _, d := range datagrams[:2000] {
			x.Receive(0, 0, d, nil)
		}
		for frame := range 30 {
			now := time.Duration(frame) * time.Second / 30
			for e := range x.Entities() {
				sum += e.At(now).Pos.X
			}
		}
	}
	_ = sum
}
