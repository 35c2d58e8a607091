package session

import (
	"encoding/binary"
	"fmt"
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
	// Post is how a datagram is sent, and Heard is told what happens.
	Post  func(d link.Datagram)
	Heard func(e *crimp.Event)

	net   *netsim.Net
	batch [1]link.Datagram
	out   []link.Datagram
	wake  time.Duration
	timer netsim.Timer
	call  func()
}

// Members make a group of so many, which Begin lets begin.
func Members(net *netsim.Net, n int, secret uint64, site uint8, o crimp.Options) (list []*Member,
	roster crimp.Roster, err error) {
	roster = crimp.Roster{Epoch: 1, Key: [16]byte{1}}
	for i := range n {
		m := &Member{Index: i, net: net, End: net.Endpoint(fmt.Sprint("m", i+1)), wake: -1}
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
		m.Heard(&e)
	}
}
