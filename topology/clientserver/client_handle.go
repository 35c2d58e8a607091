package clientserver

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// An EndError says why a server ended the connection, or did not let the client in.
type EndError struct {
	Reason conn.Reason
	Note   string // what the server had to say
}

func (e *EndError) Error() string {
	t := "clientserver: " + wire.ReasonText(e.Reason)
	if e.Note != "" {
		t += ": " + e.Note
	}
	return t
}

// A VersionError says that client and server do not have the same version of the game, and what differs.
type VersionError struct {
	// Difference is empty if the games are declared alike, and only what replica.Options says differs.
	Difference string
}

func (e *VersionError) Error() string {
	if e.Difference == "" {
		return "clientserver: the games are declared alike, but are sent otherwise: give client and server the same replica.Options (strategy, tables, classes)"
	}
	return "clientserver: the server has another version of the game:\n" + e.Difference
}

// handle looks at what happened on the connection.
func (c *Client) handle() {
	for _, e := range c.conn.Events() {
		c.on(&e)
	}
}

// on handles something that happened on the connection that is played by.
func (c *Client) on(e *conn.Event) {
	if c.phase == Ended {
		return
	}
	switch e.Kind {
	case conn.Connected:
		c.phase = Greeting
		c.say(wire.Message{Kind: wire.Hello, Version: c.protocol.Hash(), On: c.watching, Name: c.name})
	case conn.Message:
		c.message(e)
	case conn.BulkReceived:
		c.bulk(e)
	case conn.TicketReceived:
		if t, ok := c.conn.Ticket(); ok {
			c.ticket = t
		}
	case conn.Disconnected:
		c.disconnected(e.Reason, string(e.Data))
	}
}

// disconnected ends the client, or lets it come back if only the network is to blame.
func (c *Client) disconnected(reason conn.Reason, note string) {
	end := &EndError{Reason: reason, Note: note}
	switch reason {
	case conn.ReasonClosing, wire.ReasonMoved:
		to := netip.AddrPort{}
		if reason == wire.ReasonMoved {
			to = movedTo(note)
		}
		if c.lose(end, to) {
			return
		}
	case conn.ReasonTimeout, conn.ReasonNoAcks, conn.ReasonWornOut:
		if c.lose(end, netip.AddrPort{}) {
			return
		}
		if c.opt.Return > 0 && c.comeBack() {
			return
		}
	}
	c.phase, c.err, c.byServer = Ended, end, true
}

// comeBack connects again with the ticket. What is in view stays as it was until the server shows something newer.
func (c *Client) comeBack() bool {
	if c.phase != Connecting {
		c.retry = c.now + c.opt.Return
	}
	_, has := c.conn.Ticket()
	if !has && c.stats.Returns == 0 || c.now >= c.retry {
		return false
	}
	if c.connect(c.ticket) != nil {
		return false
	}
	c.receiver = nil
	c.stats.Returns++
	return true
}

func (c *Client) message(e *conn.Event) {
	switch e.Channel {
	case wire.SnapshotChannel:
		if c.receiver == nil {
			return
		}
		c.fresh = true
		switch err := c.receiver.Packet(e.Data); {
		case err == nil:
			c.stats.Packets++
			c.stats.Bytes += uint64(len(e.Data))
			c.sound, c.spoilt = c.now, 0
		case errors.Is(err, replica.ErrEpoch) || errors.Is(err, replica.ErrStale):
			c.stats.Stale++
		default:
			c.stats.Bad++
			c.spoil()
		}
	case wire.StateChannel:
		if c.receiver == nil || len(e.Data) == 0 || e.Data[0] != byte(c.epoch) {
			return // about a world that is no more
		}
		if err := c.receiver.Message(e.Data[1:]); err != nil {
			c.stats.Bad++
		}
		c.fresh = true
	case wire.ControlChannel:
		var m wire.Message
		if m.Parse(e.Data) != nil {
			c.stats.Bad++
			return
		}
		c.told(&m)
	}
}

// spoil counts packets that make no sense. The receiver has asked for what it needs; if that does not help for a while, it is best to begin anew.
func (c *Client) spoil() {
	if c.spoilt++; c.spoilt >= spoiltMany && c.now-c.sound > spoiltLong {
		c.sound, c.spoilt = c.now, 0
		c.say(wire.Message{Kind: wire.Again, Epoch: c.epoch})
	}
}

const (
	spoiltMany = 20
	spoiltLong = 3 * time.Second
)

// told handles a control message of the server.
func (c *Client) told(m *wire.Message) {
	switch m.Kind {
	case wire.Welcome:
		c.player, c.client, c.name, c.watching, c.interval = m.Player, m.Client, m.Name, m.On, int(m.Interval)
		if c.phase == Greeting {
			c.phase = Loading
		}
	case wire.Level:
		if c.phase == Greeting {
			c.stats.Bad++ // there is no seat yet
			return
		}
		c.load(m)
	case wire.Pause:
		c.paused = m.On
		c.clock.Reset()
		kind := Proceed
		if m.On {
			kind = Pause
		}
		c.word(Word{Kind: kind, Text: m.Text})
	case wire.Chat:
		c.word(Word{Kind: Chat, Player: m.Player, Name: m.Name, Text: m.Text})
	case wire.Notice:
		c.word(Word{Kind: Notice, Text: m.Text})
	case wire.Places:
		c.places, c.barred = m.Places, nil
	case wire.Move:
		c.wish(m)
	default:
		c.stats.Bad++
	}
}

func (c *Client) word(w Word) {
	if c.opt.Told != nil {
		c.opt.Told(w)
	}
}

// load gets ready for a level: with its data at hand at once, otherwise when the server has sent it.
func (c *Client) load(m *wire.Message) {
	c.wanted, c.named, c.phase, c.receiver = *m, c.now, Loading, nil
	if m.Size == 0 {
		c.begin(nil)
		return
	}
	if LevelHash(m.Data) == c.level.Hash() {
		c.begin(c.level.Data)
		return
	}
	if c.opt.Have != nil {
		if data := c.opt.Have(LevelHash(m.Data)); data != nil {
			l := Level{Data: data}
			if l.Hash() == LevelHash(m.Data) {
				c.begin(data)
				return
			}
		}
	}
	c.say(wire.Message{Kind: wire.Need, Epoch: m.Epoch})
}

// bulk takes what the server has sent in one piece.
func (c *Client) bulk(e *conn.Event) {
	switch {
	case e.Tag == wire.TagDeclarations && c.phase == Greeting:
		c.end(&VersionError{Difference: world.DiffDescriptions(c.game.Describe(), string(e.Data))})
	case e.Tag == wire.TagLevel && c.phase == Loading:
		l := Level{Name: c.wanted.Name, Seed: c.wanted.Seed, Data: e.Data}
		if l.Hash() != LevelHash(c.wanted.Data) {
			return // of a level that was to be played before this one
		}
		if c.opt.Keep != nil {
			c.opt.Keep(l.Hash(), l)
		}
		c.begin(e.Data)
	default:
		c.stats.Bad++
	}
}

// begin makes the partial world of a level, and says so to the server.
func (c *Client) begin(data []byte) {
	m := &c.wanted
	l := Level{Name: m.Name, Seed: m.Seed, Data: data}
	settings, err := c.opt.Settings.settings(l)
	if err != nil {
		c.end(fmt.Errorf("this client cannot use the level that the server plays: %w", err))
		return
	}
	tick := m.Tick
	if !c.paused {
		tick += world.Tick((c.now - c.named) / c.game.TickLength())
	}
	r, start := c.newReceiver(m, settings, tick)
	settings.Partial, settings.States = true, nil
	view, err := c.game.New(settings)
	if err != nil {
		c.end(err)
		return
	}
	if start != nil {
		for i, info := range c.game.Classes() {
			for id := range start.Of(i) {
				if info.State() { // entities are shown as they come into view, but there is always a state
					_ = view.Put(id, start.Entry(id), start.Image(id)) // it has one
				}
			}
		}
	}
	c.level, c.receiver, c.view, c.epoch, c.phase = l, r, view, m.Epoch, Playing
	c.sent, c.sound, c.spoilt = 0, c.now, 0
	c.played, c.heirs, c.echoes = *m, nil, echoes{}
	c.clock.Reset()
	c.say(wire.Message{Kind: wire.Ready, Epoch: m.Epoch, On: start != nil})
	if c.opt.Begun != nil {
		c.opt.Begun(l, view, start)
	}
}

// newReceiver makes what takes the snapshots of a level, which is at about that tick. What is still as it was when the world began need not be sent, if both ends can make the same
// beginning; otherwise start is nil.
func (c *Client) newReceiver(m *wire.Message, settings world.Settings, tick world.Tick) (r *replica.Receiver, start *world.World) {
	o := replica.ReceiverOptions{Epoch: uint8(m.Epoch), Tick: tick}
	if start, err := c.game.New(settings); err == nil {
		o.Start = start
		if r := replica.NewReceiver(c.protocol, o); r.Start() == m.Start {
			return r, start
		}
		o.Start = nil
	}
	return replica.NewReceiver(c.protocol, o), nil
}

// apply brings what is in view up to the newest state. Reliable events come before the snapshots that the server made after them.
func (c *Client) apply() {
	if !c.fresh || c.receiver == nil {
		return
	}
	c.fresh = false
	r, w := c.receiver, c.view
	changed := false
	begin := func() {
		if !changed {
			changed = true
			w.SetTick(r.Tick())
		}
	}
	events := r.Events()
	for i := range events {
		if !c.echoes.hear(&events[i]) {
			begin()
			c.reliable(&events[i])
		}
	}
	if t := r.Settled(); t > 0 {
		for _, e := range c.echoes.settle(t) {
			begin()
			c.reliable(&replica.Event{Emitted: e, Delivery: world.Saved, Retracted: true})
		}
	}
	for s := r.Next(); s != nil && c.receiver == r; s = r.Next() {
		begin()
		c.snapshot(s)
	}
	if changed && c.opt.Seen != nil {
		c.opt.Seen(w)
	}
}

func (c *Client) event(e *replica.Event) {
	if e.Deliver(c.view) != nil {
		c.stats.Bad++
	}
}

func (c *Client) reliable(e *replica.Event) {
	c.event(e)
	if c.opt.Event != nil {
		c.opt.Event(e)
	}
}

// snapshot shows what a packet brought.
func (c *Client) snapshot(s *replica.Snapshot) {
	if s.Report {
		c.stats.Snapshots++
		c.stats.Early = s.Early
		c.stats.Repeated += uint64(s.Repeated)
		c.clock.Heard(c.now, s, c.conn.Conn().Quality())
	}
	if c.heirs != nil && c.heirs.settle(c.now, c.view, s) {
		c.heirs = nil
	}
	for i := range s.Updates {
		u := &s.Updates[i]
		if u.What != replica.Held {
			c.view.Drop(u.ID)
		} else if c.view.Put(u.ID, u.Entry, u.Image) != nil {
			c.stats.Bad++
		}
	}
	for i := range s.Events {
		c.event(&s.Events[i])
	}
	if c.opt.Snapshot != nil {
		c.opt.Snapshot(s)
	}
}
