// Package survey measures how far away places are, and says which is the nearest: quickly, as it
// asks those again that may be it, and leaves the others alone.
//
// A survey knows no datagrams. It says which place to ask when, and is told when an answer came:
//
//	s := survey.New(survey.Options{Places: 8})
//	for !s.Done(now) {
//		for p, ok := s.Next(now); ok; p, ok = s.Next(now) {
//			send(p.Place, p.Number)
//		}
//		// wait until s.Wake(now), or until an answer comes; then
//		// s.Answered(p, now, 0)
//	}
//	best := s.Ranking(now)[0]
//
// Of each place it has the round trip, the jitter and the loss. The round trip is the median of
// the means of all pairs of round trips (Hodges and Lehmann 1963): a single late answer moves it no
// more than it moves the median, and it needs two thirds of the probes for the same certainty. A
// place is left alone as soon as it is surely not the nearest (successive elimination: Even-Dar,
// Mannor and Mansour 2006), and the survey ends when whichever is first is surely within
// Options.Within of the best, or after Options.Budget.
//
// It is pure: where it stands is among the packages that import nothing of the toolkit. The
// command find drives it over sockets.
package survey
