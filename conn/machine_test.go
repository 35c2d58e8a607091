package conn

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
)

// FuzzMachine drives a whole connection by a script of bytes: datagrams are lost,
// doubled, delayed, altered and made up, clocks jump, addresses change, ends close.
// Whatever happens, nothing panics, reliable messages come in order and once, the
// books balance, and every connection that began ends at most once.
func FuzzMachine(f *testing.F) {
	f.Add([]byte(
		"connect and talk: \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x06\x00\x00\x00\x00"))
	f.Add(bytes.Repeat([]byte{0, 0, 0, 5, 0x11, 0x22, 0, 0, 3}, 20))
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 600 {
			script = script[:600]
		}
		r := newRig(t)
		for _, op := range script {
			r.step(op)
		}
		r.settle()
	})
}

// rig is a server and a client in the hands of a fuzzer.
type rig struct {
	t        testing.TB
	server   *Server
	client   *Client
	sc       *Conn
	now      time.Duration
	skew     time.Duration // of the server's clock
	home     netip.AddrPort
	toServer []link.Datagram
	toClient []link.Datagram
	old      []link.Datagram // delivered before, to be replayed
	sent     [2]uint64       // bytes, by client and server
	number   [2]byte         // of the next ordered message sent
	expect   [2]byte         // and received
	open     int             // connections at the server that have not ended
	ended    bool            // at the client
}

var rigServer = netip.MustParseAddrPort("10.0.0.1:4000")

func newRig(t testing.TB) *rig {
	so, co := testOptions(1), testOptions(2)
	so.renewAfter, co.renewAfter = 20, 30 // so that keys are renewed now and then
	s, err := NewServer(ServerOptions{Options: so, Keys: []token.Key{testKey}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewClient(ClientOptions{Options: co, Token: testToken(t, 7, nil),
		Servers: []netip.AddrPort{rigServer}})
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, server: s, client: c, home: address(1)}
}

func (r *rig) step(op byte) {
	arg := int(op >> 4)
	switch op & 15 {
	case 0, 1: // a tick in good order
		r.flush()
		r.deliver(len(r.toServer), len(r.toClient))
	case 2: // only some arrive, and the rest later
		r.flush()
		r.deliver(arg&3, arg>>2)
	case 3: // lose what is under way
		r.flush()
		if arg&1 == 0 && len(r.toServer) > 0 {
			r.toServer = r.toServer[1:]
		}
		if arg&2 == 0 && len(r.toClient) > 0 {
			r.toClient = r.toClient[1:]
		}
	case 4: // reverse what is under way
		r.flush()
		for _, q := range [][]link.Datagram{r.toServer, r.toClient} {
			for i, j := 0, len(q)-1; i < j; i, j = i+1, j-1 {
				q[i], q[j] = q[j], q[i]
			}
		}
	case 5: // the client says something
		r.say(0, r.client.Conn(), arg)
	case 6: // the server does
		r.say(1, r.sc, arg)
	case 7: // replay
		if n := len(r.old); n > 0 {
			d := r.old[arg%n]
			d.Data = bytes.Clone(d.Data)
			r.give(d)
		}
	case 8: // alter
		r.flush()
		for _, q := range [][]link.Datagram{r.toServer, r.toClient} {
			if len(q) > 0 {
				d := q[arg%len(q)]
				d.Data = bytes.Clone(d.Data)
				d.Data[(arg*37)%len(d.Data)] ^= byte(1 + arg)
				r.give(d)
			}
		}
	case 9: // make up
		d := link.Datagram{
			Addr: address(50 + arg), Data: bytes.Repeat([]byte{op, byte(arg)}, 8*arg)}
		r.give(d)
		d.Addr = rigServer
		r.give(d)
	case 10: // the clock
		r.now += []time.Duration{
			time.Millisecond, 100 * time.Millisecond, time.Second, time.Minute}[arg&3]
	case 11: // the server's clock alone
		r.skew += time.Duration(arg-8) * time.Second
	case 12: // roam
		r.home = address(1 + arg)
	case 13: // bulk
		if c := r.client.Conn(); c != nil && arg&1 == 0 {
			_, _ = c.SendBulk(uint32(arg), make([]byte, 500*(arg+1)))
		} else if c != nil {
			_ = c.CancelBulk(BulkID(arg >> 1))
			if r.sc != nil {
				_ = r.sc.RefuseBulk(BulkID(arg >> 1))
			}
		}
	case 14: // the link refuses
		r.flush()
		r.client.Refused(arg)
		r.server.Refused(arg)
		r.sent[0], r.sent[1] = 0, 0 // what was refused has no part in the count
		r.rebase()
	case 15: // the end
		if arg == 0 && r.client.Conn() != nil {
			r.client.Close(ReasonLeft, "fuzz")
		} else if arg == 1 && r.sc != nil {
			r.sc.Close(ReasonGame, "fuzz")
		}
	}
	r.now += time.Duration(1+arg) * 2 * time.Millisecond
}

func (r *rig) say(who int, c *Conn, arg int) {
	if c == nil || !c.Open() {
		return
	}
	if arg < 8 {
		if c.Send(2, []byte{r.number[who]}) == nil {
			r.number[who]++
		}
		return
	}
	if arg == 15 {
		now := r.now
		if who == 1 {
			now += r.skew
		}
		if b, err := c.Compose(now, 0, 20); err == nil {
			c.Commit(append(b, "composed"...))
		}
		return
	}
	_ = c.Send([]uint8{0, 1, 3}[arg%3], make([]byte, 300*(arg-8)))
}

func (r *rig) flush() {
	for _, d := range r.client.Flush(r.now, nil) {
		r.sent[0] += uint64(len(d.Data))
		r.toServer = append(r.toServer, link.Datagram{Addr: r.home, Data: bytes.Clone(d.Data)})
	}
	for _, d := range r.server.Flush(r.now+r.skew, nil) {
		r.sent[1] += uint64(len(d.Data))
		if d.Addr == r.home {
			r.toClient = append(r.toClient,
				link.Datagram{Addr: rigServer, Data: bytes.Clone(d.Data)})
		}
	}
	r.look()
}

func (r *rig) deliver(toServer, toClient int) {
	for range min(toServer, len(r.toServer)) {
		d := r.toServer[0]
		r.toServer = r.toServer[1:]
		r.keep(d)
		r.give(d)
	}
	for range min(toClient, len(r.toClient)) {
		d := r.toClient[0]
		r.toClient = r.toClient[1:]
		r.keep(d)
		r.give(d)
	}
}

func (r *rig) keep(d link.Datagram) {
	if len(r.old) < 64 {
		r.old = append(r.old, link.Datagram{Addr: d.Addr, Data: bytes.Clone(d.Data)})
	}
}

// give hands over a datagram: from the server's address to the client, from any other to the
// server.
func (r *rig) give(d link.Datagram) {
	if d.Addr == rigServer {
		r.client.Receive(r.now, []link.Datagram{d})
	} else {
		r.server.Receive(r.now+r.skew, []link.Datagram{d})
	}
	r.look()
}

func (r *rig) look() {
	for _, e := range r.server.Events() {
		switch e.Kind {
		case Connected:
			r.sc = e.Conn
			r.open++
		case Disconnected:
			r.open--
		}
		r.check(0, &e)
	}
	for _, e := range r.client.Events() {
		if e.Kind == Disconnected {
			if r.ended {
				r.t.Fatal("the client ended twice")
			}
			r.ended = true
		}
		r.check(1, &e)
	}
	if r.open < 0 || r.open > 1 {
		r.t.Fatalf("%d connections of one client", r.open)
	}
}

// check looks at a message of sender who.
func (r *rig) check(who int, e *Event) {
	if e.Kind == Message && e.Channel == 2 {
		if len(e.Data) != 1 || e.Data[0] != r.expect[who] {
			r.t.Fatalf("message %v where %d was due", e.Data, r.expect[who])
		}
		r.expect[who]++
	}
}

// rebase counts from here on.
func (r *rig) rebase() {
	c, s := r.client.Ledger(), r.server.Ledger()
	r.sent[0], r.sent[1] = c.Total(), s.Total()
}

// settle lets everything that is under way arrive, and looks at the books.
func (r *rig) settle() {
	for range 20 {
		r.now += tick
		r.flush()
		r.deliver(len(r.toServer), len(r.toClient))
	}
	r.flush() // answers given since the last one are booked but not yet handed out
	c, s := r.client.Ledger(), r.server.Ledger()
	if c.Total() != r.sent[0] || s.Total() != r.sent[1] {
		r.t.Fatalf("the books say %d and %d, %d and %d were sent", c.Total(), s.Total(), r.sent[0],
			r.sent[1])
	}
	if r.sc != nil && r.sc.Open() && r.sc.sent.inFlight < 0 {
		r.t.Fatalf("%d packets in flight", r.sc.sent.inFlight)
	}
}
