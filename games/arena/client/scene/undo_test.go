package scene_test

import (
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/world"
)

// TestUndo takes back kills of a match as they come: the line is struck out and stays long enough
// to be read, and others are left alone.
func TestUndo(t *testing.T) {
	m := newMatch(t, "duel", 6)
	var s scene.Scene
	undone, mine := 0, 0
	for range 60 * 60 {
		m.step(t)
		s.Update(scene.Frame{World: m.w, Me: 1, Dt: 1.0 / 60, Fresh: true,
			Screen: det.Vec2{X: 32, Y: 18}})
		for _, v := range world.Events[arena.Killed](m.w) {
			before := 0
			for i := range s.Feed.Kills {
				if s.Feed.Kills[i].Undone {
					before++
				}
			}
			v := *v
			s.Undo(&v)
			after := 0
			for i := range s.Feed.Kills {
				if k := &s.Feed.Kills[i]; k.Undone {
					after++
					if k.Age == 0 && k.Fade() < 1 {
						t.Error("a line that was just struck out fades already")
					}
				}
			}
			if after != before+1 {
				t.Fatalf("%d lines are struck out, and were %d", after, before)
			}
			undone++
			if v.By == 1 && v.Victim != 1 {
				mine++
				if s.Feed.Big.Text != "not after all" {
					t.Errorf("the player believes %q", s.Feed.Big.Text)
				}
			}
			if v.Victim == 1 && s.Killer != world.Nobody {
				t.Error("the player believes to have been killed")
			}
		}
	}
	if undone == 0 || mine == 0 {
		t.Errorf("%d kills, %d of one's own", undone, mine)
	}
	s.Landed = 1
	s.Undo(&arena.Damaged{By: 1})
	if s.Landed != 0 || s.Feed.Hint.Text == "" {
		t.Error("a hit that was none is still shown")
	}
	s.Undo(&arena.Spawned{}) // which is left to fade
}
