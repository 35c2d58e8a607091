//go:build !js

package find

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/query"
	"github.com/coeval-dev/coeval/service/directory"
)

// The ports at which servers of a local network are looked for. The first is where they listen if
// nothing else is said.
const (
	firstPort = 4000
	lastPort  = 4009
)

// How long answers of the local network are waited for, how often they are asked for, as datagrams
// get lost there too, and how many servers are believed to be there.
const (
	lanTime  = time.Second
	lanEvery = 300 * time.Millisecond
	mostLAN  = 256
)

// A lan looks for servers on the networks that this machine is part of: it asks all machines at
// once what they are. One question is answered by several, but by none with more bytes than it was
// asked with; and nobody answers it who is not on the same network.
type lan struct {
	conn  *net.UDPConn
	nonce uint64
	ask   []byte
	own   []netip.Addr // this machine's
	found map[netip.AddrPort]query.Info
}

// onLAN looks for so long.
func onLAN(ctx context.Context, ask []netip.AddrPort, wait time.Duration) ([]*Server, error) {
	conn, err := net.ListenUDP("udp4", nil) // which may send to everyone
	if err != nil {
		return nil, fmt.Errorf("the local network cannot be asked: %w", err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	l := &lan{conn: conn, nonce: drawn(), found: map[netip.AddrPort]query.Info{}, own: addresses()}
	l.ask = query.Query{Kind: query.AskInfo, Nonce: l.nonce}.Append(nil, query.Most)
	begin := time.Now()
	for left := wait; left > 0 && ctx.Err() == nil; left = wait - time.Since(begin) {
		l.askAll(ask)
		if err := l.hear(ctx, min(left, lanEvery)); err != nil {
			return nil, err
		}
	}
	return l.servers(), ctx.Err()
}

// askAll asks at all addresses. A network that takes none of it has no servers.
func (l *lan) askAll(ask []netip.AddrPort) {
	for _, to := range ask {
		_, _ = l.conn.WriteToUDPAddrPort(l.ask, to)
	}
}

// hear takes answers for so long.
func (l *lan) hear(ctx context.Context, wait time.Duration) error {
	if err := l.conn.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return err
	}
	buf := make([]byte, query.Most+1)
	for ctx.Err() == nil {
		n, from, err := l.conn.ReadFromUDPAddrPort(buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			continue // somebody's port is closed, and says so
		}
		l.take(netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), buf[:n])
	}
	return ctx.Err()
}

// take takes an answer. What is no answer to what was asked is left alone.
func (l *lan) take(from netip.AddrPort, data []byte) {
	a, ok := query.ParseAnswer(data)
	if !ok || a.Nonce != l.nonce || a.Kind != query.AskInfo || a.Status != query.OK ||
		len(l.found) >= mostLAN {
		return
	}
	if i, ok := query.ParseInfo(a.Body); ok {
		l.found[from] = i
	}
}

// servers are what was found: mirrors of a group as one, and a server of this machine once, though
// it answers at each of its addresses.
func (l *lan) servers() []*Server {
	var list []*Server
	groups := map[string]*Server{}
	seen := map[uint16]bool{} // ports of this machine
	all := make([]netip.AddrPort, 0, len(l.found))
	for at := range l.found {
		all = append(all, at)
	}
	slices.SortFunc(all, func(a, b netip.AddrPort) int { return a.Compare(b) })
	for _, at := range all {
		if at.Addr().IsLoopback() || slices.Contains(l.own, at.Addr()) {
			if seen[at.Port()] {
				continue
			}
			seen[at.Port()] = true
		}
		i := l.found[at]
		key := fmt.Sprintf("%v %x %x %s", i.Mode, i.Protocol, i.Version, i.Name)
		if g := groups[key]; g != nil && i.Mode == query.Mirror {
			g.Places = append(g.Places, localPlace(at, &i))
			g.Players += int(i.Players)
			continue
		}
		s := local(at, &i)
		list, groups[key] = append(list, s), s
	}
	return list
}

// local is what a server of the local network says of itself, as a directory would list it.
func local(at netip.AddrPort, i *query.Info) *Server {
	e := directory.Entry{ID: at.String(), Game: i.Game, Level: i.Level, Mode: i.Mode.String(),
		Name: i.Name, Region: i.Region, Tags: i.Tags, Players: int(i.Players),
		Capacity: int(i.Capacity)}
	if e.Name == "" {
		e.Name = e.Game
	}
	if i.Version != 0 {
		e.Version = fmt.Sprintf("%016x", i.Version)
	}
	return &Server{Entry: e, Local: true, Places: []*Place{localPlace(at, i)}}
}

func localPlace(at netip.AddrPort, i *query.Info) *Place {
	p := &Place{at: at}
	p.Name, p.Region, p.Players = at.String(), i.Region, int(i.Players)
	p.Addresses.UDP = at.String()
	if i.Open && i.HTTP != 0 {
		scheme := "http"
		if i.Secure {
			scheme = "https"
		}
		p.Door = fmt.Sprintf("%s://%s/token", scheme, netip.AddrPortFrom(at.Addr(), i.HTTP))
	}
	return p
}

// addresses are those of this machine.
func addresses() (list []netip.Addr) {
	all, _ := net.InterfaceAddrs() // without them there is only the loopback
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok {
				list = append(list, ip.Unmap())
			}
		}
	}
	return list
}

// neighbours are where to ask: this machine, and everyone on each of its networks, at all ports.
func neighbours() (list []netip.AddrPort) {
	hosts := []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}),
		netip.AddrFrom4([4]byte{255, 255, 255, 255})}
	all, _ := net.Interfaces()
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagBroadcast == 0 {
			continue
		}
		nets, _ := i.Addrs()
		for _, a := range nets {
			n, ok := a.(*net.IPNet)
			if !ok || n.IP.To4() == nil || len(n.Mask) < net.IPv4len {
				continue
			}
			ip, mask := n.IP.To4(), n.Mask[len(n.Mask)-net.IPv4len:]
			var b [4]byte
			for k := range b {
				b[k] = ip[k] | ^mask[k]
			}
			hosts = append(hosts, netip.AddrFrom4(b))
		}
	}
	slices.SortFunc(hosts, netip.Addr.Compare)
	for _, h := range slices.Compact(hosts) {
		for port := firstPort; port <= lastPort; port++ {
			list = append(list, netip.AddrPortFrom(h, uint16(port)))
		}
	}
	return list
}
