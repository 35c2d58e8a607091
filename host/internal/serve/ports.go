//go:build !js

package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
)

// OpenPorts opens the socket for players and, unless that is "none", the port for HTTP. On an error
// nothing is left open. Where any port will do for both they have the same number, so a number that
// another program has over TCP is passed over.
func OpenPorts(listen, web string) (link.Link, net.Listener, error) {
	var passed []link.Link
	defer func() { CloseAll(passed) }()
	_, port, _ := net.SplitHostPort(listen)
	for {
		l, err := udp.Listen(listen, udp.Options{Stamps: true})
		if err != nil || web == "none" {
			return l, nil, err
		}
		h, err := ListenHTTP(web, l)
		if err == nil {
			return l, h, nil
		}
		passed = append(passed, l)
		const most = 16
		if port != "0" || web != "" || !errors.Is(err, syscall.EADDRINUSE) || len(passed) == most {
			return nil, nil, err
		}
	}
}

// CloseAll closes links by which nothing came.
func CloseAll(list []link.Link) {
	for _, l := range list {
		_ = l.Close()
	}
}

// ListenHTTP opens the port for HTTP: that of the game, unless another was said.
func ListenHTTP(address string, game link.Link) (net.Listener, error) {
	if address == "" {
		a := game.LocalAddr()
		address = a.String()
		if a.Addr().IsUnspecified() {
			address = fmt.Sprintf(":%d", a.Port())
		}
	}
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("another program has the port, perhaps another server: stop that, or "+
			"choose another with --http: %w", err)
	}
	return l, err
}

// mostAddresses is how many a server has of its own, and loopback is one of them.
const mostAddresses = token.MaxServers / 2

// Addresses are those by which players know a socket, for the lists of servers in tokens: those
// that were given, or looked up by name, and of those of the machine at which the socket listens
// the first few, since a token has room for so many and tickets also name where players may go on.
func Addresses(own netip.AddrPort, public []string) (list []netip.AddrPort, err error) {
	add := func(a netip.AddrPort) {
		a = netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
		if a.Addr().Zone() == "" && !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	for _, name := range public {
		name = strings.TrimSpace(name)
		if _, _, err := net.SplitHostPort(name); err != nil {
			host := strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
			name = net.JoinHostPort(host, fmt.Sprint(own.Port()))
		}
		a, err := udp.Resolve(context.Background(), name)
		if err != nil {
			return nil, cli.Usagef("--public: %w", err)
		}
		add(a)
	}
	if !own.Addr().IsUnspecified() {
		add(own)
		return list, nil
	}
	interfaces, _ := net.InterfaceAddrs() // without them there is loopback
	for _, i := range interfaces {
		n, ok := i.(*net.IPNet)
		if !ok || n.IP.IsLinkLocalUnicast() {
			continue
		}
		if len(list) >= max(mostAddresses, len(public)+1)-1 {
			break
		}
		if a, ok := netip.AddrFromSlice(n.IP); ok && (own.Addr().Is6() || a.Unmap().Is4()) {
			add(netip.AddrPortFrom(a, own.Port()))
		}
	}
	add(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), own.Port()))
	return list, nil
}
