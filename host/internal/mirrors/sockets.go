//go:build !js

package mirrors

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/multicast"
	"github.com/coeval-dev/coeval/link/udp"
)

// sockets are how a mirror is reached, and by what names others know that.
type sockets struct {
	players, mirrors link.Link
	web              net.Listener // nil if there is none
	address, public  netip.AddrPort
	group            netip.AddrPort // of multicast between mirrors, if there is any
}

// openSockets opens both. On an error nothing is left open.
func (o *Options) openSockets(ctx context.Context) (s sockets, err error) {
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.players, s.web, err = serve.OpenPorts(o.Listen, o.HTTP); err != nil {
		return s, fmt.Errorf("for players: %w (that is --listen)", err)
	}
	if s.mirrors, s.group, err = o.openBetween(); err != nil {
		return s, err
	}
	if s.address, err = o.address(ctx, s.mirrors); err != nil {
		return s, err
	}
	if a := s.address.Addr(); s.group.IsValid() && a.Is4() != s.group.Addr().Is4() {
		return s, cli.Usagef("--multicast is %v and other mirrors reach this one at %v: both must "+
			"be IPv4, or both IPv6", s.group, a)
	}
	if s.public, err = knownAs(ctx, "--public", o.Public, s.players.LocalAddr()); err != nil {
		return s, err
	}
	if !s.public.IsValid() {
		s.public = netip.AddrPortFrom(s.address.Addr(), s.players.LocalAddr().Port())
	}
	return s, nil
}

// openBetween opens the socket for other mirrors, and joins the group of multicast that is named.
func (o *Options) openBetween() (l link.Link, group netip.AddrPort, err error) {
	if o.Multicast == "" {
		if o.Interface != "" {
			return nil, group, cli.Usagef("--interface goes with --multicast, the group's address")
		}
		if l, err = udp.Listen(o.Mirrors, udp.Options{}); err != nil {
			err = fmt.Errorf("for other mirrors: %w (that is --mirrors)", err)
		}
		return l, group, err
	}
	if group, err = netip.ParseAddrPort(o.Multicast); err != nil {
		return nil, group, cli.Usagef("--multicast is %q: it must be an address and port such as "+
			"239.1.2.3:4200 or [ff12::1234]:4200", o.Multicast)
	}
	l, err = multicast.Open(multicast.Options{Group: group, Interface: o.Interface,
		Listen: o.Mirrors})
	if err != nil {
		err = fmt.Errorf("between mirrors: %w (that is --multicast, --interface and --mirrors; "+
			"without --multicast, mirrors send to each other one by one)", err)
	}
	return l, group, err
}

// address is where other mirrors reach this one.
func (o *Options) address(ctx context.Context, l link.Link) (netip.AddrPort, error) {
	a, err := knownAs(ctx, "--address", o.Address, l.LocalAddr())
	if err == nil && !a.IsValid() {
		err = cli.Usagef("other mirrors must be told where this one is, and --mirrors %s listens "+
			"on all addresses of this machine: give --address with one at which they reach it, "+
			"such as --address 203.0.113.7", o.Mirrors)
	}
	return a, err
}

func (s *sockets) close() {
	if s.web != nil {
		_ = s.web.Close()
	}
	for _, l := range []link.Link{s.players, s.mirrors} {
		if l != nil {
			_ = l.Close() // nothing is expected of it
		}
	}
}

// knownAs is the address under which others know a socket: the one that was given, with the
// socket's port where it names none, or the socket's own. It is not valid if neither says.
func knownAs(ctx context.Context, flag, given string, own netip.AddrPort) (netip.AddrPort, error) {
	if given == "" {
		if own.Addr().IsUnspecified() {
			return netip.AddrPort{}, nil
		}
		return own, nil
	}
	host := strings.TrimSuffix(strings.TrimPrefix(given, "["), "]")
	if _, _, err := net.SplitHostPort(given); err != nil {
		given = net.JoinHostPort(host, fmt.Sprint(own.Port()))
	}
	a, err := udp.Resolve(ctx, given)
	if err != nil {
		return a, cli.Usagef("%s: %w", flag, err)
	}
	if a.Addr().IsUnspecified() {
		return a, cli.Usagef(
			"%s is %v, at which no one can reach this machine: give one of its own addresses, "+
				"such as 203.0.113.7", flag, a.Addr())
	}
	return a, nil
}

// askWhom finds the mirrors that --join names. One name that means nothing is no harm while another
// does.
func (o *Options) askWhom(ctx context.Context, self netip.AddrPort) (list []netip.AddrPort,
	err error) {
	for _, name := range o.Join {
		a, e := udp.Resolve(ctx, strings.TrimSpace(name))
		switch {
		case e != nil:
			err = errors.Join(err, fmt.Errorf("--join %s: %w", name, e))
		case a == self:
			err = errors.Join(err,
				cli.Usagef("--join %s is this mirror itself: name another that runs, or found a "+
					"game with --uber", name))
		case !slices.Contains(list, a):
			list = append(list, a)
		}
	}
	if len(list) > 0 {
		err = nil
	}
	return list, err
}

// unrecorded says whether there is something in the way of a recording.
func unrecorded(name string) error {
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("%s is already there; name another file to record to, or remove it", name)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--record: %w", err)
	}
	return nil
}
