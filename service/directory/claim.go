package directory

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"sync"
)

// This file is what a server may claim before anything is asked of the address: a directory is not
// to be had to send anything into networks that whoever announces could not reach themselves.

// A scope is how far an address can be reached from.
type scope int

const (
	nowhere scope = iota
	machine       // loopback
	cable         // link-local, as those of clouds' metadata are
	network       // private, or shared by a provider's customers
	anywhere
)

// within are networks that are not of everywhere. What stands in others has none of these.
var scopes = []struct {
	scope
	netip.Prefix
}{
	{nowhere, netip.MustParsePrefix("0.0.0.0/8")},
	{nowhere, netip.MustParsePrefix("240.0.0.0/4")},
	{network, netip.MustParsePrefix("100.64.0.0/10")},
	{network, netip.MustParsePrefix("64:ff9b::/96")}, // IPv4 of any scope behind a gateway
	{network, netip.MustParsePrefix("2002::/16")},
}

func scopeOf(a netip.Addr) scope {
	a = a.Unmap()
	for _, s := range scopes {
		if s.Contains(a) {
			return s.scope
		}
	}
	switch {
	case !a.IsValid() || a.IsUnspecified() || a.IsMulticast():
		return nowhere
	case a.IsLoopback():
		return machine
	case a.IsLinkLocalUnicast():
		return cable
	case a.IsPrivate():
		return network
	}
	return anywhere
}

// mayClaim says why somebody at an address cannot be reached at another, if that is so. A program
// of this machine may be anywhere; others only as near to the directory as they are themselves.
func mayClaim(claimed, from netip.Addr) error {
	is, by := scopeOf(claimed), scopeOf(from)
	switch {
	case is == nowhere:
		return fmt.Errorf("%v is not the address of one machine", claimed)
	case is >= by:
		return nil
	}
	return fmt.Errorf("%v is an address that others do not reach, and it is announced from %v: "+
		"give --public with the address at which players reach it", claimed, from)
}

// elsewhere leaves out a door that is at another host than what answered: players are not to be had
// to ask at addresses that nobody proved.
func (a *Announcement) elsewhere(failed map[string]string) map[string]string {
	if a.Door == "" || sameHost(a.Door, a.Addresses) {
		return failed
	}
	a.Door = ""
	if failed == nil {
		failed = map[string]string{}
	}
	failed["door"] = "the door is at another host than what answered"
	return failed
}

// errElsewhere is that an announcement is for another directory.
var errElsewhere = errors.New("the announcement is for another directory")

// isFor says whether an announcement is for a directory with these names. One without names takes
// all: it cannot know.
func (a *Announcement) isFor(names []string) error {
	if len(names) == 0 {
		return nil
	}
	host := strings.ToLower(a.Directory)
	if u, err := url.Parse("//" + host); err == nil {
		for _, n := range names {
			if n = strings.ToLower(n); n == host || n == u.Hostname() {
				return nil
			}
		}
	}
	return fmt.Errorf("%w, %.80q: announce it at %s", errElsewhere, a.Directory,
		strings.Join(names, " or "))
}

// How many may be asked at once whether they are where they say, of all and of each source: so
// nobody keeps others from it by announcing what does not answer.
const (
	mostProving   = 1024
	provingOfEach = 32
)

// proving counts those who are asked.
type proving struct {
	mu    sync.Mutex
	count int
	of    map[netip.Addr]int
}

func (p *proving) enter(source netip.Addr) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count >= mostProving || source.IsValid() && p.of[source] >= provingOfEach {
		return false
	}
	if p.of == nil {
		p.of = map[netip.Addr]int{}
	}
	p.count++
	p.of[source]++
	return true
}

func (p *proving) leave(source netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count--
	if p.of[source]--; p.of[source] == 0 {
		delete(p.of, source)
	}
}
