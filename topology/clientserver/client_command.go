package clientserver

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// historyTicks is how many commands a client remembers, and maxRedundancy how many of them can go into a packet.
const (
	historyTicks  = 64
	maxRedundancy = 16
	// mostAtOnce is how many commands are made in one Tick; where the clock jumped further the rest is left out.
	mostAtOnce = 4
	// firstPackets is how many packets to a server at which the client goes on hold as many commands as they can.
	firstPackets = 8
)

// A Repeater is a Clock that also says how many of the last commands go into each packet, in place of ClientOptions.Redundancy: what predicts knows how much is
// lost on the way. It is asked before each packet. More than 16 are as good as 16, and below one the option counts.
type Repeater interface{ Repeats() int }

// redundancy is how many of the last commands go into the next packet, and how many may ever go into one.
func (c *Client) redundancy() (last, most int) {
	r, ok := c.clock.(Repeater)
	if !ok {
		return c.opt.Redundancy, c.opt.Redundancy
	}
	if last = r.Repeats(); last < 1 {
		last = c.opt.Redundancy
	}
	return min(last, maxRedundancy), maxRedundancy
}

// command makes the player's commands up to the tick that the clock says, and sends the last few.
func (c *Client) command() {
	if c.phase != Playing || c.watching || c.paused || c.in == nil || c.player == world.Nobody {
		return
	}
	target := c.clock.Target(c.now)
	if target <= c.sent {
		return // the clock waits for the server
	}
	if c.sent == 0 || target-c.sent > mostAtOnce {
		if c.sent != 0 {
			c.stats.Skipped += uint64(target - c.sent - 1)
		}
		left := c.repeated()
		for t := c.sent + 1; t < target && t > 0 && target-t < historyTicks; t++ {
			copy(c.remembered(t), left) // as the server will have it
		}
		c.sent = target - 1
	}
	for c.sent < target {
		c.sent++
		c.in.Reset()
		if c.opt.Input != nil {
			c.opt.Input(c.sent, c.player, c.in)
		}
		if !c.in.Image(c.player, c.remembered(c.sent)) {
			c.rest(c.game.Commands())
		}
		c.stats.Commands++
		if c.resting++; !c.atRest(c.remembered(c.sent)) {
			c.resting = 0
		}
	}
	// Who has done nothing for a while says so now and then, and is believed; so someone who only looks on costs next to nothing.
	rate := c.game.Rate()
	last, most := c.redundancy()
	switch idle := c.resting - max(rate/2, 2*most); {
	case idle <= 0:
		c.sendCommands(c.way, last)
	case idle%max(rate, 2) == 1 || idle == 1+rate/4: // the first time twice, as it may be lost
		c.sendCommands(c.way, 0)
	}
	for _, w := range c.tries { // the player may be theirs already, and the word of it on its way
		if w.stage >= Greeting {
			c.sendCommands(w, last)
		}
	}
	for _, w := range c.parting { // or still
		if w.lingers {
			c.sendCommands(w, last)
		}
	}
}

// repeated is what is left of the last command when it is used again: without its edges.
func (c *Client) repeated() []int32 {
	if c.edger == nil {
		e, err := newEdger(c.game)
		if err != nil {
			return c.remembered(c.sent)
		}
		c.edger = e
	}
	if !c.edger.level(c.remembered(c.sent)) {
		return c.remembered(c.sent)
	}
	return c.edger.levels
}

func (c *Client) atRest(image []int32) bool {
	slots := c.game.Commands().Slots
	for i, v := range image {
		if v != slots[i].Absent {
			return false
		}
	}
	return true
}

// sendCommands sends the last few commands, oldest first, and what goes with them. None means that the player rests.
func (c *Client) sendCommands(w *way, last int) {
	if !w.alive() {
		return
	}
	if w.packed++; w.packed <= firstPackets && c.stats.Moves+uint64(len(c.tries)) > 0 && last > 0 {
		last = maxRedundancy // whatever was sent to the server before may have been in vain
	}
	c.images = c.images[:0]
	for n := world.Tick(last); n > 0; n-- {
		if c.sent >= n {
			c.images = append(c.images, c.remembered(c.sent-n+1))
		}
	}
	c.header = replica.CommandHeader{Tick: c.sent}
	if c.opt.Header != nil {
		c.opt.Header(&c.header)
	}
	b, err := c.writer.Append(append(c.scratch[:0], byte(max(w.epoch, 1))), c.header, c.images, w.conn.Conn().MaxPayload()-1)
	if err != nil {
		c.stats.Bad++
		return
	}
	c.scratch = b
	c.send(w, wire.CommandChannel, b)
}

// remembered is where the image of a tick's command is.
func (c *Client) remembered(t world.Tick) []int32 {
	n := len(c.history) / historyTicks
	i := int(t%historyTicks) * n
	return c.history[i : i+n]
}

// rest makes the present command one that does nothing.
func (c *Client) rest(s *bits.Schema) {
	image := c.remembered(c.sent)
	for i := range s.Slots {
		image[i] = s.Slots[i].Absent
	}
}

// Sent is the newest tick for which the client has made a command, and Command its image at one of the last ticks, or nil: what a client that predicts
// predicts with.
func (c *Client) Sent() world.Tick { return c.sent }

// Command is the image of the client's command at one of the last 64 ticks, or nil. It must be left as it is.
func (c *Client) Command(t world.Tick) []int32 {
	if c.in == nil || t == 0 || t > c.sent || c.sent-t >= historyTicks {
		return nil
	}
	return c.remembered(t)
}
