package session

import (
	"time"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/topology/solo"
	"github.com/coeval-dev/coeval/world"
)

// Practice is a game alone against bots, with no network at all.
type Practice struct {
	run    *solo.Run
	world  *world.World
	pilot  Pilot
	bots   []*arena.Bot
	heard  func(w *world.World)
	length time.Duration
	next   time.Duration
	now    time.Duration
	begun  bool
}

// PracticeOptions say where and against whom. Zeros mean the smallest map and three bots.
type PracticeOptions struct {
	Map  string
	Seed uint64
	Bots int
	// Heard is called after each tick: the world lists what has happened.
	Heard func(w *world.World)
}

// NewPractice begins a game of which the player is the first.
func NewPractice(o PracticeOptions) (*Practice, error) {
	if o.Map == "" {
		o.Map = arena.DefaultMap
	}
	if o.Bots == 0 {
		o.Bots = 3
	}
	settings, err := arena.Settings(o.Map, arena.Options{Seed: o.Seed, Secret: o.Seed + 1})
	if err != nil {
		return nil, err
	}
	p := &Practice{heard: o.Heard, length: arena.Game.TickLength()}
	for i := range o.Bots {
		p.bots = append(p.bots, arena.NewBot(o.Seed+uint64(i)))
	}
	p.run, err = solo.New(arena.Game,
		solo.Options{Settings: settings, Players: 1 + o.Bots, Inputs: p.inputs, After: p.after})
	if err != nil {
		return nil, err
	}
	p.run.View(func(w *world.World) { p.world = w })
	return p, nil
}

func (p *Practice) inputs(t world.Tick, in *world.Inputs) {
	// the command is of the game's type
	give := func(player world.Player, c arena.Command) { _ = world.Give(in, player, c) }
	give(1, p.pilot(fighterOf(p.world, 1)))
	for i, b := range p.bots {
		player := world.Player(2 + i)
		if t == 2 {
			give(player, arena.Command{Verb: arena.Name, Text: BotName(i)})
			continue
		}
		give(player, b.Think(p.world, player))
	}
}

func (p *Practice) after(w *world.World, _ *world.Inputs) {
	p.world = w
	if p.heard != nil {
		p.heard(w)
	}
}

// Frame computes the ticks that are due. Time that cannot be caught up with is given up.
func (p *Practice) Frame(now time.Duration, pilot Pilot) {
	if !p.begun {
		p.next, p.begun = now, true
	}
	p.now, p.pilot = now, pilot
	if now-p.next > 4*p.length {
		p.next = now - 4*p.length
	}
	for ; p.next <= now; p.next += p.length {
		_ = p.run.Step() // an error of the game does not end it
	}
}

// View gives the world.
func (p *Practice) View() View {
	lead := 1 - float64(p.next-p.now)/float64(p.length)
	s := max(0, min(1, lead)) * p.length.Seconds()
	return View{World: p.world, Me: 1, Lead: s, Others: s}
}

var botNames = [...]string{
	"Ada", "Boole", "Curie", "Dirac", "Euler", "Fermi", "Gauss", "Hopper", "Ising", "Joule",
	"Kepler", "Lamarr", "Maxwell", "Noether", "Ohm", "Pascal"}

// BotName is what a bot is called.
func BotName(i int) string {
	if i < 0 {
		i = -i
	}
	if round := i / len(botNames); round > 0 {
		return botNames[i%len(botNames)] + " " + string(rune('A'+(round-1)%26))
	}
	return botNames[i]
}
