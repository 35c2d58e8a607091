package bandwidthlab

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// group is a real group of the reliable multicast on a simulated network, each member of which
// sends one packet a tick: peers with their own commands, or mirrors with those of their clients.
type group struct {
	net     *netsim.Net
	members []*session.Member
	got     []int // packets, by member
	err     error
	heard   func(from, to int, data []byte) // if set, is told what is delivered
}

func newGroup(n int, seed uint64, way func(i, j int) time.Duration) *group {
	net := netsim.New(netsim.Options{Seed: seed})
	g := &group{net: net}
	// no site: a mesh of unicast
	list, roster, err := session.Members(net, n, seed+1, 0, crimp.Options{})
	g.fail(err)
	roster.Group = seed + 1
	g.members, g.got = list, make([]int, n)
	for i, m := range list {
		m.Post = func(d link.Datagram) { g.fail(m.End.SendTo(d.Addr, d.Data)) }
		m.GaveUp = func(e *crimp.Event) {
			g.fail(fmt.Errorf("packet %d of member %d was given up", e.Seq, e.Member))
		}
		m.Delivered = func(e *crimp.Event, p *session.Packet, same bool) {
			if !same {
				g.fail(fmt.Errorf("packet %d of member %d is not what was sent", e.Seq, e.Member))
			}
			if g.got[i]++; g.heard != nil {
				g.heard(p.From.Index, i, e.Data)
			}
		}
	}
	for i, m := range g.members {
		for j, o := range g.members {
			if i != j {
				net.SetPath(m.End, o.End, netsim.Profile{Latency: way(i, j)})
			}
		}
		g.fail(m.Begin(roster))
		m.Step()
	}
	return g
}

func (g *group) fail(err error) {
	if g.err == nil && err != nil {
		g.err = fmt.Errorf("a group of %d, seed %d, at %v: %w", len(g.members), g.net.Seed(),
			g.net.Now(), err)
	}
}

// run lets time go by.
func (g *group) run(ctx context.Context, until time.Duration) error {
	err := session.Advance(ctx, g.net, until-g.net.Now(), 250*time.Millisecond,
		func() bool { return g.err != nil })
	return cmp.Or(err, g.err)
}

// carried is what a member has sent and received.
type carried struct {
	Sent crimp.Ledger
	In   uint64
}

func carriedBy(m *session.Member) carried {
	return carried{m.Ledger(), m.End.Counters().ReceivedBytes}
}

// complete says whether everyone was delivered all that others sent.
func (g *group) complete() error {
	all := 0
	for _, m := range g.members {
		all += len(m.Sent) - 1
	}
	for i, m := range g.members {
		if want := all - len(m.Sent) + 1; g.got[i] != want {
			return fmt.Errorf("member %d of %d was delivered %d packets of %d", i+1,
				len(g.members), g.got[i], want)
		}
	}
	return nil
}

// exchanged is what a group spent on commands.
type exchanged struct {
	perTick float64   // commands in a packet, on average
	kbits   float64   // a second, of all members
	in, out []float64 // by member
}

// groupWarm is left for members to find out how far apart they are, and groupLead for them to find
// that nothing is lost: until then they send all twice. Measuring begins between two of the digests
// that members sign once a second, so that as many are sent meanwhile as received.
const (
	groupWarm = time.Second
	groupLead = 3500 * time.Millisecond
)

// exchange has members send each other the recorded commands of their clients, one packet a tick,
// in step with no one, and measures what that takes. Inputs are by tick and client; clients are
// dealt to members by their numbers.
func exchange(ctx context.Context, p *replica.Protocol, inputs [][][]int32, clients, members int,
	seed uint64) (*exchanged, error) {
	g := newGroup(members, seed, func(int, int) time.Duration { return sweepDelay })
	net := g.net
	writer, tick := replica.NewCommandWriter(p), p.Game().TickLength()
	start := groupWarm + groupLead
	var commands, messages int
	for i, m := range g.members {
		at := 0
		var data []byte
		var next func()
		next = func() {
			var err error
			var n int
			data, n, err = packCommands(data[:0], writer, world.Tick(at+1), inputs[at%len(inputs)],
				func(c int) bool { return home(c, clients, members) == i })
			g.fail(err)
			g.fail(m.Say(data))
			if net.Now() > start {
				commands, messages = commands+n, messages+1
			}
			if at++; at < len(inputs)+int(groupLead/tick) {
				m.End.After(tick, next)
			}
		}
		m.End.After(groupWarm+session.Offset(tick, i, members), next)
	}
	net.Run(start)
	var before []carried
	for _, m := range g.members {
		before = append(before, carriedBy(m))
	}
	length := time.Duration(len(inputs)) * tick
	if err := g.run(ctx, start+length); err != nil {
		return nil, err
	}
	rate := func(bytes uint64) float64 { return float64(bytes) * 8 / 1000 / length.Seconds() }
	x := &exchanged{perTick: float64(commands) / float64(messages)}
	all := uint64(0)
	for i, m := range g.members {
		c := lab.Less(carriedBy(m), before[i])
		all += c.Sent.Total()
		x.out, x.in = append(x.out, rate(c.Sent.Total())), append(x.in, rate(c.In))
	}
	x.kbits = rate(all)
	net.Run(2 * time.Second) // for what is on its way
	if g.err == nil {
		g.err = g.complete()
	}
	return x, g.err
}

// home is which of the members a client belongs to: as even a share as there is, neighbours
// together.
func home(client, clients, members int) int { return client * members / clients }

// packCommands writes the commands of a tick that one member has: for each the player's number, the
// length, and what a client sends its server of it.
func packCommands(dst []byte, w *replica.CommandWriter, t world.Tick, row [][]int32,
	mine func(client int) bool) ([]byte, int, error) {
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
		if dst, err = w.Append(dst, t, one[:], nil, 255); err != nil {
			return dst, n, err
		}
		dst[at] = byte(len(dst) - at - 1)
	}
	return dst, n, nil
}
