package timeline

import (
	"math"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// A Newest holds the newest stamps that are known of each player, of commands, and of joins and
// leaves, for timelines that execute what is late later than it was meant: what is late and older
// than these is of no use any more.
//
// Of what is told beside commands it is the newest of each mirror: a mirror submits these in order.
type Newest struct {
	commanded, came map[world.Player]stamp
	told            map[member.ID]stamp
}

// NewNewest knows of nothing yet.
func NewNewest() Newest {
	return Newest{make(map[world.Player]stamp), make(map[world.Player]stamp),
		make(map[member.ID]stamp)}
}

// of is the stamp that is kept of the like of a command, and the command's own.
func (k *Newest) of(c *Command) (last, own stamp, known bool) {
	own = c.stamp()
	switch c.Kind {
	case Give:
		last, known = k.commanded[c.Player]
		return last, own, known
	case Tell:
		last, known = k.told[c.Origin]
		return last, own, known
	case Join:
		own.origin, own.seq = math.MaxUint16, math.MaxUint32 // after a leave of the same tick
	}
	last, known = k.came[c.Player]
	return last, own, known
}

// Old says whether something at least as new is known, and what becomes of the command then.
func (k *Newest) Old(c *Command) (Fate, bool) {
	last, m, known := k.of(c)
	switch {
	case !known || m.compare(last) > 0:
		return OnTime, false
	case m == last:
		return Duplicate, true
	}
	return Superseded, true
}

// Note remembers a command's stamp if it is the newest.
func (k *Newest) Note(c *Command) {
	last, m, known := k.of(c)
	if known && m.compare(last) <= 0 {
		return
	}
	switch c.Kind {
	case Give:
		k.commanded[c.Player] = m
	case Tell:
		k.told[c.Origin] = m
	default:
		k.came[c.Player] = m
	}
}
