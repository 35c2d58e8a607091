package interest

import (
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// Traits are what interest knows of an entity: where it is, and what makes it worth showing. The
// zero value is an ordinary thing at the origin that does not move and makes no sound.
type Traits struct {
	// Pos is where it is. Games in the plane leave Z at zero. What is infinitely far away, or at
	// NaN, is Nowhere.
	Pos det.Vec3
	// Speed is how fast it may come nearer, in units a second: its greatest speed, or the present
	// one if it does not change suddenly. A client is shown it earlier by what it travels in that
	// client's round trip.
	Speed float64
	// Nimbus is how much further than other things it is seen: the radius of a large thing, the
	// height of a tower.
	Nimbus float64
	// Sound is how far it can be heard, by source Sound. Zero is silence.
	Sound float64
	// Importance is how much it matters to everyone: the carrier of the flag 3, a pebble 0.1. Zero
	// means 1, and no one is shown what has less.
	Importance float32
	// Owner is whose it is, for source Owned.
	Owner world.Player
	// Channels are those on which it is told, wherever it is, by source Channel: one bit each, such
	// as one for a team.
	Channels uint64
	// Only hides it from everyone who is on none of these channels, whatever source would show it:
	// what is invisible to other teams, or stands in another instance of a place. Zero hides it
	// from no one.
	Only uint64
	// Always shows it to everyone, by source Always.
	Always bool
	// Never shows it to no one, whatever else is said: for what the server keeps to itself.
	Never bool
	// Nowhere says that it has no position: it is neither seen nor heard, but can be owned, told on
	// a channel, or always shown.
	Nowhere bool
}

// far is more than any distance in a game, and yet its square is finite, so that sums and products
// of distances stay ordered.
const far = 1e15

// tidy brings what a game states into bounds, so that one absurd number does no harm to queries
// that have nothing to do with it.
func (t *Traits) tidy() {
	t.Speed = length(t.Speed)
	t.Nimbus = length(t.Nimbus)
	t.Sound = length(t.Sound)
	switch {
	case t.Importance == 0:
		t.Importance = 1
	case !(t.Importance > 0):
		t.Importance = -1
	case t.Importance > far:
		t.Importance = far
	}
	if !(t.Pos.Sub(t.Pos) == det.Vec3{}) { // an infinity or NaN is nowhere
		t.Pos, t.Nowhere = det.Vec3{}, true
	}
}

func length(x float64) float64 { return det.Clamp(x, 0, far) }

// An Observer is what interest knows of a client: from where it looks, and how late it is.
type Observer struct {
	// Pos is from where it sees and hears.
	Pos det.Vec3
	// Speed is how fast it may move, in units a second: it is shown earlier what it can reach
	// within its round trip.
	Speed float64
	// RoundTrip is the time from the client's command to the first snapshot that shows what came of
	// it. It is rounded up to steps of 25 ms, so that its jitter does not change views, and no more
	// than Options.Horizon of it counts.
	RoundTrip time.Duration
	// Player is whose things it is shown by source Owned.
	Player world.Player
	// Channels are those that it is on.
	Channels uint64
}

// lagStep is coarse enough that the jitter of a measured round trip rarely changes it, and fine
// enough that the margin is not much larger than it needs to be: 25 ms of a runner are a hand's
// breadth.
const lagStep = 25 * time.Millisecond

func (o *Observer) tidy(horizon time.Duration) {
	o.Speed = length(o.Speed)
	o.RoundTrip = min(max(o.RoundTrip, 0), horizon)
	if r := o.RoundTrip % lagStep; r != 0 {
		o.RoundTrip = min(o.RoundTrip+lagStep-r, horizon)
	}
	if !(o.Pos.Sub(o.Pos) == det.Vec3{}) {
		o.Pos = det.Vec3{}
	}
}

// Classes is a set of classes, by their numbers in the game. Where a source asks for one, the empty
// set stands for all classes.
type Classes [4]uint64

// ClassesOf makes a set of class numbers, such as ClassInfo.Number gives.
func ClassesOf(numbers ...int) Classes {
	var c Classes
	for _, n := range numbers {
		if n >= 0 && n < 256 {
			c[n>>6] |= 1 << (n & 63)
		}
	}
	return c
}

// Has says whether a class is in the set, or the set is empty and stands for all.
func (c *Classes) Has(number int) bool {
	return *c == (Classes{}) || uint(number) < 256 && c[number>>6]>>(number&63)&1 != 0
}
