//go:build !js

package find

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/survey"
)

// A Server is something that was found: a server, or a group of mirrors. The JSON names are for
// other programs and stay.
type Server struct {
	directory.Entry
	Places []*Place `json:"places"` // the nearest first, once that is known
	// Local says that it was found on the local network, without a directory.
	Local bool `json:"local,omitempty"`
	// Trip is the way to the nearest place, if one has answered.
	Trip *Trip `json:"trip,omitempty"`
	// Hindrance is why it cannot be joined, or nothing.
	Hindrance string `json:"hindrance,omitempty"`
}

// A Place is one of a server's places.
type Place struct {
	directory.Place
	Trip *Trip `json:"trip,omitempty"`

	at    netip.AddrPort // of UDP, or not valid
	known survey.Estimate
	asked bool
}

// A Trip is what was measured of the way to a place and back.
type Trip struct {
	RTT    float64 `json:"rtt_ms"`
	Jitter float64 `json:"jitter_ms"`
	Loss   float64 `json:"loss"` // from 0 to 1
	Probes int     `json:"probes"`
}

// newServer takes an entry of a directory.
func newServer(e directory.Entry) *Server {
	s := &Server{Entry: e}
	for _, p := range e.Places {
		x := &Place{Place: p}
		if at, err := netip.ParseAddrPort(p.Addresses.UDP); err == nil && at.Port() != 0 {
			x.at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
		}
		s.Places = append(s.Places, x)
	}
	s.Entry.Places = nil
	return s
}

// Addresses are where it is joined over UDP, the nearest first.
func (s *Server) Addresses() (list []string) {
	for _, p := range s.Places {
		if p.at.IsValid() {
			list = append(list, p.at.String())
		}
	}
	return list
}

// milliseconds are those of a time, to a hundredth.
func milliseconds(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}

// measured takes what a survey has found out of a place.
func (p *Place) measured(e survey.Estimate) {
	p.known, p.Trip = e, nil
	if e.Reached() {
		p.Trip = &Trip{RTT: milliseconds(e.Round), Jitter: milliseconds(e.Jitter), Loss: e.Loss(),
			Probes: e.Sent}
	}
}

// nearest orders the places, and takes the way to the first for that of the server.
func (s *Server) nearest() {
	slices.SortStableFunc(s.Places, func(a, b *Place) int {
		return survey.Compare(a.known, b.known)
	})
	if s.Trip = nil; len(s.Places) > 0 {
		s.Trip = s.Places[0].Trip
	}
}

// hinder says why a server cannot be joined by a program, as far as that is known without asking
// it. Versions has those of the program's games.
func (s *Server) hinder(versions map[string]string) string {
	version, known := versions[s.Game]
	udp := slices.ContainsFunc(s.Places, func(p *Place) bool { return p.at.IsValid() })
	door := slices.ContainsFunc(s.Places, func(p *Place) bool { return p.Door != "" })
	switch {
	case s.Mode == directory.Relay:
		return "relay"
	case !known:
		return "other game"
	case s.Version != "" && s.Version != version:
		return "other version"
	case s.Capacity > 0 && s.Players >= s.Capacity:
		return "full"
	case !udp:
		return "browsers only"
	case !door && !s.Tokens:
		return "needs a token"
	}
	return ""
}

// Sorts are what --sort takes.
const Sorts = "rtt, players, room or name"

// sorter finds how servers are ordered, by name. What is equal is so by the way to it.
func sorter(name string) (func(a, b *Server) int, bool) {
	near := func(a, b *Server) int {
		return cmp.Or(compareTrips(a, b), strings.Compare(a.Name, b.Name),
			strings.Compare(a.ID, b.ID))
	}
	by := func(key func(*Server) int) func(a, b *Server) int {
		return func(a, b *Server) int { return cmp.Or(cmp.Compare(key(a), key(b)), near(a, b)) }
	}
	switch name {
	case "rtt":
		return near, true
	case "players":
		return by(func(s *Server) int { return -s.Players }), true
	case "room":
		return by(func(s *Server) int { return s.Players - s.Capacity }), true
	case "name":
		return func(a, b *Server) int {
			return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)),
				near(a, b))
		}, true
	}
	return nil, false
}

// compareTrips orders by the way to the nearest place, as a survey does.
func compareTrips(a, b *Server) int {
	first := func(s *Server) survey.Estimate {
		if len(s.Places) == 0 {
			return survey.Estimate{}
		}
		e := s.Places[0].known
		e.Place = 0
		return e
	}
	return survey.Compare(first(a), first(b))
}

// A Report is what was found. Its String is for people, and its JSON for scripts.
type Report struct {
	Servers   []*Server `json:"servers"`
	Directory string    `json:"directory,omitempty"`
	Local     bool      `json:"local,omitempty"`
	// More says that the directory lists more than were looked at.
	More bool `json:"more,omitempty"`
	// Left is how many were found and are not among Servers, by --limit.
	Left int `json:"left,omitempty"`
	// Seconds is how long it took to measure.
	Seconds float64 `json:"seconds"`
	// Joined is what came of playing, with --join --headless.
	Joined any `json:"joined,omitempty"`
}

// String is a table.
func (r *Report) String() string {
	var out strings.Builder
	for _, line := range table(r.Servers, 0) {
		out.WriteString(line + "\n")
	}
	if r.Left > 0 {
		fmt.Fprintf(&out, "%d more: see them by --limit %d\n", r.Left, r.Left+len(r.Servers))
	}
	if r.More {
		fmt.Fprintf(&out, "the directory has more than the %d that were looked at: narrow it by "+
			"--region, --tag, --search or --room\n", mostServers)
	}
	return out.String()
}
