package scene

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/world"
)

// undoneLife is how long a line about something that did not happen is still to be read.
const undoneLife = 3.0

// Undo takes back an event that was shown and did not happen after all, where someone could still
// believe in it: a kill is struck out and not just gone, so that whoever has read it knows. What
// was to be seen for a moment only, such as sparks, is left to fade.
func (s *Scene) Undo(event bits.Syncer) {
	switch v := event.(type) {
	case *arena.Killed:
		s.unkilled(v)
	case *arena.Damaged:
		if v.By == s.me && s.me != world.Nobody {
			s.Landed = 0
			s.Feed.hint("no hit after all", Dim)
		}
	case *arena.PickedUp:
		if v.By == s.me && s.me != world.Nobody {
			s.Feed.hint("not yours after all", Dim)
		}
	}
}

// UndoneName is what players read about an event that did not happen after all.
func UndoneName(event bits.Syncer) string {
	switch event.(type) {
	case *arena.Killed:
		return "a kill"
	case *arena.Damaged:
		return "a hit"
	case *arena.Explosion:
		return "a blast"
	case *arena.Beam:
		return "a beam"
	case *arena.PickedUp:
		return "a find"
	case *arena.Spawned:
		return "a return"
	}
	return "something"
}

func (s *Scene) unkilled(v *arena.Killed) {
	for i := len(s.Feed.Kills) - 1; i >= 0; i-- {
		if k := &s.Feed.Kills[i]; !k.Undone && k.by == v.By && k.victim == v.Victim {
			k.Undone, k.Age = true, min(k.Age, killLife-undoneLife)
			break
		}
	}
	switch {
	case s.me == world.Nobody:
	case v.Victim == s.me:
		s.Killer = world.Nobody
		s.Feed.Announce("alive after all", Good)
	case v.By == s.me:
		s.Feed.Announce("not after all", Dim)
	}
}
