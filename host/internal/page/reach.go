//go:build !js

package page

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/coeval-dev/coeval/host/internal/page/qr"
)

// Here are the names of this machine by which only its own browsers ask.
var Here = []string{"127.0.0.1", "localhost"}

// A Reach is by which hosts a page is asked for: names and addresses, without ports.
type Reach []string

// NewReach is the reach of a page at an address of this machine, or at all of them, that is known
// by other names as well. Those that others use come after Here.
func NewReach(bind netip.Addr, names ...string) Reach {
	r := slices.Clone(Here)
	add := func(host string) {
		if host = strings.ToLower(host); host != "" && !slices.Contains(r, host) {
			r = append(r, host)
		}
	}
	for _, n := range names {
		add(n)
	}
	switch {
	case bind.IsUnspecified():
		for _, a := range Addresses() {
			add(a)
		}
	case !bind.IsLoopback():
		add(bind.Unmap().String())
	}
	return r
}

// Addresses are those of this machine by which others on its networks reach it.
func Addresses() (list []string) {
	all, _ := net.InterfaceAddrs() // without them nobody comes
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			list = append(list, n.IP.String())
		}
	}
	return list
}

// Pages are the hosts with a port, as browsers name the page.
func (r Reach) Pages(port int) (list []string) {
	for _, h := range r {
		list = append(list, net.JoinHostPort(h, fmt.Sprint(port)))
	}
	return list
}

// Origins are what a page may connect to at a port.
func (r Reach) Origins(scheme string, port int) (list []string) {
	for _, p := range r.Pages(port) {
		list = append(list, scheme+"://"+p)
	}
	return list
}

// Links are what others are given to come in by: one for each host that is not Here.
func (r Reach) Links(scheme string, port int, query url.Values) (list []string) {
	for i, p := range r.Pages(port) {
		if slices.Contains(Here, r[i]) {
			continue
		}
		l := scheme + "://" + p + "/"
		if len(query) > 0 {
			l += "?" + query.Encode()
		}
		list = append(list, l)
	}
	return list
}

// Invite prints links for others, and the first as a code where people see it.
func Invite(out io.Writer, says string, links []string) {
	for _, l := range links {
		fmt.Fprintf(out, "%s %s\n", says, l)
	}
	if f, ok := out.(*os.File); ok && len(links) > 0 && term.IsTerminal(int(f.Fd())) {
		if c, err := qr.New(links[0]); err == nil {
			fmt.Fprint(out, c.Text())
		}
	}
}
