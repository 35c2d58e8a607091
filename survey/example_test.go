package survey_test

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/survey"
)

// Three places answer after 80, 30 and 55 ms. Here the answers are told at once; a program sends a
// datagram for each probe, and tells when its answer comes.
func Example() {
	away := []time.Duration{80 * time.Millisecond, 30 * time.Millisecond, 55 * time.Millisecond}
	s := survey.New(survey.Options{Places: len(away)})
	now := time.Duration(0)
	for !s.Done(now) {
		for p, ok := s.Next(now); ok; p, ok = s.Next(now) {
			s.Answered(p, now+away[p.Place], 0)
		}
		now = s.Wake(now)
	}
	for _, e := range s.Ranking(now) {
		fmt.Printf("place %d: %v, jitter %v, %.0f %% lost\n", e.Place, e.Round, e.Jitter,
			100*e.Loss())
	}
	// Output:
	// place 1: 30ms, jitter 0s, 0 % lost
	// place 2: 55ms, jitter 0s, 0 % lost
	// place 0: 80ms, jitter 0s, 0 % lost
}
