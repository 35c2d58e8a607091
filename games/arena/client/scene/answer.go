package scene

import "github.com/coeval-dev/coeval/det"

// An Answer measures how soon a fighter moves once the player wants it to: the delay that
// prediction is there to hide. It looks at the player's own fighter as it is drawn, each time that
// it was at rest and then a key went down. A fighter at rest may still be drawn moving, while an
// error of an earlier prediction is smoothed away; so it is its velocity that tells. The zero value
// is ready.
type Answer struct {
	// Frames and Ticks are how much passed, the last time, between the frame in which the key was
	// first seen and the one that showed it moved; 0 is the same frame, and Ticks counts those that
	// were computed without moving it. Count is how often it was measured.
	Frames, Ticks, Count int

	at      det.Vec2
	tick    uint64
	armed   bool // it is at rest, and no key is down
	waiting bool
	frames  int
	idle    int
}

// Watch is told, once a frame: whether a key is down, where the fighter is drawn and how fast it
// goes, and how many ticks the player was asked for until now.
func (a *Answer) Watch(going bool, at, velocity det.Vec2, tick uint64) {
	rests := velocity == det.Vec2{}
	moved := at != a.at && !rests
	switch {
	case !going:
		a.armed, a.waiting = rests, false
	case a.armed:
		a.armed, a.waiting, a.frames, a.idle = false, true, 0, 0
	}
	if a.waiting {
		switch {
		case moved:
			a.Frames, a.Ticks, a.waiting = a.frames, a.idle, false
			a.Count++
		default:
			a.frames++
			if tick > a.tick {
				a.idle += int(tick - a.tick)
			}
		}
	}
	a.at, a.tick = at, tick
}

// Ready reports whether the next key that goes down will be measured: the fighter is at rest, and
// no key is down.
func (a *Answer) Ready() bool { return a.armed }

// Lose is told when there is no fighter to watch.
func (a *Answer) Lose() { a.armed, a.waiting = false, false }
