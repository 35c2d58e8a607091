package client

import (
	"time"

	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/ways"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// Frame is the whole of a client: it takes in what came, makes a command for each tick that is due,
// sends what is to be sent, and gives what there is to show. It may be called at any rate, with a
// time that runs forward: commands are made and sent about once a tick, however many frames there
// are.
func (c *Client) Frame(now time.Duration, command Command) View {
	c.reports.work(c.o.Clock, true)
	defer c.reports.work(c.o.Clock, false)
	c.Receive(now)
	if now-c.ticked >= c.game.TickLength()*3/4 {
		c.ticked = now
		c.Advance(c.Due(), command)
		c.Send()
	}
	return c.Show()
}

// Receive takes in what has come, without sending anything: all that a page needs that nobody looks
// at.
func (c *Client) Receive(now time.Duration) {
	passed := now - c.now
	c.now = now
	c.nets = c.ways.Links(c.nets[:0])
	for _, n := range c.nets {
		c.drain(n)
	}
	c.ways.Tend(now, passed)
	c.handle()
	c.head()
}

// head has commands be in time at a server that the player is about to go on at.
func (c *Client) head() {
	if c.predict == nil {
		return
	}
	trip := time.Duration(0)
	if w := c.ways.Heading(); w != nil {
		trip = w.Measured()
	}
	c.predict.Toward(c.now, trip)
}

// Due is the tick up to which there should be commands now, or the last for which there is one.
func (c *Client) Due() world.Tick {
	if !c.plays() || !c.predict.Started() {
		return c.commands.sent
	}
	return c.predict.Tick() + world.Tick(c.predict.Due(c.now))
}

// plays says whether the player can do anything.
func (c *Client) plays() bool {
	seat := c.ways.Seat()
	return c.Phase() == Playing && !seat.Watching && !c.scene.paused && c.commands.in != nil &&
		seat.Player != world.Nobody
}

// Advance asks for a command for each tick up to one, and predicts what it causes. An author's own
// loop gives it what Due says.
func (c *Client) Advance(target world.Tick, command Command) {
	m := &c.commands
	if !c.plays() {
		return
	}
	if target <= m.sent { // the clock waits for the server
		if m.posted > 0 && m.posted < m.sent && c.predicts() {
			c.post()
		}
		return
	}
	me, p := c.Player(), c.predict
	if m.sent == 0 || target-m.sent > mostAtOnce {
		c.stats.Skipped += m.skip(me, target-1)
	} else if at := p.Tick(); at > m.sent && at < target {
		c.stats.Skipped += m.skip(me, at) // the server is past them
	}
	shown := c.screen.world
	if shown == nil {
		shown = p.Truth()
	}
	for m.sent < target {
		t := m.sent + 1
		m.in.Reset()
		if command != nil {
			command(t, me, shown, m.in)
		}
		image := m.remember(t, me)
		c.stats.Commands++
		if c.o.Tap != nil {
			c.o.Tap.Command(t, image)
		}
		if p.Started() {
			c.step(t, image)
		}
	}
	if busy := c.o.Title.Busy; busy != nil && busy(shown, me) {
		c.ways.Hold(busyTime)
	}
	c.post()
}

// busyTime is how long after a fight the client does not go to a nearer server.
const busyTime = 3 * time.Second

// step predicts up to a tick, for which the player has made a command.
func (c *Client) step(t world.Tick, image []int32) {
	p := c.predict
	for p.Tick()+1 < t { // ticks for which nobody is asked any more
		p.Next()
		p.Step()
	}
	if p.Tick() >= t {
		return
	}
	if p.Next().GiveImage(c.Player(), image) != nil {
		c.stats.Bad++
	}
	p.Step()
	c.commands.show(t, p.Sight(t))
}

// Send sends what is due: commands, once Advance has made them, and whatever else is to be said.
func (c *Client) Send() {
	if cn := c.Conn(); cn != nil && c.predicts() {
		cn.SetSendRate(c.commands.pace.PerSecond())
	}
	c.report()
	c.upload()
	c.sendState(c.hearing)
	for _, h := range c.hearings {
		c.sendState(h)
	}
	c.live = c.ways.Live(c.live[:0])
	for _, w := range c.live {
		c.flush(w)
	}
}

// sendState sends what a receiver has to say to its server.
func (c *Client) sendState(h *hearing) {
	if h == nil {
		return
	}
	for _, m := range h.receiver.Outgoing() {
		c.scratch = append(append(c.scratch[:0], byte(h.epoch)), m...)
		c.ways.Send(h.way, wire.StateChannel, c.scratch)
	}
}

// flush sends the datagrams of a way.
func (c *Client) flush(w *ways.Way) {
	c.out = c.ways.Flush(c.now, w, c.out[:0])
	out := c.out
	c.handle() // a timeout is found by flushing
	l := c.links[w.Link()]
	if l == nil {
		return
	}
	for done := 0; done < len(out); {
		n, err := l.Send(out[done:])
		if done += n; err == nil {
			continue
		}
		if !c.ways.Refused(w, done, err) {
			break
		}
		done++
	}
	c.handle()
}

// predicts says whether the style predicts anything, and so whether it is worth to adapt to the
// network.
func (c *Client) predicts() bool { return c.o.Style != predict.None }
