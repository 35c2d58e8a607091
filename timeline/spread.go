package timeline

import (
	"cmp"
	"math/bits"
	"time"
)

// A Spread is how late commands come after their tick's time: counts in steps of an eighth of a
// power of two, from 64 µs on. Old ones fade, so that it follows the network. The zero value is
// empty.
type Spread struct {
	counts [spreadSteps]float64
	total  float64
	weight float64 // of the next one; it grows in place of the others fading
	half   float64 // how many later ones let one count half; 0 stands for spreadHalf
}

// NewSpread is one that follows the network faster or slower: so many later commands let one count
// half.
func NewSpread(half float64) Spread { return Spread{half: half} }

const (
	spreadSteps = 8 * 22
	spreadUnit  = 64 * time.Microsecond
	spreadHalf  = 1024
)

// stepOf is where a delay is counted; those before their time are in 0.
func stepOf(d time.Duration) int {
	if d < spreadUnit {
		return 0
	}
	v := uint64(d / (spreadUnit / 8))
	n := bits.Len64(v) // 4 or more
	return min(int(n-4)*8+int(v>>(n-4))&7+1, spreadSteps-1)
}

// edge is the upper end of a step.
func edge(i int) time.Duration {
	if i == 0 {
		return spreadUnit
	}
	i--
	return time.Duration(8+i%8+1) << (i / 8) * (spreadUnit / 8)
}

// Add counts a command that came so long after its tick's time.
func (s *Spread) Add(d time.Duration) {
	s.weight = cmp.Or(s.weight, 1)
	s.counts[stepOf(d)] += s.weight
	s.total += s.weight
	half := s.half
	half = cmp.Or(half, spreadHalf)
	s.weight *= 1 + 0.6931/half
	if s.weight > 1e9 {
		for i := range s.counts {
			s.counts[i] /= s.weight
		}
		s.total /= s.weight
		s.weight = 1
	}
}

// Empty says that nothing was counted yet.
func (s *Spread) Empty() bool { return s.total == 0 }

// Within is the share of commands that come within a delay.
func (s *Spread) Within(d time.Duration) float64 {
	if s.total == 0 {
		return 1
	}
	sum := 0.0
	for i := range s.counts {
		// those in 0 came in time, or as good as that
		if i > 0 && edge(i) > d && d < edge(spreadSteps-1) {
			if d > edge(i-1) { // part of a step
				sum += s.counts[i] * float64(d-edge(i-1)) / float64(edge(i)-edge(i-1))
			}
			break
		}
		sum += s.counts[i]
	}
	return min(sum/s.total, 1)
}

// Quantile is the delay within which a share of commands comes.
func (s *Spread) Quantile(q float64) time.Duration {
	if s.total == 0 {
		return 0
	}
	sum := 0.0
	for i := range s.counts {
		if sum += s.counts[i]; sum >= q*s.total {
			return edge(i)
		}
	}
	return edge(spreadSteps - 1)
}
