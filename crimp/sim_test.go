package crimp

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
)

// seeds is how many seeds a test runs: n, or that many times COEVAL_SEEDS for a soak.
func seeds(n int) int {
	if more, err := strconv.Atoi(os.Getenv("COEVAL_SEEDS")); err == nil && more > 1000 {
		return n * more / 1000
	}
	return n
}

func testSeed(a, b uint64) (s [32]byte) {
	binary.BigEndian.PutUint64(s[:], a+1)
	binary.BigEndian.PutUint64(s[8:], b+1)
	return sha256.Sum256(s[:16])
}

func testIdentity(a, b uint64) *Identity {
	id, err := NewIdentity(testSeed(a, b))
	if err != nil {
		panic(err)
	}
	return id
}

var (
	testGroupAddr = netip.MustParseAddrPort("239.7.7.7:7000")
	testProtocol  = token.ProtocolID("crimp test")
	testKey       = token.Key{1, 2, 3}
)

const (
	testWall = 1_800_000_000
	testTick = 10 * time.Millisecond
)

// sim is a group of nodes on a simulated network. The first coordinates.
type sim struct {
	net   *netsim.Net
	nodes []*simNode
	opt   Options
	co    CoordinatorOptions
	boots uint64
	// state is what a node hands to newcomers; nil for none.
	stateful bool
	period   time.Duration
	messages map[name][]byte                 // all that was ever sent
	causes   map[name]map[member.ID]Sequence // what a sender had been delivered before, if it is of interest
	err      error
	key      token.Key // members' tokens are sealed with
	twin     uint64    // whose identity the next machine has
}

type name struct {
	member member.ID
	seq    Sequence
}

// simNode is one machine. It may crash and be another node afterwards.
type simNode struct {
	s         *sim
	n         int
	site      uint8
	ep        *netsim.Endpoint
	node      *Node
	authority Authority
	identity  uint64
	sending   bool
	out       []link.Datagram
	batch     [64]link.Datagram

	// Of the present node:
	id, was   member.ID     // was: also after it has left
	since     time.Duration // when it became a member
	began     time.Duration // when it had the state
	delivered map[name]int
	included  map[name]bool // in the state it was given
	gaveUp    map[name]bool
	log       []name // in order of delivery
	events    []Event
	dismissed Reason
	denied    Reason
	lastSend  time.Duration
	handed    uint64 // bytes given to the link
}

func newSim(net *netsim.Net, change func(*sim)) *sim {
	s := &sim{net: net, period: 30 * time.Millisecond, messages: map[name][]byte{}, key: testKey}
	s.opt.Multicast = testGroupAddr
	if change != nil {
		change(s)
	}
	return s
}

func (s *sim) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("at %v: %s", s.net.Now(), fmt.Sprintf(format, args...))
	}
}

// add puts a machine on the network. Site 0 is reached by unicast only.
func (s *sim) add(site uint8) *simNode {
	n := &simNode{s: s, n: len(s.nodes), site: site, ep: s.net.Endpoint(fmt.Sprint("m", len(s.nodes)+1)), sending: true}
	n.identity = uint64(n.n)
	if s.twin != 0 {
		n.identity = s.twin
	}
	s.nodes = append(s.nodes, n)
	n.ep.OnRestart(n.boot)
	n.boot()
	return n
}

// boot makes the machine's node afresh.
func (n *simNode) boot() {
	s := n.s
	s.boots++
	o := s.opt
	o.Seed = testSeed(s.net.Seed(), 1000+s.boots)
	o.Identity = testIdentity(s.net.Seed(), n.identity)
	card := Card{Addr: n.ep.LocalAddr(), Site: n.site}
	wall := testWall
	if n.n == 0 {
		co := s.co
		co.Options, co.Card, co.Protocol, co.Wall = o, card, testProtocol, int64(wall)
		co.Keys, co.State = []token.Key{testKey}, s.stateful
		c, err := NewCoordinator(co)
		if err != nil {
			panic(err)
		}
		n.authority = c
	} else {
		seed := testSeed(s.net.Seed(), 2000+s.boots)
		tok, err := token.Issue(s.key, token.Grant{Protocol: testProtocol, Client: 100 + n.identity, Expires: int64(wall) + 3600}, bytes.NewReader(bytes.Repeat(seed[:], 8)))
		if err != nil {
			panic(err)
		}
		a, err := NewApplicant(ApplicantOptions{Options: o, Card: card, Protocol: testProtocol, Token: tok, Coordinator: s.nodes[0].ep.LocalAddr(), Wall: int64(wall)})
		if err != nil {
			panic(err)
		}
		n.authority = a
	}
	node, err := NewNode(o, n.authority)
	if err != nil {
		panic(err)
	}
	n.node = node
	n.id, n.dismissed, n.denied, n.log, n.events, n.began, n.since = 0, 0, 0, nil, nil, 0, 0
	n.delivered, n.gaveUp, n.included = map[name]int{}, map[name]bool{}, map[name]bool{}
	n.ep.Handle(func(from netip.AddrPort, data []byte) {
		n.batch[0] = link.Datagram{Addr: from, Data: data}
		n.node.Receive(s.net.Now(), n.batch[:1])
		n.look()
		n.flush()
	})
	n.ep.Every(testTick, n.tick)
	n.ep.After(0, n.tick)
}

func (n *simNode) tick() {
	now := n.s.net.Now()
	n.node.Tick(now)
	n.look()
	if n.sending && n.id != 0 && n.began != 0 && now-n.lastSend >= n.s.period {
		n.lastSend = now
		n.say()
	}
	n.flush()
}

// say sends a message whose content follows from its name.
func (n *simNode) say() {
	s := n.s
	text := fmt.Appendf(nil, "%d/%d ", n.id, n.node.group.self.next)
	for range s.net.Rand().IntN(60) {
		text = append(text, byte(s.net.Rand().Uint64()))
	}
	seq, err := n.node.Send(s.net.Now(), text)
	if err != nil {
		s.fail("member %d cannot send: %v", n.id, err)
		return
	}
	s.messages[name{n.id, seq}] = text
	if s.causes != nil {
		seen := map[member.ID]Sequence{}
		for _, at := range n.log {
			seen[at.member] = max(seen[at.member], at.seq)
		}
		s.causes[name{n.id, seq}] = seen
	}
	n.look()
}

// flush puts on the network what is due: multicast reaches the endpoints of the site.
func (n *simNode) flush() {
	now := n.s.net.Now()
	n.out = n.node.Flush(now, n.out[:0])
	for _, d := range n.out {
		n.handed += uint64(len(d.Data))
		if !d.Addr.Addr().IsMulticast() {
			n.ep.SendTo(d.Addr, d.Data)
			continue
		}
		for _, o := range n.s.nodes {
			if o != n && o.site == n.site {
				n.ep.SendTo(o.ep.LocalAddr(), d.Data)
			}
		}
	}
	if at := n.node.Deadline(); at <= now && n.node.group.self != nil && len(n.node.group.ready) == 0 {
		if g := n.node.group.Deadline(); g <= now && n.node.group.turnAt > now {
			n.s.fail("machine %d wants to be called at %v again and again: %s", n.n, g, n.node.group.due())
		}
	}
}

// look takes events and checks what each promises.
func (n *simNode) look() {
	s := n.s
	if err := n.node.group.sound(); err != nil {
		s.fail("machine %d: %v", n.n, err)
	}
	for _, e := range n.node.Events() {
		if e.Kind != Delivered {
			c := e
			c.Data = bytes.Clone(e.Data)
			n.events = append(n.events, c)
		}
		switch e.Kind {
		case Established:
			n.id, n.was, n.since = e.Member, e.Member, s.net.Now()
			if n.n == 0 {
				n.began = s.net.Now() + 1
			}
		case State:
			n.restore(e.Data)
			n.began = s.net.Now() + 1
		case Denied:
			n.denied = e.Reason
		case Dismissed:
			n.dismissed, n.id = e.Reason, 0
		case StateWanted:
			if err := n.node.ProvideState(s.net.Now(), e.Member, n.snapshot()); err != nil {
				s.fail("state for %d: %v", e.Member, err)
			}
		case GaveUp:
			for k := range Sequence(e.More) + 1 {
				at := name{e.Member, e.Seq + k}
				if n.delivered[at] > 0 {
					s.fail("member %d was delivered %v, and then told that it is given up", n.id, at)
				}
				n.gaveUp[at] = true
			}
		case Delivered:
			n.took(&e)
		}
	}
	if n.began == 0 && n.id != 0 && !s.stateful && !n.node.group.holding {
		n.began = s.net.Now() + 1
	}
}

func (n *simNode) took(e *Event) {
	s := n.s
	at := name{e.Member, e.Seq}
	want, sent := s.messages[at]
	switch {
	case !sent && e.Member != n.id:
		s.fail("member %d was delivered %v, which nobody sent", n.id, at)
	case sent && !bytes.Equal(want, e.Data):
		s.fail("member %d was delivered %v altered", n.id, at)
	case n.gaveUp[at]:
		s.fail("member %d was delivered %v after it was given up", n.id, at)
	case n.included[at]:
		s.fail("member %d was delivered %v, which its state includes", n.id, at)
	}
	if n.delivered[at]++; n.delivered[at] > 1 {
		s.fail("member %d was delivered %v twice", n.id, at)
	}
	n.log = append(n.log, at)
}

// snapshot is the state of a node: the names of all it was delivered, and of its own.
func (n *simNode) snapshot() (b []byte) {
	b = append(b, "state"...)
	add := func(at name) {
		b = be.AppendUint16(b, uint16(at.member))
		b = be.AppendUint32(b, uint32(at.seq))
	}
	for _, at := range n.log {
		add(at)
	}
	for at := range n.included {
		add(at)
	}
	if n.s.opt.Order != Total { // there, what is its own is among the delivered
		for s := Sequence(1); s < n.node.group.self.next; s++ {
			add(name{n.id, s})
		}
	}
	return b
}

func (n *simNode) restore(b []byte) {
	for b = b[len("state"):]; len(b) > 0; b = b[6:] {
		n.included[name{member.ID(be.Uint16(b)), Sequence(be.Uint32(b[2:]))}] = true
	}
}

func (n *simNode) has(at name) bool { return n.delivered[at] > 0 || n.included[at] }

// run lets time pass and stops at the first thing that is wrong.
func (s *sim) run(d time.Duration) error {
	s.net.RunUntil(d, func() bool { return s.err != nil })
	return s.err
}

// until lets time pass until something is so, or fails.
func (s *sim) until(d time.Duration, what string, so func() bool) error {
	ok := s.net.RunUntil(d, func() bool { return s.err != nil || so() })
	if s.err == nil && !ok {
		s.fail("%s did not come about within %v", what, d)
	}
	return s.err
}

// together waits until all machines are members and have begun.
func (s *sim) together(d time.Duration) error {
	return s.until(d, "a group of all", func() bool {
		for _, n := range s.nodes {
			if n.id == 0 || n.began == 0 || len(n.node.group.Members()) != len(s.nodes) {
				return false
			}
		}
		return true
	})
}

// quiet stops all senders and lets what is under way arrive.
func (s *sim) quiet(d time.Duration) error {
	for _, n := range s.nodes {
		n.sending = false
	}
	return s.run(d)
}

// complete checks that each member has all that was sent by the given members from some
// time on, or was told that it was given up.
func (s *sim) complete(mayGiveUp bool) error {
	for _, from := range s.nodes {
		if from.id == 0 {
			continue
		}
		for _, n := range s.nodes {
			if n == from || n.id == 0 {
				continue
			}
			start := Sequence(1)
			for at := start; at < from.node.group.self.next; at++ {
				k := name{from.id, at}
				switch {
				case n.has(k):
				case n.gaveUp[k] && mayGiveUp:
				case mayGiveUp && s.nodes[0].gaveUp[k] && at <= n.startOf(from.id):
				case n.gaveUp[k]:
					return fmt.Errorf("member %d was told that %v is given up", n.id, k)
				case !n.has(k) && !s.stateful && n.n != 0 && at <= n.startOf(from.id):
				default:
					return fmt.Errorf("member %d neither has %v nor was told that it is given up", n.id, k)
				}
			}
		}
	}
	return nil
}

// startOf is the last packet of a member that was before this one's time, where there is
// no state to include it.
func (n *simNode) startOf(m member.ID) Sequence {
	a, ok := n.authority.(*Applicant)
	if !ok {
		return 0
	}
	for _, c := range a.start.Cuts {
		if c.Member == m {
			return c.Seq + Sequence(len(c.Also))*1000 // those in Also are checked where there is a state
		}
	}
	return 0
}
