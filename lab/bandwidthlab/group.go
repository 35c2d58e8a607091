package bandwidthlab

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// group is a real group of the reliable multicast on a simulated network, each member of which sends one packet a tick: peers with their own commands, or mirrors
// with those of their clients.
type group struct {
	net     *netsim.Net
	members []*talker
	err     error
	heard   func(from, to int, data []byte) // if set, is told what is delivered
}

// member drives one machine: it is given every datagram as it comes, and is woken when it wants to be.
type talker struct {
	g     *group
	index int
	multi *crimp.Group
	end   *netsim.Endpoint
	batch [1]link.Datagram
	out   []link.Datagram
	wake  time.Duration
	timer netsim.Timer
	call  func()
	sums  []uint64 // of what it sent, by sequence
	got   int
}

func newGroup(net *netsim.Net, n int, seed uint64, way func(i, j int) time.Duration) (*group, error) {
	g := &group{net: net}
	roster := crimp.Roster{Group: seed + 1, Epoch: 1, Key: [16]byte{1}}
	for i := range n {
		var s [32]byte
		binary.BigEndian.PutUint64(s[:], seed+1)
		binary.BigEndian.PutUint64(s[8:], uint64(i+1))
		id, err := crimp.NewIdentity(s)
		if err != nil {
			return nil, err
		}
		multi, err := crimp.NewGroup(crimp.Options{Seed: s, Identity: id})
		if err != nil {
			return nil, err
		}
		m := &talker{g: g, index: i, multi: multi, end: net.Endpoint(fmt.Sprint("member ", i+1)), wake: -1, sums: make([]uint64, 1)}
		g.members = append(g.members, m)
		roster.Members = append(roster.Members, crimp.Member{ID: member.ID(i + 1), Card: id.Card(m.end.LocalAddr(), 0)}) // no site: a mesh of unicast
	}
	for i, m := range g.members {
		for j, o := range g.members {
			if i != j {
				net.SetPath(m.end, o.end, netsim.Profile{Latency: way(i, j)})
			}
		}
		if err := m.multi.SetRoster(0, roster); err != nil {
			return nil, err
		}
		m.start()
	}
	return g, nil
}

func (m *talker) start() {
	m.call = func() { m.wake = -1; m.step() }
	m.end.Handle(func(from netip.AddrPort, data []byte) {
		m.batch[0] = link.Datagram{Addr: from, Data: data}
		m.multi.Receive(m.g.net.Now(), m.batch[:])
		m.events()
		if m.multi.Deadline() < m.wake {
			m.step()
		}
	})
	m.step()
}

// step sends what is due and asks to be woken for the rest.
func (m *talker) step() {
	now := m.g.net.Now()
	m.multi.Tick(now)
	m.events()
	m.out = m.multi.Flush(now, m.out[:0])
	for _, d := range m.out {
		m.g.fail(m.end.SendTo(d.Addr, d.Data))
	}
	if at := m.multi.Deadline(); at != m.wake {
		if m.wake >= 0 {
			m.timer.Stop()
		}
		m.wake = at
		m.timer = m.end.After(max(at-now, time.Microsecond), m.call)
	}
}

func (m *talker) send(data []byte) {
	seq, err := m.multi.Send(m.g.net.Now(), data)
	if err == nil && int(seq) != len(m.sums) {
		err = fmt.Errorf("packet %d has the number %d", len(m.sums), seq)
	}
	m.g.fail(err)
	m.sums = append(m.sums, digest(data))
	m.step()
}

// events takes what is delivered, and compares it with what was sent.
func (m *talker) events() {
	for _, e := range m.multi.Events() {
		switch e.Kind {
		case crimp.GaveUp:
			m.g.fail(fmt.Errorf("packet %d of member %d was given up", e.Seq, e.Member))
		case crimp.Delivered:
			from := m.g.members[e.Member-1]
			if int(e.Seq) >= len(from.sums) || from.sums[e.Seq] != digest(e.Data) {
				m.g.fail(fmt.Errorf("packet %d of member %d is not what was sent", e.Seq, e.Member))
			}
			m.got++
			if m.g.heard != nil {
				m.g.heard(from.index, m.index, e.Data)
			}
		}
	}
}

func digest(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b) // it never fails
	return h.Sum64()
}

func (g *group) fail(err error) {
	if g.err == nil && err != nil {
		g.err = fmt.Errorf("a group of %d, seed %d, at %v: %w", len(g.members), g.net.Seed(), g.net.Now(), err)
	}
}

// sent is what all members have sent so far.
func (g *group) sent() (bytes, datagrams uint64) {
	for _, m := range g.members {
		l := m.multi.Ledger()
		bytes += l.Total()
		datagrams += l.Datagrams
	}
	return bytes, datagrams
}

// complete says whether everyone was delivered all that others sent.
func (g *group) complete() error {
	all := 0
	for _, m := range g.members {
		all += len(m.sums) - 1
	}
	for _, m := range g.members {
		if want := all - len(m.sums) + 1; m.got != want {
			return fmt.Errorf("member %d of %d was delivered %d packets of %d", m.index+1, len(g.members), m.got, want)
		}
	}
	return nil
}

// exchanged is what a group spent on commands.
type exchanged struct {
	members, clients int
	perTick          float64 // commands in a packet, on average
	kbits            float64 // a second, of all members
	packets          float64
	in, out          []float64 // by member
	message          float64   // bytes of a packet that are commands
}

// groupWarm is left for members to find out how far apart they are, and groupLead for them to find that nothing is lost: until then they send all twice.
const (
	groupWarm = time.Second
	groupLead = 3 * time.Second
)

// exchange has members send each other the recorded commands of their clients, one packet a tick, in step with no one, and measures what that takes. Inputs are by
// tick and client; clients are dealt to members by place.
func exchange(ctx context.Context, p *replica.Protocol, inputs [][][]int32, clients, members int, seed uint64) (*exchanged, error) {
	net := netsim.New(netsim.Options{Seed: seed})
	g, err := newGroup(net, members, seed, func(int, int) time.Duration { return sweepDelay })
	if err != nil {
		return nil, err
	}
	x := &exchanged{members: members, clients: clients, in: make([]float64, members), out: make([]float64, members)}
	writer, tick := replica.NewCommandWriter(p), p.Game().TickLength()
	start := groupWarm + groupLead
	var commands, messages, bytes int
	for i, m := range g.members {
		at := 0
		var data []byte
		var next func()
		next = func() {
			var err error
			var n int
			data, n, err = packCommands(data[:0], writer, world.Tick(at+1), inputs[at%len(inputs)], func(c int) bool { return home(c, clients, members) == i })
			g.fail(err)
			m.send(data)
			if net.Now() > start {
				commands, messages, bytes = commands+n, messages+1, bytes+len(data)
			}
			if at++; at < len(inputs)+int(groupLead/tick) {
				m.end.After(tick, next)
			}
		}
		m.end.After(groupWarm+frameOffset(tick, i, members), next)
	}
	net.Run(start)
	b0, d0 := g.sent()
	before := make([]crimp.Ledger, members)
	received := make([]uint64, members)
	for i, m := range g.members {
		before[i], received[i] = m.multi.Ledger(), m.end.Counters().ReceivedBytes
	}
	length := time.Duration(len(inputs)) * tick
	for end := start + length; net.Now() < end && g.err == nil; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		net.Run(min(250*time.Millisecond, end-net.Now()))
	}
	b1, d1 := g.sent()
	seconds := length.Seconds()
	for i, m := range g.members {
		l := m.multi.Ledger()
		x.out[i] = float64(l.Total()-before[i].Total()) * 8 / 1000 / seconds
		x.in[i] = float64(m.end.Counters().ReceivedBytes-received[i]) * 8 / 1000 / seconds
	}
	x.kbits, x.packets = float64(b1-b0)*8/1000/seconds, float64(d1-d0)/seconds
	x.perTick, x.message = float64(commands)/float64(messages), float64(bytes)/float64(messages)
	net.Run(2 * time.Second) // for what is on its way
	if g.err == nil {
		g.err = g.complete()
	}
	return x, g.err
}

// home is which of the members a client belongs to: as even a share as there is, neighbours together.
func home(client, clients, members int) int { return client * members / clients }

// packCommands writes the commands of a tick that one member has: for each the player's number, the length, and what a client sends its server of it.
func packCommands(dst []byte, w *replica.CommandWriter, t world.Tick, row [][]int32, mine func(client int) bool) ([]byte, int, error) {
	var one [1][]int32
	n := 0
	for c, image := range row {
		if image == nil || !mine(c) {
			continue
		}
		n++
		at := len(dst) + 1
		dst = append(dst, byte(c), 0)
		one[0] = image
		var err error
		if dst, err = w.Append(dst, replica.CommandHeader{Tick: t}, one[:], 255); err != nil {
			return dst, n, err
		}
		dst[at] = byte(len(dst) - at - 1)
	}
	return dst, n, nil
}
