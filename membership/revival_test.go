package membership

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
)

// A ruin is a group after a crash: some mirrors are back, some are gone for good, and some may
// never have crashed. A judge sees to it that there is never more than one group that goes on.
type ruin struct {
	net      *netsim.Net
	mirrors  []*returner
	chosen   Order // the newest decree that was decided before the crash
	lasts    bool  // those who did not crash could decide without the others, at first
	foundeds []Founding
	err      error
}

// A returner is a machine with a disk.
type returner struct {
	*ruin
	end    *netsim.Endpoint
	disk   Memory // as it is durable
	r      *Revival
	lives  int
	crash  bool // it has crashed
	stays  bool // it has not, and is in its group
	alone  bool // and not in touch with the others there
	gone   bool // it does not come back
	founds bool // it goes on with the group
	tick   uint64
	asked  uint64
	known  uint64
}

func (u *ruin) fail(format string, args ...any) {
	if u.err == nil {
		u.err = fmt.Errorf("seed %d, at %v: %s", u.net.Seed(), u.net.Now(),
			fmt.Sprintf(format, args...))
	}
}

// goesOn reports whether those who did not crash can decide without the others.
func (u *ruin) goesOn() bool {
	return u.chosen.quorum(func(id member.ID) bool { return u.mirrors[id-1].stays })
}

// begin starts a mirror, with what its disk has.
func (m *returner) begin() {
	m.lives++
	m.founds, m.asked, m.known = false, 0, 0
	life := m.lives
	var doors []netip.AddrPort
	for _, o := range m.mirrors {
		doors = append(doors, o.end.PublicAddr())
	}
	o := RevivalOptions{Memory: m.disk.clone(), World: true, Tick: m.tick, Addr: m.end.PublicAddr(),
		Doors: doors, Keys: []token.Key{{1}}, Patience: 2 * time.Second}
	o.Seed[0], o.Seed[1], o.Seed[2] = byte(m.net.Seed()), byte(m.disk.Mark), byte(m.lives)
	o.Remember = func(mem *Memory) uint64 {
		m.asked++
		n, kept := m.asked, mem.clone()
		m.net.After(time.Duration(m.net.Rand().IntN(40))*time.Millisecond, func() {
			if m.lives == life && n > m.known {
				m.disk, m.known = kept, n
			}
		})
		return n
	}
	m.r = NewRevival(o)
	if m.stays {
		m.r.Live(&m.disk)
		if at := m.r.Deadline(); at < time.Hour {
			m.fail("a mirror that is in a group is to have its turn at %v", at)
		}
		m.r.Touch(m.lasts && !m.alone)
	}
	m.net.After(0, func() { m.drive(life) })
}

// drive lets a mirror have its turn.
func (m *returner) drive(life int) {
	if m.lives != life || m.gone {
		return
	}
	now := m.net.Now()
	var batch [16]link.Datagram
	for {
		n, err := m.end.Receive(batch[:])
		for _, d := range batch[:n] {
			m.r.Receive(now, d.Addr, d.Data)
		}
		if n < len(batch) || err != nil {
			break
		}
	}
	m.r.Remembered(m.known)
	if m.stays && m.r.Needed(now, m.near) {
		m.stays = false
		m.r.Returns(true, m.tick, 0)
	}
	m.r.Tick(now)
	if !m.founds && m.r.Founds() {
		m.found()
	}
	_, _ = link.SendAll(m.end, m.r.Flush(nil))
	m.net.After(10*time.Millisecond, func() { m.drive(life) })
}

// near says who stands still like this mirror.
func (m *returner) near(id member.ID) bool {
	return int(id) <= len(m.mirrors) && m.mirrors[id-1].stays && !m.alone
}

// found begins the group anew.
func (m *returner) found() {
	f, _ := m.r.Decided()
	m.founds = true
	for _, o := range m.mirrors {
		if o != m && o.founds {
			m.fail("%d and %d both go on", m.disk.Mark, o.disk.Mark)
		}
	}
	switch {
	case m.goesOn():
		m.fail("%d begins anew, and those who did not crash go on", m.disk.Mark)
	case f.Epoch <= m.chosen.Epoch:
		m.fail("%d begins anew by decree %d, and %d was decided", m.disk.Mark, f.Epoch,
			m.chosen.Epoch)
	}
	for _, old := range m.foundeds {
		if old.Epoch >= f.Epoch && old != f || old.ID == f.ID && old != f {
			m.fail("founded by %+v after %+v", f, old)
		}
		if old != f && old.Mark != f.Mark && !slices.Contains(m.foundeds, f) {
			// Only the founder before had a vote.
			m.fail("%d was the only voter, and %d begins anew", old.Mark, f.Mark)
		}
	}
	m.foundeds = append(m.foundeds, f)
	live := m.r.Memory()
	live.Founding = Founding{}
	m.r.Live(&live)
	m.r.Touch(true)
	if m.net.Rand().Chance(0.8) { // the disk has it, or not yet
		m.disk = live
	}
}

var roads = netsim.Both(netsim.Profile{Latency: 10 * time.Millisecond, Loss: 0.02})

// makeRuin makes a group with a history, and has most of it crash.
func makeRuin(n *netsim.Net) *ruin {
	u, r := &ruin{net: n}, n.Rand()
	count := 2 + r.IntN(5)
	for i := range count {
		m := &returner{ruin: u, end: n.Endpoint(strconv.Itoa(i)), tick: uint64(r.IntN(50))}
		m.disk = Memory{Mark: uint64(i + 1), Group: 7, Self: member.ID(i + 1), NextID: 50}
		for _, o := range u.mirrors {
			n.Connect(m.end, o.end, roads)
		}
		u.mirrors = append(u.mirrors, m)
	}
	u.chosen = u.anyOrder(1)
	for _, m := range u.mirrors {
		m.disk.Order = u.chosen
	}
	for range r.IntN(4) {
		u.decree()
	}
	for _, m := range u.mirrors {
		m.crash = r.Chance(0.8)
		m.gone = m.crash && r.Chance(0.2)
		m.stays = !m.crash
		m.alone = r.Chance(0.2)
	}
	u.lasts = u.goesOn()
	return u
}

// anyOrder is a decree with some voters.
func (u *ruin) anyOrder(epoch uint32) Order {
	r := u.net.Rand()
	o := Order{Epoch: epoch}
	for i := range u.mirrors {
		if r.Chance(0.7) || i == len(u.mirrors)-1 && len(o.Voters) == 0 {
			o.Voters = append(o.Voters, member.ID(i+1))
		}
	}
	o.Leader = o.Voters[r.IntN(len(o.Voters))]
	return o
}

// decree has a decree proposed. Some vote for it; if they are a quorum it is decided, and some
// learn of it. Who votes has learnt of the one before.
func (u *ruin) decree() {
	r := u.net.Rand()
	next := u.anyOrder(u.chosen.Epoch + 1)
	var voted []member.ID
	for _, id := range u.chosen.Voters {
		if r.Chance(0.7) {
			voted = append(voted, id)
			d := &u.mirrors[id-1].disk
			d.Order, d.Next = u.chosen, next
		}
	}
	if !u.chosen.quorum(func(id member.ID) bool { return slices.Contains(voted, id) }) {
		return
	}
	u.chosen = next
	for _, m := range u.mirrors {
		if r.Chance(0.5) {
			m.disk.Order, m.disk.Next = next, Order{}
		}
	}
}

// play lets those come back who do, over lines of which some are cut for a while.
func (u *ruin) play() error {
	r, n := u.net.Rand(), u.net
	for _, m := range u.mirrors {
		if !m.crash {
			m.begin()
			continue
		}
		if m.gone {
			continue
		}
		n.After(time.Duration(r.IntN(6000))*time.Millisecond, m.begin)
		for range r.IntN(3) {
			n.After(time.Duration(6000+r.IntN(15000))*time.Millisecond, func() {
				n.After(time.Duration(r.IntN(1000))*time.Millisecond, m.begin)
				m.lives++ // it is off until then
				m.founds = false
			})
		}
	}
	for i, a := range u.mirrors {
		for _, b := range u.mirrors[:i] {
			if r.Chance(0.4) {
				p, q := n.Path(a.end, b.end), n.Path(b.end, a.end)
				p.Cut()
				if r.Chance(0.5) {
					q.Cut()
				}
				n.After(time.Duration(r.IntN(15000))*time.Millisecond, func() {
					p.Heal()
					q.Heal()
				})
			}
		}
	}
	n.RunUntil(22*time.Second, func() bool { return u.err != nil })
	if u.err == nil && !n.RunUntil(30*time.Second, func() bool {
		return u.err != nil || !u.can() || slices.ContainsFunc(u.mirrors,
			func(m *returner) bool { return m.founds })
	}) {
		u.fail("enough are back, and nobody begins anew")
	}
	return u.err
}

// can reports whether those who are back can begin anew: if no founder has crashed and is gone, and
// all who can have come back. Those who did not crash help where each of them finds that all
// together are enough.
func (u *ruin) can() bool {
	if u.lasts {
		return false
	}
	var back, all []*statement
	helps := true
	for _, m := range u.mirrors {
		if s := (&statement{memory: m.disk}); m.crash && !m.gone {
			back, all = append(back, s), append(all, s)
		} else if !m.crash {
			all = append(all, s)
		}
	}
	for _, m := range u.mirrors {
		if !m.crash {
			list := append([]*statement{{memory: m.disk}}, back...)
			helps = helps && !m.alone && quorums(list, func(id member.ID) bool {
				return was(all, id)
			})
		}
	}
	return enough(back) || len(back) > 0 && helps && enough(all)
}

// TestRevivals plays many ruins.
func TestRevivals(t *testing.T) {
	count := 20
	if os.Getenv("COEVAL_SOAK") != "" {
		count = 20_000
	}
	first := 1
	if only, err := strconv.Atoi(os.Getenv("NETSIM_SEED")); err == nil {
		first, count = only, 1
	}
	began, could := 0, 0
	for seed := first; seed < first+count; seed++ {
		u := makeRuin(netsim.New(netsim.Options{Seed: uint64(seed)}))
		if u.can() {
			could++
		}
		if err := u.play(); err != nil {
			t.Fatal(err)
		}
		began += min(len(u.foundeds), 1)
	}
	t.Logf("%d of %d groups could begin anew, %d did", could, count, began)
	if began == 0 {
		t.Error("no group ever began anew")
	}
}

// FuzzStatement: what comes from others is read or refused, and what is read is written alike.
func FuzzStatement(f *testing.F) {
	m := Memory{Mark: 1, Group: 2, Self: 3, NextID: 9,
		Order: Order{4, 3, []member.ID{3, 5}}, Next: Order{5, 3, []member.ID{3}},
		Founding: Founding{Epoch: 6, ID: 9, Mark: 1, Addr: netip.MustParseAddrPort("10.0.0.1:1")},
		Doors:    []netip.AddrPort{netip.MustParseAddrPort("10.0.0.2:2")}, Stay: 8}
	f.Add(m.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := ReadMemory(b); err == nil && string(m.Append(nil)) != string(b) {
			t.Errorf("%x is read as %+v, and written as %x", b, m, m.Append(nil))
		}
		s := newSealer([]token.Key{{1}})
		var to statement
		if s.open(append([]byte{statementKind}, b...), &to) {
			t.Error("it is believed without the key")
		}
		readStatement(b)
	})
}
