package crimplab

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
)

// setting is one group to be run.
type setting struct {
	o                *Options
	members, senders int
	packets          int
	loss             float64
	shared           bool
	way              string
}

func (c *setting) String() string {
	return fmt.Sprintf("%d members, %s loss %.0f %%, %s", c.members, c.topology(), c.loss*100,
		c.way)
}

func (c *setting) topology() string {
	if c.shared {
		return "shared"
	}
	return "separate"
}

// work is about how long the group takes.
func (c *setting) work() float64 {
	return float64(c.members-1) * (float64(c.senders*c.packets) + float64(c.members*c.packets)/10)
}

// group is a group on a simulated network.
type group struct {
	*setting
	net     *netsim.Net
	members []*member
	routers [2]*netsim.Endpoint // the two ends of the shared path
	missed  int                 // copies
	delays  delays
	twice   int
	gone    int
	got     int
	// repaired are the packets that anybody repaired.
	repaired map[[2]int]bool
}

// member is one machine of it.
type member struct {
	*session.Member
	g    *group
	seen [][]bool // by sender and number
}

// The first moments are left for the members to find out how far apart they are.
const (
	warmUp              = 500 * time.Millisecond
	leastSize, mostSize = 16, 96 // bytes of a message
)

func (c *setting) run(ctx context.Context) (Row, error) {
	g, err := c.build()
	if err != nil {
		return Row{}, err
	}
	end := warmUp + time.Duration(c.packets+1)*c.o.Period + 2*c.o.History
	end = (end + time.Second - 1).Truncate(time.Second)
	err = session.Advance(ctx, g.net, end, time.Second, func() bool { return false })
	return g.result(), err
}

func (c *setting) build() (*group, error) {
	path := netsim.Profile{Latency: c.o.Latency, Loss: c.loss}
	if c.shared {
		path = netsim.Profile{}
	}
	seed := c.o.Seed*1_000_003 + uint64(c.members)*1009 + uint64(c.loss*1000)
	g := &group{
		setting: c, repaired: map[[2]int]bool{}, net: netsim.New(netsim.Options{Seed: seed,
			Conditions: netsim.Conditions{Up: path, Down: path}})}
	g.net.SetTrace(g.watch)
	o := crimp.Options{History: c.o.History, Multicast: groupAddr}
	o.Recovery, o.Forward = recovery(c.way)
	list, roster, err := session.Members(g.net, c.members, seed, 1, o)
	if err != nil {
		return nil, err
	}
	roster.Group = seed + 1
	for _, m := range list {
		x := &member{Member: m, g: g, seen: make([][]bool, c.members)}
		for k := range c.senders {
			x.seen[k] = make([]bool, c.packets+1)
		}
		m.Post, m.Delivered, m.GaveUp = x.multicast, x.delivered, x.gaveUp
		g.members = append(g.members, x)
	}
	if c.shared {
		g.connect()
	}
	for _, m := range g.members {
		if err := m.Begin(roster); err != nil {
			return nil, err
		}
		if m.Index < c.senders {
			m.End.After(warmUp+g.net.Rand().Duration(c.o.Period), m.send)
		}
		m.Step()
	}
	return g, nil
}

// connect lays the paper's topology: half of the members on each side of one lossy path.
func (g *group) connect() {
	g.routers = [2]*netsim.Endpoint{g.net.Endpoint("left"), g.net.Endpoint("right")}
	bad := netsim.Profile{Latency: g.o.Latency, Loss: g.loss}
	for i, e := range g.routers {
		far := g.routers[1-i]
		g.net.SetPath(e, far, bad)
		e.Handle(func(from netip.AddrPort, data []byte) {
			if from != far.LocalAddr() {
				e.SendTo(far.LocalAddr(), data)
				return
			}
			for _, m := range g.members {
				if m.side() == i {
					e.SendTo(m.End.LocalAddr(), data)
				}
			}
		})
	}
}

func (m *member) side() int {
	if m.Index < (m.g.setting.members+1)/2 {
		return 0
	}
	return 1
}

// path is how long a datagram is on its way between two members.
func (g *group) path(a, b *member) time.Duration {
	if g.shared && a.side() == b.side() {
		return 0
	}
	return g.o.Latency
}

// send sends the next packet, and sees to the one after.
func (m *member) send() {
	g := m.g
	data := make([]byte, g.size())
	n := len(m.Sent)
	for i := range data {
		data[i] = byte(m.Index + n*7 + i)
	}
	if n < g.packets {
		m.End.After(g.o.Period, m.send)
	}
	if err := m.Say(data); err != nil {
		panic(fmt.Sprintf("lab: %v", err))
	}
}

// size draws that of a message.
func (g *group) size() int {
	if list := g.o.Sizes; len(list) > 0 {
		return list[g.net.Rand().IntN(len(list))]
	}
	return leastSize + g.net.Rand().IntN(mostSize-leastSize+1)
}

// multicast brings a datagram to all others.
func (m *member) multicast(d link.Datagram) {
	g := m.g
	for _, other := range g.members {
		if other != m && (!g.shared || other.side() == m.side()) {
			m.End.SendTo(other.End.LocalAddr(), d.Data)
		}
	}
	if g.shared {
		m.End.SendTo(g.routers[m.side()].LocalAddr(), d.Data)
	}
}

func (m *member) gaveUp(e *crimp.Event) {
	m.g.gone += 1 + int(e.More)
	for s := range int(e.More) + 1 {
		m.seen[e.Member-1][int(e.Seq)+s] = true
	}
}

func (m *member) delivered(e *crimp.Event, p *session.Packet, same bool) {
	g, from := m.g, m.g.members[p.From.Index]
	if m.seen[from.Index][e.Seq] || !same {
		g.twice++
	}
	m.seen[from.Index][e.Seq] = true
	g.got++
	g.delays.add(lab.Millis(g.net.Now() - p.At - g.path(from, m)))
}

// What packets of package crimp begin with, and what a repair has before the packet that it brings.
const (
	kindData, kindRepair = 0x40, 0x43
	repairHead           = 3
)

// watch counts the data packets that the network loses when they are sent at first, and those that
// are repaired.
func (g *group) watch(e netsim.Event) {
	if e.What == netsim.Sent && len(e.Data) >= repairHead+10 && e.Data[0] == kindRepair {
		b := e.Data[repairHead:]
		g.repaired[[2]int{int(binary.BigEndian.Uint16(b[4:])),
			int(binary.BigEndian.Uint32(b[6:]))}] = true
	}
	if e.What != netsim.Dropped || len(e.Data) < 10 || e.Data[0] != kindData {
		return
	}
	from, seq := g.members[binary.BigEndian.Uint16(e.Data[4:])-1],
		int(binary.BigEndian.Uint32(e.Data[6:]))
	from.Sent[seq].Lost = true
	if !g.shared {
		g.missed++
		return
	}
	for _, m := range g.members {
		if m.side() != from.side() {
			g.missed++
		}
	}
}

func (g *group) result() Row {
	c := g.setting
	r := Row{
		Members: c.members, Senders: c.senders, Loss: c.loss, Topology: c.topology(), Way: c.way,
		Packets: c.senders * c.packets, Deliveries: c.senders * c.packets * (c.members - 1),
		Delay: Delay{
			Mean: g.delays.mean(), P95: g.delays.quantile(0.95), P99: g.delays.quantile(0.99),
			Most: g.delays.most},
		Faults: Faults{GivenUp: g.gone, Twice: g.twice, LostCopies: g.missed},
	}
	r.Undelivered = r.Deliveries - g.got - g.gone
	var total, forward, recovery uint64
	for _, m := range g.members {
		for _, p := range m.Sent {
			if p.Lost {
				r.LostPackets++
			}
		}
		s, l := m.Stats(), m.Ledger()
		r.Requests += s.Requests
		r.Repairs += s.Repairs
		total += l.Total()
		forward += l.Sent[crimp.SentForward]
		recovery += l.Sent[crimp.SentControl] + l.Sent[crimp.SentRepair]
	}
	// What is asked for is repaired, so long as it is of use.
	r.DuplicateRequests = r.Requests - min(r.Requests, uint64(len(g.repaired)))
	r.DuplicateRepairs = r.Repairs - min(r.Repairs, uint64(len(g.repaired)))
	over := func(a uint64, b int) float64 { return lab.Ratio(float64(a), float64(b)) }
	r.RequestsPerLoss, r.RepairsPerLoss = over(r.Requests, r.LostCopies),
		over(r.Repairs, r.LostCopies)
	r.RequestsPerPacket, r.RepairsPerPacket = over(r.Requests, r.LostPackets),
		over(r.Repairs, r.LostPackets)
	r.BytesPerPacket = over(total, r.Packets)
	r.ForwardShare, r.RecoveryShare = over(forward, int(total)), over(recovery, int(total))
	return r
}

// delays is a histogram with bins of a twentieth of a millisecond.
type delays struct {
	bins  []uint32
	count int
	sum   float64
	most  float64
}

const delayBin = 0.05 // milliseconds

func (d *delays) add(ms float64) {
	ms = max(ms, 0)
	i := int(ms / delayBin)
	for i >= len(d.bins) {
		d.bins = append(d.bins, make([]uint32, max(256, i+1-len(d.bins)))...)
	}
	d.bins[i]++
	d.count++
	d.sum += ms
	d.most = max(d.most, ms)
}

func (d *delays) mean() float64 { return lab.Ratio(d.sum, float64(d.count)) }

func (d *delays) quantile(q float64) float64 {
	want := int(math.Ceil(q * float64(d.count)))
	for i, n := range d.bins {
		if want -= int(n); want <= 0 {
			return float64(i) * delayBin
		}
	}
	return d.most
}
