package predict

import (
	"math"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/world"
)

// feed sends a snapshot every third tick over a path and looks at what is shown every 10 ms: the
// share of looks at which there was nothing to interpolate to, the mean age of what was shown, and
// the largest and least change between looks, against what passed.
func feed(p *Playout, path *netsim.Path, from, d time.Duration) (gaps, age, slow, quick float64) {
	type arrival struct {
		at   time.Duration
		tick world.Tick
	}
	var due []arrival
	slow, quick = math.Inf(1), math.Inf(-1)
	looks, last := 0.0, math.NaN()
	for now := from; now < from+d; now += time.Millisecond {
		if now%(50*time.Millisecond) == 0 {
			if f := path.Pass(now, 200); f.Copies > 0 {
				due = append(due, arrival{f.At[0], world.Tick(now.Seconds()*60 + 0.5)})
			}
		}
		for i := 0; i < len(due); i++ {
			if due[i].at <= now {
				p.Arrived(now, due[i].tick)
				due = append(due[:i], due[i+1:]...)
				i--
			}
		}
		if now%(10*time.Millisecond) == 0 && p.running {
			at := p.At(now)
			looks++
			age += now.Seconds()*60 - at
			if p.Behind() < 0 {
				gaps++
			}
			if !math.IsNaN(last) {
				pace := (at - last) / 0.6
				slow, quick = min(slow, pace), max(quick, pace)
			}
			last = at
		}
	}
	return gaps / looks, age / looks, slow, quick
}

// TestPlayout: on every preset there is almost always something to interpolate to, at no more delay
// than the jitter asks for, and no jump.
func TestPlayout(t *testing.T) {
	for _, c := range netsim.Presets() {
		p := NewPlayout(PlayoutOptions{})
		path := netsim.NewPath(c.Down, 5)
		feed(p, path, 0, 15*time.Second)
		gaps, age, slow, quick := feed(p, path, 15*time.Second, 60*time.Second)
		latency := c.Down.Latency.Seconds() * 60
		t.Logf("%-14s gaps %.4f, shown %.1f ticks old (latency %.1f), pace %.3f to %.3f", c.Name,
			gaps, age, latency, slow, quick)
		if c.Name == "awful" {
			continue
		}
		if gaps > 0.02 {
			t.Errorf("%s: nothing to interpolate to at %.3f of all looks", c.Name, gaps)
		}
		if age > latency+12 {
			t.Errorf("%s: %.1f ticks old", c.Name, age)
		}
		if slow < 0.94 || quick > 1.06 {
			t.Errorf("%s: pace from %.3f to %.3f", c.Name, slow, quick)
		}
	}
}

// TestPlayoutAdapts: the delay follows the network both ways, and a path that is suddenly much
// shorter is believed at once.
func TestPlayoutAdapts(t *testing.T) {
	p := NewPlayout(PlayoutOptions{})
	path := netsim.NewPath(netsim.Cable.Down, 5)
	_, good, _, _ := feed(p, path, 0, 20*time.Second)
	path.SetProfile(netsim.LTE.Down)
	feed(p, path, 20*time.Second, 15*time.Second)
	gaps, bad, _, _ := feed(p, path, 35*time.Second, 20*time.Second)
	if bad < good+2 || gaps > 0.03 {
		t.Errorf("the delay went from %.1f to %.1f ticks on a worse network, with %.3f gaps", good,
			bad, gaps)
	}
	path.SetProfile(netsim.Cable.Down)
	feed(p, path, 55*time.Second, 20*time.Second)
	if _, again, _, _ := feed(p, path, 75*time.Second, 10*time.Second); again > good+1 {
		t.Errorf("and back only to %.1f", again)
	}
	path.SetProfile(netsim.Profile{Latency: 2 * time.Second})
	feed(p, path, 85*time.Second, 10*time.Second)
	path.SetProfile(netsim.Profile{Latency: 20 * time.Millisecond})
	feed(p, path, 95*time.Second, 14*time.Second)
	if _, now, _, _ := feed(p, path, 109*time.Second, time.Second); now > 10 {
		t.Errorf("%.1f ticks old after a path became shorter by two seconds", now)
	}
}

// TestFixedPlayout: a delay that was chosen is kept, whatever the network: what is shown is as old
// as the shortest way takes, and the delay.
func TestFixedPlayout(t *testing.T) {
	for _, delay := range []time.Duration{20 * time.Millisecond, 200 * time.Millisecond} {
		p := NewPlayout(PlayoutOptions{Delay: delay})
		conditions, err := netsim.Lookup("wifi")
		if err != nil {
			t.Fatal(err)
		}
		path := netsim.NewPath(conditions.Down, 5)
		feed(p, path, 0, 15*time.Second)
		gaps, age, _, _ := feed(p, path, 15*time.Second, 30*time.Second)
		least := (conditions.Down.Latency + delay).Seconds() * 60
		t.Logf("%v: %.0f %% extrapolated, %.1f ticks old", delay, 100*gaps, age)
		if age < least-0.5 || age > least+1.5 {
			t.Errorf("with a delay of %v what is shown is %.1f ticks old, want %.1f", delay, age,
				least)
		}
		if short := delay < 50*time.Millisecond; short != (gaps > 0.5) || !short && gaps > 0.05 {
			t.Errorf("with a delay of %v %.0f %% is extrapolated", delay, 100*gaps)
		}
	}
}
