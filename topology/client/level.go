package client

import (
	"fmt"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/ways"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// load gets ready for a level: with its data at hand at once, otherwise when the server has sent
// it.
func (c *Client) load(w *ways.Way) {
	c.scene.way, c.scene.named, c.scene.paused = w, c.now, w.Paused()
	c.hearing, c.hearings = nil, c.hearings[:0]
	m := w.Level()
	hash := game.LevelHash(m.Data)
	switch {
	case m.Size == 0:
		c.begin(nil)
		return
	case int64(m.Size) > int64(c.o.Title.Levels.Limit()):
		c.end(fmt.Errorf("client: the server plays a level of %d bytes, and those of this game "+
			"have at most %d", m.Size, c.o.Title.Levels.Limit()))
		return
	case hash == c.scene.level.Hash():
		c.begin(c.scene.level.Data)
		return
	case c.o.Store != nil:
		l := game.Level{Data: c.o.Store.Load(hash)}
		if l.Data != nil && l.Hash() == hash {
			c.begin(l.Data)
			return
		}
	}
	c.tell(&wire.Message{Kind: wire.Need, Epoch: m.Epoch})
}

// bulk takes what the server has sent in one piece.
func (c *Client) bulk(tag uint32, data []byte) {
	switch {
	case tag == wire.TagDeclarations && c.Phase() == Greeting:
		c.end(&VersionError{Difference: world.DiffDescriptions(c.game.Describe(), string(data))})
	case tag == wire.TagLevel && c.Phase() == Loading:
		m := c.scene.way.Level()
		l := game.Level{Name: m.Name, Seed: m.Seed, Data: data}
		if l.Hash() != game.LevelHash(m.Data) {
			return // of a level that was to be played before this one
		}
		if c.o.Store != nil {
			c.o.Store.Keep(l)
		}
		c.begin(data)
	default:
		c.stats.Bad++
	}
}

// begin makes the world of a level, and says so to the server.
func (c *Client) begin(data []byte) {
	w := c.scene.way
	m := w.Level()
	l := game.Level{Name: m.Name, Seed: m.Seed, Data: data}
	settings, err := c.o.Title.Settings(l)
	if err != nil {
		c.end(fmt.Errorf("client: the level that the server plays cannot be used: %w", err))
		return
	}
	tick := m.Tick
	if !c.scene.paused {
		tick += world.Tick((c.now - c.scene.named) / c.game.TickLength())
	}
	r, start := c.newReceiver(m, settings, tick)
	o := c.o.Predict
	o.Player, o.Settings, o.Start, o.Style = c.Player(), settings, start, c.style()
	if c.predict, err = predict.New(c.game, o); err != nil {
		c.end(err)
		return
	}
	c.teach(w, r)
	c.hearing = &hearing{way: w, receiver: r, epoch: m.Epoch, sound: c.now}
	c.scene.level = l
	c.carried, c.told = nil, alreadyTold{}
	c.commands.begin()
	c.screen.begin(l)
	c.stats.Worlds++
	c.ways.Begin(w, start != nil)
}

// makeReady gets ready to go on in the same world by another way.
func (c *Client) makeReady(w *ways.Way) {
	m := w.Level()
	settings, err := c.o.Title.Settings(c.scene.level)
	if err != nil { // it was good before
		c.ways.Fail(w)
		return
	}
	c.forget()
	r, start := c.newReceiver(m, settings, m.Tick)
	c.teach(w, r)
	h := c.heardBy(w)
	if h == nil {
		h = &hearing{way: w}
		c.hearings = append(c.hearings, h)
	}
	*h = hearing{way: w, receiver: r, epoch: m.Epoch, start: start, sound: c.now}
	c.ways.Ready(w, start != nil)
}

// newReceiver makes what takes the snapshots of a level, which is at about that tick. What is still
// as it was when the world began need not be sent, if both ends can make the same beginning;
// otherwise start is nil.
func (c *Client) newReceiver(m *wire.Message, settings world.Settings, tick world.Tick) (
	r *replica.Receiver, start *world.World,
) {
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

// welcomed learns who the player is, which may change when they begin to watch.
func (c *Client) welcomed() {
	if c.predict != nil {
		c.predict.SetPlayer(c.Player())
		c.predict.SetStyle(c.style())
	}
}

// said keeps what is said to the player for the next View.
func (c *Client) said(m *wire.Message) {
	w := Word{Text: m.Text}
	switch m.Kind {
	case wire.Roster:
		if m.On {
			clear(c.names) // another server, or some time has passed
		}
		for _, n := range m.Names {
			c.call(n.Player, n.Name)
		}
		return
	case wire.Chat:
		w.Kind, w.Player, w.Name, w.To = Chat, m.Player, m.Name, m.To
		c.call(m.Player, m.Name) // it may be from another server, whose roster is not told here
	case wire.Notice:
		w.Kind = Notice
	case wire.Pause:
		c.scene.paused = m.On
		if c.predict != nil {
			c.predict.Pause()
		}
		w.Kind = Proceed
		if m.On {
			w.Kind = Pause
		}
	}
	c.screen.words = append(c.screen.words, w)
}

// call remembers what a player is called, or that they have no name any more.
func (c *Client) call(p world.Player, name string) {
	switch {
	case p == world.Nobody:
	case name == "":
		delete(c.names, p)
	default:
		c.names[p] = name
	}
}
