package ways

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// TestForgedAnswers: while a player finds out which server is the nearest, somebody answers in the
// name of one that is silent, with what others have answered and with all sorts of changes to that.
// The player is not drawn there, and no answer is longer than what it answers.
func TestForgedAnswers(t *testing.T) {
	s := &stage{t: t, cut: map[Link]bool{}, silent: map[string]bool{},
		barred: map[string]bool{}, states: map[*Way]State{}, text: &strings.Builder{}}
	do := func(text string) {
		for line := range strings.Lines(text) {
			l := simtest.Line{Options: map[string]string{}}
			for i, w := range strings.Fields(line) {
				if key, value, ok := strings.Cut(w, "="); ok {
					l.Options[key] = value
				} else if i == 0 {
					l.Verb = w
				} else {
					l.Args = append(l.Args, w)
				}
			}
			s.step(l)
		}
	}
	do(`server oslo
		server york trip=40ms
		server rome trip=100ms
		client oslo
		wait 500ms
		places oslo york rome
		wait 500ms
		silent oslo
		silent york`)
	york, rome := s.host("york"), s.host("rome")
	asked, answered := 0, 0
	for end := s.now + 3*time.Second; s.now < end; {
		s.now += stageStep
		s.tick()
		for _, d := range slices.Clone(rome.way) {
			if d.to {
				asked = max(asked, len(d.data.Data))
				continue
			}
			if s.set.Stats().Moves == 0 && s.set.Heading() == nil {
				answered = max(answered, len(d.data.Data))
			}
			for at := -1; at < len(d.data.Data); at += 7 {
				b := slices.Clone(d.data.Data)
				if at >= 0 {
					b[at] ^= 0x55
				}
				s.set.Receive(s.now, First, []link.Datagram{{Addr: york.addr, Data: b}})
				s.events()
			}
		}
	}
	if home := s.set.Main(); home.addr() != rome.addr || s.set.Phase() != PhasePlaying {
		t.Fatalf("the player is %v at %s\n%s", s.set.Phase(), s.nameOf(home.addr()), s.text)
	}
	if strings.Contains(s.text.String(), "to york is spare") {
		t.Errorf("a forged answer counts\n%s", s.text)
	}
	if answered > asked {
		t.Errorf("%d bytes were asked and %d answered", asked, answered)
	}
}
