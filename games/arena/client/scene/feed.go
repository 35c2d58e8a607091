package scene

import (
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/world"
)

// A Feed is what is told in words: who killed whom, what is said, what was just picked up, and one
// line that everyone should read. The zero value is empty.
type Feed struct {
	Kills []Kill
	Lines []Line
	// Big is the line in the middle of the screen, and Hint the small one below; both are empty
	// most of the time.
	Big, Hint Line
}

// A Kill is one line about a death.
type Kill struct {
	By, Victim           string
	ByColor, VictimColor Color
	Weapon               arena.Weapon
	Accident, Mine       bool
	// Undone says that it did not happen after all.
	Undone bool
	Age    float64

	by, victim world.Player
}

// A Line is something said, by a player or by the game.
type Line struct {
	Who   string
	Text  string
	Color Color
	Age   float64
}

const (
	killLife = 6.0
	lineLife = 9.0
	bigLife  = 2.6
	hintLife = 1.8
	maxKills = 6
	maxLines = 8
)

// Update lets time pass.
func (f *Feed) Update(dt float64) {
	f.Kills = aged(f.Kills, dt, func(k *Kill) (*float64, float64) { return &k.Age, killLife })
	f.Lines = aged(f.Lines, dt, func(l *Line) (*float64, float64) { return &l.Age, lineLife })
	if f.Big.Age += dt; f.Big.Age > bigLife {
		f.Big = Line{}
	}
	if f.Hint.Age += dt; f.Hint.Age > hintLife {
		f.Hint = Line{}
	}
}

// Fade is how much of a kill is left to see, from 1 to 0.
func (k *Kill) Fade() float64 { return min(1, killLife-k.Age) }

// Fade is how much of a line is left to see, from 1 to 0.
func (l *Line) Fade() float64 { return min(1, lineLife-l.Age) }

// Announce shows a line that everyone should read.
func (f *Feed) Announce(text string, c Color) { f.Big = Line{Text: text, Color: c} }

func (f *Feed) hint(text string, c Color) { f.Hint = Line{Text: text, Color: c} }

func (f *Feed) kill(k Kill) { f.Kills = upTo(maxKills, f.Kills, k) }

func (f *Feed) say(who string, c Color, text string) {
	f.Lines = upTo(maxLines, f.Lines, Line{Who: who, Text: text, Color: c})
}
