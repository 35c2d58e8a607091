package gateway

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/zone"
)

// stillness is which zones say nothing, and what was done about it.
type stillness struct {
	zones  []zone.ID
	since  time.Duration // since when it is these
	said   []zone.ID     // that clients were told of
	lost   time.Duration // since when too much is lost to serve here, or 0
	sentAt time.Duration
}

const (
	// stillTime is for how long a zone says nothing until clients are told. A zone whose server
	// dies goes on elsewhere after a little more.
	stillTime = time.Second
	sendEvery = 2 * time.Second
)

// look finds out what stands still, and says so.
func (s *stillness) look(g *Gateway) {
	if now := g.gate.Standing(); !slices.Equal(now, s.zones) {
		s.zones, s.since = now, g.now
	}
	if !slices.Equal(s.zones, s.said) && (g.now-s.since >= stillTime || len(s.zones) == 0) {
		s.said = slices.Clone(s.zones)
		g.server.Notice(s.text(g.gate.Plan()))
	}
	s.sendOn(g)
}

// text says which part of the world stands still.
func (s *stillness) text(p *seamless.Plan) string {
	if len(s.said) == 0 {
		return "the whole world goes on again"
	}
	var parts []string
	for _, id := range s.said[:min(len(s.said), 3)] {
		if box, ok := p.Area(id); ok {
			parts = append(parts, area(box))
		}
	}
	text := "the world stands still " + strings.Join(parts, "; ")
	if n := len(s.said) - 3; n > 0 {
		text += fmt.Sprintf("; and in %d parts more", n)
	}
	return text
}

// area says in words where a zone is.
func area(b seamless.Box) string {
	var list []string
	for i, axis := range []struct{ lo, hi float64 }{{b.Lo.X, b.Hi.X}, {b.Lo.Y, b.Hi.Y},
		{b.Lo.Z, b.Hi.Z}} {
		name := string("xyz"[i])
		low, high := !math.IsInf(axis.lo, 0), !math.IsInf(axis.hi, 0)
		switch {
		case low && high:
			list = append(list, fmt.Sprintf("%s %.0f to %.0f", name, axis.lo, axis.hi))
		case low:
			list = append(list, fmt.Sprintf("%s from %.0f", name, axis.lo))
		case high:
			list = append(list, fmt.Sprintf("%s up to %.0f", name, axis.hi))
		}
	}
	if len(list) == 0 {
		return "everywhere"
	}
	return "at " + strings.Join(list, ", ")
}

// sendOn asks players to go on at another gateway while home, or most of the world, is not seen
// from here. Those who are not let in there stay.
func (s *stillness) sendOn(g *Gateway) {
	plan := g.gate.Plan()
	bad := slices.Contains(s.zones, plan.Home) || 2*len(s.zones) > len(plan.Zones())
	switch {
	case !bad:
		s.lost = 0
		return
	case s.lost == 0:
		s.lost = g.now
	}
	if g.now-s.lost < g.opt.SendOn || g.now-s.sentAt < sendEvery || len(g.others) == 0 {
		return
	}
	s.sentAt = g.now
	for seat := range g.server.Seats {
		g.decided = append(g.decided, server.Decision{Kind: server.Move, Client: seat.Client})
	}
}
