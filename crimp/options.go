package crimp

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Order is what a group promises about the order of delivery. All members of a group
// must be given the same.
type Order uint8

const (
	// Immediate delivers each packet once, as soon as it is there. What games want that
	// put commands in order themselves, by tick.
	Immediate Order = iota
	// BySource delivers the packets of each member in the order in which it sent them.
	BySource
	// Causal is BySource, and a packet comes after all that its sender had been
	// delivered when it was sent.
	Causal
	// Total delivers all packets in the same order everywhere, one's own included. It
	// waits until every member has been heard, so it is as slow as the slowest path.
	Total
	orders
)

var orderNames = [orders]string{"immediate", "by source", "causal", "total"}

func (o Order) String() string {
	return nameOf(o, orderNames[:], fmt.Sprintf("order %d", uint8(o)))
}

// Recovery is how lost packets are noticed and asked for. The zero value adapts to what
// is observed; Paper is what the mirrored-server paper used. Factors are in units of the
// one-way delay d, which is measured.
type Recovery struct {
	// Fixed uses the factors below as they are. Otherwise they are found by observation.
	Fixed bool
	// A request goes out after C1 d to (C1+C2) d, or with probability 1/n at once.
	C1, C2 float64
	// A repair by another than the source goes out after D1 d to (D1+D2) d.
	D1, D2 float64
	// After a repair, requests for that packet are ignored for E d.
	E float64
	// A request without effect is repeated after F d.
	F float64
	// OutOfOrder is how many later packets must come before one counts as lost. Zero
	// means 1 to begin with, more where packets overtake each other; or 3 if Fixed.
	OutOfOrder int
	// NoClock leaves the source's regular clock out of account, as the paper did: a packet is
	// missed only when a later one comes.
	NoClock bool
}

// Paper is the recovery of Cronin, Filstrup and Kurc (2001), section 4.4.4. They do not say
// how many packets out of order they waited for; three is what TCP does, from which
// they took the idea.
var Paper = Recovery{
	Fixed: true, C1: 1.5, C2: 1, D1: 2, D2: 1, E: 3, F: 2, OutOfOrder: 3, NoClock: true}

// ForwardMode is which redundancy packets are sent with.
type ForwardMode uint8

const (
	// ForwardAuto chooses by measured loss, within the allowance.
	ForwardAuto ForwardMode = iota
	// ForwardNone sends none.
	ForwardNone
	// ForwardRepeat has each packet carry Depth predecessors.
	ForwardRepeat
	// ForwardParity sends Parity parity packets after each Window packets.
	ForwardParity
)

// Forward is forward error correction: what is sent in advance so that a loss need not
// be asked for.
type Forward struct {
	Mode ForwardMode
	// Allowance is how many bytes of redundancy may be sent for each byte that is sent
	// anyway. Zero means 2, which lets packets carry two predecessors, as the paper proposed.
	Allowance float64
	Depth     int // of ForwardRepeat, 1 to 8; zero means 2
	Window    int // of ForwardParity, 1 to 31; zero means 8
	Parity    int // of ForwardParity, 1 to 7; zero means 2
}

// Pace bounds what recovery may send, whatever others ask for.
type Pace struct {
	// Requests is how many packets may be asked for in a second. Zero means 2000.
	Requests int
	// Repairs is how many bytes of repairs may be sent in a second. Zero means half of
	// the data that flows in the group, but 32 KiB at least.
	Repairs int
	// Each is how many repairs a second one member can cause. Zero means half of the packets
	// that flow in the group, but 200 at least.
	Each int
	// Carry is how many bytes a second may be carried for others, for each member that hands
	// them over. Zero means 1 MiB.
	Carry int
}

// Options are for NewGroup and NewNode. Only Seed and Identity have no default.
type Options struct {
	// Seed is 32 bytes of good randomness, fresh for each machine.
	Seed [32]byte
	// Identity is who this member is.
	Identity *Identity
	// Datagram is the largest that all links of the group carry; zero means 1200.
	Datagram int
	// History is how long a packet is of use: it is kept so long for repairs, and a lost one
	// is given up then. Zero means a second. Members should agree.
	History time.Duration
	// Intervals is in how many parts the history is dropped. Zero means 32.
	Intervals int
	Order     Order
	Recovery  Recovery
	Forward   Forward
	Pace      Pace
	// Multicast is the address of the group where there is one. It is used by members
	// whose Card has a Site. With Carry it is used for those of whom it is known that it comes to
	// them; see site.go.
	Multicast netip.AddrPort
	// KeyGrace is how long a new key is known to members before they send with it, so
	// that it has reached all. Zero means 100 ms.
	KeyGrace time.Duration
	// Digests is how often a member signs a digest of what it has sent. Zero means a second.
	Digests time.Duration
	// Carry has members keep an eye on the lines between them, and carry for each other what does
	// not get through directly. All members must have the same. Datagrams that are carried are
	// longer by CarryRoom, which links must have room for beyond Datagram. It is for groups of
	// some machines far apart, not for many on one wire.
	Carry bool
}

const (
	defaultDatagram  = 1200
	minDatagram      = 256
	maxDatagram      = 16 << 10
	defaultHistory   = time.Second
	defaultIntervals = 32
	defaultGrace     = 100 * time.Millisecond
)

func (o *Options) fill() error {
	if o.Seed == [32]byte{} {
		return errors.New("crimp: no seed, fill Options.Seed from crypto/rand")
	}
	if o.Identity == nil {
		return errors.New("crimp: no identity, make one with NewIdentity")
	}
	o.Datagram = cmp.Or(o.Datagram, defaultDatagram)
	o.History = cmp.Or(o.History, defaultHistory)
	o.Intervals = cmp.Or(o.Intervals, defaultIntervals)
	if o.Datagram < minDatagram || o.Datagram > maxDatagram {
		return fmt.Errorf("crimp: datagrams of %d bytes, choose %d to %d", o.Datagram, minDatagram,
			maxDatagram)
	}
	if o.History < 10*time.Millisecond || o.History > time.Minute || o.Intervals < 4 ||
		o.Intervals > 1024 {
		return fmt.Errorf("crimp: a history of %v in %d intervals, choose 10ms to 1m in 4 to 1024",
			o.History, o.Intervals)
	}
	if o.Order >= orders {
		return fmt.Errorf("crimp: there is no %v", o.Order)
	}
	if o.Digests <= 0 {
		o.Digests = time.Second
	}
	if o.KeyGrace <= 0 {
		o.KeyGrace = defaultGrace
	}
	if m := o.Multicast; m.IsValid() && !m.Addr().IsMulticast() {
		return fmt.Errorf(
			"crimp: %v is no multicast address: use one of 239.0.0.0/8 or ff00::/8, or leave "+
				"Multicast out for a unicast mesh", m)
	}
	if err := o.Recovery.fill(); err != nil {
		return err
	}
	return o.Forward.fill()
}

func (r *Recovery) fill() error {
	for _, f := range []float64{r.C1, r.C2, r.D1, r.D2, r.E, r.F} {
		if !(f >= 0 && f <= 100) {
			return fmt.Errorf("crimp: a factor of recovery is %v, choose 0 to 100", f)
		}
	}
	if r.OutOfOrder < 0 || r.OutOfOrder > 64 {
		return fmt.Errorf("crimp: %d packets out of order, choose 1 to 64", r.OutOfOrder)
	}
	if r.OutOfOrder == 0 {
		r.OutOfOrder = 1
		if r.Fixed {
			r.OutOfOrder = Paper.OutOfOrder
		}
	}
	if r.Fixed && r.F == 0 {
		return errors.New(
			"crimp: with Recovery.Fixed, F must be above zero; start from crimp.Paper")
	}
	return nil
}

func (f *Forward) fill() error {
	f.Allowance = cmp.Or(f.Allowance, 2)
	f.Depth = cmp.Or(f.Depth, 2)
	f.Window = cmp.Or(f.Window, 8)
	f.Parity = cmp.Or(f.Parity, 2)
	switch {
	case f.Mode > ForwardParity:
		return fmt.Errorf("crimp: forward error correction of unknown mode %d", f.Mode)
	case f.Depth < 1 || f.Depth > maxDepth:
		return fmt.Errorf("crimp: %d predecessors in a packet, choose 1 to %d", f.Depth, maxDepth)
	case f.Window < 1 || f.Window > maxWindow || f.Parity < 1 || f.Parity > maxParity:
		return fmt.Errorf("crimp: %d parity packets for %d, choose 1 to %d for 1 to %d", f.Parity,
			f.Window, maxParity, maxWindow)
	case !(f.Allowance >= 0 && f.Allowance <= 100):
		return fmt.Errorf("crimp: an allowance of %v for redundancy, choose 0 to 100", f.Allowance)
	}
	return nil
}
