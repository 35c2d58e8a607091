package membership

import (
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
)

func report(b *testing.B, what string, list []time.Duration) {
	slices.Sort(list)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	b.ReportMetric(ms(list[len(list)/2]), what+"-ms-median")
	b.ReportMetric(ms(list[len(list)*95/100]), what+"-ms-p95")
	b.ReportMetric(ms(list[len(list)-1]), what+"-ms-most")
}

func far(loss float64) netsim.Conditions {
	p := netsim.Profile{
		Latency: 40 * time.Millisecond, Loss: loss, Jitter: netsim.Jitter{
			Amount: 5 * time.Millisecond}}
	return netsim.Conditions{Up: p, Down: p}
}

// BenchmarkFailover tells, in virtual time, how long after the überserver's crash all
// others have another: three mirrors 40 ms apart, a history of two seconds, 2 % loss.
//
//	go test ./membership -run - -bench Failover -benchtime 200x
func BenchmarkFailover(b *testing.B) {
	var took []time.Duration
	for i := range b.N {
		n := netsim.New(netsim.Options{Seed: uint64(i)})
		s, err := gathered(n, 3, 0, far(0.02), func(s *sim) { s.opt.History = 2 * time.Second })
		if err != nil {
			b.Fatal(err)
		}
		n.Run(time.Duration(n.Rand().IntN(500)) * time.Millisecond)
		s.nodes[0].ep.Restart(time.Hour)
		at := n.Now()
		if err := s.until(20*time.Second, "a new überserver",
			func() bool { return s.whole(s.nodes[1:]...) }); err != nil {
			b.Fatalf("seed %d: %v", i, err)
		}
		took = append(took, n.Now()-at)
	}
	report(b, "elected", took)
}

// BenchmarkJoin tells, in virtual time, how long a mirror takes from its first word to the
// state, and to its vote: into three mirrors 40 ms apart, 2 % loss.
func BenchmarkJoin(b *testing.B) {
	var began, votes []time.Duration
	for i := range b.N {
		n := netsim.New(netsim.Options{Seed: uint64(i)})
		s, err := gathered(n, 3, 0, far(0.02), func(s *sim) { s.opt.History = 2 * time.Second })
		if err != nil {
			b.Fatal(err)
		}
		m := s.add(nil)
		at := n.Now()
		if err := s.until(20*time.Second, "the state", func() bool { return m.began }); err != nil {
			b.Fatalf("seed %d: %v", i, err)
		}
		began = append(began, n.Now()-at)
		if err := s.together(20 * time.Second); err != nil {
			b.Fatalf("seed %d: %v", i, err)
		}
		votes = append(votes, n.Now()-at)
	}
	report(b, "state", began)
	report(b, "vote", votes)
}
