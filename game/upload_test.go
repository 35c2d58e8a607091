package game_test

import (
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
)

// TestUploadTag: the tag follows from the name as docs/clientserver.md says.
func TestUploadTag(t *testing.T) {
	u := game.Upload{Name: "spray"}
	if got := u.Tag(); got != 0x3b96486a {
		t.Errorf("the tag is %08x", got)
	}
}

// TestUploadMistakes: a title says what is wrong with its uploads, and what to do.
func TestUploadMistakes(t *testing.T) {
	for name, x := range map[string]struct {
		uploads []game.Upload
		want    string
	}{
		"no name":   {[]game.Upload{{Most: 1}}, "choose a name"},
		"a control": {[]game.Upload{{Name: "a\nb", Most: 1}}, "choose a name"},
		"long":      {[]game.Upload{{Name: strings.Repeat("x", 33), Most: 1}}, "choose a name"},
		"twice":     {[]game.Upload{{Name: "a", Most: 1}, {Name: "a", Most: 1}}, "choose a name"},
		"no size":   {[]game.Upload{{Name: "a"}}, "set Most"},
		"huge":      {[]game.Upload{{Name: "a", Most: game.MaxUpload + 1}}, "set Most"},
		"many":      {make([]game.Upload, game.MaxUploads+1), "a title may have 16"},
		"none":      {nil, ""},
	} {
		title := pong.Title.Clone()
		title.Uploads = x.uploads
		switch err := title.Check(); {
		case x.want == "" && err != nil, x.want != "" && err == nil:
			t.Errorf("%s: %v", name, err)
		case err != nil && !strings.Contains(err.Error(), x.want):
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
}
