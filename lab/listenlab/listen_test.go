package listenlab

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
)

// measure sends probes over simulated paths, between clocks that have nothing to do with each other
// and drift apart.
func measure(t *testing.T, c netsim.Conditions, probes int, seed uint64) *Result {
	t.Helper()
	up, down := netsim.NewPath(c.Up, seed), netsim.NewPath(c.Down, seed+1)
	l, a := NewListener(7, time.Second/60), NewAnswerer()
	other := func(at time.Duration) time.Duration { // half a million seconds apart, 40 ppm fast
		return 500_000*time.Second + at + at*40/1_000_000
	}
	type arrival struct {
		at   time.Duration
		data []byte
	}
	var answers []arrival
	for range probes {
		now := l.Due()
		b := l.Next(now)
		f := up.Pass(now, len(b))
		for i := range f.Copies {
			out := a.Answer(other(f.At[i]), b)
			back := down.Pass(f.At[i], len(out))
			for k := range back.Copies {
				answers = append(answers, arrival{back.At[k], out})
			}
		}
	}
	slices.SortStableFunc(answers, func(x, y arrival) int { return cmp.Compare(x.at, y.at) })
	for _, x := range answers {
		l.Take(x.at, x.data)
	}
	r, err := l.Result()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestListen: what is captured of a network is what the network is, in each direction; and what is
// captured of the capture is the same again.
func TestListen(t *testing.T) {
	c := netsim.Conditions{
		Up: netsim.Profile{Latency: 20 * time.Millisecond, Loss: 0.03,
			Jitter: netsim.Jitter{Amount: 8 * time.Millisecond}},
		Down: netsim.Profile{Latency: 30 * time.Millisecond,
			Jitter: netsim.Jitter{Amount: 2 * time.Millisecond},
			Burst:  netsim.Burst{Enter: 0.01, Leave: 0.25, Loss: 1}},
	}
	for round := range 2 {
		r := measure(t, c, 12000, 5+uint64(round))
		near := func(what string, got, want, by float64) {
			if math.Abs(got-want) > by {
				t.Errorf("round %d: %s is %.3f, want %.3f", round, what, got, want)
			}
		}
		near("round trip", r.Least, 50, 1.5)
		near("jitter there", r.Up.Jitter, 4, 1)
		near("jitter back", r.Down.Jitter, 1, 0.4)
		near("loss there", r.Up.Loss, 0.03, 0.012)
		near("loss back", r.Down.Loss, 0.0385, 0.016)
		near("a run there", r.Up.Run, 1.03, 0.15)
		near("a run back", r.Down.Run, 4, 1.2)
		c = r.Conditions()
		if c.Up.Loss == 0 || c.Down.Burst.Enter == 0 || len(c.Up.Jitter.Recorded) < 1000 {
			t.Fatalf("%+v", c)
		}
		// The file reads as the same network.
		var read netsim.Conditions
		for _, s := range r.Network {
			for i := range s {
				if s[i] == '=' {
					if err := read.Set(s[:i], s[i+1:]); err != nil {
						t.Fatal(err)
					}
					break
				}
			}
		}
		if read.Up.String() != c.Up.String() || read.Down.String() != c.Down.String() {
			t.Error("the file is another network")
		}
	}
}

// TestTooLittle: where nothing comes back nothing is made up.
func TestTooLittle(t *testing.T) {
	l := NewListener(1, time.Millisecond)
	for range 100 {
		l.Next(l.Due())
	}
	if _, err := l.Result(); err == nil {
		t.Error("of no answers it makes a network")
	}
}

// TestAnswererIsBounded: it remembers no more than so many, and answers with no more bytes than it
// is asked with.
func TestAnswererIsBounded(t *testing.T) {
	a := NewAnswerer()
	for i := range 10 * mostSessions {
		p := probe{session: uint64(i)}
		if out := a.Answer(time.Duration(i), p.append(nil)); len(out) != probeSize {
			t.Fatalf("an answer of %d bytes to one of %d", len(out), probeSize)
		}
	}
	if len(a.sessions) > mostSessions {
		t.Errorf("%d sessions are remembered", len(a.sessions))
	}
	answer := probe{session: 1, last: true}
	if a.Answer(0, answer.append(nil)) != nil {
		t.Error("it answers an answer")
	}
}

// FuzzProbe: whatever comes, neither end panics, and an answer is never longer than what it
// answers.
func FuzzProbe(f *testing.F) {
	f.Add((&probe{session: 3, number: 2, sent: 9}).append(nil), uint32(70))
	f.Add((&probe{session: 3, number: 2, last: true, have: 5}).append(nil), uint32(2))
	f.Add([]byte("coeval"), uint32(0))
	f.Fuzz(func(t *testing.T, b []byte, before uint32) {
		a, l := NewAnswerer(), NewListener(3, time.Millisecond)
		for range before % 100 {
			a.Answer(0, l.Next(l.Due()))
		}
		if out := a.Answer(time.Second, b); len(out) > len(b) {
			t.Fatalf("%d bytes for %d", len(out), len(b))
		}
		l.Take(time.Second, b)
		_, _ = l.Result()
	})
}
