//go:build !js

package peer

import (
	"context"
	"crypto/rand"
	"net"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/world"
)

// A Match is a match that this machine takes part in, however its datagrams go: a peers.Peer, or
// one that plays through a relay. Its methods belong to the goroutine that drives it, but for Run,
// Do and Close.
type Match interface {
	Run(ctx context.Context) error
	Do(ctx context.Context, f func()) error
	Close() error

	World() *world.World
	Copy() *turns.Copy
	Phase() peers.Phase
	ID() member.ID
	Player() world.Player
	Match() peers.Match
	Members() []peers.Member
	Stats() peers.Stats
	Waiting() time.Duration
	Delay() int
	Style() peers.Style
	SetStyle(s peers.Style) error
}

var (
	_ Match = (*peers.Peer)(nil)
	_ Match = (*peers.Relayed)(nil)
)

// socket opens the link of a match, and says where it is reached: the first address is what others
// are told.
func socket(listen, told string) (link.Link, []netip.AddrPort, error) {
	l, err := udp.Listen(listen, udp.Options{})
	if err != nil {
		return nil, nil, cli.Usagef("--listen %s: %w", listen, err)
	}
	at := l.LocalAddr()
	var list []netip.AddrPort
	add := func(a netip.AddrPort) {
		for _, b := range list {
			if a == b {
				return
			}
		}
		if len(list) < mostAddrs-1 || a.Addr().IsLoopback() && len(list) < mostAddrs {
			list = append(list, a)
		}
	}
	if told != "" {
		a, err := udp.Resolve(context.Background(), told)
		if err != nil {
			_ = l.Close()
			return nil, nil, cli.Usagef("--address: %w", err)
		}
		add(a)
	}
	if !at.Addr().IsUnspecified() {
		add(at)
		return l, list, nil
	}
	if a, ok := outward(); ok {
		add(netip.AddrPortFrom(a, at.Port()))
	}
	for _, a := range udp.Candidates(at) {
		add(a)
	}
	add(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()))
	return l, list, nil
}

// outward is this machine's address on its way to the rest of the world. Nothing is sent to find
// it.
func outward() (netip.Addr, bool) {
	c, err := net.Dial("udp4", "192.0.2.1:9")
	if err != nil {
		return netip.Addr{}, false
	}
	defer c.Close()
	a, err := netip.ParseAddrPort(c.LocalAddr().String())
	return a.Addr().Unmap(), err == nil
}

// open makes the match: what plays, over which link, and by which invitation or code.
func (s *session) open() error {
	o := &s.peer
	_, _ = rand.Read(o.Seed[:]) // it never fails
	o.Wall = time.Now().Unix()
	l, addrs, err := socket(s.Listen, s.Address)
	if err != nil {
		return err
	}
	o.Link, o.Address = l, addrs[0]
	if s.Relay != "" {
		if err := s.meet(l, addrs); err != nil {
			_ = l.Close()
			return err
		}
		return nil
	}
	if s.invitation != nil {
		o.Secret, o.Ask = s.invitation.Secret, s.invitation.Addrs
	} else {
		_, _ = rand.Read(o.Secret[:]) // it never fails
		s.invitation = &Invitation{Game: s.Title.Name(), Secret: o.Secret, Addrs: addrs,
			Expires: time.Now().Add(s.Lasts)}
	}
	o.Expires = s.invitation.Expires.Unix()
	o.Identity = s.id.in(&o.Secret)
	p, err := peers.New(*o)
	if err != nil {
		_ = l.Close()
		return err
	}
	s.match = p
	return nil
}
