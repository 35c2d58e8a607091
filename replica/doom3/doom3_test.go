package doom3

import (
	"errors"
	"testing"

	"github.com/coeval-dev/coeval/replica"
)

// client is a Receiver as far as a strategy sees it: no messages come, and it notes what is given
// up.
type client struct {
	replica.ReceiverState
	refused []uint32
}

func (c *client) Refuse(packet uint32) { c.refused = append(c.refused, packet) }

// What waits for messages is bounded in number and in bytes, and what came first is given up first.
func TestWaitingIsBounded(t *testing.T) {
	for _, size := range []int{100, maxEarlyBytes / 10, maxEarlyBytes / 2} {
		c := &client{}
		d := &receiver{state: c}
		for n := range uint32(3 * maxEarly) {
			if err := d.hold(&replica.Arrived{Packet: n, Data: make([]byte, size)}); !errors.Is(err,
				replica.ErrWaits) {
				t.Fatal(err)
			}
			if len(d.early) > maxEarly || d.bytes > maxEarlyBytes || d.bytes != len(d.early)*size {
				t.Fatalf("%d packets of %d bytes wait", len(d.early), d.bytes)
			}
		}
		if len(c.refused)+len(d.early) != 3*maxEarly || len(c.refused) == 0 {
			t.Errorf("%d were given up and %d wait", len(c.refused), len(d.early))
		}
		for i, n := range c.refused {
			if n != uint32(i) {
				t.Fatalf("packet %d was given up as number %d", n, i)
			}
		}
		if err := d.hold(&replica.Arrived{Packet: 3*maxEarly - 1}); !errors.Is(err,
			replica.ErrStale) {
			t.Errorf("the same packet once more: %v", err)
		}
	}
	if err := (&receiver{}).hold(&replica.Arrived{
		Data: make([]byte, maxEarlyBytes/2+1)}); !errors.Is(err, replica.ErrPacket) {
		t.Errorf("a packet that is too large: %v", err)
	}
}
