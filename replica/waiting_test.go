package replica

import (
	"errors"
	"testing"
)

// stranded is a Receiver as far as a strategy sees it: no messages come, and it notes what is given
// up.
type stranded struct {
	ReceiverState
	refused []uint32
}

func (c *stranded) Refuse(packet uint32) { c.refused = append(c.refused, packet) }
func (c *stranded) Messages() uint32     { return 0 }

// What waits for messages is bounded in number and in bytes, and what came first is given up first.
func TestWaitingIsBounded(t *testing.T) {
	for _, size := range []int{100, maxEarlyBytes / 10, maxEarlyBytes / 2} {
		c := &stranded{}
		d := &Waiting{}
		for n := range uint32(3 * maxEarly) {
			p := &Arrived{Packet: n, Messages: 1, Data: make([]byte, size)}
			if err := d.Hold(c, p); !errors.Is(err, ErrWaits) {
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
		if err := d.Hold(c, &Arrived{Packet: 3*maxEarly - 1, Messages: 1}); !errors.Is(err,
			ErrStale) {
			t.Errorf("the same packet once more: %v", err)
		}
	}
	if err := new(Waiting).Hold(&stranded{}, &Arrived{Messages: 1,
		Data: make([]byte, maxEarlyBytes/2+1)}); !errors.Is(err, ErrPacket) {
		t.Errorf("a packet that is too large: %v", err)
	}
}
