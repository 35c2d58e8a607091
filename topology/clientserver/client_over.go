package clientserver

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// This file is what happens on ways to other servers: those that are tried, up to where one takes over, and those that are left.

// tried looks at what happened on a way that is being tried.
func (c *Client) tried(w *way) {
	for _, e := range w.conn.Events() {
		switch {
		case w == c.way: // since the event before
			c.on(&e)
		case !slices.Contains(c.tries, w):
		default:
			c.attempt(w, &e)
		}
	}
	if w == c.way {
		c.apply()
	}
}

func (c *Client) attempt(w *way, e *conn.Event) {
	switch e.Kind {
	case conn.Connected:
		if w.spare = !c.needs(w); !w.spare {
			w.stage, w.since, w.heard = Greeting, c.now, c.now
			c.tell(w, wire.Message{Kind: wire.Hello, Version: c.protocol.Hash(), On: c.watching, Name: c.name})
		}
	case conn.TicketReceived:
		if t, ok := w.conn.Ticket(); ok {
			c.ticket = t
		}
		if w.spare {
			c.drop(w) // now that it can come back: a ticket works once at each server
		}
	case conn.BulkReceived:
		if e.Tag == wire.TagDeclarations { // it has another version of the game
			c.bar(w.place)
			c.drop(w)
		}
	case conn.Disconnected:
		c.failed(w)
	case conn.Message:
		switch e.Channel {
		case wire.ControlChannel:
			var m wire.Message
			if m.Parse(e.Data) != nil {
				c.stats.Bad++
				return
			}
			c.offered(w, &m)
		case wire.StateChannel:
			if w.receiver != nil && len(e.Data) > 0 && e.Data[0] == byte(w.epoch) {
				if w.receiver.Message(e.Data[1:]) != nil {
					c.stats.Bad++
				}
			}
		case wire.SnapshotChannel:
			if w.receiver != nil && w.receiver.Packet(e.Data) == nil {
				c.stats.Packets++
				c.stats.Bytes += uint64(len(e.Data))
				c.goOn(w)
			}
		}
	}
}

// needs says whether a server that has been reached is to be asked for a seat. It is not if the one that is played at is heard again, or another has been asked, unless that one takes
// its time. Who has been asked is not told otherwise, since the seat may have been given.
func (c *Client) needs(w *way) bool {
	for _, x := range c.tries {
		if x != w && x.stage > Connecting && c.now-x.since < 2*c.patience() {
			return false
		}
	}
	return w.wished || c.away()
}

// failed forgets a way that leads nowhere.
func (c *Client) failed(w *way) {
	c.stats.Failed++
	if i := slices.Index(c.tries, w); i >= 0 {
		c.tries = slices.Delete(c.tries, i, i+1)
	}
	w.since = c.now
	c.parting = append(c.parting, w)
}

// offered handles a control message of a server that is being tried.
func (c *Client) offered(w *way, m *wire.Message) {
	switch m.Kind {
	case wire.Welcome:
		w.welcome, w.stage = *m, Loading
	case wire.Level:
		if w.stage < Loading {
			c.stats.Bad++ // there is no seat yet
			return
		}
		if !c.same(w, m) {
			old := c.way
			c.takeOver(w)
			c.part(old)
			c.load(m)
			return
		}
		w.wanted, w.epoch, w.named = *m, m.Epoch, c.now
		settings, err := c.opt.Settings.settings(c.level)
		if err != nil { // it was good before
			c.failed(w)
			return
		}
		w.receiver, w.start = c.newReceiver(m, settings, m.Tick)
		w.stage = Playing
		c.tell(w, wire.Message{Kind: wire.Ready, Epoch: m.Epoch, On: w.start != nil})
	case wire.Places:
		w.places = m.Places
	case wire.Move:
		if len(m.Places) == 1 && m.Places[0].Addr != w.place.Addr {
			c.target = m.Places[0]
		}
	}
}

// wish handles the wish of the server that is played at that the client go on elsewhere.
func (c *Client) wish(m *wire.Message) {
	c.unwanted = m.On
	if len(m.Places) == 0 {
		return
	}
	c.target = m.Places[0]
	if i := slices.IndexFunc(c.places, func(p wire.Place) bool { return p.Addr == c.target.Addr }); i >= 0 {
		c.target = c.places[i] // which has a name
	}
}

// same says whether a server plays the very game that the client is in, so that it can go on where it is.
func (c *Client) same(w *way, m *wire.Message) bool {
	if c.phase != Playing || c.view == nil {
		return false
	}
	now := c.view.Tick() + world.Tick(max(c.now-c.way.heard, 0)/c.game.TickLength())
	off := time.Duration(int64(m.Tick)-int64(now)) * c.game.TickLength()
	was := &c.played
	return m.Seed == was.Seed && m.Name == was.Name && m.Data == was.Data && m.Start == was.Start && w.welcome.Player == c.player && w.welcome.On == c.watching &&
		off > -tickSlack && off < tickSlack
}

// goOn makes the way by which the world was just shown the one that is played by. The world goes on: what is in view stays until something newer is told of it.
func (c *Client) goOn(w *way) {
	old, deaf := c.way, !c.way.alive() || c.silent()
	c.takeOver(w)
	if deaf {
		c.part(old)
	} else {
		c.linger(old)
	}
	c.phase, c.played = Playing, w.wanted
	c.fresh, c.sound, c.spoilt = true, c.now, 0
	c.heirs = newHeirs(c.view, w.start, c.now+settleTime)
	w.start = nil
	c.echoes.moved()
	if m, ok := c.clock.(Mover); ok {
		m.Moved()
	}
	if c.opt.Moved != nil {
		c.opt.Moved(w.place)
	}
}

// takeOver makes a way that was tried the one that is played by. What becomes of the one before is up to the caller.
func (c *Client) takeOver(w *way) {
	if i := slices.Index(c.tries, w); i >= 0 {
		c.tries = slices.Delete(c.tries, i, i+1)
	}
	c.way = w
	w.heard, w.due = c.now, false
	for _, x := range slices.Clone(c.tries) {
		c.drop(x)
	}
	m := &w.welcome
	c.player, c.client, c.name, c.watching, c.interval = m.Player, m.Client, m.Name, m.On, int(m.Interval)
	c.lost, c.unwanted, c.target, c.turn, c.next, c.paused = nil, false, wire.Place{}, 0, 0, false
	if c.phase != Playing {
		c.phase = Loading
	}
	if w.places != nil {
		c.places = w.places
	}
	c.stats.Moves++
}

// part takes leave of a server without giving up the seat there.
func (c *Client) part(w *way) {
	w.conn.Close(wire.ReasonMoved, "")
	w.since, w.receiver = c.now, nil
	if !slices.Contains(c.parting, w) {
		c.parting = append(c.parting, w)
	}
}

// linger takes leave of a server that works, when it says that the player is not its own any more. Until then commands go there as well, since no one here knows from which tick on
// the other's count.
func (c *Client) linger(w *way) {
	w.since, w.receiver, w.lingers = c.now, nil, true
	c.parting = append(c.parting, w)
}

// lingered looks at what a server says that is being left.
func (c *Client) lingered(w *way) {
	for _, e := range w.conn.Events() {
		var m wire.Message
		if w.lingers && e.Kind == conn.Message && e.Channel == wire.ControlChannel && m.Parse(e.Data) == nil && m.Kind == wire.Move && m.On {
			w.lingers = false
			c.part(w)
		}
	}
}

// leaveBehind forgets the servers that know that they were left, or should.
func (c *Client) leaveBehind() {
	for _, w := range c.parting {
		if w.lingers && c.now-w.since > partTime {
			w.lingers = false
			c.part(w)
		}
	}
	c.parting = slices.DeleteFunc(c.parting, func(w *way) bool {
		if w.lingers && w.alive() || !w.conn.Done() && c.now-w.since <= partTime {
			return false
		}
		w.release()
		return true
	})
}
