package timeline

import (
	"math"

	"github.com/coeval-dev/coeval/world"
)

// A Newest holds the newest stamps that are known of each player, of commands, and of joins and
// leaves, for timelines that execute what is late later than it was meant: what is late and older
// than these is of no use any more.
type Newest struct{ commanded, came map[world.Player]stamp }

// NewNewest knows of nothing yet.
func NewNewest() Newest {
	return Newest{make(map[world.Player]stamp), make(map[world.Player]stamp)}
}

// of is where a command's stamp is kept, and the stamp.
func (k *Newest) of(c *Command) (map[world.Player]stamp, stamp) {
	m := c.stamp()
	switch c.Kind {
	case Give:
		return k.commanded, m
	case Join:
		m.origin, m.seq = math.MaxUint16, math.MaxUint32 // after a leave of the same tick
	}
	return k.came, m
}

// Old says whether something at least as new is known, and what becomes of the command then.
func (k *Newest) Old(c *Command) (Fate, bool) {
	kept, m := k.of(c)
	last, known := kept[c.Player]
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
	if _, old := k.Old(c); !old {
		kept, m := k.of(c)
		kept[c.Player] = m
	}
}
