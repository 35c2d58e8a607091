package client

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/ways"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

const (
	// historyTicks is how many commands are remembered, and maxRedundancy how many of them can go
	// into a packet.
	historyTicks  = 64
	maxRedundancy = 16
	// mostAtOnce is how many commands are made in one Advance; where the clock jumped further the
	// rest is left out.
	mostAtOnce = 4
)

// commands are what the player did of late, and how it is sent. Without a command type in the game,
// in is nil and nothing is ever sent.
type commands struct {
	neutral []int32 // a command that does nothing
	in      *world.Inputs
	writer  *replica.CommandWriter
	sent    world.Tick // the newest for which there is a command; 0 before the first of a world
	resting int        // commands in a row that do nothing
	history []int32    // images of the last commands, by tick
	images  [][]int32
	// what was shown when the last commands were made, by tick, in a game whose shots are judged by
	// that
	shown  []world.Sight
	sights []world.Sight

	repeats predict.Redundancy
	pace    predict.Cadence
	posted  world.Tick // the newest that was put into a packet
	server  world.Tick // of the newest snapshot, and when that came
	told    time.Duration
	least   time.Duration // the least round trip of late
	size    int           // bytes of the last packet with commands, about
}

func (m *commands) init(p *replica.Protocol, r predict.Redundancy) {
	g := p.Game()
	m.repeats = r
	m.pace.Rate = g.Rate()
	s := g.Commands()
	if s == nil {
		return
	}
	m.in, m.writer = g.NewInputs(), replica.NewCommandWriter(p)
	for i := range s.Slots {
		m.neutral = append(m.neutral, s.Slots[i].Absent)
	}
	m.history = make([]int32, len(s.Slots)*historyTicks)
	m.images = make([][]int32, 0, maxRedundancy)
	if g.Rewinds() > 0 {
		m.shown = make([]world.Sight, historyTicks)
		m.sights = make([]world.Sight, 0, maxRedundancy)
	}
	copy(m.at(0), m.neutral)
}

// begin starts with a new world.
func (m *commands) begin() { m.sent, m.posted, m.server = 0, 0, 0 }

// observe learns how the network does, and how far the server is, with each snapshot.
func (m *commands) observe(now time.Duration, server world.Tick, q conn.Quality) {
	if server > m.server {
		m.server, m.told = server, now
	}
	m.least = q.RoundTripMin
	m.repeats.SetLoss(q.LossOut)
	m.pace.Observe(now, q)
}

// at is where the image of a tick's command is.
func (m *commands) at(t world.Tick) []int32 {
	n := len(m.neutral)
	i := int(t%historyTicks) * n
	return m.history[i : i+n]
}

// remember takes the command that was given for the next tick, or one that does nothing.
func (m *commands) remember(t world.Tick, me world.Player) []int32 {
	image := m.at(t)
	if !m.in.Image(me, image) {
		copy(image, m.neutral)
	}
	m.sent = t
	m.show(t, world.Sight{})
	if m.resting++; !slices.Equal(image, m.neutral) {
		m.resting = 0
	}
	return image
}

// show notes what was shown when the command for a tick was made.
func (m *commands) show(t world.Tick, s world.Sight) {
	if m.shown != nil {
		m.shown[t%historyTicks] = s
	}
}

// skip leaves out the ticks up to one: the server repeats the last command, without its edges, or
// takes the player to rest if there is none. It says how many were left out.
func (m *commands) skip(me world.Player, to world.Tick) uint64 {
	from := m.sent
	first := max(from+1, to-min(to, historyTicks-2))
	left := m.at(first)
	m.in.Reset()
	if from == 0 {
		copy(left, m.neutral)
	} else if m.in.GiveImage(me, m.at(from)) != nil || !m.in.Repeat(me) || !m.in.Image(me, left) {
		copy(left, m.at(from))
	}
	for t := first + 1; t <= to; t++ {
		copy(m.at(t), left)
	}
	for t := first; t <= to; t++ {
		m.show(t, world.Sight{})
	}
	m.sent = to
	if from == 0 {
		return 0
	}
	return uint64(to - from)
}

// post puts the last commands into packets. Someone who has done nothing for a while says so now
// and then, and is believed; so a player who only looks on costs next to nothing.
func (c *Client) post() {
	m := &c.commands
	last, most := m.repeats.Least, m.repeats.Least
	if c.predicts() {
		last, most = m.repeats.Commands(), maxRedundancy
	}
	last, most = min(last, maxRedundancy), min(most, maxRedundancy)
	rate, newest := c.game.Rate(), c.reach()
	stale := m.sent-newest > historyTicks-maxRedundancy
	idle := m.resting - max(rate/2, 2*most)
	if c.o.Constant {
		idle = 0
	}
	c.live = c.ways.Audience(c.live[:0])
	for _, w := range c.live {
		main := w == c.ways.Main()
		switch {
		case !main:
			c.postTo(w, max(newest, c.reachOf(w)), last)
		case stale:
			c.postNone(newest)
		case idle <= 0 && c.predicts():
			c.postDue(w, newest, last)
		case idle <= 0:
			c.postTo(w, newest, last)
		case idle%max(rate, 2) == 1 || idle == 1+rate/4: // the first time twice, as it may be lost
			c.postTo(w, newest, 0)
		}
	}
}

// How far into the future servers take commands, and for how long after the last word of one it is
// thought to go on.
const (
	serversAhead = time.Second
	goesOn       = 500 * time.Millisecond
)

// reach is the newest tick whose command the server takes by now, as far as one can tell, of those
// for which there is one. A clock may be further ahead for a while: that of a client that was
// starved, or whose path became shorter, or whose server stood still. What the player does is shown
// all the same, and the commands wait here until it is their time.
func (c *Client) reach() world.Tick {
	m := &c.commands
	if m.server == 0 || !c.predicts() || c.Conn() == nil {
		return m.sent
	}
	passed := c.now - m.told - max(c.Conn().Silence()-goesOn, 0)
	const guard = 2 // ticks
	ahead := (max(passed, 0) + m.least/2 + serversAhead) / c.game.TickLength()
	return min(m.sent, m.server+world.Tick(ahead)-guard)
}

// reachOf is the same of a server that the player is about to go on at. It has answered, so its
// world goes on, however long the server before has been silent: where it was when that one was
// heard, or as the server itself has said.
func (c *Client) reachOf(w *ways.Way) world.Tick {
	m := &c.commands
	if m.server == 0 || !c.predicts() {
		return 0
	}
	tick, at := m.server, m.told
	if w.LevelAt() > 0 {
		tick, at = w.Level().Tick, w.LevelAt()
	}
	return min(m.sent, tick+world.Tick((c.now-at+serversAhead)/c.game.TickLength()))
}

// postNone is for commands that will not be known any more when it is their time. The player rests
// as far as the server knows, and now and then the server is asked how early that came, by which
// the clock is set right.
func (c *Client) postNone(newest world.Tick) {
	m := &c.commands
	if w := c.ways.Main(); w != nil && newest >= m.posted+world.Tick(c.game.Rate()/10) {
		c.postTo(w, newest, 0)
		m.posted = newest
	}
}

// postDue sends commands if there is room for a packet by now: the last few, and those that no
// packet had room for.
func (c *Client) postDue(w *ways.Way, newest world.Tick, last int) {
	m := &c.commands
	if newest <= m.posted {
		return // all that may go has gone
	}
	if !w.Alive() || !w.Conn().Due(c.now) || w.Conn().Budget(c.now) < m.size {
		return
	}
	if m.posted > 0 {
		last += int(min(newest-m.posted, maxRedundancy)) - 1
	}
	c.postTo(w, newest, min(last, maxRedundancy))
	m.posted = newest
	// What package conn and the carrier add to it is less than 60 bytes.
	m.size = len(c.scratch) + 60
}

// postTo sends the last few commands up to a tick, oldest first, and what goes with them. None
// means that the player rests.
func (c *Client) postTo(w *ways.Way, newest world.Tick, last int) {
	m := &c.commands
	if !w.Alive() {
		return
	}
	if c.ways.First(w) && last > 0 {
		last = maxRedundancy
	}
	m.images, m.sights = m.images[:0], m.sights[:0]
	for n := world.Tick(last); n > 0; n-- {
		if newest < n {
			continue
		}
		t := newest - n + 1
		m.images = append(m.images, m.at(t))
		if m.shown != nil {
			m.sights = append(m.sights, m.shown[t%historyTicks])
		}
	}
	head := append(c.scratch[:0], byte(max(w.Epoch(), 1)))
	b, err := m.writer.Append(head, newest, m.images, m.sights, w.Conn().MaxPayload()-1)
	if err != nil {
		c.stats.Bad++
		return
	}
	c.scratch = b
	c.ways.Send(w, wire.CommandChannel, b)
}

// Sent is the newest tick for which the client has made a command.
func (c *Client) Sent() world.Tick { return c.commands.sent }

// Made is the image of the client's command at one of the last 64 ticks, or nil. It is to be left
// as it is.
func (c *Client) Made(t world.Tick) []int32 {
	m := &c.commands
	if m.in == nil || t == 0 || t > m.sent || m.sent-t >= historyTicks {
		return nil
	}
	return m.at(t)
}

// Redundancy is how many of the last commands each packet carries.
func (c *Client) Redundancy() int { return c.commands.repeats.Commands() }
