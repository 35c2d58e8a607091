package ways

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// TestScenarios plays the conversations in testdata/scenarios. Servers answer as those of a real
// game do: a seat, a level, and twenty snapshots a second once the client is ready. The commands:
//
//	server NAME [hash=N] [seed=N] [full] start a server, or start it anew with nothing remembered;
//	    [trip=D] [load=N]                so far away, and with so many players as others tell
//	client NAME... [dials] [return=D]    a player whose token names these servers, with good links;
//	    [roams]                          it goes to the nearest of its own accord
//	far NAME DURATION                    a server is so far away from now on
//	measured                             how far servers are, as the player has measured
//	wait DURATION                        let time pass, in steps of ten milliseconds
//	silent NAME, heard NAME              nothing passes to and from a server, or everything again
//	places NAME OTHER...                 a server tells of others
//	move NAME [OTHER]                    a server asks the player to go on at another, or at any
//	revoke NAME                          a server says that the player is not its own any more
//	stop NAME NOTE                       a server stops, and says so
//	unreachable NAME                     no link to a server can be made
//	cut LINK                             a link ends; links are numbered from 0
//	leave                                the player leaves
//	ways                                 all ways that there are
func TestScenarios(t *testing.T) {
	simtest.Scenarios(t, func(t *testing.T) func(simtest.Line, *strings.Builder) {
		s := &stage{t: t, cut: map[Link]bool{}, silent: map[string]bool{},
			barred: map[string]bool{}, states: map[*Way]State{}}
		return func(l simtest.Line, out *strings.Builder) {
			s.text = out
			s.step(l)
		}
	})
}

const (
	stageWall = 1_700_000_000
	stageTick = 20 * time.Millisecond
	stageStep = 10 * time.Millisecond
)

var (
	stageKey    = token.Key{1, 2, 3}
	stagePlayer = netip.MustParseAddrPort("10.0.9.1:5000")
)

// A host is a server of a scenario.
type host struct {
	name  string
	addr  netip.AddrPort
	conn  *conn.Server
	hash  uint64
	seed  uint64
	full  bool
	trip  time.Duration
	load  uint8
	shown []*conn.Conn // to whom it shows the world
	way   []late       // datagrams under way, to and from it
}

// late is a datagram that is under way until a time.
type late struct {
	at   time.Duration
	to   bool // the server
	l    Link
	data link.Datagram
}

// A stage is where a scenario plays.
type stage struct {
	t      *testing.T
	now    time.Duration
	hosts  []*host
	starts byte
	set    *Set
	cut    map[Link]bool
	silent map[string]bool
	barred map[string]bool
	states map[*Way]State
	phase  Phase
	text   *strings.Builder
}

func (s *stage) print(format string, args ...any) {
	fmt.Fprintf(s.text, "%.2f ", s.now.Seconds())
	fmt.Fprintf(s.text, format, args...)
	s.text.WriteByte('\n')
}

func (s *stage) host(name string) *host {
	for _, h := range s.hosts {
		if h.name == name {
			return h
		}
	}
	s.t.Fatalf("no server is called %q", name)
	return nil
}

func (s *stage) nameOf(a netip.AddrPort) string {
	for _, h := range s.hosts {
		if h.addr == a {
			return h.name
		}
	}
	return "the token's server"
}

func (s *stage) must(err error) {
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) step(l simtest.Line) {
	args := l.Args
	switch l.Verb {
	case "server":
		s.server(l)
	case "client":
		s.client(l)
	case "wait":
		for end := s.now + l.Duration(0); s.now < end; {
			s.now += stageStep
			s.tick()
		}
	case "far":
		s.host(args[0]).trip = l.Duration(1)
	case "measured":
		for _, p := range s.set.Places() {
			s.print("%s is %d ms away, here %v", p.Name, p.Trip.Milliseconds(), p.Here)
		}
	case "silent", "heard":
		s.silent[args[0]] = l.Verb == "silent"
	case "unreachable":
		s.barred[args[0]] = true
	case "places":
		s.tell(args[0], &wire.Message{Kind: wire.Servers, Servers: s.places(args[1:])})
	case "move":
		s.tell(args[0], &wire.Message{Kind: wire.Move, Servers: s.places(args[1:])})
	case "revoke":
		s.tell(args[0], &wire.Message{Kind: wire.Move, On: true})
	case "stop":
		s.host(args[0]).conn.Shutdown(conn.ReasonClosing, strings.Join(args[1:], " "))
	case "cut":
		cut := Link(l.Int(0))
		s.cut[cut] = true
		s.set.Cut(s.now, cut, errors.New("the cable is broken"))
		s.events()
	case "leave":
		s.set.End(conn.ReasonLeft, nil)
		s.events()
	case "ways":
		for _, w := range s.set.Live(nil) {
			s.print("%s, %v by link %d", s.title(w), w.State(), w.Link())
		}
		st := s.set.Stats()
		s.print("%v; %d returns, %d moves, %d failed", s.set.Phase(), st.Returns, st.Moves,
			st.Failed)
	default:
		l.Fail("there is no such command")
	}
}

func (s *stage) server(l simtest.Line) {
	name := l.Arg(0)
	h := &host{name: name, hash: uint64(l.Number("hash", 7)), seed: uint64(l.Number("seed", 1)),
		full: l.Is("full"), load: uint8(l.Number("load", 0))}
	if d := l.Options["trip"]; d != "" {
		var err error
		h.trip, err = time.ParseDuration(d)
		s.must(err)
	}
	at := slices.IndexFunc(s.hosts, func(h *host) bool { return h.name == name })
	if at < 0 {
		at = len(s.hosts)
		s.hosts = append(s.hosts, h)
	}
	s.hosts[at] = h
	h.addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(at + 1)}), 4000)
	s.starts++
	var err error
	h.conn, err = conn.NewServer(conn.ServerOptions{Keys: []token.Key{stageKey},
		Options: conn.Options{
			Protocol: token.ProtocolID("stage"), Version: wire.Version, Channels: wire.Channels(),
			Seed: [32]byte{s.starts, 1}, Wall: stageWall, Timeout: 5 * time.Second}})
	s.must(err)
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

func (s *stage) client(l simtest.Line) {
	g := token.Grant{Protocol: token.ProtocolID("stage"), Client: 42, Expires: stageWall + 3600}
	for _, n := range l.Args {
		if n == "dials" || n == "roams" {
			continue
		}
		g.Servers = append(g.Servers, s.host(n).addr)
	}
	t, err := token.Issue(stageKey, g, zeros{})
	s.must(err)
	o := Options{
		Protocol: token.ProtocolID("stage"), Hash: 7, Tick: stageTick, Token: t, Name: "ann",
		Datagram: 1200, ConnectTimeout: 2 * time.Second,
		Conn: conn.Options{Seed: [32]byte{31: 9}, Wall: stageWall, Timeout: 3 * time.Second}}
	o.Dials, o.Stay = l.Is("dials"), !l.Is("roams")
	if d := l.Options["return"]; d != "" {
		o.Return, err = time.ParseDuration(d)
		s.must(err)
	}
	s.set, err = New(o)
	s.must(err)
	clear(s.cut)
	clear(s.states)
	s.changes()
}

func (s *stage) places(names []string) (list []wire.Server) {
	for _, n := range names {
		list = append(list, wire.Server{Addr: s.host(n).addr, Name: n, Load: s.host(n).load})
	}
	return list
}

func (s *stage) tell(name string, m *wire.Message) {
	s.host(name).conn.Conns(func(c *conn.Conn) bool {
		s.must(c.Send(wire.ControlChannel, m.Append(nil)))
		return true
	})
}

// tick lets one step of time pass, for the servers and then for the player.
func (s *stage) tick() {
	for _, h := range s.hosts {
		s.serve(h)
	}
	s.set.Tend(s.now, stageStep)
	s.events()
	if s.set.Phase() == PhasePlaying && s.now%(50*time.Millisecond) == 0 {
		for _, w := range s.set.Audience(nil) {
			s.set.Send(w, wire.CommandChannel, []byte("command"))
		}
	}
	for _, w := range s.set.Live(nil) {
		out := s.set.Flush(s.now, w, nil)
		s.events()
		for i, d := range out {
			if s.cut[w.Link()] {
				if !s.set.Refused(w, i, errors.New("the cable is broken")) {
					break
				}
				continue
			}
			from := stagePlayer
			if w.Link() != First {
				from = netip.AddrPortFrom(from.Addr(), from.Port()+uint16(w.Link()))
			}
			for _, h := range s.hosts {
				if h.addr == d.Addr && !s.silent[h.name] {
					s.carry(h, late{s.now + h.trip/2, true, 0,
						link.Datagram{Addr: from, Data: slices.Clone(d.Data)}})
				}
			}
		}
		s.events()
	}
}

// serve lets a server answer.
func (s *stage) serve(h *host) {
	list := h.way
	h.way = nil
	for _, d := range list {
		s.carry(h, d)
	}
	for _, e := range h.conn.Events() {
		var m wire.Message
		if e.Kind != conn.Message || e.Channel != wire.ControlChannel || m.Parse(e.Data) != nil {
			continue
		}
		say := func(m wire.Message) { s.must(e.Conn.Send(wire.ControlChannel, m.Append(nil))) }
		switch m.Kind {
		case wire.Hello:
			switch {
			case m.Version != h.hash:
				_, err := e.Conn.SendBulk(wire.TagDeclarations, []byte("another game"))
				s.must(err)
			case h.full:
				e.Conn.Close(wire.ReasonNoSeat, "try later")
			default:
				say(wire.Message{Kind: wire.Welcome, Player: 1, Client: 42, Interval: 3,
					Name: m.Name})
				say(wire.Message{Kind: wire.Level, Epoch: 1, Seed: h.seed, Tick: s.worldTick(),
					Name: "yard"})
			}
		case wire.Ready:
			h.shown = append(h.shown, e.Conn)
		}
	}
	if s.now%(50*time.Millisecond) == 0 {
		for _, c := range h.shown {
			if c.Open() {
				s.must(c.Send(wire.SnapshotChannel, []byte("world")))
			}
		}
	}
	for _, d := range h.conn.Flush(s.now, nil) {
		l := Link(d.Addr.Port() - stagePlayer.Port())
		if s.silent[h.name] || s.cut[l] {
			continue
		}
		s.carry(h, late{s.now + h.trip/2, false, l,
			link.Datagram{Addr: h.addr, Data: slices.Clone(d.Data)}})
	}
}

// carry brings a datagram to its end, if that takes no time, or keeps it until it is there.
func (s *stage) carry(h *host, d late) {
	switch {
	case d.at > s.now:
		h.way = append(h.way, d)
	case d.to:
		h.conn.Receive(s.now, []link.Datagram{d.data})
	default:
		s.set.Receive(s.now, d.l, []link.Datagram{d.data})
		s.events()
	}
}

func (s *stage) worldTick() world.Tick { return world.Tick(s.now / stageTick) }

// events does what a client does about what happened.
func (s *stage) events() {
	for e, ok := s.set.Next(); ok; e, ok = s.set.Next() {
		switch e.Kind {
		case Message:
			if e.Way.State() == Ready {
				s.set.Show(e.Way)
			}
			s.set.Shown(s.worldTick())
		case Dial:
			s.print("dial %s, as link %d", s.nameOf(e.Server.Addr), e.Link)
			if s.barred[s.nameOf(e.Server.Addr)] {
				s.set.Dialled(e.Link, 0, errors.New("no route"))
			} else {
				s.set.Dialled(e.Link, 1200, nil)
			}
		case Hangup:
			s.print("hang up link %d", e.Link)
		case Level:
			if e.Same {
				s.set.Ready(e.Way, true)
			} else {
				s.print("a world begins by %s", s.title(e.Way))
				s.set.Begin(e.Way, true)
			}
		case Moved:
			s.print("moved to %s", s.title(e.Way))
		case Bulk:
			s.print("bulk with tag %d", e.Tag)
			s.set.End(wire.ReasonVersion, errors.New("another version"))
		case Ended:
			s.print("ended: %v", e.Err)
		default:
			s.print("%v", e.Kind)
		}
		s.changes()
	}
	s.changes()
}

func (s *stage) title(w *Way) string {
	return fmt.Sprintf("way %d to %s", w.Number(), s.nameOf(w.addr()))
}

// changes prints the states that are new.
func (s *stage) changes() {
	list := s.set.Live(nil)
	for w := range s.states {
		if !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b *Way) int { return a.Number() - b.Number() })
	for _, w := range list {
		if w.State() != s.states[w] {
			s.print("%s is %v", s.title(w), w.State())
			s.states[w] = w.State()
		}
	}
	if s.phase != s.set.Phase() {
		s.phase = s.set.Phase()
		s.print("the player is %v", s.phase)
	}
}
