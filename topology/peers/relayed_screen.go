package peers

import (
	"time"

	"github.com/coeval-dev/coeval/world"
)

// Past is how long ago the tick that is shown was due, up to the length of a tick: for screens that
// draw what moves a little along its way.
func (p *Relayed) Past() time.Duration {
	c := &p.clock
	length := time.Duration(c.length)
	if c.late {
		return length
	}
	return min(max(p.now-c.due+length, 0), length)
}

// Absent lists the others who are gone and whose bodies wait for them.
func (p *Relayed) Absent() (list []Member) {
	for i := range p.rolls.seats {
		x, player := &p.rolls.seats[i], world.Player(i+1)
		if x.state == seatAbsent && player != p.mine.player {
			list = append(list, Member{ID: x.member, Player: player, Name: p.line.known.names[i],
				Silent: time.Duration(x.silent) * p.game.TickLength()})
		}
	}
	return list
}
