package survey

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// An Estimate is what is known of a place.
type Estimate struct {
	Place int
	// Round is the round trip, and Jitter by how much two that follow each other differ.
	Round, Jitter time.Duration
	// Sent is how many probes went out of which it is known whether they were answered, and
	// Answered how many were.
	Sent, Answered int
}

// Loss is the share of probes that were not answered.
func (e *Estimate) Loss() float64 {
	if e.Sent == 0 {
		return 0
	}
	return 1 - float64(e.Answered)/float64(e.Sent)
}

// Reached says whether the place has answered at all.
func (e *Estimate) Reached() bool { return e.Answered > 0 }

// A place that loses more than a fifth, and at least five, is not the best one, however near it is.
const (
	lossyShare = 0.2
	lossyLeast = 5
)

// Lossy says whether so much is lost that a game is no joy there.
func (e *Estimate) Lossy() bool {
	return e.Sent-e.Answered >= lossyLeast && e.Loss() > lossyShare
}

// tier is by what places are ordered before their round trips.
func (e *Estimate) tier() int {
	switch {
	case !e.Reached():
		return 2
	case e.Lossy():
		return 1
	}
	return 0
}

// Compare orders places: those that answer before others, and among these the nearest first.
func Compare(a, b Estimate) int {
	return cmp.Or(cmp.Compare(a.tier(), b.tier()), cmp.Compare(a.Round, b.Round),
		cmp.Compare(a.Place, b.Place))
}

// Estimate is what is known of a place now.
func (s *Survey) Estimate(i int, now time.Duration) Estimate {
	x := &s.places[i]
	x.compute()
	return Estimate{Place: i, Round: x.round, Jitter: x.jitter, Answered: len(x.trips),
		Sent: len(x.trips) + x.lost(now)}
}

// Ranking is what is known of all places, the best first.
func (s *Survey) Ranking(now time.Duration) []Estimate {
	list := make([]Estimate, len(s.places))
	for i := range list {
		list[i] = s.Estimate(i, now)
	}
	slices.SortFunc(list, Compare)
	return list
}

// How many standard errors two places must be apart to be told apart for good, how many so that the
// first is near enough to the best, and from how many answers it is believed.
const (
	outErrors  = 4.0
	sureErrors = 3.0
	sureLeast  = 6
)

// sure says whether the place that is first now is within Within of the best, and leaves those
// alone that are surely not the best.
func (s *Survey) sure(now time.Duration) bool {
	first := s.first(now)
	if !s.judged {
		s.judged = true
		s.eliminate(first)
	}
	if first < 0 {
		return s.silent(now)
	}
	b := &s.places[first]
	if len(b.trips) < sureLeast && !s.spent(b) {
		return false
	}
	for i := range s.places {
		x := &s.places[i]
		_, waits := x.waits(now)
		switch {
		case len(x.sent) < s.opt.Least, len(x.trips) == 0 && waits:
			return false // it may be any
		case i == first, x.out, x.aside, len(x.trips) == 0, s.spent(x) && s.spent(b):
		case x.round-b.round+s.opt.Within < apart(b, x, sureErrors):
			return false
		}
	}
	return true
}

// spent says whether a place was asked as often as it may be.
func (s *Survey) spent(x *place) bool {
	return len(x.sent) >= s.opt.Most || x.aside && len(x.sent) >= s.opt.Least
}

// silent says whether all were asked, and none that could be chosen can answer any more.
func (s *Survey) silent(now time.Duration) bool {
	for i := range s.places {
		x := &s.places[i]
		if _, waits := x.waits(now); waits || !s.spent(x) {
			return false
		}
	}
	return true
}

// first is the place that would be first now, or -1.
func (s *Survey) first(now time.Duration) int {
	best := Estimate{Place: -1}
	for i := range s.places {
		if s.places[i].aside {
			continue
		}
		if e := s.Estimate(i, now); e.Reached() && (best.Place < 0 || Compare(e, best) < 0) {
			best = e
		}
	}
	return best.Place
}

// eliminate leaves those alone that are surely not the best, as the first is.
func (s *Survey) eliminate(first int) {
	if first < 0 || len(s.places[first].trips) < s.opt.Least {
		return
	}
	b := &s.places[first]
	for i := range s.places {
		x := &s.places[i]
		x.out = i != first && x.round-b.round > apart(b, x, outErrors)
	}
}

// apart is so many standard errors of the difference of two.
func apart(a, b *place, times float64) time.Duration {
	return time.Duration(times * math.Hypot(float64(a.deviation()), float64(b.deviation())))
}
