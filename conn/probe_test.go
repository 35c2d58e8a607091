package conn

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
)

// TestProbe: a server that knows the connection answers a probe and goes on; the client does not
// take it for one that was started anew, nor anything that others make up.
func TestProbe(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 1})
	p := newPair(t, n, pairOptions{})
	n.Run(time.Second)
	c := p.client
	if c.state != stateConnected {
		t.Fatalf("state %d", c.state)
	}
	c.Probe()
	n.Run(time.Second)
	if c.probe.answered == 0 {
		t.Error("the server does not answer a stranger")
	}
	n.Run(3 * time.Second) // signs of life come
	if ago, ok := c.ProbeAnswered(); ok {
		t.Errorf("it is taken for started anew, after %v", ago)
	}
	forged := make([]byte, challengeSize)
	forged[0], forged[1] = kindChallenge, wireVersion
	was := c.probe.answered
	c.Receive(n.Now(), []link.Datagram{{Addr: c.conn.Addr(), Data: forged}})
	if c.probe.answered != was {
		t.Error("a challenge is believed whose number was not drawn here")
	}
}
