package crimp_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/membership"
	"github.com/coeval-dev/coeval/netsim"
)

var (
	be           = binary.BigEndian
	testProtocol = token.ProtocolID("crimp test")
	testKey      = token.Key{1, 2, 3}
	seeds        = crimp.TestSeeds
	dsl          = crimp.TestPath
)

const (
	testWall = 1_800_000_000
	testTick = 10 * time.Millisecond
)

// sim is a group of nodes on a simulated network. The first founds it.
type sim struct {
	net   *netsim.Net
	nodes []*simNode
	opt   membership.Options
	boots uint64
	// state is what a node hands to newcomers; nil for none.
	stateful bool
	period   time.Duration
	messages map[name][]byte // all that was ever sent
	// what a sender had been delivered before, if it is of interest
	causes map[name]map[member.ID]crimp.Sequence
	err    error
	key    token.Key // members' tokens are sealed with
	twin   uint64    // whose identity the next machine has
}

type name struct {
	member member.ID
	seq    crimp.Sequence
}

// simNode is one machine. It may crash and be another node afterwards.
type simNode struct {
	s         *sim
	n         int
	site      uint8
	ep        *netsim.Endpoint
	node      *crimp.Node
	group     *crimp.Group
	authority *membership.Membership
	identity  uint64
	boots     int
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
	excused   map[name]bool // given up by whoever gave it the state, or excused there
	log       []name        // in order of delivery
	dismissed crimp.Reason
	denied    crimp.Reason
	lastSend  time.Duration
	handed    uint64 // bytes given to the link
}

func newSim(net *netsim.Net, change func(*sim)) *sim {
	s := &sim{net: net, period: 30 * time.Millisecond, messages: map[name][]byte{}, key: testKey}
	s.opt.Multicast = crimp.TestGroupAddr
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
	n := &simNode{
		s: s, n: len(s.nodes), site: site, ep: s.net.Endpoint(fmt.Sprint("m", len(s.nodes)+1)),
		sending: true}
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
	n.boots++
	o := s.opt
	o.Seed = crimp.TestSeed(s.net.Seed(), 1000+s.boots)
	o.Identity = crimp.TestIdentity(s.net.Seed(), n.identity)
	o.Card = crimp.Card{Addr: n.ep.LocalAddr(), Site: n.site}
	o.Protocol, o.Wall, o.Keys = testProtocol, testWall, []token.Key{s.key}
	o.Found = n.n == 0 && n.boots == 1
	for _, other := range s.nodes {
		if other != n {
			o.Ask = append(o.Ask, other.ep.LocalAddr())
		}
	}
	var err error
	if n.authority, err = membership.New(o); err != nil {
		panic(err)
	}
	if n.node, err = crimp.NewNode(o.Options, n.authority); err != nil {
		panic(err)
	}
	n.group = n.node.Group()
	n.id, n.dismissed, n.denied, n.log, n.began, n.since = 0, 0, 0, nil, 0, 0
	n.delivered, n.gaveUp, n.included, n.excused = map[name]int{}, map[name]bool{}, map[name]bool{},
		map[name]bool{}
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
	text := fmt.Appendf(nil, "%d/%d ", n.id, n.group.Last()+1)
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
		seen := map[member.ID]crimp.Sequence{}
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
	if what := n.group.Insists(); what != "" {
		n.s.fail("machine %d wants to be called at %v again and again: %s", n.n, now, what)
	}
}

// look takes events and checks what each promises.
func (n *simNode) look() {
	s := n.s
	if err := n.group.Sound(); err != nil {
		s.fail("machine %d: %v", n.n, err)
	}
	for _, e := range n.node.Events() {
		switch e.Kind {
		case crimp.Established:
			n.id, n.was, n.since = e.Member, e.Member, s.net.Now()
			if n.group.Begun() {
				n.began = s.net.Now() + 1
			}
		case crimp.State:
			n.restore(e.Data)
			n.began = s.net.Now() + 1
		case crimp.Denied:
			n.denied = e.Reason
		case crimp.Dismissed:
			n.dismissed, n.id = e.Reason, 0
		case crimp.StateWanted:
			var state []byte
			if s.stateful {
				state = n.snapshot()
			}
			err := n.node.ProvideState(s.net.Now(), e.Member, state)
			if err != nil && !errors.Is(err, crimp.ErrNotMember) { // it may be out again by now
				s.fail("state for %d: %v", e.Member, err)
			}
		case crimp.GaveUp:
			for k := range crimp.Sequence(e.More) + 1 {
				at := name{e.Member, e.Seq + k}
				if n.delivered[at] > 0 {
					s.fail("member %d was delivered %v, and then told that it is given up", n.id,
						at)
				}
				n.gaveUp[at] = true
			}
		case crimp.Delivered:
			n.took(&e)
		}
	}
	if n.began == 0 && n.id != 0 && !s.stateful && n.group.Begun() {
		n.began = s.net.Now() + 1
	}
}

func (n *simNode) took(e *crimp.Event) {
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

// snapshot is the state of a node: the names of all it was delivered, and of its own, and of what
// it was told will not come.
func (n *simNode) snapshot() []byte {
	b := []byte("state")
	add := func(lacks byte, at name) {
		b = append(be.AppendUint32(be.AppendUint16(b, uint16(at.member)), uint32(at.seq)), lacks)
	}
	for _, at := range n.log {
		add(0, at)
	}
	for at := range n.included {
		add(0, at)
	}
	if n.s.opt.Order != crimp.Total { // there, what is its own is among the delivered
		for s := crimp.Sequence(1); s <= n.group.Last(); s++ {
			add(0, name{n.id, s})
		}
	}
	for _, lacks := range []map[name]bool{n.gaveUp, n.excused} {
		for at := range lacks {
			add(1, at)
		}
	}
	return b
}

func (n *simNode) restore(b []byte) {
	for b = b[len("state"):]; len(b) > 0; b = b[7:] {
		at := name{member.ID(be.Uint16(b)), crimp.Sequence(be.Uint32(b[2:]))}
		if b[6] == 1 {
			n.excused[at] = true
		} else {
			n.included[at] = true
		}
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
			if n.id == 0 || n.began == 0 || len(n.group.Members()) != len(s.nodes) {
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
			for at := crimp.Sequence(1); at <= from.group.Last(); at++ {
				k := name{from.id, at}
				switch {
				case n.has(k), (n.gaveUp[k] || n.excused[k]) && mayGiveUp:
				case n.gaveUp[k]:
					return fmt.Errorf("member %d was told that %v is given up", n.id, k)
				default:
					return fmt.Errorf("member %d neither has %v nor was told that it is given up",
						n.id, k)
				}
			}
		}
	}
	return nil
}
