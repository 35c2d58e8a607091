package netsim

import (
	"cmp"
	"math"
	"math/bits"
	"time"
)

// Profile says what one direction of a path does to the datagrams on it. The
// zero value is a perfect path: everything arrives at once.
type Profile struct {
	Latency time.Duration // the time on the way, before jitter and queueing
	Jitter  Jitter        // what is added to it, datagram by datagram

	Loss  float64 // probability that a datagram vanishes, outside of a burst
	Burst Burst   // losses that come together

	Duplicate float64 // probability that a datagram arrives twice

	// Reorder is the probability that a datagram is held back by HoldBack while later
	// ones overtake it. Jitter alone never reorders: a datagram that is delayed delays
	// those behind it, as a queue does.
	Reorder  float64
	HoldBack time.Duration // 20 ms when zero

	Corrupt float64 // probability that one bit arrives flipped

	// Rate is in bits a second, zero for no limit, and counts 28 bytes of IP and UDP
	// headers for each datagram. Queue is how many bytes may wait for their turn
	// before the next is dropped; 64 KiB when zero. A long queue before a low rate is
	// what is called bufferbloat.
	Rate  int64
	Queue int

	// MaxDatagram is the largest datagram that gets through, zero for no limit. Larger
	// ones vanish, as they do on a path that drops fragments.
	MaxDatagram int
}

// Jitter is the part of the delay that differs from datagram to datagram.
type Jitter struct {
	Shape  Shape
	Amount time.Duration
	// Recorded is played back in order, again and again, when Shape is Recorded.
	Recorded []time.Duration
}

// Shape is how jitter is distributed.
type Shape uint8

const (
	// Uniform adds between nothing and Amount.
	Uniform Shape = iota
	// Normal adds or takes away, with standard deviation Amount; the whole delay does
	// not go below zero.
	Normal
	// LongTail adds little mostly and a lot sometimes: a Pareto tail that falls with the
	// square, cut at 20 times Amount. The mean is 0.95 times Amount.
	LongTail
	// Recorded adds the delays of a list, such as one measured on a real network.
	Recorded
)

// Burst is the bad state of a Gilbert-Elliott channel: a path that is good
// until it enters a burst and bad until it leaves it (Gilbert 1960, Elliott
// 1963). The good state loses with Profile.Loss. A burst lasts 1/Leave datagrams
// on average and takes up Enter/(Enter+Leave) of all.
type Burst struct {
	Enter float64 // probability, at each datagram, that a burst begins
	Leave float64 // probability, at each datagram within a burst, that it ends
	Loss  float64 // probability of loss within a burst; 1 when zero
}

// MeanLoss is the share of datagrams that a long run loses to Loss and Burst,
// so that a test or a report can say what a profile amounts to.
func (p Profile) MeanLoss() float64 {
	if p.Burst.Enter <= 0 {
		return p.Loss
	}
	bad := p.Burst.Enter / (p.Burst.Enter + p.Burst.Leave)
	return float64((1-bad)*p.Loss) + float64(bad*cmp.Or(p.Burst.Loss, 1))
}

const (
	headerBytes     = 28       // IPv4 and UDP
	defaultQueue    = 64 << 10 // bytes
	defaultHoldBack = 20 * time.Millisecond
	copySpread      = 10 * time.Millisecond // a duplicate follows within this time
	tailCut         = 20                    // times Amount
)

// The draws of one datagram, by what they decide.
const (
	drawBurst = iota
	drawLoss
	drawDuplicate
	drawCopyBy
	drawReorder
	drawCorrupt
	drawBit
	drawJitter
	drawJitter2
	drawJitter3
)

// sample is the jitter of one datagram. It uses only integers, square root and
// division, which give the same bits on every machine.
func (j *Jitter) sample(d draws, number uint64) time.Duration {
	if j.Shape == Recorded {
		if len(j.Recorded) == 0 {
			return 0
		}
		return j.Recorded[(number-1)%uint64(len(j.Recorded))]
	}
	if j.Amount <= 0 {
		return 0
	}
	switch j.Shape {
	case Normal:
		// The sum of twelve uniforms has variance one.
		var sum int64
		for k := uint64(drawJitter); k <= drawJitter3; k++ {
			w := d.at(k)
			sum += int64(w&0xffff + w>>16&0xffff + w>>32&0xffff + w>>48)
		}
		return scale(j.Amount, sum-12*0xffff/2, 1<<16)
	case LongTail:
		u := float64(d.at(drawJitter)>>11+1) / (1 << 53)
		x := min(1/math.Sqrt(u)-1, tailCut)
		return time.Duration(float64(j.Amount) * x)
	default:
		return time.Duration(below(d.at(drawJitter), uint64(j.Amount)))
	}
}

// scale is d * num / den without overflow in between.
func scale(d time.Duration, num, den int64) time.Duration {
	negative := num < 0
	if negative {
		num = -num
	}
	hi, lo := bits.Mul64(uint64(d), uint64(num))
	if hi >= uint64(den) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(den))
	if q > math.MaxInt64 {
		q = math.MaxInt64
	}
	if negative {
		return -time.Duration(q)
	}
	return time.Duration(q)
}

// airtime is how long so many bytes take at a rate.
func airtime(bytes int, rate int64) time.Duration {
	if rate <= 0 || bytes <= 0 {
		return 0
	}
	return scale(8*time.Second, int64(bytes), rate)
}
