package scene

import (
	"math"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
)

// Controls are what the player holds and touches at one moment, whatever it is: keys and mouse, a
// gamepad, or two thumbs on glass.
type Controls struct {
	Left, Right, Up, Down bool     // keys
	Stick                 det.Vec2 // or a stick, up to length one
	// where the player points, as seen from the fighter; zero for nowhere
	Point  det.Vec2
	Fire   bool
	Weapon arena.Weapon // chosen now; None for no change
	Next   int          // go through the weapons, forward or back
}

// A Pilot makes commands of controls. It remembers what lasts: where one aims, what one has in
// hand, and what is still to be said.
type Pilot struct {
	aim    det.Angle
	weapon arena.Weapon
	queue  []saying
}

type saying struct {
	verb arena.Verb
	text string
}

// maxQueue is how much can wait to be said: who types faster than the game takes it loses the rest.
const maxQueue = 4

// Say queues a line of chat.
func (p *Pilot) Say(text string) { p.push(saying{arena.Say, arena.CleanText(text, arena.MaxSay)}) }

// Name queues a new name.
func (p *Pilot) Name(text string) {
	p.push(saying{arena.Name, arena.CleanText(text, arena.MaxName)})
}

// Taunt queues a wave.
func (p *Pilot) Taunt() { p.push(saying{arena.Taunt, ""}) }

func (p *Pilot) push(s saying) {
	if len(p.queue) < maxQueue && (s.text != "" || s.verb == arena.Taunt) {
		p.queue = append(p.queue, s)
	}
}

// Command makes the command for one tick.
func (p *Pilot) Command(c *Controls, me *arena.Fighter) arena.Command {
	out := arena.Keys(c.Left, c.Right, c.Up, c.Down)
	if out.X == 0 && out.Y == 0 && c.Stick.LenSq() > deadZone*deadZone {
		v := c.Stick.ClampLen(1).Mul(arena.Push)
		out.X, out.Y = int8(math.Round(v.X)), int8(math.Round(v.Y))
	}
	if c.Point.LenSq() > 0 {
		p.aim = c.Point.Angle()
	}
	out.Aim, out.Fire = p.aim, c.Fire
	out.Weapon = p.choose(c, me)
	if len(p.queue) > 0 {
		out.Verb, out.Text = p.queue[0].verb, p.queue[0].text
		p.queue = p.queue[1:]
	}
	return out
}

// deadZone is how far a stick may be off its middle at rest.
const deadZone = 0.18

// choose gives the weapon to ask for: the one that was chosen, as long as there is ammunition.
func (p *Pilot) choose(c *Controls, me *arena.Fighter) arena.Weapon {
	if c.Weapon != arena.None {
		p.weapon = c.Weapon
	}
	if me == nil {
		return p.weapon
	}
	if c.Next != 0 {
		step := arena.Weapon(1)
		if c.Next < 0 {
			step = arena.Rail - 1 // one back, of three
		}
		w := me.Weapon
		for range arena.Rail {
			if w = (w-1+step)%arena.Rail + 1; me.Ammo(w) > 0 || w == arena.Blaster {
				break
			}
		}
		p.weapon = w
	}
	return p.weapon
}
