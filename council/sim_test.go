package council

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"time"

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

const testSilence = 400 * time.Millisecond

// sim is a council on a simulated network. What was decided is written down, so that no two
// members can ever learn different things.
type sim struct {
	net     *netsim.Net
	nodes   []*node
	decided map[uint32][]byte
	newest  Decree
	nextID  member.ID
	count   int
	joining []*node // let in by whoever leads
	err     error
	restart bool // machines that are out come back
}

// node is a machine; each time that it starts it is another member.
type node struct {
	s       *sim
	ep      *netsim.Endpoint
	id      member.ID
	witness bool
	c       *Council
	wishes  int // decrees that are wanted besides what membership needs
	held    map[member.ID]bool
	out     bool
	lies    bool // what it knows is no measure

	quorumAt time.Duration // when there last was one
}

func newSim(net *netsim.Net, mirrors, witnesses int) *sim {
	s := &sim{net: net, decided: map[uint32][]byte{}, nextID: 1}
	first := Decree{Epoch: 1, Leader: 1}
	for i := range mirrors + witnesses {
		n := &node{s: s, ep: net.Endpoint(fmt.Sprint("m", i+1)), witness: i >= mirrors}
		n.id = s.takeID()
		first.Voters = append(first.Voters, n.id)
		if n.witness {
			first.Witnesses = append(first.Witnesses, n.id)
		}
		s.nodes = append(s.nodes, n)
	}
	s.newest = first
	s.decided[1] = first.Append(nil)
	for _, n := range s.nodes {
		n.boot(first)
		n.ep.OnRestart(func() {
			n.id, n.c = 0, nil
			n.ep.Handle(nil)
			n.ep.After(time.Duration(50+s.net.Rand().IntN(300))*time.Millisecond, n.apply)
		})
	}
	return s
}

// lies reports whether there is one that says what is not so: it may know a decree before others.
func (s *sim) lies() bool {
	return slices.ContainsFunc(s.nodes, func(n *node) bool { return n.lies })
}

func (s *sim) takeID() member.ID {
	s.nextID++
	return s.nextID - 1
}

func (s *sim) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("at %v: %s", s.net.Now(), fmt.Sprintf(format, args...))
	}
}

// boot makes the machine a member that knows a decree.
func (n *node) boot(d Decree) {
	var err error
	n.out, n.quorumAt = false, n.s.net.Now()
	n.held = map[member.ID]bool{}
	n.c, err = New(n.s.net.Now(),
		Options{ID: n.id, Owner: n, Keys: testKeys(n.id), Seed: n.s.net.Seed(),
			Silence: testSilence}, d)
	if err != nil {
		n.s.fail("%v", err)
		return
	}
	c := n.c
	n.ep.Handle(func(from netip.AddrPort, data []byte) {
		n.c.Receive(n.s.net.Now(), member.ID(be.Uint16(data)), slices.Clone(data[2:]))
		n.look()
	})
	n.ep.Every(20*time.Millisecond, func() {
		if n.c == c {
			c.Tick(n.s.net.Now())
			n.look()
		}
	})
}

// apply asks to be let in: whoever leads will see.
func (n *node) apply() {
	n.id = n.s.takeID()
	n.s.joining = append(slices.DeleteFunc(n.s.joining, func(o *node) bool { return o == n }), n)
}

// look passes on what the member has to say, and checks what it has learnt.
func (n *node) look() {
	s := n.s
	for _, d := range n.c.Decided() {
		if n.lies {
			continue
		}
		b := d.Append(nil)
		if have, ok := s.decided[d.Epoch]; ok && !bytes.Equal(have, b) {
			first, _ := ReadDecree(have)
			s.fail("member %d learnt for epoch %d\n%+v, and another\n%+v", n.id, d.Epoch, d, first)
		}
		s.decided[d.Epoch] = b
		if d.Epoch > s.newest.Epoch {
			s.newest = d
		}
		clear(n.held)
		s.joining = slices.DeleteFunc(s.joining, func(o *node) bool {
			if !d.Has(o.id) || o.c != nil && o.c.opt.ID == o.id || !o.ep.Running() {
				return false
			}
			o.boot(d)
			return true
		})
	}
	if n.c.Leads() && n.c.Quorum() && !n.c.Proposing() {
		suspects := n.c.silentOnes()
		if len(suspects) > 0 || n.wishes > 0 || len(s.joining) > 0 ||
			len(n.c.Decree().Learners) > 0 {
			n.c.Propose(s.net.Now(), suspects)
		}
	}
	for _, m := range n.c.Outgoing() {
		for _, o := range s.nodes {
			if o.id == m.To {
				n.ep.SendTo(o.ep.LocalAddr(), append(be.AppendUint16(nil, uint16(n.id)), m.Data...))
			}
		}
	}
	// One that knows nobody any more who is still there has to find out by other means.
	if n.c.Quorum() {
		n.quorumAt = s.net.Now()
	} else if s.restart && s.net.Now()-n.quorumAt > 12*testSilence && !s.newest.Has(n.id) &&
		!n.out {
		n.out = true
		n.ep.Restart(50 * time.Millisecond)
	} else if s.restart && s.net.Now()-n.quorumAt > 6*testSilence {
		for _, o := range s.alive() {
			if d := o.c.Decree(); d.Has(n.id) {
				for e := n.c.Decree().Epoch + 1; e <= d.Epoch; e++ {
					if l, ok := o.c.Past(e); ok {
						n.c.Teach(s.net.Now(), &l)
					}
				}
			}
		}
	}
	if note, out := n.c.Dismissed(); out && !n.out {
		n.out = true
		if s.newest.Has(n.id) && len(note) > 0 && !s.lies() {
			s.fail("member %d was told that it is out, and is not", n.id)
		}
		if s.restart {
			n.ep.Restart(50 * time.Millisecond)
		}
	}
}

func (n *node) Report(suspects []member.ID) []byte {
	for _, id := range suspects {
		n.held[id] = true
	}
	b := make([]byte, 0, 2*len(suspects))
	for _, id := range suspects {
		b = be.AppendUint16(b, uint16(id))
	}
	return b
}

func (n *node) Farewell(id member.ID) []byte { return []byte{byte(id)} }

func (n *node) Compose(present *Decree, suspects []member.ID, reports []Report) Decree {
	s := n.s
	if !present.Quorum(func(id member.ID) bool {
		return slices.ContainsFunc(reports, func(r Report) bool { return r.From == id })
	}) {
		s.fail("member %d makes a decree from %d reports for %d voters", n.id, len(reports),
			len(present.Voters))
	}
	for _, r := range reports {
		if len(r.Data) != 2*len(suspects) && !s.lies() {
			s.fail("a report of %d bytes about %d suspects", len(r.Data), len(suspects))
		}
	}
	d := present.Clone()
	d.Epoch++
	d.Leader = n.id
	gone := func(id member.ID) bool { return contains(suspects, id) }
	// Learners that are here have begun.
	for _, id := range d.Learners {
		if !gone(id) {
			d.Voters = member.Insert(d.Voters, id)
			for _, o := range s.nodes {
				if o.id == id && o.witness {
					d.Witnesses = member.Insert(d.Witnesses, id)
				}
			}
		}
	}
	d.Learners = nil
	d.Voters = slices.DeleteFunc(d.Voters, gone)
	d.Witnesses = slices.DeleteFunc(d.Witnesses, gone)
	for _, o := range s.joining {
		if o.ep.Running() && !d.Has(o.id) {
			d.Learners = member.Insert(d.Learners, o.id)
		}
	}
	n.wishes = max(n.wishes-1, 0)
	s.count++
	d.Body = fmt.Appendf(nil, "decree %d by %d", s.count, n.id)
	return d
}

// alive lists machines that run and are not out.
func (s *sim) alive() (list []*node) {
	for _, n := range s.nodes {
		if n.c != nil && !n.out && n.ep.Running() && n.c.opt.ID == n.id {
			list = append(list, n)
		}
	}
	return list
}

// able reports whether enough voters are left to decide anything: of the newest decree that
// anybody knows who is left.
func (s *sim) able() bool {
	var known *Decree
	for _, n := range s.alive() {
		if d := n.c.Decree(); known == nil || d.Epoch > known.Epoch {
			known = d
		}
	}
	return known != nil && known.Quorum(func(id member.ID) bool {
		return slices.ContainsFunc(s.alive(), func(n *node) bool { return n.id == id })
	})
}

// settled reports whether all who are alive know the newest decree, are in it, and nobody
// else is.
func (s *sim) settled() bool {
	alive := s.alive()
	for _, n := range alive {
		if n.c.Decree().Epoch != s.newest.Epoch || !n.c.Quorum() || len(n.held) > 0 {
			return false
		}
	}
	return len(alive) == len(s.newest.Voters) && len(s.newest.Learners) == 0
}

// converges waits until all is settled, and then until one more decree is decided.
func (s *sim) converges(d time.Duration) error {
	if !s.net.RunUntil(d, func() bool { return s.err != nil || s.settled() }) {
		return fmt.Errorf("at %v: not settled within %v: newest %+v; %s", s.net.Now(), d, s.newest,
			s.state())
	}
	if s.err != nil {
		return s.err
	}
	for _, n := range s.alive() {
		if n.c.Leads() {
			n.wishes++
		}
	}
	epoch := s.newest.Epoch
	if !s.net.RunUntil(d, func() bool { return s.err != nil || s.newest.Epoch > epoch }) {
		return fmt.Errorf("at %v: nothing was decided within %v: %s", s.net.Now(), d, s.state())
	}
	return s.err
}

func (s *sim) state() (text string) {
	for _, n := range s.alive() {
		text += fmt.Sprintf(
			"\n%s is %d: epoch %d led by %d, quorum %v, doubting %v, promised %v, bid %+v",
			n.ep.Name(), n.id, n.c.decree.Epoch, n.c.decree.Leader, n.c.Quorum(), n.c.doubting,
			n.c.promised, n.c.bid)
	}
	return text
}
