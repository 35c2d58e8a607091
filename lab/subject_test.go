package lab_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// TestSubject: a title is played on the level that was asked for, or on the one that fits, and its
// matches never end.
func TestSubject(t *testing.T) {
	for _, x := range []struct {
		title   *game.Title
		level   string
		players int
		want    string
	}{
		{arena.Title, "", 16, "foundry"}, {arena.Title, "", 4, "duel"}, {
			arena.Title, "foundry", 4, "foundry"},
		{crowd.Title, "", 300, "300"}, {crowd.Title, "20", 300, "20"},
		{pong.Title, "", 2, ""}, {stack.Title, "", 2, ""},
	} {
		s, err := lab.NewSubject(x.title, x.level, x.players)
		if err != nil {
			t.Fatal(err)
		}
		if s.Level != x.want || s.Name() != x.title.Name() {
			t.Errorf("%s is played on %q, want %q", s.Name(), s.Level, x.want)
		}
		settings, err := s.Settings(s.On(7))
		if err != nil || settings.Seed != 7 || settings.Secret != 8 {
			t.Errorf("%s: seed %d and secret %d, %v", s.Name(), settings.Seed, settings.Secret, err)
		}
		w, err := s.Game.New(settings)
		if err != nil {
			t.Fatal(err)
		}
		if s.Name() == "arena" {
			if m := world.StateOf[arena.Match](w); m.Kills != 0 || m.Time != 0 ||
				m.Level().Name != x.want {
				t.Errorf("the match on %s ends after %d kills or %d", m.Level().Name, m.Kills,
					m.Time)
			}
		}
	}
	for says, x := range map[string]struct {
		title *game.Title
		level string
	}{`level "many"`: {crowd.Title, "many"}, "there are duel": {arena.Title, "nowhere"},
		"no title": {nil, ""}} {
		if _, err := lab.NewSubject(x.title, x.level, 2); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
}

// A thing that moves says itself by what it is compared.
type thing struct{ Pos, Way det.Vec2 }

func (a *thing) Sync(s *bits.Sync) {
	s.Vec2(&a.Pos, 0, 10, 0.5)
	s.Vec2(&a.Way, 0, 10, 0.5)
}

func (a *thing) Hints(h *game.Hints) {
	h.Body(1)
	h.Margin(&a.Way, 3)
}

// TestMargins: copies are compared by the fields that are named, or by what the title says, or by
// places.
func TestMargins(t *testing.T) {
	own := &game.Title{Game: world.Define("own", world.Class[thing]())}
	for _, x := range []struct {
		title  *game.Title
		fields []string
		want   []timeline.Margin
	}{
		{arena.Title, nil, []timeline.Margin{
			{Class: "Fighter", Field: "Pos", By: 0.5},
			{Class: "Beam", Field: "From", By: 0.5}, {Class: "Beam", Field: "To", By: 0.5},
			{Class: "Spark", Field: "At", By: 0.5}, {Class: "Explosion", Field: "At", By: 0.5},
		}},
		{arena.Title, []string{"Fighter.Pos", "Spark.At"}, []timeline.Margin{
			{Class: "Fighter", Field: "Pos", By: 0.5}, {Class: "Spark", Field: "At", By: 0.5},
		}},
		{crowd.Title, nil, []timeline.Margin{{Class: "Avatar", Field: "Pos", By: 0.5}}},
		{pong.Title, nil, []timeline.Margin{{Class: "Paddle", Field: "Y", By: 0.5}}},
		{stack.Title, nil, []timeline.Margin{{Class: "Thud", Field: "At", By: 0.5}}},
		{own, nil, []timeline.Margin{{Class: "thing", Field: "Way", By: 0.5}}},
		{own, []string{"thing.Pos"}, []timeline.Margin{{Class: "thing", Field: "Pos", By: 0.5}}},
	} {
		got, err := lab.Margins(x.title, 0.5, x.fields...)
		if err != nil || !slices.Equal(got, x.want) {
			t.Errorf("%s %v: %v, %v, want %v", x.title.Name(), x.fields, got, err, x.want)
		}
	}
	for field, says := range map[string]string{
		"Fighter": "write its class", "Ghost.Pos": "no such class or event",
		"Fighter.Soul": "no such field", "Damaged.From": "strict", "Fired.At": "strict",
	} {
		if _, err := lab.Margins(arena.Title, 0.5, field); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
}
