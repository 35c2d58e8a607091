package server

import (
	"slices"
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A roster is what players call themselves, as clients are told. It is looked over with the other
// things that can wait, and each client is told what has changed since it was told the last time, a
// message at once. So a player that comes, goes or has another name costs each client some bytes,
// and a crowd that comes at once does not flood anyone.
type roster struct {
	told    []told // by player
	version uint64 // of the newest
	changes []rename
}

// told is a name as of a version.
type told struct {
	name    string
	version uint64
}

type rename struct {
	version uint64
	wire.Named
}

// maxNames is how many players have names that others are told: those with the lowest numbers. Who
// has a thousand players reads no list of them.
const maxNames = 256

// sweepNames tells who is called what.
func (s *Server) sweepNames() {
	r := &s.roster
	for i, seat := range s.players[:min(len(s.players), maxNames)] {
		name := ""
		if seat != nil && !plainName(seat) {
			name = seat.Name
		}
		if i >= len(r.told) {
			r.told = append(r.told, told{})
		}
		if t := &r.told[i]; t.name != name {
			r.version++
			*t = told{name, r.version}
		}
	}
	for _, p := range s.order {
		if p.seat != nil && p.names < r.version {
			s.tellNames(p)
		}
	}
}

// plainName says that a seat has the name of those who have said none.
func plainName(seat *Seat) bool {
	number, ok := strings.CutPrefix(seat.Name, "player ")
	if !ok {
		return false
	}
	n, err := strconv.Atoi(number)
	return err == nil && n == int(seat.Player)
}

// tellNames tells a client what has changed, or as much of it as fits.
func (s *Server) tellNames(p *peer) {
	r := &s.roster
	r.changes = r.changes[:0]
	for i, t := range r.told {
		// A client that is new knows no one, and need not be told of who has gone.
		if t.version > p.names && (t.name != "" || p.names > 0) {
			named := wire.Named{Player: world.Player(i), Name: t.name}
			r.changes = append(r.changes, rename{t.version, named})
		}
	}
	slices.SortFunc(r.changes, func(a, b rename) int { return int(a.version) - int(b.version) })
	m := wire.Message{Kind: wire.Roster, On: p.names == 0}
	p.names = r.version
	if len(r.changes) > wire.MaxRoster {
		r.changes = r.changes[:wire.MaxRoster]
		p.names = r.changes[wire.MaxRoster-1].version
	}
	for _, c := range r.changes {
		m.Names = append(m.Names, c.Named)
	}
	s.say(p, m)
}
