package arena

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
)

// Command is what a player intends for one tick. It takes 27 bits, and more only when there is
// something to say.
type Command struct {
	// X and Y are where to go, from -Push to Push each; Y grows downward. Keys give the ends, a
	// stick what lies between.
	X, Y int8
	// Aim is where to look and shoot: 0 is to the right, and as Y grows downward, a quarter turn is
	// down.
	Aim det.Angle
	// Weapon is what to take in hand, if there is ammunition for it; 0 for whatever it is.
	Weapon Weapon
	// Fire is the trigger. Hold it to fire again and again. If a command is lost no shot goes off
	// by mistake.
	Fire bool `world:"edge"`
	// Verb is something to do once, beside fighting.
	Verb Verb `world:"edge"`
	// Text goes with Say and Name.
	Text string `world:"edge"`
}

// Push is the most that X and Y of a Command can be.
const Push = 7

// A Verb is something that a player does once.
type Verb uint8

// The verbs. There is room for more; one that is not known does nothing.
const (
	Nothing Verb = iota
	Say          // say Text to everyone
	Name         // be called Text
	Taunt        // wave
	verbs   = 8
)

// The most bytes that a line of chat and a name have.
const (
	MaxSay  = 64
	MaxName = 16
)

// Sync names the fields.
func (c *Command) Sync(s *bits.Sync) {
	s.Int8(&c.X, -Push, Push)
	s.Int8(&c.Y, -Push, Push)
	s.Angle(&c.Aim, aimBits)
	bits.Enum(s, &c.Weapon, int(weapons))
	s.Bool(&c.Fire)
	bits.Enum(s, &c.Verb, verbs)
	if c.Verb == Say || c.Verb == Name {
		s.String(&c.Text, MaxSay)
	}
}

// aimBits make steps of 0.04 degrees: at sixty units, a tenth of a fighter.
const aimBits = 13

// Keys makes the moving part of a command of the keys that are held.
func Keys(left, right, up, down bool) Command {
	var c Command
	if left {
		c.X -= Push
	}
	if right {
		c.X += Push
	}
	if up {
		c.Y -= Push
	}
	if down {
		c.Y += Push
	}
	return c
}
