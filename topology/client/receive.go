package client

import (
	"errors"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/ways"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A hearing takes what one server tells of one world.
type hearing struct {
	way      *ways.Way
	receiver *replica.Receiver
	epoch    uint32
	start    *world.World // what the level starts with, while the way is tried
	fresh    bool         // something came that has not been applied
	frozen   bool         // the server was told to use no tables that it has learned

	sound  time.Duration // when a packet last made sense
	spoilt int           // packets that made none since then
}

// drain takes in what waits at a link.
func (c *Client) drain(n ways.Link) {
	l := c.links[n]
	if l == nil {
		return
	}
	for {
		k, err := l.Receive(c.batch)
		if err != nil {
			c.ways.Cut(c.now, n, err)
			c.handle()
			return
		}
		for i := 0; i < k; {
			i += c.ways.Receive(c.now, n, c.batch[i:k])
			c.handle()
		}
		if k < len(c.batch) {
			return
		}
	}
}

// handle looks at what happened on the ways, and then takes in what the server told of the world.
func (c *Client) handle() {
	for e, ok := c.ways.Next(); ok; e, ok = c.ways.Next() {
		switch e.Kind {
		case ways.Message:
			c.message(&e)
		case ways.Dial:
			c.dial(&e)
		case ways.Hangup:
			c.hangUp(e.Link)
		case ways.Level:
			if e.Same {
				c.makeReady(e.Way)
			} else {
				c.load(e.Way)
			}
		case ways.Bulk:
			if e.Tag == wire.TagTables {
				c.taught(e.Way, e.Data)
			} else {
				c.bulk(e.Tag, e.Data)
			}
		case ways.Tables:
			c.offered(e.Way, e.Words)
		case ways.Carried:
			c.carriedUpload(e.Way, e.Same)
		case ways.Taken:
			c.taken(e.Way, e.Words)
		case ways.Said:
			c.said(e.Words)
		case ways.Welcomed:
			c.welcomed()
		case ways.Moved:
			c.goOn(e.Way)
		case ways.Returning:
			c.hearing = nil
		}
	}
	c.apply()
}

func (c *Client) dial(e *ways.Event) {
	l, err := c.o.Dial(e.Server)
	if err == nil && l == nil {
		err = errors.New("client: Options.Dial gave no link")
	}
	if err != nil {
		c.ways.Dialled(e.Link, 0, err)
		return
	}
	c.links[e.Link] = l
	c.ways.Dialled(e.Link, l.MaxDatagram(), nil)
}

func (c *Client) hangUp(n ways.Link) {
	if l := c.links[n]; l != nil {
		_ = l.Close() // nothing more is expected of it
		delete(c.links, n)
	}
}

// message takes a message about the world.
func (c *Client) message(e *ways.Event) {
	h := c.heardBy(e.Way)
	if h == nil {
		return
	}
	switch e.Channel {
	case wire.SnapshotChannel:
		c.packet(h, e.Data)
	case wire.StateChannel:
		if len(e.Data) == 0 || e.Data[0] != byte(h.epoch) {
			return // about a world that is no more
		}
		if h.receiver.Message(e.Data[1:]) != nil {
			c.stats.Bad++
		}
		h.fresh = true
	}
}

func (c *Client) heardBy(w *ways.Way) *hearing {
	if c.hearing != nil && c.hearing.way == w {
		return c.hearing
	}
	if i := slices.IndexFunc(c.hearings, func(h *hearing) bool { return h.way == w }); i >= 0 {
		return c.hearings[i]
	}
	return nil
}

// packet takes a packet of a snapshot.
func (c *Client) packet(h *hearing, data []byte) {
	err := h.receiver.Packet(data)
	h.fresh = true
	switch {
	case err == nil:
		c.stats.Packets++
		c.stats.Bytes += uint64(len(data))
		h.sound, h.spoilt = c.now, 0
		if h != c.hearing {
			c.ways.Show(h.way) // the world is shown there, too: go on with it
		}
	case errors.Is(err, replica.ErrTables):
		// They were forgotten, or never came: better none than packets that are of no use.
		c.stats.Bad++
		if !h.frozen {
			h.frozen = true
			c.ways.Tell(h.way, &wire.Message{Kind: wire.Answers, Number: 1, Answer: wire.No})
		}
	case h != c.hearing:
	case errors.Is(err, replica.ErrEpoch) || errors.Is(err, replica.ErrStale):
		c.stats.Stale++
	default:
		c.stats.Bad++
		c.spoil(h)
	}
}

// spoil counts packets that make no sense. The receiver has asked for what it needs; if that does
// not help for a while, it is best to begin anew.
func (c *Client) spoil(h *hearing) {
	if h.spoilt++; h.spoilt >= spoiltMany && c.now-h.sound > spoiltLong {
		h.sound, h.spoilt = c.now, 0
		c.tell(&wire.Message{Kind: wire.Again, Epoch: h.epoch})
	}
}

const (
	spoiltMany = 20
	spoiltLong = 3 * time.Second
	// carryTime is how long it may take after a move until whatever the new server does not tell
	// of is taken for gone.
	carryTime = time.Second
)

// goOn goes on in the same world by another way. What is in view stays until something newer is
// told of it.
func (c *Client) goOn(w *ways.Way) {
	h := c.heardBy(w)
	if h == nil || c.predict == nil {
		return
	}
	c.hearing, c.hearings = h, c.hearings[:0]
	h.fresh = true
	c.scene.way, c.scene.paused = w, w.Paused()
	c.carried = newCarriedOver(c.predict.Truth(), h.start, c.now+carryTime)
	h.start = nil
	c.told.moved()
	c.predict.Moved()
	c.screen.moved = append(c.screen.moved, w.Server())
}

// apply takes what the server told into the truth and the prediction. Reliable events come before
// the snapshots that the server made after them.
func (c *Client) apply() {
	h := c.hearing
	if h == nil || !h.fresh {
		return
	}
	h.fresh = false
	r := h.receiver
	events := r.Events()
	for i := range events {
		if !c.told.hear(&events[i]) {
			c.predict.Event(&events[i])
		}
	}
	if t := r.Settled(); t > 0 {
		for _, e := range c.told.certain(t, c.predict.Truth().Has) {
			c.predict.Event(&replica.Event{Emitted: e, Delivery: world.Saved, Retracted: true})
		}
	}
	for s := r.Next(); s != nil; s = r.Next() {
		c.snapshot(s)
	}
	if c.predict.Err() != nil {
		c.stats.Bad++
	}
	c.ways.Shown(c.predict.Truth().Tick())
}

// snapshot takes what a packet brought.
func (c *Client) snapshot(s *replica.Snapshot) {
	if s.Report {
		c.stats.Snapshots++
		c.stats.Early = s.Early
		c.stats.Repeated += uint64(s.Repeated)
		q := c.Conn().Quality()
		c.predict.SetQuality(q.RoundTrip, q.LossOut)
		c.predict.SetLeast(q.RoundTripMin)
		c.predict.SetJitter(q.Jitter)
		c.commands.observe(c.now, s.Tick, q)
	}
	if c.carried != nil && c.carried.update(c.now, c.predict.Truth(), s) {
		c.carried = nil
	}
	c.predict.Snapshot(c.now, s)
	if c.o.Tap != nil {
		c.o.Tap.Snapshot(s)
	}
}

// forget drops what is heard by ways that are not tried any more.
func (c *Client) forget() {
	c.hearings = slices.DeleteFunc(c.hearings, func(h *hearing) bool {
		return h.way.State() != ways.Ready && h.way.State() != ways.Seated
	})
}
