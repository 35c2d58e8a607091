package conn

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// TestScenarios plays the conversations in testdata/scenarios. The commands:
//
//	server [version=N]        start the server, or start it anew with nothing remembered
//	client NAME ADDR [player=N] [version=N] [expired] [ticket=NAME]
//	flush NAME                fetch what NAME sends; each datagram gets a number
//	deliver N... [from=ADDR]  deliver datagrams, as often as one likes
//	alter N BYTE              make a damaged copy of a datagram, with a new number
//	send NAME CHANNEL TEXT    queue a message; at the server NAME is server:PLAYER
//	wait DURATION             let time pass
//	move NAME ADDR            change a client's address
//	close NAME NOTE           close a connection
//	where                     where the server believes its clients to be
func TestScenarios(t *testing.T) {
	simtest.Scenarios(t, func(t *testing.T) func(simtest.Line, *strings.Builder) {
		s := &stage{t: t, clients: map[string]*actor{}}
		return func(l simtest.Line, out *strings.Builder) { s.step(out, l.Verb, l.Args, l.Options) }
	})
}

type actor struct {
	name   string
	addr   netip.AddrPort
	client *Client
}

// stage is where a scenario plays.
type stage struct {
	t       *testing.T
	now     time.Duration
	server  *Server
	starts  uint64
	clients map[string]*actor
	air     []flight
	stats   Stats
}

type flight struct {
	from, to netip.AddrPort
	data     []byte
}

var stageServer = netip.MustParseAddrPort("10.0.0.1:4000")

func number(text string, otherwise int) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return otherwise
}

func (s *stage) step(out *strings.Builder, verb string, args []string, opts map[string]string) {
	switch verb {
	case "server":
		s.starts++
		o := ServerOptions{
			Options: testOptions(s.starts), Keys: []token.Key{testKey}, Addresses: []netip.AddrPort{
				stageServer}}
		o.Version = uint32(number(opts["version"], 3))
		var err error
		if s.server, err = NewServer(o); err != nil {
			s.t.Fatal(err)
		}
		s.stats = Stats{}
	case "client":
		player := number(opts["player"], 7)
		tok := testToken(s.t, uint64(player), func(g *token.Grant) {
			g.Servers = []netip.AddrPort{stageServer}
			for _, a := range args {
				if a == "expired" {
					g.Expires = testWall - 1
				}
			}
		})
		if from := opts["ticket"]; from != "" {
			tok, _ = s.clients[from].client.Ticket()
		}
		o := ClientOptions{
			Options: testOptions(100 + uint64(len(s.clients))), Token: tok,
			Servers: []netip.AddrPort{stageServer}}
		o.Version = uint32(number(opts["version"], 3))
		c, err := NewClient(o)
		if err != nil {
			s.t.Fatal(err)
		}
		s.clients[args[0]] = &actor{args[0], netip.MustParseAddrPort(args[1]), c}
	case "flush":
		s.flush(out, args[0])
	case "deliver":
		for _, a := range args {
			n := number(a, 0)
			if n < 1 || n > len(s.air) {
				s.t.Errorf("deliver %s: no such datagram yet", a)
				return
			}
			f := s.air[n-1]
			if from := opts["from"]; from != "" {
				f.from = netip.MustParseAddrPort(from)
			}
			if to := opts["to"]; to != "" {
				f.to = netip.MustParseAddrPort(to)
			}
			s.deliver(out, f)
		}
	case "alter":
		f := s.air[number(args[0], 0)-1]
		f.data = append([]byte(nil), f.data...)
		f.data[number(args[1], 0)] ^= 0x01
		s.air = append(s.air, f)
		fmt.Fprintf(out, "%d: damaged copy of %s\n", len(s.air), args[0])
	case "send":
		if err := s.conn(args[0]).Send(uint8(number(args[1], 0)),
			[]byte(strings.Join(args[2:], " "))); err != nil {
			fmt.Fprintln(out, err)
		}
	case "wait":
		d, err := time.ParseDuration(args[0])
		if err != nil {
			s.t.Fatal(err)
		}
		// In steps, since a clock that jumps is another matter.
		for end := s.now + d; s.now < end; {
			s.now = min(s.now+100*time.Millisecond, end)
			s.server.Receive(s.now, nil)
			for _, a := range s.clients {
				a.client.Receive(s.now, nil)
			}
		}
	case "move":
		s.clients[args[0]].addr = netip.MustParseAddrPort(args[1])
	case "close":
		s.conn(args[0]).Close(ReasonLeft, strings.Join(args[1:], " "))
		s.events(out)
	case "where":
		s.server.Conns(func(c *Conn) bool {
			fmt.Fprintf(out, "player %d at %v\n", c.Client(), c.Addr())
			return true
		})
	default:
		s.t.Fatalf("no such command as %q", verb)
	}
}

func (s *stage) conn(name string) *Conn {
	if player, ok := strings.CutPrefix(name, "server:"); ok {
		return s.server.Find(uint64(number(player, 0)))
	}
	return s.clients[name].client.Conn()
}

func (s *stage) flush(out *strings.Builder, name string) {
	from := stageServer
	var sent []link.Datagram
	if name == "server" {
		sent = s.server.Flush(s.now, nil)
	} else {
		a := s.clients[name]
		from = a.addr
		sent = a.client.Flush(s.now, nil)
	}
	for _, d := range sent {
		s.air = append(s.air, flight{from, d.Addr, append([]byte(nil), d.Data...)})
		fmt.Fprintf(out, "%d: %v > %v %s, %d bytes\n", len(s.air), from, d.Addr, s.describe(d.Data),
			len(d.Data))
	}
	s.events(out)
}

func (s *stage) deliver(out *strings.Builder, f flight) {
	d := []link.Datagram{{Addr: f.from, Data: append([]byte(nil), f.data...)}}
	if f.to == stageServer {
		s.server.Receive(s.now, d)
		s.events(out)
		return
	}
	for _, a := range s.clients {
		if a.addr == f.to {
			a.client.Receive(s.now, d)
			s.events(out)
			return
		}
	}
	fmt.Fprintf(out, "nobody is at %v\n", f.to)
}

// events prints what happened, and which of the server's counters moved.
func (s *stage) events(out *strings.Builder) {
	show := func(who string, events []Event) {
		for _, e := range events {
			if e.Conn != nil && e.Conn.server != nil {
				fmt.Fprintf(out, "%s, player %d: %v", who, e.Conn.Client(), e.Kind)
			} else {
				fmt.Fprintf(out, "%s: %v", who, e.Kind)
			}
			switch e.Kind {
			case Message:
				fmt.Fprintf(out, " on %d: %s", e.Channel, e.Data)
			case Disconnected:
				fmt.Fprintf(out, ": %v", e.Reason)
				if len(e.Data) > 0 {
					fmt.Fprintf(out, " (%s)", e.Data)
				}
			case Roamed:
				fmt.Fprintf(out, " to %v", e.Conn.Addr())
			}
			fmt.Fprintln(out)
		}
	}
	show("server", s.server.Events())
	for _, name := range []string{"ann", "bob", "eve"} {
		if a := s.clients[name]; a != nil {
			show(name, a.client.Events())
		}
	}
	now := s.server.Stats()
	for _, c := range []struct {
		name    string
		was, is uint64
	}{
		{"bad cookie", s.stats.BadCookies, now.BadCookies},
		{"bad proof", s.stats.BadProofs, now.BadProofs},
		{"bad token", s.stats.BadTokens, now.BadTokens},
		{"replayed", s.stats.Replayed, now.Replayed},
		{"forged", s.stats.Forged, now.Forged},
		{"unknown", s.stats.Unknown, now.Unknown},
		{"malformed", s.stats.Malformed, now.Malformed},
		{"came again", s.stats.Duplicates, now.Duplicates},
		{"stayed", s.stats.Stayed, now.Stayed},
	} {
		if c.is != c.was {
			fmt.Fprintf(out, "server counts: %s\n", c.name)
		}
	}
	s.stats = now
}

// describe takes a packet apart, with the keys if one of the parties has them.
func (s *stage) describe(b []byte) string {
	switch b[0] {
	case kindRequest:
		return "request"
	case kindChallenge:
		return "challenge"
	case kindResponse:
		return "response"
	case kindAccept:
		return "accept"
	case kindRefusal:
		return fmt.Sprintf("refusal (%v)", Reason(b[2+nonceSize]))
	}
	var conns []*Conn
	conns = append(conns, s.server.active...)
	for _, a := range s.clients {
		if c := a.client.Conn(); c != nil {
			conns = append(conns, c)
		}
	}
	for _, c := range conns {
		d := c.seal // a copy, whose nonce may be changed
		n, _ := expand(c.sent.next, uint16(b[3])<<8|uint16(b[4]))
		plain, err := d.aead.Open(nil, d.number(n), b[dataHeader:], b[:dataHeader])
		if err != nil {
			continue
		}
		text := fmt.Sprintf("data %d", n)
		a, low, rest, ok := parseAck(int(b[0]&ackFormMask)>>ackFormShift, plain)
		if !ok {
			return text + " (malformed)"
		}
		if a.form != ackNone {
			text += fmt.Sprintf(", acknowledges %d", low)
			if a.form != ackClean {
				text += fmt.Sprintf(" and of those before %b", a.bits)
			}
		}
		for len(rest) > 0 {
			head, body, next, ok := readFrame(rest)
			if !ok {
				return text + " (malformed)"
			}
			rest = next
			text += ", " + describeFrame(head, body)
		}
		return text
	}
	return "data"
}

func describeFrame(head byte, body []byte) string {
	ch := head & 15
	switch head >> 4 & 7 {
	case frameControl:
		return [...]string{
			"ping", "clock", "path challenge", "path answer", "close", "ticket", "cancel"}[ch]
	case frameUnreliable:
		return fmt.Sprintf("unreliable on %d: %s", ch, body)
	case frameNewest:
		return fmt.Sprintf("newest on %d: %s", ch, body)
	case frameOrdered:
		return fmt.Sprintf("ordered on %d, number %d: %s", ch, be.Uint16(body), body[2:])
	case frameUnordered:
		return fmt.Sprintf("unordered on %d, number %d: %s", ch, be.Uint16(body), body[2:])
	case frameFragment:
		return fmt.Sprintf("fragment %d of message %d on %d", body[2], be.Uint16(body), ch)
	}
	return "chunk"
}
