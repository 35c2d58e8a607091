package link

import (
	"net/netip"
	"time"
)

// SourceOf is what an address counts as where something is limited by address: an IPv4 address as
// it is, and of an IPv6 one the network, its first 64 bits, since whoever has one address there has
// all of them. An address that names a session stands for that session alone.
func SourceOf(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if !a.Is6() {
		return a
	}
	b := a.As16()
	if [6]byte(b[:6]) == sessionPrefix {
		return a
	}
	clear(b[8:])
	return netip.AddrFrom16(b)
}

// A Remoter is a link that names its peers by addresses of its own, and knows their real ones.
type Remoter interface {
	// Remote is the real address of a peer, or false if that has gone.
	Remote(peer netip.AddrPort) (netip.AddrPort, bool)
}

// Remote is the real address of a peer of a link, for logs, limits and bans. It is the address that
// the link names the peer by if the link knows no better.
func Remote(l Link, peer netip.AddrPort) netip.AddrPort {
	if r, ok := l.(Remoter); ok {
		if a, ok := r.Remote(peer); ok && a.IsValid() {
			return a
		}
	}
	return peer
}

// A Keeper is a link on which each peer takes up a place, such as that of a session, whether or not
// it has proved who it is. A layer above that lets peers prove themselves tells the link, which
// then gives up the places of those who do not.
type Keeper interface {
	Remoter
	// Guard begins it: from now on a place ends after d, unless Keep was called for it within that.
	// Whoever guards calls it again and again, after Keep for all who are there: time counts up to
	// the last call, so that nobody loses their place while the guard itself was held up.
	Guard(d time.Duration)
	// Keep keeps the place of a peer for another while, as Guard said: a connection is open there.
	Keep(peer netip.AddrPort)
	// Places says how many there are, and what became of others.
	Places() Places
}

// Places count those of a link, and who was refused one, since it was opened.
type Places struct {
	Taken, Proven int
	Full          uint64 // refused: all were taken, by peers who have proved themselves
	Crowded       uint64 // refused: the source has as many as it may
	GaveWay       uint64 // ended for a newcomer, not having proved themselves
	Lapsed        uint64 // ended because they did not prove themselves in time
}

// Add sums counts.
func (p Places) Add(q Places) Places {
	p.Taken += q.Taken
	p.Proven += q.Proven
	p.Full += q.Full
	p.Crowded += q.Crowded
	p.GaveWay += q.GaveWay
	p.Lapsed += q.Lapsed
	return p
}
