package gateway

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/service/dis"
)

// side is an exercise at one end of a line.
type side struct {
	g      *Gateway
	sender dis.Sender
	bodies []reckon.Body
	r      det.Rand
	heard  map[string]int // PDUs that came by the line
	said   map[string]int // PDUs that were said here
	near   *dis.Exercise  // what a simulator of this side knows of the others
}

func newSide(o Options, site uint16, moving, still int, seed uint64) *side {
	s := &side{g: New(o, uint32(seed)*10+uint32(site)), r: det.At(seed, uint64(site), 0),
		sender: dis.Sender{Site: site, Application: 1, Header: dis.Header{Version: 7, Exercise: 1}},
		heard:  map[string]int{}, said: map[string]int{}, near: dis.NewExercise(dis.Options{})}
	for i := range moving + still {
		b := reckon.Body{Pos: det.Vec3{X: 6378137, Y: s.r.Range(-5000, 5000),
			Z: s.r.Range(-5000, 5000)}, Facing: det.TurnBy(s.r.Unit3())}
		if i < moving {
			b.Vel = det.Vec3{X: s.r.Range(10, 200)}
		}
		s.bodies = append(s.bodies, b)
		s.sender.Describe(uint16(i+1), &dis.EntityState{Force: 1, Marking: dis.Mark("one"),
			Type: dis.Type{Kind: 1, Domain: uint8(1 + i%2), Country: 225}})
	}
	return s
}

// tick has the side's own entities move, and gives what they say.
func (s *side) tick(now time.Duration, stamp dis.Stamp) (said [][]byte) {
	for i := range s.bodies {
		b := &s.bodies[i]
		if b.Vel != (det.Vec3{}) && s.r.Chance(1.0/200) {
			b.Spin = s.r.Unit3().Mul(s.r.Range(0, 0.2))
		}
		*b = reckon.RPB.After(b, 1.0/30)
		d, why := s.sender.Move(nil, now, stamp, uint16(i+1), reckon.RPB, b)
		if why != reckon.Kept {
			said = append(said, d)
		}
	}
	if s.r.Chance(0.05) {
		fire := dis.Fire{Header: s.sender.Header, Firer: dis.ID{Site: s.sender.Site,
			Application: 1, Number: 1}, Event: dis.ID{Site: s.sender.Site, Application: 1,
			Number: uint16(now / time.Millisecond)}, Pos: det.Vec3{X: 6378137}}
		fire.Time = stamp
		said = append(said, fire.Append(nil))
	}
	for _, d := range said {
		s.said[string(d)]++
	}
	return said
}

// line is what carries packets, and loses them.
type line struct {
	r    det.Rand
	loss float64
	late int // ms, at most
	air  []packet
}

type packet struct {
	at time.Duration
	to *side
	b  []byte
}

func (l *line) send(now time.Duration, to *side, b []byte) {
	for n := 0; n < 2; n++ {
		if !l.r.Chance(l.loss) {
			at := now + time.Duration(20+l.r.IntN(l.late+1))*time.Millisecond
			l.air = append(l.air, packet{at, to, b})
		}
		if !l.r.Chance(l.loss / 3) {
			return
		} // or it is doubled
	}
}

// joined runs two sides for some time.
func joined(a, b *side, l *line, from, to time.Duration) {
	start := time.Date(2026, 3, 1, 11, 59, 0, 0, time.UTC)
	for now := from; now < to; now += time.Second / 30 {
		stamp := dis.Absolute(start.Add(now))
		kept := l.air[:0]
		for _, p := range l.air {
			if p.at > now {
				kept = append(kept, p)
				continue
			}
			p.to.g.FromLine(now, stamp, p.b)
		}
		l.air = kept
		for _, s := range []*side{a, b} {
			for _, d := range s.tick(now, stamp) {
				s.g.FromExercise(now, stamp, d)
			}
			s.g.Tick(now, stamp)
			other := a
			if s == a {
				other = b
			}
			for _, p := range s.g.ToLine {
				l.send(now, other, p)
			}
			for _, d := range s.g.ToExercise {
				s.heard[string(d)]++
				s.near.Receive(now, stamp, d, nil)
				s.g.FromExercise(now, stamp, d) // it hears what it says itself
			}
			s.g.Reset()
			s.near.Tick(now)
		}
	}
}

func kindOf(pdu string) dis.Kind { return dis.Kind(pdu[2]) }

// Over a line that loses nothing, all that is said on one side is heard on the other, bit for bit,
// but for what a newer one has replaced.
func TestWhatIsSaidIsHeard(t *testing.T) {
	for _, o := range []Options{{}, {Plain: true}, {Loud: true}, {Every: -1}, {Quorum: 10},
		{Every: time.Second, Quorum: 20, MaxPacket: 400}} {
		a, b := newSide(o, 1, 20, 5, 1), newSide(o, 2, 5, 3, 2)
		joined(a, b, &line{r: det.At(1, 1, 1)}, 0, 40*time.Second)
		for _, pair := range [][2]*side{{a, b}, {b, a}} {
			from, to := pair[0], pair[1]
			lost := 0
			for pdu := range from.said {
				if to.heard[pdu] == 0 {
					lost++
					if kindOf(pdu) != dis.KindEntityState {
						t.Errorf("%+v: %v was not heard", o, kindOf(pdu))
					}
				}
			}
			c := &from.g.Counters
			if most := int(c.Replaced+c.Hushed) + len(from.bodies) + 5; lost > most {
				t.Errorf("%+v: %d of %d were not heard, %+v", o, lost, len(from.said), c)
			}
			if to.near.Len() != len(from.bodies) {
				t.Errorf("%+v: %d of %d entities are known", o, to.near.Len(), len(from.bodies))
			}
			if c.Refused+c.Claimed+c.Asked != 0 || c.Foreign == 0 {
				t.Errorf("%+v: %+v", o, c)
			}
			alien(t, from, to)
		}
	}
}

// alien finds what was heard and never said, but for the beats of what is quiescent.
func alien(t *testing.T, from, to *side) {
	t.Helper()
	strange := 0
	for pdu := range to.heard {
		if from.said[pdu] == 0 {
			strange++
		}
	}
	if uint64(strange) > to.g.Counters.Kept {
		t.Errorf("%d PDUs were heard that nobody said, %d beats", strange, to.g.Counters.Kept)
	}
}

// With 30 % lost, doubled and out of order, nothing is heard that was not said, what is fired is
// heard all the same, and all entities are known.
func TestBadLine(t *testing.T) {
	more, _ := strconv.Atoi(os.Getenv("COEVAL_SEEDS"))
	for seed := range uint64(max(4, more)) {
		a, b := newSide(Options{}, 1, 20, 5, seed), newSide(Options{}, 2, 5, 3, seed+100)
		l := &line{r: det.At(seed, 9, 9), loss: 0.3, late: 100}
		joined(a, b, l, 0, 60*time.Second)
		said, heard := 0, 0
		for _, pair := range [][2]*side{{a, b}, {b, a}} {
			from, to := pair[0], pair[1]
			alien(t, from, to)
			for pdu := range from.said {
				if kindOf(pdu) == dis.KindFire {
					said++
					if n := to.heard[pdu]; n == 1 {
						heard++
					} else if n > 1 {
						t.Errorf("seed %d: a shot was heard %d times", seed, n)
					}
				}
			}
			if n := to.near.Len(); n < len(from.bodies)*3/4 {
				t.Errorf("seed %d: %d of %d entities are known", seed, n, len(from.bodies))
			}
			if from.g.Counters.Asked == 0 || from.g.Counters.Answered == 0 {
				t.Errorf("seed %d: nobody asked: %+v", seed, from.g.Counters)
			}
		}
		if heard*100 < said*97 {
			t.Errorf("seed %d: %d of %d shots were heard", seed, heard, said)
		}
	}
}

// A gateway that is started anew learns of all, and one that is gone takes its entities with it.
func TestRestart(t *testing.T) {
	a, b := newSide(Options{}, 1, 10, 10, 1), newSide(Options{}, 2, 1, 0, 2)
	l := &line{r: det.At(1, 1, 1), loss: 0.1, late: 20}
	joined(a, b, l, 0, 20*time.Second)
	if b.g.Far() != 20 {
		t.Fatalf("%d entities are told", b.g.Far())
	}
	b.g = New(Options{}, 77) // it knows no references
	joined(a, b, l, 20*time.Second, 50*time.Second)
	if b.g.Far() < 19 {
		t.Errorf("after a new start %d entities are told", b.g.Far())
	}
	a.g = New(Options{}, 78) // it numbers from the start
	joined(a, b, l, 50*time.Second, 170*time.Second)
	if b.g.Far() != 20 {
		t.Errorf("after the other's new start %d entities are told", b.g.Far())
	}
	l.loss = 1
	joined(a, b, l, 170*time.Second, 200*time.Second)
	if b.g.Far() != 0 {
		t.Errorf("with the line dead %d entities are told", b.g.Far())
	}
}

// What stands still is told by the gateway here for as long as it is there, without the line.
func TestQuiescent(t *testing.T) {
	a, b := newSide(Options{}, 1, 0, 10, 1), newSide(Options{}, 2, 0, 0, 2)
	l := &line{r: det.At(1, 1, 1)}
	joined(a, b, l, 0, 500*time.Second)
	if b.near.Len() != 10 || b.g.Counters.Kept < 30 || a.g.Counters.Hushed < 10 {
		t.Errorf("%d are known, %d beats here, %d not sent", b.near.Len(), b.g.Counters.Kept,
			a.g.Counters.Hushed)
	}
	if n := a.g.Counters.References + a.g.Counters.Differences; n > 60 { // some of each
		t.Errorf("%d updates of ten that stand still went over the line", n)
	}
	a.bodies = a.bodies[:4] // the others fall silent without a word
	joined(a, b, l, 500*time.Second, 700*time.Second)
	if b.g.Far() != 4 {
		t.Errorf("%d are told, of four that are left", b.g.Far())
	}
}

func TestCull(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want func(b *reckon.Body, i int) bool
	}{
		{"near", Options{Near: Area{det.Vec3{X: 6378137}, 3000}},
			func(b *reckon.Body, i int) bool {
				return b.Pos.Sub(det.Vec3{X: 6378137}).Len() <= 3000
			}},
		{"land", Options{Types: []dis.Type{{Kind: 1, Domain: 1}}},
			func(_ *reckon.Body, i int) bool { return i%2 == 0 }},
	} {
		a, b := newSide(c.o, 1, 0, 60, 1), newSide(Options{}, 2, 0, 0, 2)
		joined(a, b, &line{r: det.At(1, 1, 1)}, 0, 10*time.Second)
		want := 0
		for i := range a.bodies {
			id := dis.ID{Site: 1, Application: 1, Number: uint16(i + 1)}
			is := c.want(&a.bodies[i], i)
			if is {
				want++
			}
			if (b.near.Entity(id) != nil) != is {
				t.Errorf("%s: %v at %v is known: %v", c.name, id, a.bodies[i].Pos, !is)
			}
		}
		if want == 0 || want == 60 || a.g.Counters.Culled == 0 {
			t.Errorf("%s: %d are wanted, %d culled", c.name, want, a.g.Counters.Culled)
		}
	}
}

// The other side cannot speak for what is ours, whatever it sends.
func TestLineCannotClaim(t *testing.T) {
	o := Options{Every: -1}
	honest, liar := New(o, 1), New(o, 2)
	p := dis.EntityState{ID: dis.ID{Site: 1, Application: 1, Number: 5},
		Pos: det.Vec3{X: 6378137}}
	honest.FromExercise(0, 1, p.Append(nil)) // it is of the honest side
	honest.Reset()
	p.Pos.Y = 5
	liar.FromExercise(0, 1, p.Append(nil))
	fire := dis.Fire{Firer: p.ID}
	liar.FromExercise(0, 1, fire.Append(nil))
	gone := dis.RemoveEntity{Request: dis.Request{From: p.ID, To: p.ID}}
	liar.FromExercise(0, 1, gone.Append(nil))
	if len(liar.ToLine) < 3 {
		t.Fatal("it does not even try")
	}
	for _, b := range liar.ToLine {
		honest.FromLine(0, 1, b)
	}
	if len(honest.ToExercise) != 0 || honest.Counters.Claimed < 3 {
		t.Errorf("%d were told, %d claims refused", len(honest.ToExercise),
			honest.Counters.Claimed)
	}
}

func FuzzLine(f *testing.F) {
	a := newSide(Options{}, 1, 3, 1, 1)
	for i := range 60 {
		now := time.Duration(i) * time.Second / 30
		for _, d := range a.tick(now, 1) {
			a.g.FromExercise(now, 1, d)
		}
		a.g.Tick(now, 1)
	}
	for _, p := range a.g.ToLine {
		f.Add(p, p[:len(p)-1])
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		g := New(Options{Exercise: dis.Options{Site: 1, Application: 1}}, 1)
		for i, p := range [][]byte{one, two, one} {
			now := time.Duration(i) * time.Second
			g.FromLine(now, 1, p)
			g.Tick(now, 1)
			for _, d := range g.ToExercise {
				h, err := dis.ReadHeader(d)
				if err != nil || int(h.Length) != len(d) {
					t.Fatalf("%x is told, which is no PDU: %v", d, err)
				}
				if h.Kind == dis.KindEntityState && bytes.HasPrefix(d[12:], []byte{0, 1, 0, 1}) {
					t.Fatal("it speaks for what is ours")
				}
			}
			g.Reset()
		}
	})
}

func FuzzExercise(f *testing.F) {
	p := dis.EntityState{ID: dis.ID{Site: 1, Application: 1, Number: 5}}
	f.Add(p.Append(nil), p.Append(nil))
	f.Add((&dis.Comment{}).Append(nil), (&dis.Fire{}).Append(nil))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		a, b := New(Options{Every: -1}, 1), New(Options{Every: -1}, 2)
		for i, d := range [][]byte{one, two, one, two} {
			now := time.Duration(i) * time.Second
			a.FromExercise(now, 1, d)
			a.Tick(now, 1)
			for _, p := range a.ToLine {
				b.FromLine(now, 1, p)
			}
			a.Reset()
		}
		if b.Counters.Refused != 0 || b.Counters.Asked != 0 {
			t.Fatalf("the other gateway does not understand it: %+v", b.Counters)
		}
	})
}

// Two gateways by hand: what one hears, the other says.
func Example() {
	here, there := New(Options{Every: -1}, 1), New(Options{Every: -1}, 2)
	tank := dis.EntityState{ID: dis.ID{Site: 1, Application: 1, Number: 7},
		Pos: det.Vec3{X: 6378137}, Marking: dis.Mark("tank")}
	here.FromExercise(0, dis.Relative(0), tank.Append(nil))
	for _, packet := range here.ToLine {
		there.FromLine(0, dis.Relative(0), packet)
	}
	var r dis.Reader
	for _, datagram := range there.ToExercise {
		for p := range r.All(datagram) {
			fmt.Println(p.(*dis.EntityState).Marking)
		}
	}
	// Output: tank
}
