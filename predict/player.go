package predict

import (
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// A Player puts a Client into a topology's client that offers hooks, as topology/clientserver does. Its methods are those hooks:
//
//	p := &predict.Player{Command: keys}
//	o := clientserver.ClientOptions{ ...
//		Clock: p, Input: p.Input, Header: p.Header, Snapshot: p.Snapshot, Event: p.Event,
//		Begun: func(l clientserver.Level, view, start *world.World) {
//			err = p.Begin(view, start, predict.Options{Player: client.Player()})
//		},
//	}
//
// After each of the topology's ticks, draw what Show gives.
type Player struct {
	// Command gives the player's command for a tick, with world.Give. It is shown the world as it was drawn last.
	Command func(t world.Tick, me world.Player, shown *world.World, in *world.Inputs)
	// Retracted, if set, is told by Show of events that were shown and did not happen after all, because a server whose world may be taken back took them back: a
	// kill that was none. The notice has the event as it was shown, its kind, its fields by Read, and for how long it was believed.
	Retracted func(n *Notice)

	client *Client
	game   *world.Game
	now    time.Duration
	shown  *world.World
	me     world.Player
	image  []int32
	pace   Cadence
}

// Begin starts with a new world: view is the partial one that the topology keeps, start the world as it was at its start, or nil.
func (p *Player) Begin(view, start *world.World, o Options) error {
	o.Settings, o.Start = view.Settings(), start
	if p.client != nil {
		o.Style = p.client.Style()
	}
	c, err := New(view.Game(), o)
	if err != nil {
		return err
	}
	p.client, p.me, p.shown = c, o.Player, nil
	p.game = view.Game()
	if s := p.game.Commands(); s != nil {
		p.image = make([]int32, len(s.Slots))
	}
	return nil
}

// Client is the client of the present world, or nil before there is one.
func (p *Player) Client() *Client { return p.client }

// Heard is for the topology to call: how the connection does, with each snapshot.
func (p *Player) Heard(now time.Duration, _ *replica.Snapshot, q conn.Quality) {
	p.now = max(p.now, now)
	if p.client != nil {
		p.client.SetQuality(q.RoundTrip, q.LossOut)
		p.pace.Rate = p.game.Rate()
		p.pace.Observe(now, q)
	}
}

// SendRate is how many packets a second to send, for conn.Conn's SetSendRate after each tick: fewer than ticks where the way to the server is too narrow for
// as many. See Cadence.
func (p *Player) SendRate() float64 { return p.pace.PerSecond() }

// Target is for the topology to call: up to which tick there should be commands now.
func (p *Player) Target(now time.Duration) world.Tick {
	p.now = max(p.now, now)
	if p.client == nil || !p.client.Started() {
		return 0
	}
	n := p.client.Due(now)
	return p.client.Tick() + world.Tick(n)
}

// Reset is for the topology to call: another world begins, or time stood still.
func (p *Player) Reset() {
	if p.client != nil {
		p.client.Pause()
	}
}

// Input is for the topology to call: it asks for the command of a tick, and predicts that tick with it.
func (p *Player) Input(t world.Tick, me world.Player, in *world.Inputs) {
	c := p.client
	if c == nil || !c.Started() || t <= c.Tick() {
		return
	}
	for c.Tick()+1 < t { // ticks for which it asks no more
		c.Next()
		c.Step()
	}
	if p.Command != nil {
		if p.shown == nil {
			p.show(p.now)
		}
		p.Command(t, me, p.shown, in)
	}
	if next := c.Next(); p.image != nil && in.Image(me, p.image) {
		c.fail(next.GiveImage(me, p.image))
	}
	c.Step()
}

// Header is for the topology to call: it tells the server what of others is shown, where that is the past.
func (p *Player) Header(h *replica.CommandHeader) {
	if p.client == nil || p.client.Style() != HalfLife {
		return
	}
	seen := max(0, p.client.Seen())
	h.Seen, h.SeenTick = true, world.Tick(seen)
	h.SeenPart = uint8(16 * (seen - float64(h.SeenTick)))
}

// Snapshot is for the topology to call with each packet of news.
func (p *Player) Snapshot(s *replica.Snapshot) {
	if p.client != nil {
		p.client.Snapshot(p.now, s)
	}
}

// Event is for the topology to call with each reliable event.
func (p *Player) Event(e *replica.Event) {
	if p.client != nil {
		p.client.Event(e)
	}
}

// Show gives the world to draw now, or nil before there is one.
func (p *Player) Show(now time.Duration) *world.World {
	p.now = max(p.now, now)
	if p.client == nil || !p.client.Started() {
		return nil
	}
	return p.show(now)
}

func (p *Player) show(now time.Duration) *world.World {
	p.shown = p.client.Show(now)
	if p.Retracted != nil {
		for i := range p.client.Notices() {
			if n := &p.client.Notices()[i]; n.What == Retracted {
				p.Retracted(n)
			}
		}
	}
	return p.shown
}
