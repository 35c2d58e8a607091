package settings_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/knob/settings"
)

var knobs = []knob.Knob{
	{Name: "snapshots", Least: 1, Most: 60, Step: 1, Default: "20"},
	{Name: "interpolate", Least: 0, Most: 1000, Time: true, Auto: "as it is", Default: "auto"},
	{Name: "repair", Words: []string{"at-once", "trails"}, Default: "at-once"},
	{Name: "game.reach", Least: 1, Most: 50, Default: "20"},
}

// TestRoundTrip: what is written is read again.
func TestRoundTrip(t *testing.T) {
	values := knob.Values{"snapshots": "30", "interpolate": "60ms", "repair": "trails",
		"game.reach": "17.5"}
	f := settings.File{Game: "arena", Architecture: "quake3", Knobs: settings.Knobs(values),
		About: "on wifi"}
	b, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), `"snapshots": 30`) {
		t.Errorf("a number is written as %s", b)
	}
	g, err := settings.Parse("a file", b)
	if err != nil {
		t.Fatal(err)
	}
	got, err := g.For("arena", "quake3", knobs)
	if err != nil || !maps.Equal(got, values) || g.About != f.About {
		t.Errorf("%v, %v", got, err)
	}
}

// TestRefused: what is not for this game, architecture or version, and what makes no sense.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                 "no file of settings",
		`[]`:               "no file of settings",
		`{"version":2}`:    "version 2, and this program reads version 1",
		`{"knobs":{}}`:     "version 0",
		`{"version":1}`:    "of which game and architecture",
		`{"version":1} {}`: "no file of settings",
		`{"version":1,"game":"arena","architecture":"quake3","knobs":{},"more":1}`: "unknown field",
		`{"version":1,"game":"arena","architecture":"quake3","knobs":[]}`:          "an object",
		`{"version":1,"game":"arena","architecture":"quake3","knobs":{"snapshots":[]}}`: "a number " +
			"or a text",
		`{"version":1,"game":"arena","architecture":"quake3","knobs":{"a":1,"a":2}}`: "twice",
		`{"version":1,"game":"arena","architecture":"quake3","knobs":{"hope":1}}`: `has no knob ` +
			`"hope"; there are snapshots`,
		`{"version":1,"game":"arena","architecture":"quake3","knobs":{"snapshots":61}}`: "1 to 60",
		`{"version":1,"game":"arena","architecture":"quake3","knobs":{"snapshots":"x"}}`: "1 to " +
			"60",
		`{"version":1,"game":"pong","architecture":"quake3","knobs":{}}`: "settings of the game pong",
		`{"version":1,"game":"arena","architecture":"doom3","knobs":{}}`: "settings of the " +
			"architecture doom3",
	} {
		f, err := settings.Parse("a file", []byte(text))
		if err == nil {
			_, err = f.For("arena", "quake3", knobs)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
	if _, err := settings.Parse("a file", make([]byte, 1<<20)); err == nil ||
		!strings.Contains(err.Error(), "at most") {
		t.Error(err)
	}
}

// FuzzParse: nothing that is read is refused when it was written again, and says the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"game":"arena","architecture":"quake3",` +
		`"knobs":{"snapshots":30,"interpolate":"60ms","repair":"trails","game.reach":1.5e1}}`))
	f.Add([]byte(`{"version":1,"game":"a","architecture":"b","knobs":{"x":"1e999","":0}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		one, err := settings.Parse("a file", b)
		if err != nil {
			return
		}
		again, err := one.Encode()
		if err != nil {
			t.Fatalf("%s cannot be written: %v", b, err)
		}
		two, err := settings.Parse("a file", again)
		if err != nil {
			t.Fatalf("%s was written as %s: %v", b, again, err)
		}
		values, err := one.For("arena", "quake3", knobs)
		same, wrong := two.For("arena", "quake3", knobs)
		if (err == nil) != (wrong == nil) || !maps.Equal(values, same) {
			t.Fatalf("%v, %v and %v, %v", values, err, same, wrong)
		}
		for name, text := range values {
			k, _ := knob.Find(knobs, name)
			if v, err := k.Parse(text); err != nil || v.Text != text {
				t.Fatalf("%s is %q, and again %q: %v", name, text, v.Text, err)
			}
		}
	})
}
