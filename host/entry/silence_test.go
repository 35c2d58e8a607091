package entry

import (
	"strings"
	"testing"
)

// TestSilence: before the first word of the server, and after a while without one, the player is
// told so, and after some seconds what may be wrong. A page that draws few frames blames no one.
func TestSilence(t *testing.T) {
	var s Silence
	if got := s.Watch(0, 0); got != "waiting for the server" {
		t.Errorf("at once: %q", got)
	}
	pass := func(seconds, frame float64, packets uint64) (said string) {
		for at := 0.0; at < seconds; at += frame {
			said = s.Watch(frame, packets)
		}
		return said
	}
	if got := pass(4, 0.02, 0); !strings.Contains(got, "nothing has come from the server for 4 s") {
		t.Errorf("after 4 s: %q", got)
	}
	for what, c := range map[string]struct {
		seconds, frame float64
		want           string
	}{
		"a word":         {0.02, 0.02, ""},
		"half a second":  {0.5, 0.02, ""},
		"a second":       {1, 0.02, "waiting for the server"},
		"a starved page": {3, 1, ""},
	} {
		packets := s.packets + 1
		s.Watch(0.02, packets)
		if got := pass(c.seconds, c.frame, packets); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

// TestSilenceStatus: what the session itself has to say comes first.
func TestSilenceStatus(t *testing.T) {
	for status, want := range map[string]string{
		"": "waiting for the server", "connecting": "waiting for the server",
		"entering": "waiting for the server", "the game is paused": "the game is paused",
		"loading the level": "loading the level",
	} {
		var s Silence
		if got := s.Say(status, 0, 0); got != want {
			t.Errorf("%q becomes %q, want %q", status, got, want)
		}
	}
}
