package membership

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
)

var be = binary.BigEndian

// seeds is how many seeds a test runs: few, or many in a soak, and as many times as COEVAL_SEEDS
// has thousands.
func seeds(few, many int) int {
	if os.Getenv("COEVAL_SOAK") != "" {
		few = many
	}
	if more, err := strconv.Atoi(os.Getenv("COEVAL_SEEDS")); err == nil && more > 1000 {
		return max(few, many*more/1000)
	}
	return few
}

func testSeed(a, b uint64) [32]byte {
	return sha256.Sum256(be.AppendUint64(be.AppendUint64([]byte("test"), a), b))
}

var (
	testProtocol = token.ProtocolID("membership test")
	testKey      = token.Key{4, 5, 6}
	testAbout    = About{Name: "arena", Version: 7, Text: "window 1s\nticks 60\nclasses 12"}
)

const (
	testWall = 1_800_000_000
	testTick = 10 * time.Millisecond
)

type name struct {
	member member.ID
	seq    crimp.Sequence
}

// sim is a group of mirrors on a simulated network. The first founds it.
type sim struct {
	net      *netsim.Net
	nodes    []*mirror
	opt      Options
	boots    uint64
	period   time.Duration
	messages map[name][]byte
	charters map[uint32][]byte           // what was in force in each epoch
	partings map[member.ID]map[name]bool // what counts of those who are gone
	err      error
	back     bool // machines that are out come back
}

// prove is a decree with the votes of some machines.
func (s *sim) prove(d *council.Decree, nodes ...int) council.Link {
	l, text := council.NewLink(d, 1, d.Leader)
	for _, i := range nodes {
		n := s.nodes[i]
		keys := keys{identity: n.m.opt.Identity, group: n.m.charter.roster.Group}
		l.Add(n.m.self, keys.Sign(text))
	}
	return l
}

// mirror is one machine. Each time that it starts it is another member.
type mirror struct {
	s       *sim
	n       int
	ep      *netsim.Endpoint
	witness bool
	m       *Membership
	node    *crimp.Node
	sending bool
	change  func(*Options)
	out     []link.Datagram
	handed  uint64

	// Of the present node:
	id        member.ID
	began     bool
	has       map[name]bool // delivered, or in the state
	gaveUp    map[name]bool
	events    []crimp.Event
	led       member.ID
	cut       bool
	dismissed crimp.Reason
	denied    crimp.Reason
	text      string
	lastSend  time.Duration
	quits     bool
	tainted   bool // lacks something, or has its state from one that does
	restarts  int
}

func newSim(net *netsim.Net, change func(*sim)) *sim {
	s := &sim{net: net, period: 30 * time.Millisecond, messages: map[name][]byte{},
		charters: map[uint32][]byte{},
		partings: map[member.ID]map[name]bool{}}
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

func (s *sim) add(change func(*Options)) *mirror {
	n := &mirror{
		s: s, n: len(s.nodes), ep: s.net.Endpoint(fmt.Sprint("m", len(s.nodes)+1)), sending: true,
		change: change}
	s.nodes = append(s.nodes, n)
	n.ep.OnRestart(n.boot)
	n.boot()
	return n
}

func (n *mirror) boot() {
	s := n.s
	s.boots++
	n.restarts++
	o := s.opt
	o.Seed = testSeed(s.net.Seed(), s.boots)
	id, err := crimp.NewIdentity(testSeed(s.net.Seed(), 1<<32+s.boots))
	if err != nil {
		panic(err)
	}
	o.Identity = id
	o.Card.Addr, o.Protocol, o.Keys, o.Wall, o.About = n.ep.LocalAddr(), testProtocol, []token.Key{
		testKey}, testWall, testAbout
	o.Found = n.n == 0 && n.restarts == 1
	for _, other := range s.nodes {
		if other != n {
			o.Ask = append(o.Ask, other.ep.LocalAddr())
		}
	}
	if n.change != nil {
		n.change(&o)
	}
	n.witness = o.Witness
	if n.m, err = New(o); err != nil {
		panic(err)
	}
	if n.node, err = crimp.NewNode(o.Options, n.m); err != nil {
		panic(err)
	}
	n.id, n.began, n.events, n.led, n.cut, n.dismissed, n.denied, n.text, n.handed, n.quits,
		n.tainted = 0, false, nil, 0, false, 0, 0, "", 0, false, false
	n.has, n.gaveUp = map[name]bool{}, map[name]bool{}
	node := n.node
	n.ep.Handle(func(from netip.AddrPort, data []byte) {
		n.node.Receive(s.net.Now(), []link.Datagram{{Addr: from, Data: data}})
		n.look()
		n.flush()
	})
	tick := func() {
		if n.node == node {
			n.tick()
		}
	}
	n.ep.Every(testTick, tick)
	n.ep.After(0, tick)
}

func (n *mirror) tick() {
	now := n.s.net.Now()
	n.node.Tick(now)
	n.look()
	if n.sending && !n.quits && n.began && n.id != 0 && !n.witness && now-n.lastSend >= n.s.period {
		n.lastSend = now
		text := fmt.Appendf(nil, "%d/%d", n.id, n.node.Group().Last()+1)
		seq, err := n.node.Send(now, text)
		if err != nil {
			n.s.fail("member %d cannot send: %v", n.id, err)
			return
		}
		n.s.messages[name{n.id, seq}] = text
		n.has[name{n.id, seq}] = true
	}
	n.flush()
}

func (n *mirror) flush() {
	n.out = n.node.Flush(n.s.net.Now(), n.out[:0])
	for _, d := range n.out {
		n.handed += uint64(len(d.Data))
		n.ep.SendTo(d.Addr, d.Data)
	}
}

// quit leaves in good order, to come anew: who just went would take its vote along.
func (n *mirror) quit() {
	n.tainted = true
	if n.s.back && !n.quits && n.m.Spare() {
		n.quits = true
		n.node.Leave(n.s.net.Now())
	}
}

// again has the machine start anew, as its owner would have it.
func (n *mirror) again() {
	if n.s.back && n.ep.Running() {
		n.ep.Restart(time.Duration(20+n.s.net.Rand().IntN(100)) * time.Millisecond)
	}
}

func (n *mirror) look() {
	s := n.s
	n.checkCharter()
	for _, e := range n.node.Events() {
		at := name{e.Member, e.Seq}
		if e.Kind != crimp.Delivered {
			e.Data = bytes.Clone(e.Data)
			n.events = append(n.events, e)
		}
		switch e.Kind {
		case crimp.Established:
			n.id = e.Member
			if n.m.opt.Found || n.witness {
				n.began = true
			}
		case crimp.State:
			for b := e.Data[1:]; len(b) > 0; b = b[6:] {
				n.has[name{member.ID(be.Uint16(b)), crimp.Sequence(be.Uint32(b[2:]))}] = true
			}
			n.began, n.tainted = true, e.Data[0] == 't'
		case crimp.StateWanted:
			if !n.m.Quorum() || !n.m.Leads() {
				s.fail("member %d gives out the state and does not lead", n.id)
			}
			// it may be out again by now
			if err := n.node.ProvideState(s.net.Now(), e.Member, n.snapshot()); err != nil &&
				!errors.Is(err, crimp.ErrNotMember) {
				s.fail("state for %d: %v", e.Member, err)
			}
		case crimp.Delivered:
			if want, sent := s.messages[at]; !sent || !bytes.Equal(want, e.Data) {
				s.fail("member %d was delivered %v: %q, sent was %q", n.id, at, e.Data, want)
			}
			if n.has[at] || n.gaveUp[at] {
				s.fail("member %d was delivered %v again", n.id, at)
			}
			n.has[at] = true
		case crimp.GaveUp:
			for i := range crimp.Sequence(e.More) + 1 {
				n.gaveUp[name{e.Member, e.Seq + i}] = true
			}
			if e.How != crimp.Agreed {
				n.quit() // it has missed something that others may have
			}
		case crimp.Revoked:
			n.quit()
		case crimp.Left:
			n.left(&e)
		case crimp.Led:
			n.led = e.Member
		case crimp.CutOff:
			n.cut = true
		case crimp.Reunited:
			n.cut = false
		case crimp.Denied:
			n.denied, n.text = e.Reason, string(e.Data)
			n.again()
		case crimp.Dismissed:
			n.dismissed, n.id = e.Reason, 0
			n.again()
		}
	}
}

// checkCharter writes down what is in force, and compares.
func (n *mirror) checkCharter() {
	if n.m.council == nil || n.m.done {
		return
	}
	b := n.m.charter.append(nil)
	epoch := n.m.Epoch()
	if have, ok := n.s.charters[epoch]; ok && !bytes.Equal(have, b) {
		n.s.fail("member %d is in an epoch %d unlike another's", n.m.self, epoch)
	}
	n.s.charters[epoch] = b
	if !n.witness && !n.m.lapsed && n.node.Group().ID() != 0 && n.node.Group().Epoch() != epoch {
		n.s.fail("member %d: the group is in epoch %d, the decree is %d", n.m.self,
			n.node.Group().Epoch(), epoch)
	}
}

// left compares what counts of one that is gone with what others have.
func (n *mirror) left(e *crimp.Event) {
	if !n.began || n.tainted {
		return
	}
	mine := map[name]bool{}
	for at := range n.has {
		if at.member == e.Member {
			mine[at] = true
			if at.seq > e.Seq {
				n.s.fail("member %d has packet %d of %d, which left with %d", n.id, at.seq,
					e.Member, e.Seq)
			}
		}
	}
	if have, ok := n.s.partings[e.Member]; !ok {
		n.s.partings[e.Member] = mine
	} else if !maps.Equal(have, mine) {
		n.s.fail("member %d has %d packets of %d, which left with %d; another has %d", n.id,
			len(mine), e.Member, e.Seq, len(have))
	}
}

func (n *mirror) snapshot() []byte {
	b := []byte{'s'}
	if n.tainted {
		b[0] = 't' // all others had gone, or would have
	}
	list := slices.SortedFunc(maps.Keys(n.has), func(a, b name) int {
		return cmp.Or(int(a.member)-int(b.member), int(a.seq)-int(b.seq))
	})
	for _, at := range list {
		b = be.AppendUint16(b, uint16(at.member))
		b = be.AppendUint32(b, uint32(at.seq))
	}
	return b
}

func (s *sim) run(d time.Duration) error {
	s.net.RunUntil(d, func() bool { return s.err != nil })
	return s.err
}

func (s *sim) until(d time.Duration, what string, so func() bool) error {
	ok := s.net.RunUntil(d, func() bool { return s.err != nil || so() })
	if s.err == nil && !ok {
		s.fail("%s did not come about within %v:%s", what, d, s.state())
	}
	return s.err
}

func (s *sim) state() (text string) {
	for _, n := range s.nodes {
		text += fmt.Sprintf(
			"\n%s running %v is %d began %v epoch %d uber %d quorum %v voters %v members %v "+
				"denied %q %s dismissed %q asking %v", n.ep.Name(), n.ep.Running(), n.id, n.began,
			n.m.Epoch(),
			n.m.Uber(), n.m.Quorum(), n.m.Voters(), n.node.Group().Members(), n.denied, n.text,
			n.dismissed, n.m.asking != nil)
	}
	return text
}

// whole reports whether the given machines, and nobody else, are voters of one roster.
func (s *sim) whole(list ...*mirror) bool {
	var ids []member.ID
	for _, n := range list {
		if n.id == 0 || !n.began || !n.ep.Running() || !n.m.Quorum() ||
			n.m.Epoch() != list[0].m.Epoch() {
			return false
		}
		ids = append(ids, n.id)
	}
	slices.Sort(ids)
	return slices.Equal(ids, list[0].m.Voters())
}

// together waits until all machines are in one group.
func (s *sim) together(d time.Duration) error {
	return s.until(d, "a group of all", func() bool { return s.whole(s.nodes...) })
}

// gathered makes a group of so many mirrors on good paths, then lets the weather come.
func gathered(net *netsim.Net, mirrors, witnesses int, weather netsim.Conditions,
	change func(*sim)) (*sim, error) {
	net.Use(path(0))
	s := newSim(net, change)
	for i := range mirrors + witnesses {
		s.add(func(o *Options) { o.Witness = i >= mirrors })
	}
	if err := s.together(20 * time.Second); err != nil {
		return s, err
	}
	net.Use(weather)
	return s, nil
}

func path(loss float64) netsim.Conditions {
	p := netsim.Profile{
		Latency: 20 * time.Millisecond, Loss: loss, Jitter: netsim.Jitter{
			Amount: 5 * time.Millisecond}}
	return netsim.Conditions{Up: p, Down: p}
}

// complete checks that all who are in have the same packets of each other, apart from
// what was on its way.
func (s *sim) complete() error {
	for _, n := range s.nodes {
		n.sending = false
	}
	if err := s.run(3 * time.Second); err != nil {
		return err
	}
	for _, from := range s.nodes {
		if from.id == 0 || from.witness {
			continue
		}
		for _, n := range s.nodes {
			if n.id == 0 || n.witness || !n.began || n.tainted {
				continue
			}
			for seq := crimp.Sequence(1); seq <= from.node.Group().Last(); seq++ {
				if !n.has[name{from.id, seq}] {
					return fmt.Errorf("member %d lacks packet %d of %d, given up %v", n.id, seq,
						from.id, n.gaveUp[name{from.id, seq}])
				}
			}
		}
	}
	return nil
}
