package game_test

import (
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/world"
)

// What is wrong with a title's queries is said when the title is checked.
func TestQueries(t *testing.T) {
	tell := func(_ *world.World, to []byte) []byte { return append(to, "3:2"...) }
	for name, x := range map[string]struct {
		queries []game.Query
		want    string
	}{
		"good": {[]game.Query{{Name: "score", Answer: tell},
			{Name: "time left", Answer: tell}}, ""},
		"no name": {[]game.Query{{Answer: tell}}, "a name of 1 to 32"},
		"a kind":  {[]game.Query{{Name: "info", Answer: tell}}, "none of ping,info"},
		"twice": {[]game.Query{{Name: "a", Answer: tell}, {Name: "a", Answer: tell}},
			"no other has"},
		"no answer": {[]game.Query{{Name: "score"}}, "has no Answer"},
		"an escape": {[]game.Query{{Name: "\x1b[2J", Answer: tell}}, "choose a name"},
		"too many":  {make([]game.Query, 9), "a title may have 8"},
		"never":     {[]game.Query{{Name: "a", Answer: tell, Every: -1}}, "below zero"},
	} {
		title := pong.Title.Clone()
		title.Queries = x.queries
		err := title.Check()
		if x.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", name, err)
		}
		if len(title.Clone().Queries) != len(x.queries) {
			t.Error("a clone has no queries")
		}
	}
}
