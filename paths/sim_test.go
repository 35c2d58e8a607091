package paths

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
)

// A group is machines that send to each other all the time, as players do, over simulated networks
// and a relay that only carries. First bytes of their own datagrams:
const (
	simData   = 0x80 // to a member: number[4]
	simVector = 0x81 // to a member
	simCarry  = 0x90 // to and from the relay: what it carries
	simSeen   = 0x91 // from the relay: a member, and the address it is seen at
	simHello  = 0x92 // to the relay
)

type group struct {
	net      *netsim.Net
	relay    *relay
	machines []*machine
	every    time.Duration // between datagrams of each pair, in one direction
	names    bool          // members tell each other their own addresses, too
}

// machine is one member.
type machine struct {
	*group
	id    member.ID
	ep    *netsim.Endpoint
	paths *Paths
	got   map[member.ID]*arrivals
	batch []link.Datagram
	quiet bool // sends nothing of its own
}

// arrivals are what came from one member.
type arrivals struct {
	count int
	last  time.Duration
	worst time.Duration // the longest time without one, after the first
	sum   time.Duration // of the time under way
}

// relay carries between those it heard, and tells everybody where it sees each.
type relay struct {
	ep      *netsim.Endpoint
	at      map[member.ID]netip.AddrPort
	carried int
}

func pairKey(a, b member.ID) (key [32]byte) {
	binary.BigEndian.PutUint16(key[:], uint16(min(a, b)))
	binary.BigEndian.PutUint16(key[2:], uint16(max(a, b)))
	return key
}

// newGroup makes machines 1 to n that are not yet started, and a relay if there is one.
func newGroup(net *netsim.Net, n int, relayed bool) *group {
	g := &group{net: net, every: time.Second / 60, names: true}
	if relayed {
		g.relay = &relay{
			ep: net.EndpointAt("relay", netip.MustParseAddrPort("198.51.100.1:7000")),
			at: make(map[member.ID]netip.AddrPort)}
		g.relay.ep.Handle(g.relay.handle)
	}
	for i := range n {
		m := &machine{
			group: g, id: member.ID(i + 1), ep: net.Endpoint(fmt.Sprint("m", i+1)),
			got: make(map[member.ID]*arrivals)}
		m.paths = New(Options{Self: m.id, Seed: [32]byte{byte(m.id), 1}})
		g.machines = append(g.machines, m)
	}
	return g
}

func (r *relay) handle(from netip.AddrPort, data []byte) {
	id := member.ID(binary.BigEndian.Uint16(data[1:]))
	moved := r.at[id] != from
	r.at[id] = from
	for k := member.ID(1); k < 64; k++ {
		if at, ok := r.at[k]; ok && k != id {
			if moved {
				r.tell(at, id)
			}
			if moved || data[0] == simHello {
				r.tell(from, k)
			}
		}
	}
	if data[0] != simCarry {
		return
	}
	c, err := ReadCarried(data[3:])
	if at, ok := r.at[c.Member]; ok && err == nil {
		r.carried++
		c.Member = id
		r.ep.SendTo(at, c.Append([]byte{simCarry}))
	}
}

// tell says to one member at which address another is seen.
func (r *relay) tell(to netip.AddrPort, id member.ID) {
	text, err := r.at[id].MarshalBinary()
	if err != nil {
		panic(err)
	}
	r.ep.SendTo(to, append(binary.BigEndian.AppendUint16([]byte{simSeen}, uint16(id)), text...))
}

// start lets everybody know of everybody and begin.
func (g *group) start() {
	for _, m := range g.machines {
		m.start()
	}
}

func (m *machine) start() {
	for _, o := range m.machines {
		if o == m {
			continue
		}
		var own []netip.AddrPort
		if m.names {
			own = append(own, o.ep.LocalAddr())
		}
		m.paths.Add(m.net.Now(), o.id, pairKey(m.id, o.id), own)
		m.got[o.id] = &arrivals{}
	}
	m.paths.SetRelay(m.net.Now(), m.group.relay != nil)
	m.ep.Handle(func(from netip.AddrPort, data []byte) {
		m.batch = append(m.batch[:0], link.Datagram{Addr: from, Data: data})
		for _, d := range m.paths.Receive(m.net.Now(), m.batch) {
			m.take(d)
		}
		m.flush(nil)
	})
	m.ep.Every(m.every, m.tick)
	if m.group.relay != nil {
		hello := binary.BigEndian.AppendUint16([]byte{simHello}, uint16(m.id))
		m.ep.SendTo(m.group.relay.ep.PublicAddr(), hello)
		m.ep.Every(time.Second, func() { m.ep.SendTo(m.group.relay.ep.PublicAddr(), hello) })
	}
}

func (m *machine) take(d link.Datagram) {
	if _, _, ok := link.Session(d.Addr); !ok {
		m.takeRelay(d)
		return
	}
	_, n, _ := link.Session(d.Addr)
	from := member.ID(n)
	switch d.Data[0] {
	case simVector:
		if err := m.paths.TakeVector(m.net.Now(), from, d.Data[1:]); err != nil {
			panic(err)
		}
	case simData:
		a := m.got[from]
		now := m.net.Now()
		if a.count > 0 {
			a.worst = max(a.worst, now-a.last)
		}
		a.count++
		a.last = now
		a.sum += now - time.Duration(binary.BigEndian.Uint64(d.Data[1:]))
	}
}

func (m *machine) takeRelay(d link.Datagram) {
	if m.group.relay == nil || d.Addr != m.group.relay.ep.PublicAddr() {
		return
	}
	switch d.Data[0] {
	case simCarry:
		c, err := ReadCarried(d.Data[1:])
		if err != nil {
			panic(err)
		}
		if inner, ok := m.paths.Carried(m.net.Now(), c); ok {
			m.take(inner)
		}
	case simSeen:
		id := member.ID(binary.BigEndian.Uint16(d.Data[1:]))
		var at netip.AddrPort
		if err := at.UnmarshalBinary(d.Data[3:]); err != nil {
			panic(err)
		}
		m.paths.Add(m.net.Now(), id, pairKey(m.id, id), []netip.AddrPort{at})
	}
}

func (m *machine) tick() {
	now := m.net.Now()
	out := m.paths.Tick(now, nil)
	if v, due := m.paths.Vector(now, []byte{simVector}); due {
		for _, o := range m.machines {
			if o != m {
				out = append(out, link.Datagram{Addr: Addr(o.id), Data: v})
			}
		}
	}
	if !m.quiet {
		data := binary.BigEndian.AppendUint64([]byte{simData}, uint64(now))
		for _, o := range m.machines {
			if o != m {
				out = append(out, link.Datagram{Addr: Addr(o.id), Data: data})
			}
		}
	}
	m.flush(out)
}

func (m *machine) flush(out []link.Datagram) {
	for _, d := range m.paths.Send(m.net.Now(), out) {
		if err := m.ep.SendTo(d.Addr, d.Data); err != nil {
			panic(err)
		}
	}
	for _, c := range m.paths.Carry() {
		head := binary.BigEndian.AppendUint16([]byte{simCarry}, uint16(m.id))
		m.ep.SendTo(m.group.relay.ep.PublicAddr(), c.Append(head))
	}
}

// look forgets what came so far, for all pairs.
func (g *group) look() {
	for _, m := range g.machines {
		for _, a := range m.got {
			a.worst, a.count, a.sum = 0, 1, 0
			a.last = g.net.Now()
		}
	}
}

// lacking names a pair of which one has heard nothing for longer than a time, since look or now.
func (g *group) lacking(longest time.Duration) error {
	for _, m := range g.machines {
		for _, o := range g.machines {
			if o == m || !o.ep.Running() || !m.ep.Running() {
				continue
			}
			a := m.got[o.id]
			if w := max(a.worst, g.net.Now()-a.last); w > longest {
				path, _ := o.paths.To(m.id)
				return fmt.Errorf("%d hears nothing of %d for %v; path there: %+v", m.id, o.id, w,
					path)
			}
		}
	}
	return nil
}

// longest is for how long a member heard nothing of another at most.
func (g *group) longest() (d time.Duration) {
	for _, m := range g.machines {
		for _, o := range g.machines {
			if o != m {
				d = max(d, m.got[o.id].worst)
			}
		}
	}
	return d
}

// kind says by which kind of path one reaches another.
func (g *group) kind(a, b int) Kind {
	x, _ := g.machines[a].paths.To(g.machines[b].id)
	return x.Kind
}
