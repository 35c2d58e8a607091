package conn

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
)

// TestActingOnEvents: whatever is done while looking at events, they stay as they
// are, and what it causes comes with the next.
func TestActingOnEvents(t *testing.T) {
	h := newHall(t, 3)
	for _, c := range h.clients {
		for i := range byte(5) {
			if err := c.Conn().Send(2, []byte{i}); err != nil {
				t.Fatal(err)
			}
		}
	}
	h.send()
	h.server.Receive(h.now, h.in)
	messages := 0
	for _, e := range h.server.Events() {
		if e.Kind != Message || e.Conn == nil || len(e.Data) != 1 || int(e.Data[0]) != messages%5 {
			t.Fatalf("event %d is %+v", messages, e)
		}
		messages++
		e.Conn.Close(ReasonGame, "enough")
	}
	if messages != 15 {
		t.Errorf("%d messages", messages)
	}
	if k := kinds(h.server.Events()); k[Disconnected] != 3 || len(k) != 1 {
		t.Errorf("then %v", k)
	}
	if k := kinds(h.server.Events()); len(k) != 0 {
		t.Errorf("and then %v", k)
	}
}

func TestConnectAndTalk(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 1, Conditions: netsim.Cable})
	p := newPair(t, n, pairOptions{})
	p.keep = true
	p.connect(t)
	c := p.client.Conn()
	for ch := range uint8(4) {
		if err := c.Send(ch, []byte{'c', ch}); err != nil {
			t.Fatal(err)
		}
		if err := p.sc.Send(ch, []byte{'s', ch}); err != nil {
			t.Fatal(err)
		}
	}
	n.Run(time.Second)
	if k := kinds(p.serverEvents); k[Message] != 4 || k[Connected] != 1 {
		t.Errorf("server saw %v", k)
	}
	if k := kinds(p.clientEvents); k[Message] != 4 || k[Connected] != 1 || k[TicketReceived] != 1 {
		t.Errorf("client saw %v", k)
	}
	t.Logf("%+v", c.Quality())
	t.Logf("%+v", p.sc.Quality())
	t.Logf("%+v %+v", p.server.Ledger(), p.server.Stats())
	p.client.Close(ReasonLeft, "bye")
	n.Run(3 * time.Second)
	last := p.serverEvents[len(p.serverEvents)-1]
	if last.Kind != Disconnected || last.Reason != ReasonLeft || string(last.Data) != "bye" {
		t.Errorf("server saw %+v last", last)
	}
	if !p.client.Done() || !p.server.Done() {
		t.Error("not done after closing")
	}
}
