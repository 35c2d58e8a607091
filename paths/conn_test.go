package paths

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// talker is one end of a connection over paths.
type talker struct {
	ep    *netsim.Endpoint
	paths *Paths
	other member.ID
	relay netip.AddrPort
	end   interface {
		Receive(time.Duration, []link.Datagram)
		Flush(time.Duration, []link.Datagram) []link.Datagram
		Events() []conn.Event
	}
	conn    *conn.Conn
	said    uint32
	heard   uint32
	roamed  int
	ended   string
	wrong   error
	longest time.Duration // without a message
	last    time.Duration
}

// frame receives, says a number on an ordered channel, and sends.
func (k *talker) frame() {
	now := k.ep.Net().Now()
	batch := make([]link.Datagram, 64)
	n, _ := k.ep.Receive(batch)
	for _, d := range k.paths.Receive(now, batch[:n]) {
		k.take(now, d)
	}
	for _, e := range k.end.Events() {
		k.event(now, e)
	}
	if k.conn != nil {
		k.said++
		// A small message each frame, and a large one now and then.
		message := binary.BigEndian.AppendUint32(nil, k.said)
		if k.said%10 == 0 {
			message = append(message, bytes.Repeat([]byte{7}, 800)...)
		}
		if err := k.conn.Send(2, message); err != nil {
			k.wrong = err
		}
	}
	out := k.paths.Tick(now, nil)
	out = k.paths.Send(now, k.end.Flush(now, out))
	for _, d := range out {
		k.ep.SendTo(d.Addr, d.Data)
	}
	for _, c := range k.paths.Carry() {
		head := binary.BigEndian.AppendUint16([]byte{simCarry}, uint16(3-k.other))
		k.ep.SendTo(k.relay, c.Append(head))
	}
	hello := binary.BigEndian.AppendUint16([]byte{simHello}, uint16(3-k.other))
	k.ep.SendTo(k.relay, hello)
}

func (k *talker) take(now time.Duration, d link.Datagram) {
	switch {
	case d.Addr != k.relay:
		k.end.Receive(now, []link.Datagram{d})
	case d.Data[0] == simSeen:
		var at netip.AddrPort
		if k.wrong = at.UnmarshalBinary(d.Data[3:]); k.wrong == nil {
			k.paths.Add(now, k.other, pairKey(1, 2), []netip.AddrPort{at})
		}
	case d.Data[0] == simCarry:
		c, err := ReadCarried(d.Data[1:])
		if err != nil {
			k.wrong = err
		} else if d, ok := k.paths.Carried(now, c); ok {
			k.end.Receive(now, []link.Datagram{d})
		}
	}
}

func (k *talker) event(now time.Duration, e conn.Event) {
	switch e.Kind {
	case conn.Connected:
		k.conn, k.last = e.Conn, now
	case conn.Roamed:
		k.roamed++
	case conn.Disconnected:
		k.ended = e.Reason.String()
	case conn.Message:
		if n := binary.BigEndian.Uint32(e.Data); n != k.heard+1 {
			k.wrong = fmt.Errorf("number %d after %d", n, k.heard)
		}
		k.heard++
		k.longest = max(k.longest, now-k.last)
		k.last = now
	}
}

// newTalkers makes the two ends, the first of them the server, and a relay.
func newTalkers(t *testing.T, n *netsim.Net, homes ...home) [2]*talker {
	r := &relay{
		ep: n.EndpointAt("relay", netip.MustParseAddrPort("198.51.100.1:7000")),
		at: make(map[member.ID]netip.AddrPort)}
	r.ep.Handle(r.handle)
	var key token.Key
	const wall = 1_800_000_000
	protocol := token.ProtocolID("paths")
	// Room for what carrying adds.
	common := conn.Options{Protocol: protocol, Wall: wall, Datagram: 1100}
	tok, err := token.Issue(key, token.Grant{
		Protocol: protocol, Client: 2, Expires: wall + 60, Servers: []netip.AddrPort{Addr(1)},
	}, bytes.NewReader(make([]byte, 256)))
	if err != nil {
		t.Fatal(err)
	}
	so := conn.ServerOptions{
		Options: common, Keys: []token.Key{key}, Addresses: []netip.AddrPort{Addr(1)}}
	so.Seed = [32]byte{1}
	server, err := conn.NewServer(so)
	if err != nil {
		t.Fatal(err)
	}
	co := conn.ClientOptions{Options: common, Token: tok}
	co.Seed = [32]byte{2}
	client, err := conn.NewClient(co)
	if err != nil {
		t.Fatal(err)
	}
	both := [2]*talker{{end: server}, {end: client}}
	for i, k := range both {
		k.ep, k.other, k.relay = n.Endpoint(fmt.Sprint("m", i+1)), member.ID(2-i), r.ep.PublicAddr()
		homes[i].put(n, fmt.Sprint("home", i+1), &machine{ep: k.ep})
		k.paths = New(Options{Self: member.ID(i + 1), Seed: [32]byte{byte(i + 3)}})
		k.paths.SetRelay(0, true)
		k.paths.Add(0, k.other, pairKey(1, 2), nil)
		k.ep.Every(time.Second/60, k.frame)
	}
	return both
}

// TestConnections: a connection lives through every change of path without noticing: it does not
// roam, nothing is lost or doubled or out of order.
func TestConnections(t *testing.T) {
	for _, h := range [][]home{
		{homes[1], homes[1]}, {homes[3], homes[3]}, {homes[4], homes[1]}, {homes[4], homes[4]},
	} {
		t.Run(h[0].name+" and "+h[1].name, func(t *testing.T) {
			simtest.Run(t, seeds(1, 50), func(n *netsim.Net) error {
				line := cable
				line.Up.Loss, line.Down.Loss = 0.02, 0.02
				n.Use(line)
				both := newTalkers(t, n, h...)
				a, b := both[0].ep, both[1].ep
				n.After(2*time.Second, func() { b.Router().Rebind() })
				n.After(4*time.Second, func() { a.Router().RebindAddr() })
				n.After(6*time.Second, func() { n.CutOneWay(a, b) })
				n.After(8*time.Second, func() { n.Path(a, b).Heal() })
				n.After(10*time.Second, func() { n.Cut(a, b) })
				n.Run(14 * time.Second)
				for _, k := range both {
					if k.wrong != nil || k.ended != "" || k.roamed != 0 || k.heard < 780 ||
						k.longest > time.Second {
						return fmt.Errorf("%v: %d of about 830 came, ended %q, roamed %d, "+
							"longest wait %v", k.wrong, k.heard, k.ended, k.roamed, k.longest)
					}
				}
				// Nor does it try addresses by itself.
				if s := both[0].end.(*conn.Server).Stats(); s.Probes != 0 || s.Moves != 0 {
					return fmt.Errorf("%+v", s)
				}
				return nil
			})
		})
	}
}
