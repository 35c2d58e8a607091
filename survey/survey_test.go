package survey_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/survey"
)

// TestSilent: places that never answer come last, and do not keep the survey from ending; if none
// answers it ends all the same.
func TestSilent(t *testing.T) {
	t.Parallel()
	for silent := range 4 {
		w := scatter(7, 3, 20*ms, 40*ms, netsim.Profile{})
		for i := range silent {
			w.net.Cut(w.asks, w.places[i])
		}
		s, took := w.survey(survey.Options{})
		list := s.Ranking(took)
		for i, e := range list {
			if e.Reached() != (i < 3-silent) || e.Reached() == (e.Place < silent) {
				t.Errorf("%d silent: %+v", silent, list)
			}
			if e.Reached() && e.Loss() != 0 || !e.Reached() && e.Loss() != 1 {
				t.Errorf("%d silent: loss %v", silent, e.Loss())
			}
		}
		if took > 2*time.Second {
			t.Errorf("%d silent: %v", silent, took)
		}
		if s.Progress(took) != 1 {
			t.Errorf("progress %v", s.Progress(took))
		}
	}
}

// TestLossy: a place that loses a third of all is not the first, though it is the nearest.
func TestLossy(t *testing.T) {
	t.Parallel()
	w := scatter(3, 4, 40*ms, 20*ms, netsim.Profile{})
	near := netsim.Profile{Latency: 5 * ms, Loss: 0.25}
	w.net.Connect(w.asks, w.places[2], netsim.Both(near))
	// It is looked at for as long as it takes to see.
	s, took := w.survey(survey.Options{Least: 50})
	list := s.Ranking(took)
	if e := list[3]; e.Place != 2 || !e.Lossy() || e.Round > 15*ms {
		t.Errorf("%+v", list)
	}
}

// TestAside: what is not chosen from is measured all the same, and is no reason to end or to go on.
func TestAside(t *testing.T) {
	t.Parallel()
	for aside := range 5 {
		w := scatter(5, 4, 20*ms, 40*ms, netsim.Profile{Jitter: netsim.Jitter{Amount: 2 * ms}})
		s, took := w.survey(survey.Options{Aside: func(i int) bool { return i < aside }})
		for _, e := range s.Ranking(took) {
			if e.Answered < 5 || e.Place < aside && e.Sent > 5 {
				t.Errorf("%d aside: %+v", aside, e)
			}
		}
		if took > time.Second {
			t.Errorf("%d aside: took %v", aside, took)
		}
	}
}

// TestHeld: what a datagram lay at the other end is no part of the way.
func TestHeld(t *testing.T) {
	t.Parallel()
	s := survey.New(survey.Options{Places: 1, Most: 1})
	p, ok := s.Next(0)
	if !ok || !s.Answered(p, 50*ms, 20*ms) {
		t.Fatal(p, ok)
	}
	if e := s.Estimate(0, 50*ms); e.Round != 30*ms {
		t.Errorf("%+v", e)
	}
}

// TestHostile: whatever is said to a survey, it asks no more often than it should, believes no
// answer that was not asked for, and ends.
func TestHostile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 6).Draw(t, "places")
		o := survey.Options{Places: n, Most: rapid.IntRange(0, 8).Draw(t, "most"),
			Least: rapid.IntRange(0, 9).Draw(t, "least")}
		s := survey.New(o)
		most := o.Most
		if most == 0 {
			most = 60
		}
		now, end := time.Duration(0), 3*time.Second
		sent, good := map[survey.Probe]bool{}, map[survey.Probe]bool{}
		for now < end && !s.Done(now) {
			for p, ok := s.Next(now); ok; p, ok = s.Next(now) {
				if sent[p] || p.Number >= most || p.Place >= n {
					t.Fatalf("%+v", p)
				}
				sent[p] = true
			}
			p := survey.Probe{Place: rapid.IntRange(-1, 6).Draw(t, "place"),
				Number: rapid.IntRange(-1, 9).Draw(t, "number")}
			held := time.Duration(rapid.IntRange(-5, 50).Draw(t, "held")) * ms
			if s.Answered(p, now, held) != (sent[p] && !good[p]) {
				t.Fatalf("%+v", p)
			}
			good[p] = good[p] || sent[p]
			wake := s.Wake(now)
			if wake < now || !s.Done(now) && wake > now+1700*ms {
				t.Fatalf("wakes at %v, now %v", wake, now)
			}
			now += time.Duration(rapid.IntRange(0, 100).Draw(t, "passes")) * ms
			if rapid.Bool().Draw(t, "sleeps") {
				now = max(now, wake)
			}
		}
		if now > end && !s.Done(now) {
			t.Fatal("it does not end")
		}
		for _, e := range s.Ranking(now) {
			if e.Round < 0 || e.Answered > e.Sent || e.Sent > most {
				t.Fatalf("%+v", e)
			}
		}
	})
}

// BenchmarkSurvey is one survey of 200 places of which a few are near.
func BenchmarkSurvey(b *testing.B) {
	for b.Loop() {
		s := survey.New(survey.Options{Places: 200})
		now := time.Duration(0)
		for !s.Done(now) {
			for p, ok := s.Next(now); ok; p, ok = s.Next(now) {
				s.Answered(p, now+time.Duration(10+p.Place+p.Number%3)*ms, 0)
			}
			now = s.Wake(now)
		}
	}
}
