package server

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A roster is what players call themselves, as clients are told. It is looked over with the other
// things that can wait, and each client is told what has changed since it was told the last time, a
// message at once. So a player that comes, goes or has another name costs each client some bytes,
// and a crowd that comes at once does not flood anyone. A tick tells a few.
type roster struct {
	told    []told   // by player
	version uint64   // of the newest
	changes []rename // the last of each player, in the order in which they came
	next    int      // in Server.order: whose turn it is to be told
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

// What a tick does to tell of names: how many clients it looks at, and how many it tells.
const (
	looksTick = 64
	namesTick = 8
)

// sweepNames finds out who is called otherwise than before.
func (s *Server) sweepNames() {
	r := &s.roster
	before := r.version
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
	if r.version == before {
		return
	}
	r.changes = r.changes[:0]
	for i, t := range r.told {
		if t.version > 0 {
			named := wire.Named{Player: world.Player(i), Name: t.name}
			r.changes = append(r.changes, rename{t.version, named})
		}
	}
	slices.SortFunc(r.changes, func(a, b rename) int { return cmp.Compare(a.version, b.version) })
}

// tellNames tells those of it whose turn it is.
func (s *Server) tellNames() {
	r := &s.roster
	tell := namesTick
	for range min(looksTick, len(s.order)) {
		if r.next++; r.next >= len(s.order) {
			r.next = 0
		}
		if p := s.order[r.next]; p.seat != nil && p.names < r.version {
			s.say(p, r.news(p))
			if tell--; tell == 0 {
				break
			}
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

// news is what has changed for a client, or as much of it as fits.
func (r *roster) news(p *peer) wire.Message {
	m := wire.Message{Kind: wire.Roster, On: p.names == 0}
	known := p.names
	p.names = r.version
	from, _ := slices.BinarySearchFunc(r.changes, known+1, func(c rename, v uint64) int {
		return cmp.Compare(c.version, v)
	})
	for _, c := range r.changes[from:] {
		// A client that is new knows no one, and need not be told of who has gone.
		if c.Name == "" && known == 0 {
			continue
		}
		if len(m.Names) == wire.MaxRoster {
			p.names = c.version - 1
			break
		}
		m.Names = append(m.Names, c.Named)
	}
	return m
}
