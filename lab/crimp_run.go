package lab

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
)

// crimpCase is one group to be run.
type crimpCase struct {
	o                *CrimpOptions
	members, senders int
	packets          int
	loss             float64
	shared           bool
	way              string
}

func (c *crimpCase) String() string {
	return fmt.Sprintf("%d members, %s loss %.0f %%, %s", c.members, c.topology(), c.loss*100, c.way)
}

func (c *crimpCase) topology() string {
	if c.shared {
		return "shared"
	}
	return "separate"
}

// work is about how long the case takes.
func (c *crimpCase) work() float64 {
	return float64(c.members-1) * (float64(c.senders*c.packets) + float64(c.members*c.packets)/10)
}

// crimpGroup is a group on a simulated network.
type crimpGroup struct {
	c       *crimpCase
	net     *netsim.Net
	members []*crimpMember
	left    *netsim.Endpoint // the two ends of the shared link
	right   *netsim.Endpoint
	address netip.AddrPort
	sentAt  [][]time.Duration // by member and sequence
	sizes   [][]uint8
	lost    [][]bool
	missed  int // copies
	delays  delays
	twice   int
	gone    int
	got     int
}

// crimpMember drives one machine: it is given every datagram as it comes, and is woken
// when it wants to be.
type crimpMember struct {
	g     *crimpGroup
	n     int
	group *crimp.Group
	ep    *netsim.Endpoint
	batch [1]link.Datagram
	out   []link.Datagram
	wake  time.Duration
	timer netsim.Timer
	seen  [][]bool
	build [128]byte
	call  func()
	sent  int
}

// The first moments are left for the members to find out how far apart they are.
const (
	crimpWarmUp = 500 * time.Millisecond
	crimpLeast  = 16 // bytes of a message
	crimpMost   = 96
)

func (c *crimpCase) run(ctx context.Context) (CrimpResult, error) {
	g, err := c.build()
	if err != nil {
		return CrimpResult{}, err
	}
	end := crimpWarmUp + time.Duration(c.packets+1)*c.o.Period + 2*c.o.History
	for g.net.Now() < end {
		if ctx.Err() != nil {
			return CrimpResult{}, ctx.Err()
		}
		g.net.Run(time.Second)
	}
	return g.result(), nil
}

func (c *crimpCase) build() (*crimpGroup, error) {
	path := netsim.Profile{Latency: c.o.Latency, Loss: c.loss}
	if c.shared {
		path = netsim.Profile{}
	}
	seed := c.o.Seed*1_000_003 + uint64(c.members)*1009 + uint64(c.loss*1000)
	g := &crimpGroup{
		c:       c,
		net:     netsim.New(netsim.Options{Seed: seed, Conditions: netsim.Conditions{Up: path, Down: path}}),
		address: netip.MustParseAddrPort("239.1.2.3:4000"),
	}
	g.net.SetTrace(g.watch)
	roster := crimp.Roster{Group: seed + 1, Epoch: 1, Key: [16]byte{1}}
	for i := range c.members {
		m, err := g.member(i, seed)
		if err != nil {
			return nil, err
		}
		g.members = append(g.members, m.crimpMember)
		roster.Members = append(roster.Members, crimp.Member{ID: member.ID(i + 1), Card: m.card})
	}
	if c.shared {
		g.link(path)
	}
	for _, m := range g.members {
		if err := m.group.SetRoster(0, roster); err != nil {
			return nil, err
		}
		m.start()
	}
	return g, nil
}

// carded is a member with what it shows of itself.
type carded struct {
	*crimpMember
	card crimp.Card
}

func (g *crimpGroup) member(i int, seed uint64) (carded, error) {
	c := g.c
	var s [32]byte
	binary.BigEndian.PutUint64(s[:], seed)
	binary.BigEndian.PutUint64(s[8:], uint64(i+1))
	id, err := crimp.NewIdentity(s)
	if err != nil {
		return carded{}, err
	}
	recovery, forward, err := crimpWay(c.way)
	if err != nil {
		return carded{}, err
	}
	group, err := crimp.NewGroup(crimp.Options{Seed: s, Identity: id, History: c.o.History, Recovery: recovery, Forward: forward, Multicast: g.address})
	if err != nil {
		return carded{}, err
	}
	m := &crimpMember{g: g, n: i, group: group, ep: g.net.Endpoint(fmt.Sprint("m", i+1)), wake: -1}
	m.seen = make([][]bool, c.members)
	for k := range c.senders {
		m.seen[k] = make([]bool, c.packets+1)
	}
	g.sentAt = append(g.sentAt, make([]time.Duration, c.packets+1))
	g.sizes = append(g.sizes, make([]uint8, c.packets+1))
	g.lost = append(g.lost, make([]bool, c.packets+1))
	return carded{m, id.Card(m.ep.LocalAddr(), 1)}, nil
}

// link lays the paper's topology: half of the members on each side of one lossy link.
func (g *crimpGroup) link(path netsim.Profile) {
	g.left, g.right = g.net.Endpoint("left"), g.net.Endpoint("right")
	bad := netsim.Profile{Latency: g.c.o.Latency, Loss: g.c.loss}
	for i, e := range []*netsim.Endpoint{g.left, g.right} {
		g.net.SetPath(e, []*netsim.Endpoint{g.right, g.left}[i], bad)
		far := []*netsim.Endpoint{g.right, g.left}[i]
		e.Handle(func(from netip.AddrPort, data []byte) {
			if from != far.LocalAddr() {
				e.SendTo(far.LocalAddr(), data)
				return
			}
			for _, m := range g.members {
				if m.side() == i {
					e.SendTo(m.ep.LocalAddr(), data)
				}
			}
		})
	}
}

func (m *crimpMember) side() int {
	if m.n < (m.g.c.members+1)/2 {
		return 0
	}
	return 1
}

// path is how long a datagram is on its way between two members.
func (g *crimpGroup) path(a, b *crimpMember) time.Duration {
	if g.c.shared && a.side() == b.side() {
		return 0
	}
	return g.c.o.Latency
}

func (m *crimpMember) start() {
	m.call = func() { m.wake = -1; m.step() }
	m.ep.Handle(func(from netip.AddrPort, data []byte) {
		m.batch[0] = link.Datagram{Addr: from, Data: data}
		m.group.Receive(m.g.net.Now(), m.batch[:])
		m.events()
		if m.group.Deadline() < m.wake {
			m.step()
		}
	})
	if m.n < m.g.c.senders {
		m.ep.After(crimpWarmUp+m.g.net.Rand().Duration(m.g.c.o.Period), m.send)
	}
	m.step()
}

// send sends the next packet, and sees to the one after.
func (m *crimpMember) send() {
	now := m.g.net.Now()
	size := crimpLeast + m.g.net.Rand().IntN(crimpMost-crimpLeast+1)
	m.sent++
	for i := range size {
		m.build[i] = byte(m.n + m.sent*7 + i)
	}
	seq, err := m.group.Send(now, m.build[:size])
	if err != nil || int(seq) != m.sent {
		panic(fmt.Sprintf("lab: packet %d is number %d: %v", m.sent, seq, err))
	}
	m.g.sentAt[m.n][seq], m.g.sizes[m.n][seq] = now, uint8(size)
	if m.sent < m.g.c.packets {
		m.ep.After(m.g.c.o.Period, m.send)
	}
	m.step()
}

// step sends what is due and asks to be woken for the rest.
func (m *crimpMember) step() {
	now := m.g.net.Now()
	m.group.Tick(now)
	m.events()
	m.out = m.group.Flush(now, m.out[:0])
	for _, d := range m.out {
		m.multicast(d.Data)
	}
	if at := m.group.Deadline(); at != m.wake {
		if m.wake >= 0 {
			m.timer.Stop()
		}
		m.wake = at
		m.timer = m.ep.After(max(at-now, time.Microsecond), m.call)
	}
}

// multicast brings a datagram to all others.
func (m *crimpMember) multicast(data []byte) {
	g := m.g
	for _, other := range g.members {
		if other != m && (!g.c.shared || other.side() == m.side()) {
			m.ep.SendTo(other.ep.LocalAddr(), data)
		}
	}
	if g.c.shared {
		router := g.left
		if m.side() == 1 {
			router = g.right
		}
		m.ep.SendTo(router.LocalAddr(), data)
	}
}

func (m *crimpMember) events() {
	g := m.g
	for _, e := range m.group.Events() {
		switch e.Kind {
		case crimp.GaveUp:
			g.gone += 1 + int(e.More)
			for s := range int(e.More) + 1 {
				m.seen[e.Member-1][int(e.Seq)+s] = true
			}
		case crimp.Delivered:
			from := int(e.Member - 1)
			if m.seen[from][e.Seq] || !m.intact(&e) {
				g.twice++
			}
			m.seen[from][e.Seq] = true
			g.got++
			path := g.path(g.members[from], m)
			g.delays.add(float64(g.net.Now()-g.sentAt[from][e.Seq]-path) / float64(time.Millisecond))
		}
	}
}

// intact reports whether a message is what was sent.
func (m *crimpMember) intact(e *crimp.Event) bool {
	if len(e.Data) != int(m.g.sizes[e.Member-1][e.Seq]) {
		return false
	}
	for i, b := range e.Data {
		if b != byte(int(e.Member)-1+int(e.Seq)*7+i) {
			return false
		}
	}
	return true
}

// watch counts the data packets that the network loses when they are sent at first.
func (g *crimpGroup) watch(e netsim.Event) {
	if e.What != netsim.Dropped || len(e.Data) < 10 || e.Data[0] != 0x40 {
		return
	}
	from, seq := int(binary.BigEndian.Uint16(e.Data[4:]))-1, binary.BigEndian.Uint32(e.Data[6:])
	g.lost[from][seq] = true
	copies := 1
	if g.c.shared {
		copies = 0
		for _, m := range g.members {
			if m.side() != g.members[from].side() {
				copies++
			}
		}
	}
	g.missed += copies
}

func (g *crimpGroup) result() CrimpResult {
	c := g.c
	r := CrimpResult{
		Members: c.members, Senders: c.senders, Loss: c.loss, Topology: c.topology(), Way: c.way,
		Packets: c.senders * c.packets, Deliveries: c.senders * c.packets * (c.members - 1),
		Mean: g.delays.mean(), P95: g.delays.quantile(0.95), P99: g.delays.quantile(0.99), Most: g.delays.most,
		GivenUp: g.gone, Twice: g.twice, LostCopies: g.missed,
	}
	r.Undelivered = r.Deliveries - g.got - g.gone
	for _, lost := range g.lost {
		for _, l := range lost {
			if l {
				r.LostPackets++
			}
		}
	}
	var total, forward, recovery uint64
	for _, m := range g.members {
		s, l := m.group.Stats(), m.group.Ledger()
		r.Requests += s.Requests
		r.Repairs += s.Repairs
		total += l.Total()
		forward += l.Sent[crimp.SentForward]
		recovery += l.Sent[crimp.SentControl] + l.Sent[crimp.SentRepair]
	}
	over := func(a uint64, b int) float64 {
		if b == 0 {
			return 0
		}
		return float64(a) / float64(b)
	}
	r.RequestsPerLoss, r.RepairsPerLoss = over(r.Requests, r.LostCopies), over(r.Repairs, r.LostCopies)
	r.RequestsPerPacket, r.RepairsPerPacket = over(r.Requests, r.LostPackets), over(r.Repairs, r.LostPackets)
	r.BytesPerPacket = over(total, r.Packets)
	if total > 0 {
		r.ForwardShare, r.RecoveryShare = float64(forward)/float64(total), float64(recovery)/float64(total)
	}
	return r
}
