package client

import (
	"fmt"
	"strings"

	"github.com/coeval-dev/coeval/predict"
)

// A Blind is a test that the player takes without knowing what is tested: two styles of prediction,
// called A and B, take turns; then the player says which felt better, or that there was no
// difference, and the score is kept. The zero value is off, with an empty score.
type Blind struct {
	on     bool
	pair   [2]predict.Style
	turn   int
	until  float64
	asking bool
	dice   uint64
	// Score is by style: how often it was preferred, how often the other was, and how often there
	// was no difference.
	Score [3]Tally
}

// A Tally is how a style fared.
type Tally struct{ Won, Lost, Even int }

// turnTime is how long each of the two is felt before they change, and turns how many there are
// before the question.
const (
	turnTime = 9.0
	turns    = 4
)

// Seed makes the choices of one program differ from those of another.
func (b *Blind) Seed(n uint64) { b.dice = n }

// On says whether a test is under way.
func (b *Blind) On() bool { return b.on }

// Asking says whether the player is asked which felt better.
func (b *Blind) Asking() bool { return b.on && b.asking }

// Start begins a test, at a time in seconds.
func (b *Blind) Start(now float64) {
	b.on = true
	b.draw(now)
}

// Stop ends it; the score stays.
func (b *Blind) Stop() { b.on, b.asking = false, false }

// draw chooses two styles that differ.
func (b *Blind) draw(now float64) {
	first := predict.Style(b.roll(3))
	second := predict.Style(b.roll(2))
	if second >= first {
		second++
	}
	b.pair = [2]predict.Style{first, second}
	b.turn, b.asking, b.until = 0, false, now+turnTime
}

// roll is a number below n.
func (b *Blind) roll(n uint64) uint64 {
	b.dice += 0x9e3779b97f4a7c15
	z := b.dice
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return (z ^ z>>31) >> 33 % n
}

// Update goes on to a time and gives the style to play with, if a test is under way. While the
// player is not in the game time stands still.
func (b *Blind) Update(now float64, playing bool) (predict.Style, bool) {
	if !b.on {
		return 0, false
	}
	if !playing {
		b.until = max(b.until, now+turnTime/2)
	}
	if !b.asking && now >= b.until {
		b.turn++
		b.until = now + turnTime
		b.asking = b.turn >= turns
	}
	return b.pair[b.turn%2], true
}

// Vote takes the answer: 0 for A, 1 for B, anything else for no difference. Then another pair
// begins.
func (b *Blind) Vote(which int) {
	if !b.Asking() {
		return
	}
	x, y := &b.Score[b.pair[0]], &b.Score[b.pair[1]]
	switch which {
	case 0:
		x.Won++
		y.Lost++
	case 1:
		x.Lost++
		y.Won++
	default:
		x.Even++
		y.Even++
	}
	b.draw(b.until - turnTime)
	b.until += turnTime
}

// Text is what to tell the player: a line, and a smaller one.
func (b *Blind) Text(now float64) (line, hint string) {
	if b.asking {
		return "Which felt better?   1: A   2: B   3: no difference", b.Summary()
	}
	return fmt.Sprintf("Blind test: this is %c, for %d s", 'A'+b.turn%2, int(b.until-now)+1),
		b.Summary()
}

// Summary is the score so far, without saying which two are being compared. It is empty before the
// first vote.
func (b *Blind) Summary() string {
	if b.Score == ([3]Tally{}) {
		return ""
	}
	var list []string
	for i, t := range b.Score {
		list = append(list,
			fmt.Sprintf("%v %d of %d", predict.Style(i), t.Won, t.Won+t.Lost+t.Even))
	}
	return strings.Join(list, "    ")
}
