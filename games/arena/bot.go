package arena

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// A Bot plays: it looks at a world as a client shows it, and gives a command. It knows the map,
// what is in the world, and beyond that only what it has a clear line of sight to, so in a whole
// world it sees no more than in its own part of it. It takes its time to react, aims with an
// unsteady hand, and has a temper. From the same seed and the same worlds come the same commands. A
// bot serves one player and belongs to one goroutine; thinking allocates nothing.
type Bot struct {
	seed  uint64
	turns uint64 // thoughts so far
	rand  det.Rand
	temper

	scene Scene
	level *Map
	nav   *nav
	me    world.ID
	life  uint8
	when  world.Tick // of the dead: when to press the trigger

	speech
	errand
	target
	hand
	evasion
}

// A temper is what a bot is like: each from 0 to 1. It never changes.
type temper struct{ skill, nerve, chatty float64 }

// A speech is what a bot has to say: its name first, then a quip, if it has one.
type speech struct {
	named bool
	quip  string
}

// An errand is where a bot goes when it has no one to fight. The route leads to its goal while
// routed is set.
type errand struct {
	route   route
	routed  bool
	until   world.Tick // when to think of another goal
	heading det.Vec2
	stuck   det.Vec2 // where it was a while ago
	lost    int      // for how many ticks it goes anywhere, because it was stuck
}

// A target is whom a bot fights, as it was last seen. If clear is set it is seen now.
type target struct {
	enemy    world.ID
	spotted  world.Tick // since when it is seen without a break
	lastSeen world.Tick
	at, vel  det.Vec2 // where it was seen, and how fast it went
	clear    bool     // the line to it is free
}

// A hand is what a bot aims with.
type hand struct {
	aim    det.Angle
	sway   float64 // the hand's error, in radians
	weapon Weapon
}

// An evasion is how a bot keeps from being hit: to and fro, and out of a rocket's way.
type evasion struct {
	strafe  float64
	swap    world.Tick // when to strafe the other way
	dodge   det.Vec2
	dodging world.Tick // until when
}

// NewBot makes a bot. What it is like hangs on the seed: some are good, some are bold, some talk.
func NewBot(seed uint64) *Bot {
	r := det.At(seed, 7, 0)
	b := &Bot{seed: seed,
		temper: temper{skill: r.Range(0.15, 0.9), nerve: r.Float64(), chatty: r.Float64()}}
	b.strafe = 1
	return b
}

// NewBotOf makes a bot of a given skill, from 0 for a beginner to 1.
func NewBotOf(seed uint64, skill float64) *Bot {
	b := NewBot(seed)
	b.skill = det.Clamp(skill, 0, 1)
	return b
}

// A bot looks around at every sixth tick, each at its own; between that it acts on what it saw.
const lookEvery = 6

// sightLimit is as far as a bot sees: a little more than a screen shows to a player.
const sightLimit = 22.0

// Think gives the bot's command for the tick that comes after the world's. If its fighter is not in
// the world, or the map is not known, it is the empty command.
func (b *Bot) Think(w *world.World, me world.Player) Command {
	b.turns++
	b.rand = det.At(b.seed, uint64(me), b.turns)
	f := b.self(w, me)
	level := world.StateOf[Match](w).level
	if f == nil || level == nil {
		return Command{}
	}
	if level != b.level {
		b.level, b.nav, b.routed = level, level.nav(), false
		b.scene.set(level)
	}
	cmd := Command{Aim: b.aim}
	b.talk(w, me, &cmd)
	if !f.Alive() {
		b.enemy, b.routed = world.None, false
		if b.when <= w.Tick() {
			cmd.Fire = b.when != 0 && uint32(w.Tick()) >= f.Back
			b.when = w.Tick() + 20 + world.Tick(b.rand.IntN(60))
		}
		return cmd
	}
	if f.Life != b.life {
		b.life, b.aim, b.routed, b.lost, b.when = f.Life, f.Aim, false, 0, 0
	}
	if (b.turns+b.seed)%lookEvery == 0 {
		b.scene.Look(w)
		b.look(w, f)
		b.duck(w, f, me)
	}
	b.follow(w, f)
	b.point(w, f, &cmd)
	b.move(w, f, &cmd)
	return cmd
}

// self finds the bot's own fighter.
func (b *Bot) self(w *world.World, me world.Player) *Fighter {
	if f := world.Get[Fighter](w, b.me); f != nil && w.Owner(b.me) == me {
		return f
	}
	for id, f := range world.All[Fighter](w) {
		if w.Owner(id) == me {
			b.me = id
			return f
		}
	}
	return nil
}

var botNames = [...]string{
	"Ada", "Bolt", "Cinder", "Dash", "Ember", "Flint", "Grit", "Hex", "Iris", "Jinx", "Kite", "Lux",
	"Moss", "Nova", "Onyx", "Pike", "Quill",
	"Rook", "Sable", "Thorn", "Umber", "Vex", "Wren", "Yarrow", "Zed"}

var quips = [...]string{
	"mind the gap", "sorry about that", "that was meant for someone else", "nothing personal",
	"read the manual", "one for the album",
	"did that hurt?", "next, please", "you again?", "I learned that one from you"}

var laments = [...]string{
	"my arm slipped", "lag", "good one", "I saw that coming", "again!", "this rocket was defective"}

// talk gives its name, and now and then says something about a kill.
func (b *Bot) talk(w *world.World, me world.Player, cmd *Command) {
	if !b.named {
		b.named = true
		cmd.Verb, cmd.Text = Name, botNames[b.seed%uint64(len(botNames))]
		return
	}
	for _, k := range world.Events[Killed](w) {
		if k.By != me && k.Victim != me || !b.rand.Chance(0.15*b.chatty) {
			continue
		}
		b.quip = quips[b.rand.IntN(len(quips))]
		if k.Victim == me {
			b.quip = laments[b.rand.IntN(len(laments))]
		}
	}
	if b.quip != "" && b.rand.Chance(1.0/50) { // after the time that typing takes
		cmd.Verb, cmd.Text, b.quip = Say, b.quip, ""
	}
}
