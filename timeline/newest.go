package timeline

import (
	"math"

	"github.com/coeval-dev/coeval/world"
)

// newest holds the newest stamps that are known of each player, of commands, and of joins and leaves, for timelines that execute what is late later than it was
// meant: what is late and older than these is of no use any more.
type newest struct{ commanded, came map[world.Player]mark }

func newNewest() newest {
	return newest{make(map[world.Player]mark), make(map[world.Player]mark)}
}

// of is where a command's stamp is kept, and the stamp.
func (k *newest) of(c *Command) (map[world.Player]mark, mark) {
	m := c.mark()
	switch c.Kind {
	case Give:
		return k.commanded, m
	case Join:
		m.origin, m.seq = math.MaxUint16, math.MaxUint32 // after a leave of the same tick
	}
	return k.came, m
}

// old says whether something at least as new is known, and what becomes of the command then.
func (k *newest) old(c *Command) (Fate, bool) {
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

// note remembers a command's stamp if it is the newest.
func (k *newest) note(c *Command) {
	if _, old := k.old(c); !old {
		kept, m := k.of(c)
		kept[c.Player] = m
	}
}
