package lab

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// CrimpCost is what a group costs in processor time, without sockets.
type CrimpCost struct {
	Members, Rate, Size int
	Proof               string
	// Core is the share of one core that one member takes, and All that all members
	// would take on one core together.
	Core, All float64
	// PerPacket is nanoseconds for each packet received, all that goes with it included.
	PerPacket float64
	Allocs    float64 // for each packet received
	Delivered int
}

// MeasureCrimp runs all members of a group in one thread, each sending so many packets
// a second, for some seconds of their time, and takes the time of the thread.
func MeasureCrimp(ctx context.Context, members, rate int, proof crimp.Proof, span time.Duration) (CrimpCost, error) {
	c := CrimpCost{Members: members, Rate: rate, Size: 64, Proof: proof.String()}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	groups := make([]*crimp.Group, members)
	roster := crimp.Roster{Group: 1, Epoch: 1, Key: [16]byte{1}, Proof: proof}
	o := make([]crimp.Options, members)
	for i := range groups {
		seed := [32]byte{1, byte(i + 1)}
		id, err := crimp.NewIdentity(seed)
		if err != nil {
			return c, err
		}
		o[i] = crimp.Options{Seed: seed, Identity: id, Multicast: netip.MustParseAddrPort("239.1.2.3:4000")}
		roster.Members = append(roster.Members, crimp.Member{ID: member.ID(i + 1), Card: id.Card(netip.AddrPort{}, 1)})
	}
	for i := range groups {
		var err error
		if groups[i], err = crimp.NewGroup(o[i]); err != nil {
			return c, err
		}
		if err := groups[i].SetRoster(0, roster); err != nil {
			return c, err
		}
	}
	message := make([]byte, c.Size)
	period := time.Second / time.Duration(rate)
	var out, batch []link.Datagram
	var memory [][]byte
	now := time.Duration(0)
	run := func(span time.Duration) error {
		for end := now + span; now < end; now += period {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			for i, g := range groups {
				if _, err := g.Send(now, message); err != nil {
					return err
				}
				g.Tick(now)
				out = g.Flush(now, out[:0])
				for k, other := range groups {
					if k == i {
						continue
					}
					// Each receiver decrypts in a copy of its own, as it would in its socket's memory.
					batch = batch[:0]
					for n, d := range out {
						if n == len(memory) {
							memory = append(memory, nil)
						}
						memory[n] = append(memory[n][:0], d.Data...)
						batch = append(batch, link.Datagram{Data: memory[n]})
					}
					other.Receive(now, batch)
					for _, e := range other.Events() {
						if e.Kind == crimp.Delivered {
							c.Delivered++
						}
					}
				}
			}
		}
		return nil
	}
	if err := run(1500 * time.Millisecond); err != nil { // until the history is full
		return c, err
	}
	c.Delivered = 0
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := threadTime()
	if err := run(span); err != nil {
		return c, err
	}
	took := threadTime() - start
	runtime.ReadMemStats(&after)
	if want := int(span/period) * members * (members - 1); c.Delivered < want {
		return c, fmt.Errorf("lab: %d of %d packets were delivered", c.Delivered, want)
	}
	c.All = took.Seconds() / span.Seconds()
	c.Core = c.All / float64(members)
	c.PerPacket = float64(took.Nanoseconds()) / float64(c.Delivered)
	c.Allocs = float64(after.Mallocs-before.Mallocs) / float64(c.Delivered)
	return c, nil
}

// Check says in what a cost falls short of what is to be reached: a core that carries a
// group of 16 at 1000 packets a second each, and no allocation for a packet.
func (c *CrimpCost) Check() error {
	if c.Rate >= 1000 && c.Proof == crimp.Tags.String() && (c.All > 1 || c.Allocs >= 0.005) {
		return fmt.Errorf("%d members at %d packets a second take %.2f of a core and %.3f allocations a packet, at most 1 and 0 are to be reached",
			c.Members, c.Rate, c.All, c.Allocs)
	}
	return nil
}
