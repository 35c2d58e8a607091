package predict

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
)

// A narrow is a way to the server with a queue before it, in which some of what waits is one's own.
type narrow struct {
	// bytes a second that it carries; bytes of a packet's headers, and of a tick's command
	rate, packet, command float64
	others                time.Duration // what waits there anyway
	size                  float64       // bytes that may wait
	waits                 float64
}

// run plays for a while, with a snapshot every twentieth of a second, and gives the mean of the
// last half of the queue and of the packets sent in a second.
func (n *narrow) run(c *Cadence, from *time.Duration, d time.Duration) (queue time.Duration,
	packets float64) {
	const step = 50 * time.Millisecond
	count := 0
	for end := *from + d; *from < end; *from += step {
		rate := c.PerSecond()
		if rate == 0 {
			rate = 60
		}
		n.waits += (rate*n.packet + 60*n.command - n.rate) * step.Seconds()
		n.waits = min(max(n.waits, 0), n.size)
		q := time.Duration(n.waits/n.rate*float64(time.Second)) + n.others
		c.Observe(*from,
			conn.Quality{
				Queue: q, RoundTrip: 120*time.Millisecond + q, Jitter: 5 * time.Millisecond})
		if end-*from <= d/2 {
			queue += q
			packets += rate
			count++
		}
	}
	return queue / time.Duration(count), packets / float64(count)
}

func TestCadence(t *testing.T) {
	for _, x := range []struct {
		name    string
		way     narrow
		least   float64 // packets a second
		most    float64
		waiting time.Duration
	}{
		{"wide", narrow{rate: 1e6, packet: 90, command: 3, size: 1e5}, 60, 60, 0},
		{"too narrow for headers", narrow{rate: 4200, packet: 90, command: 3, size: 2800}, 29, 33,
			100 * time.Millisecond},
		{"very narrow", narrow{rate: 2000, packet: 90, command: 3, size: 2800}, 15, 18,
			100 * time.Millisecond},
		{"a queue of others",
			narrow{rate: 1e6, packet: 90, command: 3, size: 1e5, others: 500 * time.Millisecond},
			50, 60, 500 * time.Millisecond},
	} {
		t.Run(x.name, func(t *testing.T) {
			var c Cadence
			var now time.Duration
			queue, packets := x.way.run(&c, &now, 4*time.Minute)
			t.Logf("%.1f packets a second, %v wait", packets, queue.Round(time.Millisecond))
			if packets < x.least || packets > x.most || queue > x.waiting {
				t.Errorf("want %v to %v packets, and no more than %v to wait", x.least, x.most,
					x.waiting)
			}
			x.way = narrow{rate: 1e6, packet: 90, command: 3, size: 1e5} // a better network
			if x.way.run(&c, &now, 20*time.Minute); c.PerSecond() != 0 {
				t.Errorf("%v packets a second on a wide way", c.PerSecond())
			}
		})
	}
	c := Cadence{Rate: 20, every: 2}
	if c.PerSecond() != 10 {
		t.Errorf("%v packets a second for a game of 20 ticks", c.PerSecond())
	}
}
