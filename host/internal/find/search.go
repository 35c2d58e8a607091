//go:build !js

package find

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/ask"
)

// mostServers is how many are measured at once.
const mostServers = 200

// A Search says where servers are looked for, and which.
type Search struct {
	// Directory is asked for those that are as the filter says; nil if there is none.
	Directory *ask.Client
	Filter    ask.Filter
	// LAN asks the local network as well. Asked are the addresses that are; by default those of
	// all networks of this machine.
	LAN   bool
	Asked []netip.AddrPort
	// Titles are the games that can be joined.
	Titles []*game.Title

	// Doing, if set, is told what is done, and Show what is known so far and how much is done.
	Doing func(what string)
	Show  func(list []*Server, part float64)
}

// Run looks, and measures. What it gives is in no order.
func (x *Search) Run(ctx context.Context) (*Report, error) {
	list, more, err := x.list(ctx)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for _, t := range x.Titles {
		versions[t.Name()] = fmt.Sprintf("%016x", t.Game.Hash())
	}
	for _, s := range list {
		s.Hindrance = s.hinder(versions)
	}
	begin := time.Now()
	err = measure(ctx, list, func(part float64) {
		if x.Show != nil {
			x.Show(list, part)
		}
	})
	if err != nil {
		return nil, err
	}
	if list == nil {
		list = []*Server{}
	}
	return &Report{Servers: list, Local: x.LAN, More: more,
		Seconds: time.Since(begin).Seconds()}, nil
}

func (x *Search) doing(what string) {
	if x.Doing != nil {
		x.Doing(what)
	}
}

// list asks the directory and the local network what there is.
func (x *Search) list(ctx context.Context) (list []*Server, more bool, err error) {
	if x.Directory != nil {
		x.doing("asking the directory")
		f := x.Filter
		f.Limit = mostServers + 1
		entries, err := x.Directory.Entries(ctx, f)
		if err != nil {
			return nil, false, err
		}
		more = len(entries) > mostServers
		for _, e := range entries[:min(len(entries), mostServers)] {
			if e.Mode != directory.Relay {
				list = append(list, newServer(e))
			}
		}
	}
	if !x.LAN {
		return list, more, nil
	}
	x.doing("asking the local network")
	if x.Asked == nil {
		x.Asked = neighbours()
	}
	near, err := onLAN(ctx, x.Asked, lanTime)
	if err != nil {
		return nil, false, err
	}
	return append(list, x.fits(near, list)...), more, nil
}

// fits are those of the local network that are as the filter says, and that the directory does not
// list.
func (x *Search) fits(near, listed []*Server) (out []*Server) {
	known := map[netip.AddrPort]bool{}
	for _, s := range listed {
		for _, p := range s.Places {
			known[p.at] = true
		}
	}
	for _, s := range near {
		same := slices.ContainsFunc(s.Places, func(p *Place) bool { return known[p.at] })
		if !same && x.match(s) {
			out = append(out, s)
		}
	}
	return out
}

// match does what a directory does with the same filter.
func (x *Search) match(s *Server) bool {
	f := &x.Filter
	if f.Game != "" && s.Game != f.Game || f.Region != "" && s.Region != f.Region ||
		f.Room && s.Players >= s.Capacity || !contains(s.Name, f.Name) ||
		s.Mode == directory.Relay {
		return false
	}
	return !slices.ContainsFunc(f.Tags, func(t string) bool { return !slices.Contains(s.Tags, t) })
}

// Best is the first of a list that can be joined and answers, or nil.
func Best(list []*Server) *Server {
	i := slices.IndexFunc(list, func(s *Server) bool { return s.Hindrance == "" && s.Trip != nil })
	if i < 0 {
		return nil
	}
	return list[i]
}

// Nearest orders servers: those that can be joined before others, and then by the way to them.
func Nearest(a, b *Server) int {
	able := func(s *Server) int {
		if s.Hindrance == "" {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(able(a), able(b)), compareTrips(a, b), strings.Compare(a.ID, b.ID))
}
