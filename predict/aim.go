package predict

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// This file is what a player aims at: what the client showed of others when it made each command.
// Rules that judge a shot by world.World.Sees find it there while the shot is predicted, so a hit
// is foreseen if it is one on the screen; and the server is told, so that it can judge alike.

// aims are what was shown with each of the last commands, by tick.
type aims struct {
	ring  []aim
	tick  world.Tick // which is being predicted
	where func(target world.ID) (det.Vec3, bool)
}

// An aim is what was shown with one command. A tick that is predicted again finds what it found
// the first time, so that news of the present do not change what was seen then.
type aim struct {
	tick  world.Tick
	sight world.Sight
	asked []asked
}

// asked is where something was shown, for when a shot is judged.
type asked struct {
	target world.ID
	at     det.Vec3
}

// maxAsked is of how many things it is remembered where they were shown with one command. Of what a
// shot asks for beyond that, it is where it is shown last.
const maxAsked = 64

// initAims makes room for so many ticks.
func (c *Client) initAims(n int) {
	c.aims.ring = make([]aim, n)
	c.aims.where = c.shownAt
}

// at is what was shown with the command for a tick, or nil.
func (a *aims) at(t world.Tick) *aim {
	if len(a.ring) == 0 {
		return nil
	}
	if x := &a.ring[t%world.Tick(len(a.ring))]; x.tick == t {
		return x
	}
	return nil
}

// aim notes what is shown while the command for a tick is made.
func (c *Client) aim(t world.Tick) {
	if len(c.aims.ring) == 0 {
		return
	}
	x := &c.aims.ring[t%world.Tick(len(c.aims.ring))]
	*x = aim{tick: t, asked: x.asked[:0]}
	for i, info := range c.game.Classes() {
		if !info.Rewound() {
			continue
		}
		for id := range c.shown.Host().Of(i) {
			if len(x.asked) >= maxAsked {
				break
			}
			if at, ok := c.shown.Host().Place(id); ok {
				x.asked = append(x.asked, asked{id, at})
			}
		}
	}
	if ago := 16 * (float64(t) - c.seen); c.style == HalfLife && c.seen > 0 && ago > 0 {
		x.sight.Ago = uint16(min(ago+0.5, 1<<16-1))
	}
}

// aimed takes over what a shot of the player was seen to hit, when its tick was predicted for the
// first time.
func (c *Client) aimed(w *world.World) {
	x := c.aims.at(w.Tick())
	if x == nil || !c.style.Claims() {
		return
	}
	for _, claim := range w.Host().Claims() {
		x.sight.Add(claim)
	}
}

// shownAt is where something was shown when the command was made for the tick that is predicted.
func (c *Client) shownAt(target world.ID) (det.Vec3, bool) {
	x := c.aims.at(c.aims.tick)
	if x != nil {
		for i := range x.asked {
			if a := &x.asked[i]; a.target == target {
				return a.at, true
			}
		}
	}
	return c.shown.Host().Place(target)
}

// Sight is what was shown when the command for a tick was made, of the last ticks: what goes to the
// server with it. It is zero where others are shown as they are, or are not to be judged by what is
// shown.
func (c *Client) Sight(t world.Tick) world.Sight {
	if x := c.aims.at(t); x != nil {
		return x.sight
	}
	return world.Sight{}
}
