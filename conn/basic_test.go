package conn

import (
	"net/netip"
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

// TestFlushSome: between two flushes of all, what was composed goes on any connection, and what
// waits on those that are named; the others wait.
func TestFlushSome(t *testing.T) {
	h := newHall(t, 3)
	var conns []*Conn
	slots := map[int]bool{}
	for c := range h.server.Conns {
		conns = append(conns, c)
		slots[c.Slot()] = true
		h.server.Prefetch(c)
	}
	if len(slots) != 3 {
		t.Errorf("three connections have the slots %v", slots)
	}
	h.now += time.Millisecond
	for _, c := range conns[:2] {
		if err := c.Send(2, []byte("waits")); err != nil {
			t.Fatal(err)
		}
	}
	b, err := conns[2].Compose(h.now, 0, 8)
	if err != nil {
		t.Fatal(err)
	}
	conns[2].Commit(append(b, "composed"...))
	to := map[netip.AddrPort]int{}
	for _, d := range h.server.FlushSome(h.now, conns[:1], nil) {
		to[d.Addr]++
	}
	if to[conns[0].Addr()] != 1 || to[conns[1].Addr()] != 0 || to[conns[2].Addr()] != 1 {
		t.Errorf("datagrams to %v", to)
	}
	h.server.AttendStrangers(h.now)
	h.server.Attend(h.now, conns[1])
	if out := h.server.FlushSome(h.now, nil, nil); len(out) != 1 || out[0].Addr != conns[1].Addr() {
		t.Errorf("after it was attended to: %v", out)
	}
}
