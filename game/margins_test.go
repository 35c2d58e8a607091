package game_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/timeline"
)

// Margins are the title's unless they are changed, all of them or one, and those that make no sense
// are refused.
func TestMarginsWith(t *testing.T) {
	own := arena.Title.Margins()
	all := slices.Clone(own)
	for i := range all {
		all[i].By = 0.75
	}
	one := slices.Clone(own)
	one[0].By = 2
	more := append(slices.Clone(own), timeline.Margin{Class: "Fighter", Field: "Aim", By: 0.5})
	for _, x := range []struct {
		texts []string
		want  []timeline.Margin
	}{
		{nil, own}, {[]string{"0.75"}, all}, {[]string{"Fighter.Pos=2"}, one},
		{[]string{"0.75", " Fighter.Pos = 0.75"}, all}, {[]string{"Fighter.Aim=0.5"}, more},
	} {
		if got, err := arena.Title.MarginsWith(x.texts...); err != nil ||
			!slices.Equal(got, x.want) {
			t.Errorf("%q: %v, %v, want %v", x.texts, got, err, x.want)
		}
	}
	// A title that says nothing of margins has them for where its bodies are.
	want := []timeline.Margin{{Class: "Paddle", Field: "Y", By: 0.5}}
	if got, err := pong.Title.MarginsWith("0.5"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for text, says := range map[string]string{
		"":                "is no margin",
		"far":             "is no margin",
		"Fighter.Pos=":    "is no margin",
		"Fighter=1":       "is no field",
		"Ghost.Pos=1":     "no such class or event",
		"Fighter.Soul=1":  "no such field",
		"Fired.At=1":      "event Fired is strict",
		"Fighter.Pos=-1":  "give 0 or more",
		"Fighter.Pos=NaN": "give 0 or more",
		"Fighter.Pos=Inf": "give 0 or more",
		"Fighter.Pos=1e9": "never further apart than",
		"Fighter.Pos.X=1": "same field or a part of it",
	} {
		if _, err := arena.Title.MarginsWith(text); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}
