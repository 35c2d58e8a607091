package netsim

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// offered is how many datagrams the statistical tests look at. Their bounds are
// five standard deviations, and the seeds are fixed, so they fail only when the
// model is wrong.
const offered = 200_000

var seeds = []uint64{1, 7, 1 << 40}

// feed offers datagrams of 100 bytes at intervals and returns their delays, or
// -1 for the lost.
func feed(p *Path, count int, every time.Duration) []time.Duration {
	delays := make([]time.Duration, count)
	now := time.Duration(0)
	for i := range delays {
		if f := p.Pass(now, 100); f.Copies > 0 {
			delays[i] = f.At[0] - now
		} else {
			delays[i] = -1
		}
		now += every
	}
	return delays
}

// share checks that hits of count is what probability p gives.
func share(t *testing.T, seed uint64, what string, hits, count uint64, p float64) {
	t.Helper()
	sigma := math.Sqrt(float64(count) * p * (1 - p))
	if got, want := float64(hits), float64(count)*p; math.Abs(got-want) > 5*sigma+1 {
		t.Errorf("seed %d: %s: %v of %d, want %.0f +- %.0f", seed, what, hits, count, want, 5*sigma)
	}
}

func TestChances(t *testing.T) {
	for _, seed := range seeds {
		p := NewPath(Profile{Loss: 0.1, Duplicate: 0.05, Reorder: 0.02, Corrupt: 0.01}, seed)
		feed(p, offered, time.Millisecond)
		s := p.Stats()
		share(t, seed, "lost", s.Lost, offered, 0.1)
		share(t, seed, "duplicated", s.Duplicated, offered-s.Lost, 0.05)
		share(t, seed, "held back", s.HeldBack, offered-s.Lost, 0.02)
		share(t, seed, "corrupted", s.Corrupted, offered-s.Lost, 0.01)
		if s.Offered+s.Duplicated != s.Delivered+s.Lost {
			t.Errorf("seed %d: %+v does not add up", seed, s)
		}
	}
}

func TestLossIsIndependent(t *testing.T) {
	for _, seed := range seeds {
		delays := feed(NewPath(Profile{Loss: 0.2}, seed), offered, time.Millisecond)
		var pairs uint64
		for i := 1; i < len(delays); i++ {
			if delays[i] < 0 && delays[i-1] < 0 {
				pairs++
			}
		}
		share(t, seed, "two losses in a row", pairs, offered-1, 0.04)
	}
}

func TestBursts(t *testing.T) {
	profile := Profile{Loss: 0.01, Burst: Burst{Enter: 0.01, Leave: 0.2, Loss: 0.9}}
	for _, seed := range seeds {
		delays := feed(NewPath(profile, seed), offered, time.Millisecond)
		var lost, after uint64
		for i, d := range delays {
			if d >= 0 {
				continue
			}
			lost++
			if i > 0 && delays[i-1] < 0 {
				after++
			}
		}
		// Losses cluster, so their number varies more than a binomial's: with bursts of
		// five, by about the square root of nine.
		want := profile.MeanLoss() * offered
		if math.Abs(float64(lost)-want) > 5*3*math.Sqrt(want) {
			t.Errorf("seed %d: %d lost, want about %.0f", seed, lost, want)
		}
		// Given a loss, the state was bad with probability bad*0.9/mean, and stays so with 0.8.
		bad := 0.01 / 0.21
		wasBad := bad * 0.9 / profile.MeanLoss()
		next := wasBad*(0.8*0.9+0.2*0.01) + (1-wasBad)*(0.01*0.9+0.99*0.01)
		if got := float64(after) / float64(lost); math.Abs(got-next) > 0.03 {
			t.Errorf("seed %d: %.3f of losses follow a loss, want %.3f", seed, got, next)
		}
	}
	// Without Loss a burst loses all, and its mean length is 1/Leave.
	delays := feed(NewPath(Profile{Burst: Burst{Enter: 0.01, Leave: 0.25}}, 3), offered,
		time.Millisecond)
	runs, lost := 0, 0
	for i, d := range delays {
		if d < 0 {
			lost++
			if i == 0 || delays[i-1] >= 0 {
				runs++
			}
		}
	}
	if mean := float64(lost) / float64(runs); math.Abs(mean-4) > 0.4 {
		t.Errorf("bursts of %.2f on average, want 4", mean)
	}
}

// TestJitter compares quantiles with the distributions' own. Datagrams are far
// enough apart that none waits for the one before.
func TestJitter(t *testing.T) {
	const amount, latency = 10 * time.Millisecond, 100 * time.Millisecond
	quantiles := []float64{0.01, 0.1, 0.5, 0.9, 0.99}
	for _, c := range []struct {
		shape Shape
		want  func(q float64) float64 // in units of amount
	}{
		{Uniform, func(q float64) float64 { return q }},
		{Normal, func(q float64) float64 { return math.Sqrt2 * math.Erfinv(2*q-1) }},
		{LongTail, func(q float64) float64 { return 1/math.Sqrt(1-q) - 1 }},
	} {
		for _, seed := range seeds {
			p := NewPath(Profile{Latency: latency, Jitter: Jitter{Shape: c.shape, Amount: amount}},
				seed)
			delays := feed(p, offered, time.Second)
			slices.Sort(delays)
			for _, q := range quantiles {
				got := float64(delays[int(q*offered)]-latency) / float64(amount)
				// The slope of the quantile function says how sure a quantile is.
				slope := (c.want(q+1e-6) - c.want(q-1e-6)) / 2e-6
				bound := 5*slope*math.Sqrt(q*(1-q)/offered) + 0.005
				if c.shape == Normal {
					bound += 0.03 // twelve uniforms have slightly thin tails
				}
				if math.Abs(got-c.want(q)) > bound {
					t.Errorf("seed %d: %s: quantile %v is %.3f, want %.3f +- %.3f", seed,
						shapeNames[c.shape], q, got, c.want(q), bound)
				}
			}
			if c.shape == LongTail && delays[offered-1] > latency+tailCut*amount {
				t.Errorf("seed %d: tail reaches %v", seed, delays[offered-1])
			}
		}
	}
}

func TestRecordedJitterPlaysInOrder(t *testing.T) {
	list := []time.Duration{3 * time.Millisecond, 0, -time.Millisecond, 9 * time.Millisecond}
	p := NewPath(Profile{Latency: 10 * time.Millisecond,
		Jitter: Jitter{Shape: Recorded, Recorded: list}}, 1)
	for i, d := range feed(p, 10, time.Second) {
		if want := 10*time.Millisecond + list[i%4]; d != want {
			t.Errorf("datagram %d took %v, want %v", i, d, want)
		}
	}
}

// TestOnlyHeldBackAreOvertaken: jitter alone keeps order, and those held back
// are the only ones to be passed.
func TestOnlyHeldBackAreOvertaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		profile := Profile{
			Latency: 20 * time.Millisecond,
			Jitter: Jitter{
				Shape: Shape(rapid.IntRange(0, 2).Draw(t, "shape")), Amount: 15 * time.Millisecond},
			Reorder: rapid.SampledFrom([]float64{0, 0.1}).Draw(t, "reorder"),
			Rate:    rapid.SampledFrom([]int64{0, mbit}).Draw(t, "rate"),
		}
		p := NewPath(profile, rapid.Uint64().Draw(t, "seed"))
		latest, now := time.Duration(0), time.Duration(0)
		for range 200 {
			held := p.stats.HeldBack
			f := p.Pass(now, rapid.IntRange(0, 1200).Draw(t, "size"))
			if f.Copies == 1 && p.stats.HeldBack == held {
				if f.At[0] < latest {
					t.Fatalf("arrives at %v, after one at %v", f.At[0], latest)
				}
				latest = f.At[0]
			}
			now += time.Duration(rapid.IntRange(0, 5000).Draw(t, "gap")) * time.Microsecond
		}
		if profile.Reorder == 0 && p.stats.HeldBack > 0 {
			t.Fatal("held back without being asked to")
		}
	})
}

// TestQueue: the rate is kept, the delay grows to the queue's length, and what
// is beyond is dropped.
func TestQueue(t *testing.T) {
	// 100 bytes and headers take 1.024 ms at 1 Mbit/s; 2000 datagrams a second are twice as many.
	p := NewPath(Profile{Rate: mbit, Queue: 12800}, 1)
	delays := feed(p, 20_000, 500*time.Microsecond)
	s := p.Stats()
	if want := uint64(10 * 1_000_000 / 8 / 128); s.Delivered < want || s.Delivered > want+101 {
		t.Errorf("%d carried in 10 s, want %d and a queue's worth", s.Delivered, want)
	}
	if s.Overflowed+s.Delivered != s.Offered {
		t.Errorf("%+v does not add up", s)
	}
	longest := 102400 * time.Microsecond
	if worst := slices.Max(delays); worst > longest || worst < longest-2*time.Millisecond {
		t.Errorf("worst delay %v, want just under %v", worst, longest)
	}
	if delays[0] != 1024*time.Microsecond {
		t.Errorf("first delay %v, want the time on the line", delays[0])
	}
	if p.Waiting(10*time.Second) == 0 || p.Waiting(20*time.Second) != 0 {
		t.Error("the queue should be full at the end and empty later")
	}
}

func TestMaxDatagramAndCut(t *testing.T) {
	p := NewPath(Profile{MaxDatagram: 1000}, 1)
	if p.Pass(0, 1000).Copies != 1 || p.Pass(0, 1001).Copies != 0 {
		t.Error("1000 bytes should pass and 1001 not")
	}
	p.Cut()
	p.Cut()
	p.Heal()
	if p.Pass(0, 10).Copies != 0 {
		t.Error("a path cut twice and healed once is cut")
	}
	p.Heal()
	p.Heal()
	if p.Pass(0, 10).Copies != 1 {
		t.Error("a healed path should carry")
	}
	if s := p.Stats(); s.TooLarge != 1 || s.Cut != 1 {
		t.Errorf("%+v", s)
	}
}

// TestFatesHangOnNumberAlone: what a datagram meets does not depend on the
// sizes and times of those before it.
func TestFatesHangOnNumberAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		profile := Profile{
			Loss: 0.3, Burst: Burst{Enter: 0.1, Leave: 0.3}, Duplicate: 0.2, Corrupt: 0.1}
		p, q := NewPath(profile, seed), NewPath(profile, seed)
		now := time.Duration(0)
		for i := range 100 {
			now += time.Duration(rapid.IntRange(0, 1000).Draw(t, "gap"))
			f, g := p.Pass(now, 1+rapid.IntRange(0, 500).Draw(t, "size")), q.Pass(0, 100)
			if f.Copies != g.Copies || f.Flip >= 0 != (g.Flip >= 0) {
				t.Fatalf("datagram %d: %+v and %+v", i, f, g)
			}
		}
	})
}

// TestPresets: each keeps to the figures in its comment.
func TestPresets(t *testing.T) {
	for _, c := range Presets() {
		for _, p := range []Profile{c.Up, c.Down} {
			path := NewPath(p, 5)
			// Slow enough that nothing queues on the slowest.
			delays := feed(path, 50_000, 100*time.Millisecond)
			arrived := slices.DeleteFunc(delays, func(d time.Duration) bool { return d < 0 })
			var sum time.Duration
			for _, d := range arrived {
				sum += d
			}
			mean, loss := sum/time.Duration(len(arrived)), 1-float64(len(arrived))/50_000
			if math.Abs(loss-p.MeanLoss()) > 0.15*p.MeanLoss()+0.0005 {
				t.Errorf("%s: loss %.4f, want %.4f", c.Name, loss, p.MeanLoss())
			}
			if mean < p.Latency || mean > p.Latency+2*p.Jitter.Amount+40*time.Millisecond {
				t.Errorf("%s: mean delay %v at latency %v", c.Name, mean, p.Latency)
			}
			t.Logf("%-13s mean %8v loss %.2f%% %v", c.Name, mean.Round(10*time.Microsecond),
				100*loss, p)
		}
	}
}

func BenchmarkPath(b *testing.B) {
	for _, c := range []Conditions{Perfect, WiFi, Awful} {
		b.Run(c.Name, func(b *testing.B) {
			p := NewPath(c.Up, 1)
			b.ReportAllocs()
			now := time.Duration(0)
			for b.Loop() {
				p.Pass(now, 100)
				now += time.Millisecond
			}
		})
	}
}
