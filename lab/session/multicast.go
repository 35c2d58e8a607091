package session

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
)

// A Member is one machine of the reliable multicast on a simulated network. It is given every
// datagram as it comes, and is woken when it wants to be.
type Member struct {
	Index int
	*crimp.Group
	End *netsim.Endpoint
	// Post is how a datagram is sent.
	Post func(d link.Datagram)
	// Delivered is told of packets that come, and whether they are what was sent; GaveUp of those
	// that will not.
	Delivered func(e *crimp.Event, p *Packet, same bool)
	GaveUp    func(e *crimp.Event)
	// Sent are the member's own packets, by their numbers. The first is none.
	Sent []Packet

	all   []*Member
	net   *netsim.Net
	batch [1]link.Datagram
	out   []link.Datagram
	wake  time.Duration
	timer netsim.Timer
	call  func()
}

// A Packet is what a member sent: who and when, and what it was.
type Packet struct {
	From *Member
	At   time.Duration
	Lost bool // it was dropped, for whoever watches the network to say
	sum  uint64
}

// Members make a group of so many, which Begin lets begin.
func Members(net *netsim.Net, n int, secret uint64, site uint8, o crimp.Options) (list []*Member,
	roster crimp.Roster, err error) {
	roster = crimp.Roster{Epoch: 1, Key: [16]byte{1}}
	for i := range n {
		m := &Member{
			Index: i, net: net, End: net.Endpoint(fmt.Sprint("m", i+1)), wake: -1,
			Sent: make([]Packet, 1)}
		binary.BigEndian.PutUint64(o.Seed[:], secret)
		binary.BigEndian.PutUint64(o.Seed[8:], uint64(i+1))
		if o.Identity, err = crimp.NewIdentity(o.Seed); err != nil {
			return nil, roster, err
		}
		if m.Group, err = crimp.NewGroup(o); err != nil {
			return nil, roster, err
		}
		list = append(list, m)
		roster.Members = append(roster.Members,
			crimp.Member{ID: member.ID(i + 1), Card: o.Identity.Card(m.End.LocalAddr(), site)})
	}
	for _, m := range list {
		m.all = list
	}
	return list, roster, nil
}

// Begin makes a member of the group.
func (m *Member) Begin(r crimp.Roster) error {
	if err := m.SetRoster(0, r); err != nil {
		return err
	}
	m.call = func() { m.wake = -1; m.Step() }
	m.End.Handle(func(from netip.AddrPort, data []byte) {
		m.batch[0] = link.Datagram{Addr: from, Data: data}
		m.Receive(m.net.Now(), m.batch[:])
		m.events()
		if m.Deadline() < m.wake {
			m.Step()
		}
	})
	return nil
}

// Step sends what is due and asks to be woken for the rest.
func (m *Member) Step() {
	now := m.net.Now()
	m.Tick(now)
	m.events()
	m.out = m.Flush(now, m.out[:0])
	for _, d := range m.out {
		m.Post(d)
	}
	if at := m.Deadline(); at != m.wake {
		if m.wake >= 0 {
			m.timer.Stop()
		}
		m.wake = at
		m.timer = m.End.After(max(at-now, time.Microsecond), m.call)
	}
}

func (m *Member) events() {
	for _, e := range m.Events() {
		switch e.Kind {
		case crimp.GaveUp:
			m.GaveUp(&e)
		case crimp.Delivered:
			from := m.all[e.Member-1]
			p := &Packet{From: from}
			if int(e.Seq) < len(from.Sent) {
				p = &from.Sent[e.Seq]
			}
			m.Delivered(&e, p, p.sum == digest(e.Data))
		}
	}
}

// Say sends the member's next packet.
func (m *Member) Say(data []byte) error {
	seq, err := m.Send(m.net.Now(), data)
	if err == nil && int(seq) != len(m.Sent) {
		err = fmt.Errorf("packet %d has the number %d", len(m.Sent), seq)
	}
	m.Sent = append(m.Sent, Packet{From: m, At: m.net.Now(), sum: digest(data)})
	m.Step()
	return err
}

func digest(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b) // it never fails
	return h.Sum64()
}
