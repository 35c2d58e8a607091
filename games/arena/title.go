package arena

import (
	"cmp"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// Title is the arena as programs run it.
var Title = &game.Title{
	Game: Game,
	About: "a shooter seen from above; arrows walk and aim, space fires; the level is a map: " +
		strings.Join(levelNames(), ", "),
	Uploads: []game.Upload{{Name: "replay", Most: 8 << 20}},
	Levels: game.Levels{
		Names: levelNames(), Settings: LevelSettings, Read: mapName, Endless: endless,
		Most: MaxText,
		For: func(players int) string {
			if players > 8 {
				return "foundry"
			}
			return DefaultMap
		},
	},
	Sight: game.Sight{Views: viewsWithin(ViewReach)},
	Knobs: []game.Knob{reachKnob},
	Bot:   game.Bots(insistent),
	Screen: game.Screen{
		New:    func() func(*draw.Surface, *game.Frame) { return new(View).Draw },
		Scores: scores,
		Hint:   "arrows or WASD walk, the pointer or the last way aims, space or the button fires",
	},
	Control: game.NewControls(func() func(*game.Input) Command {
		var pad Pad
		return func(in *game.Input) Command {
			return pad.Keys(in.Left, in.Right, in.Up, in.Down, in.Fire)
		}
	}),
	Players: 4,
	Shots: game.Shots{
		Clear: func(w *world.World, from, to det.Vec3) bool {
			var s Scene
			return !s.Look(w) || s.Clear(flat(from), flat(to))
		},
		Hits: hits,
	},
	Client: "github.com/coeval-dev/coeval/games/arena/client/play",
}

// scores lists who has killed the most.
func scores(w *world.World) (list []game.Score) {
	for id, s := range world.All[Sheet](w) {
		if p := w.Owner(id); p != world.Nobody {
			list = append(list, game.Score{Player: p, Points: s.Kills})
		}
	}
	slices.SortStableFunc(list,
		func(a, b game.Score) int { return cmp.Compare(b.Points, a.Points) })
	return list
}

// insistent makes a bot that asks for its name until it has it: a command may come too late, and
// what is done once with it is then not done.
func insistent(seed uint64) func(*world.World, world.Player) Command {
	bot, name, asked := NewBot(seed), "", world.Tick(0)
	return func(w *world.World, me world.Player) Command {
		c := bot.Think(w, me)
		switch {
		case c.Verb == Name:
			name, asked = c.Text, w.Tick()
		case name != "" && c.Verb == Nothing && w.Tick() >= asked+world.Tick(Game.Rate()) &&
			sheetOf(w, me).Name != name:
			c.Verb, c.Text, asked = Name, name, w.Tick()
		}
		return c
	}
}

// sheetOf is a player's line on the score board, or an empty one.
func sheetOf(w *world.World, p world.Player) *Sheet {
	for id, s := range world.All[Sheet](w) {
		if w.Owner(id) == p {
			return s
		}
	}
	return &Sheet{}
}

func flat(p det.Vec3) det.Vec2 { return det.Vec2{X: p.X, Y: p.Y} }

// levelNames lists the maps that come with the game, the one to begin with first. Their files are
// named as they are; no map is parsed before it is needed.
func levelNames() []string {
	names := []string{DefaultMap}
	files, _ := builtin.ReadDir("maps") // they are part of the program
	for _, f := range files {
		if n := strings.TrimSuffix(f.Name(), ".txt"); n != DefaultMap {
			names = append(names, n)
		}
	}
	return names
}

// mapName looks at the text of a map that someone brings, and works out what servers and bots will
// need of it: whoever brings a map while a server runs does that before the server changes to it.
func mapName(text []byte) (string, error) {
	m, err := brought(text)
	if err != nil {
		return "", err
	}
	_, err = m.Plan()
	return m.Name, err
}

// brought is the map of a text. What was worked out for it before is still there.
func brought(text []byte) (*Map, error) {
	m, err := Parse(text)
	if err != nil {
		return nil, err
	}
	Register(m)
	m = MapByHash(m.hash)
	m.nav()
	return m, nil
}

// LevelSettings makes the settings of a world from a level, whose data is the text of a map, or
// which names one that comes with the game.
func LevelSettings(l game.Level) (world.Settings, error) {
	if len(l.Data) == 0 {
		return Settings(cmp.Or(l.Name, DefaultMap), Options{})
	}
	m, err := brought(l.Data)
	if err != nil {
		return world.Settings{}, err
	}
	settings, err := Settings(DefaultMap, Options{})
	if err != nil {
		return settings, err
	}
	if match := matchOf(settings.States); match != nil {
		match.Rotation[0] = m.Hash() // a map that was sent may have the name of one that is here
	}
	return settings, nil
}

// endless takes the end of rounds away.
func endless(s *world.Settings) {
	if match := matchOf(s.States); match != nil {
		match.Kills, match.Time = 0, 0
	}
}

func matchOf(states []bits.Syncer) *Match {
	for _, state := range states {
		if match, ok := state.(*Match); ok {
			return match
		}
	}
	return nil
}

// hits lists who was hit in a world's tick.
func hits(w *world.World, yield func(game.Hit) bool) {
	for e, d := range world.Events[Damaged](w) {
		h := game.Hit{
			By: d.By, Victim: w.Owner(e.About), Weapon: d.Weapon.String(),
			Direct: d.Weapon != Launcher || d.Amount >= Arms[Launcher].Damage}
		if e.By.Class() == classShot {
			h.Shot = e.By
		}
		if f := world.Get[Fighter](w, e.About); f != nil {
			h.Kill = !f.Alive()
		}
		if !yield(h) {
			return
		}
	}
}

// Star is the player to watch: the one that is watched already, for as long as they live, so that
// the view does not jump about; then who has killed the most of those alive. Where no one is, it is
// the same as before, and the place where they fell.
func Star(w *world.World, now world.Player) world.Player {
	star, most := now, 0
	for id, f := range world.All[Fighter](w) {
		p := w.Owner(id)
		if p == world.Nobody || !f.Alive() {
			continue
		}
		if p == now {
			return now
		}
		if kills := sheetOf(w, p).Kills; star == now || kills > most {
			star, most = p, kills
		}
	}
	return star
}
