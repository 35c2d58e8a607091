package peers

import (
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// rolls are the rows of a match as turns. Row r is what goes into tick r+1. Those up to newest have
// come and are what happens; they can be read only one after the other, since items say in what a
// command differs from the one before.
type rolls struct {
	coder  *turns.Coder
	valid  bool // the rows that come follow those that are here
	newest world.Tick
	seats  [relay.MaxSeats]rollSeat // after newest
	log    []rollTurn               // ring, by tick
	every  world.Tick
	was    []rollCall // ring: the seats as they were at marks
	work   []int32
	merged []int32
}

// A rollSeat is what is known of a seat.
type rollSeat struct {
	state  seatState
	member member.ID
	last   []int32 // the last command of its stream
	guess  []int32 // what is left of it when it is repeated
	silent uint32  // rows since one took something of it
}

type seatState uint8

const (
	seatFree seatState = iota
	seatPlays
	seatAbsent
)

// A rollTurn is what goes into one tick.
type rollTurn struct {
	tick          world.Tick
	joins, leaves []world.Player
	players       []world.Player
	images        []int32 // of each player
}

// A rollCall is who had which seat at a mark.
type rollCall struct {
	tick  world.Tick
	valid bool
	seats [relay.MaxSeats]rollSeat
}

// logTurns is how many turns are kept: what is computed again or by one who catches up is among
// them.
const logTurns = 1024

// start begins after a tick, in a match of so many seats that are all free.
func (r *rolls) start(t world.Tick, every, seats int) {
	n := r.coder.Len()
	for i := range r.seats {
		x := &r.seats[i]
		*x = rollSeat{last: make([]int32, n), guess: make([]int32, n)}
		r.coder.Start(x.last)
		r.coder.Start(x.guess)
	}
	r.work, r.merged = make([]int32, n), make([]int32, n)
	r.log = make([]rollTurn, logTurns)
	players, images := make([]world.Player, logTurns*seats), make([]int32, logTurns*seats*n)
	for i := range r.log {
		e := &r.log[i]
		e.players = players[i*seats : i*seats : (i+1)*seats]
		e.images = images[i*seats*n : i*seats*n : (i+1)*seats*n]
	}
	r.every = world.Tick(every)
	r.was = make([]rollCall, logTurns/every+8)
	r.newest, r.valid = t, true
	r.call(t)
}

func (r *rolls) turn(t world.Tick) *rollTurn { return &r.log[t%logTurns] }

// holds says whether a turn is kept.
func (r *rolls) holds(t world.Tick) bool {
	return r.log != nil && t > 0 && t <= r.newest && r.turn(t).tick == t
}

// recent is a tick since when all turns are kept for a good while.
func (r *rolls) recent() world.Tick { return r.newest - min(r.newest, logTurns/2) }

// call keeps who has which seat now, for a mark.
func (r *rolls) call(t world.Tick) {
	c := &r.was[int(t/r.every)%len(r.was)]
	c.tick, c.valid = t, true
	for i := range r.seats {
		from, to := &r.seats[i], &c.seats[i]
		to.state, to.member = from.state, from.member
		to.last = append(to.last[:0], from.last...)
	}
}

// called is who had which seat at a mark, or nil if that is not kept.
func (r *rolls) called(t world.Tick) *rollCall {
	if c := &r.was[int(t/r.every)%len(r.was)]; c.valid && c.tick == t {
		return c
	}
	return nil
}

// take reads a row, and says how many of its items are no commands of this game: those count as
// ones that repeat the last, with everybody.
func (r *rolls) take(row *relay.Row) (bad int) {
	t := world.Tick(row.Tick) + 1
	e := r.turn(t)
	e.tick, e.joins, e.leaves = t, e.joins[:0], e.leaves[:0]
	e.players, e.images = e.players[:0], e.images[:0]
	for _, c := range row.Changes {
		x := &r.seats[c.Seat]
		switch c.Kind {
		case relay.Joined, relay.Returned:
			if c.Kind == relay.Joined {
				e.joins = append(e.joins, world.Player(c.Player()))
			}
			if x.state == seatFree || x.member != c.Member { // another stream
				r.coder.Start(x.last)
			}
			x.state, x.member, x.silent = seatPlays, c.Member, 0
		case relay.Absent:
			x.state = seatAbsent
			r.coder.Start(x.guess) // its body stands still
		case relay.Left:
			e.leaves = append(e.leaves, world.Player(c.Player()))
			x.state, x.member = seatFree, 0
		}
	}
	at := 0
	for i := range r.seats {
		x := &r.seats[i]
		if x.state == seatFree {
			continue
		}
		image := x.guess
		x.silent++
		if x.state == seatPlays && at < len(row.Seats) {
			if image = r.merged; row.Seats[at].Count > 0 {
				x.silent = 0
			}
			bad += r.read(x, &row.Seats[at], image)
			at++
		}
		e.players = append(e.players, world.Player(i+1))
		e.images = append(e.images, image...)
	}
	if r.newest = t; t%r.every == 0 {
		r.call(t)
	}
	return bad
}

// read makes a command of what a row takes of a seat's stream: its last command once more, without
// edges, or its next, with the edges of those between.
func (r *rolls) read(x *rollSeat, t *relay.Taken, image []int32) (bad int) {
	copy(image, x.last)
	r.coder.Repeat(image)
	first := true
	for item := range t.Items {
		copy(r.work, x.last)
		if r.coder.Read(item, r.work, x.guess) != nil {
			copy(x.guess, r.work)
			bad++
		}
		copy(x.last, x.guess)
		if !first {
			r.coder.Merge(image, x.guess)
		}
		copy(image, x.guess)
		first = false
	}
	copy(x.guess, x.last)
	r.coder.Repeat(x.guess)
	return bad
}

// Turn says what goes into a tick, as far as it is known; see turns.Source.
func (p *Relayed) Turn(t world.Tick, in *world.Inputs) (known bool) {
	r := &p.rolls
	if r.holds(t) {
		e, n := r.turn(t), r.coder.Len()
		for _, x := range e.joins {
			in.Join(x)
		}
		for _, x := range e.leaves {
			in.Leave(x)
		}
		for i, x := range e.players {
			_ = in.GiveImage(x, e.images[i*n:(i+1)*n])
		}
		return true
	}
	for i := range r.seats {
		x := &r.seats[i]
		if x.state == seatFree {
			continue
		}
		image := x.guess
		if x.state == seatPlays && p.line.in != nil && x.member == p.line.in.Self {
			image = p.expect(t, x.guess)
		}
		_ = in.GiveImage(world.Player(i+1), image)
	}
	return false
}

// takeRows takes the rows that have come.
func (p *Relayed) takeRows() error {
	r := &p.rolls
	if p.line.in == nil || !r.valid {
		return nil // they wait
	}
	first := r.newest + 1
	for r.newest-p.copy.Known() < logTurns-1 {
		row, ok := p.line.client.NextRow()
		if !ok {
			break
		}
		t := world.Tick(row.Tick) + 1
		if t <= r.newest {
			continue // it is in the world that was sent
		}
		if t != r.newest+1 {
			r.valid, p.phase = false, Asking
			return nil
		}
		p.stats.Refused += uint64(r.take(row))
		p.changed(row)
	}
	if r.newest >= first {
		p.copy.Learn(first)
		p.clock.came(p.now, r.newest)
		p.lead()
	}
	return nil
}

// changed tells who joins and leaves with a row.
func (p *Relayed) changed(row *relay.Row) {
	for _, c := range row.Changes {
		n := News{Member: c.Member, Player: world.Player(c.Player()),
			Tick: world.Tick(row.Tick) + 1, Text: p.line.name(c.Member)}
		switch mine := c.Member == p.line.in.Self; {
		case c.Kind <= relay.Returned && mine:
			p.phase, n.Kind = Playing, Entered
			p.mine.player = n.Player
		case c.Kind <= relay.Returned:
			n.Kind = Joined
		case c.Kind == relay.Absent && mine:
			n.Kind, n.Text = Out, "nothing of this player comes to the relay"
		case c.Kind == relay.Absent:
			n.Kind, n.Text = Left, n.Text+" is gone; the body waits"
		default:
			n.Kind = Left
		}
		p.tell(n)
	}
}
