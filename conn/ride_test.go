package conn

import (
	"bytes"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// TestLargeBesideSmall: messages of any size that need not arrive take one packet each, also
// while small ones are under way that do have to. Of a message as large as a packet may be, those
// left no room, so that packets with nothing new were sent for as long as the budget lasted.
func TestLargeBesideSmall(t *testing.T) {
	simtest.Run(t, seeds(3), func(n *netsim.Net) error {
		n.Use(netsim.Both(netsim.Profile{Latency: 50 * time.Millisecond}))
		p := newPair(t, n, pairOptions{server: func(o *ServerOptions) {
			o.Rate, o.MinRate, o.MaxRate = 8<<20, 2<<20, 256<<20
		}})
		if err := p.tryConnect(); err != nil {
			return err
		}
		most, came, sent := 0, 0, 0
		p.onClient = func(e *Event) {
			if e.Kind == Message && e.Channel == 0 {
				came++
			}
		}
		p.sp.step = func() {
			most = max(most, len(p.sp.out))
			for range 3 {
				if err := p.sc.Send(3, make([]byte, n.Rand().IntN(60))); err != nil {
					t.Fatal(err)
				}
			}
			size := p.sc.MaxPayload() - n.Rand().IntN(2)*n.Rand().IntN(300)
			if err := p.sc.Send(0, bytes.Repeat([]byte{1}, size)); err != nil {
				t.Fatal(err)
			}
			sent++
		}
		n.Run(2 * time.Second)
		p.sp.step = nil
		n.Run(time.Second)
		// A packet for what has to arrive, one for what need not, and an acknowledgement.
		if most > 3 || came != sent {
			t.Errorf("a flush of a message gave %d packets; %d of %d came", most, came, sent)
		}
		return nil
	})
}

// TestFarBehind: acknowledgements that come so late that 16 bits do not tell which packet they mean
// are no violation.
func TestFarBehind(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 1})
	p := newPair(t, n, pairOptions{server: func(o *ServerOptions) {
		o.Rate, o.MinRate, o.MaxRate = 8<<20, 2<<20, 256<<20
	}})
	if err := p.tryConnect(); err != nil {
		t.Fatal(err)
	}
	n.Use(netsim.Conditions{Up: netsim.Profile{Latency: 5 * time.Second}})
	p.sp.step = func() {
		for range 200 {
			b, err := p.sc.Compose(p.sp.now(), 0, 1)
			if err != nil {
				return
			}
			p.sc.Commit(append(b, 1))
		}
	}
	n.Run(8 * time.Second)
	p.sp.step = nil
	n.Run(8 * time.Second)
	if st := p.sp.machine.(*Server).Stats(); !p.sc.Open() || st.Violations != 0 {
		t.Errorf("open %v after %d violations, %d false acknowledgements", p.sc.Open(),
			st.Violations, st.FalseAcks)
	}
	if p.sc.NextPacket() < 1<<16 {
		t.Errorf("only %d packets", p.sc.NextPacket())
	}
}
