package crimplab

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
)

// Cost is what a group costs in processor time, without sockets.
type Cost struct {
	Members int `head:"members"`
	Rate    int `head:"packets a second each"`
	Size    int
	Proof   string `head:"proof"`
	// Core is the share of one core that one member takes, and All that all members would take on
	// one core together.
	Core float64 `head:"of a core for one member" as:"%.3f"`
	All  float64 `head:"for all of them together" as:"%.2f"`
	// PerPacket is nanoseconds for each packet received, all that goes with it included.
	PerPacket float64 `head:"ns a packet received" as:"%.0f"`
	Allocs    float64 `head:"allocations a packet received" as:"%.3f"`
	Delivered int
}

// crew is a group whose members all run in one thread, without a network.
type crew struct {
	members []*session.Member
	message []byte
	now     time.Duration
	got     int

	out, batch []link.Datagram
	memory     [][]byte
}

// MeasureCost runs all members of a group in one thread, each sending so many packets a second, for
// some seconds of their time, and takes the time of the thread.
func MeasureCost(ctx context.Context, members, rate int, proof crimp.Proof,
	span time.Duration) (Cost, error) {
	c := Cost{Members: members, Rate: rate, Size: 64, Proof: proof.String()}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	list, roster,
		err := session.Members(netsim.New(netsim.Options{}), members, 1, 1,
		crimp.Options{Multicast: groupAddr})
	if err != nil {
		return c, err
	}
	roster.Group, roster.Proof = 1, proof
	g := crew{members: list, message: make([]byte, c.Size)}
	for _, m := range list {
		if err := m.SetRoster(0, roster); err != nil {
			return c, err
		}
	}
	period := time.Second / time.Duration(rate)
	if err := g.run(ctx, 1500*time.Millisecond, period); err != nil { // until the history is full
		return c, err
	}
	g.got = 0
	runtime.GC()
	allocs, start := lab.Mallocs(), lab.ThreadTime()
	if err := g.run(ctx, span, period); err != nil {
		return c, err
	}
	took := lab.ThreadTime() - start
	allocs = lab.Mallocs() - allocs
	if want := int(span/period) * members * (members - 1); g.got < want {
		return c, fmt.Errorf("%d of %d packets were delivered", g.got, want)
	}
	c.All, c.Delivered = took.Seconds()/span.Seconds(), g.got
	c.Core = c.All / float64(members)
	c.PerPacket = float64(took.Nanoseconds()) / float64(g.got)
	c.Allocs = float64(allocs) / float64(g.got)
	return c, nil
}

// run lets time pass, and each member send in each period.
func (g *crew) run(ctx context.Context, span, period time.Duration) error {
	for end := g.now + span; g.now < end; g.now += period {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, m := range g.members {
			if _, err := m.Send(g.now, g.message); err != nil {
				return err
			}
			m.Tick(g.now)
			g.out = m.Flush(g.now, g.out[:0])
			for _, other := range g.members {
				if other != m {
					g.deliver(other)
				}
			}
		}
	}
	return nil
}

// deliver brings a member what was just sent. Each decrypts in a copy of its own, as it would in
// its socket's memory.
func (g *crew) deliver(to *session.Member) {
	g.batch = g.batch[:0]
	for n, d := range g.out {
		if n == len(g.memory) {
			g.memory = append(g.memory, nil)
		}
		g.memory[n] = append(g.memory[n][:0], d.Data...)
		g.batch = append(g.batch, link.Datagram{Data: g.memory[n]})
	}
	to.Receive(g.now, g.batch)
	for _, e := range to.Events() {
		if e.Kind == crimp.Delivered {
			g.got++
		}
	}
}

// groupAddr is where groups send to.
var groupAddr = netip.MustParseAddrPort("239.1.2.3:4000")

// Check says in what a cost falls short of what is to be reached: a core that carries a group of 16
// at 1000 packets a second each, and no allocation for a packet.
func (c *Cost) Check() error {
	if c.Rate >= 1000 && c.Proof == crimp.Tags.String() && (c.All > 1 || c.Allocs >= 0.005) {
		return fmt.Errorf(
			"%d members at %d packets a second take %.2f of a core and %.3f allocations a "+
				"packet, at most 1 and 0 are to be reached",
			c.Members, c.Rate, c.All, c.Allocs)
	}
	return nil
}
