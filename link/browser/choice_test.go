package browser

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A stage is a browser in which the test decides what opens and what breaks.
type stage struct {
	choice
	now   time.Duration
	open_ [ways]bool // asked to be open
	log   string
}

func newStage(wt, ws bool) *stage {
	s := &stage{}
	s.use = none
	s.able = [ways]bool{wt, ws}
	s.choice.open = func(w way) { s.open_[w] = true; s.log += "+" + w.name() }
	s.choice.shut = func(w way) { s.open_[w] = false; s.log += "-" + w.name() }
	s.start(0)
	return s
}

func (w way) name() string { return [...]string{"wt ", "ws "}[w] }

// pass lets time pass.
func (s *stage) pass(d time.Duration) {
	for end := s.now + d; s.now < end; {
		s.now += 50 * time.Millisecond
		s.tick(s.now)
	}
}

func TestChoice(t *testing.T) {
	for _, x := range []struct {
		name   string
		wt, ws bool
		play   func(s *stage)
		use    way
		log    string
	}{
		{"WebTransport is there at once", true, true, func(s *stage) {
			s.pass(100 * time.Millisecond)
			s.opened(byTransport, s.now, true)
			s.pass(time.Minute)
		}, byTransport, "+wt "},
		{"it is late but comes", true, true, func(s *stage) {
			s.pass(time.Second)
			s.opened(bySocket, s.now, true)
			s.pass(time.Second)
			s.opened(byTransport, s.now, true)
		}, byTransport, "+wt +ws -ws "},
		{"it is refused", true, true, func(s *stage) {
			s.pass(100 * time.Millisecond)
			s.failed(byTransport, s.now)
			s.opened(bySocket, s.now, true)
		}, bySocket, "+wt +ws "},
		{"it is swallowed", true, true,
			func(s *stage) {
				s.pass(time.Second)
				s.opened(bySocket, s.now, true)
				s.pass(time.Minute)
			}, bySocket, "+wt +ws -wt "},
		{"the way becomes free later", true, true, func(s *stage) {
			s.failed(byTransport, s.now)
			s.opened(bySocket, s.now, true)
			s.pass(blocked)
			s.opened(byTransport, s.now, true)
		}, byTransport, "+wt +ws +wt -ws "},
		{"there is none in this browser", false, true,
			func(s *stage) { s.opened(bySocket, s.now, true) }, bySocket, "+ws "},
		{"its datagrams are too small", true, true, func(s *stage) {
			s.pass(time.Second)
			s.opened(bySocket, s.now, true)
			s.opened(byTransport, s.now, false)
			s.pass(time.Second)
		}, bySocket, "+wt +ws -wt "},
		{"it breaks and comes back", true, true, func(s *stage) {
			s.opened(byTransport, s.now, true)
			s.failed(byTransport, s.now) // the laptop slept
			s.pass(500 * time.Millisecond)
			s.opened(byTransport, s.now, true)
		}, byTransport, "+wt +wt "},
		{"nothing is there", true, false,
			func(s *stage) { s.failed(byTransport, s.now); s.pass(100 * time.Millisecond) }, none,
			"+wt "},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := newStage(x.wt, x.ws)
			x.play(s)
			if s.use != x.use || s.log != x.log {
				t.Errorf("uses %v after %q, want %v after %q", s.use, s.log, x.use, x.log)
			}
		})
	}
}

// TestChoiceRecovers lets anything happen, and then both carriers work: WebTransport must be in use
// soon, and nothing else be open.
func TestChoiceRecovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStage(true, rapid.Bool().Draw(t, "ws"))
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			w := way(rapid.IntRange(0, 1).Draw(t, "way"))
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				s.pass(time.Duration(rapid.IntRange(50, 20000).Draw(t, "ms")) * time.Millisecond)
			case 1:
				s.opened(w, s.now, rapid.Bool().Draw(t, "good"))
			case 2:
				s.failed(w, s.now)
			}
			if s.use != none && (s.state[s.use] != there || !s.open_[s.use]) {
				t.Fatalf("uses %v, which is not open", s.use)
			}
		}
		if s.use == bySocket { // it breaks, as everything does in the end
			s.failed(bySocket, s.now)
		}
		for range 200 {
			s.pass(100 * time.Millisecond)
			s.opened(byTransport, s.now, true)
		}
		if s.use != byTransport || s.state[bySocket] != idle {
			t.Fatalf("uses %v, states %v", s.use, s.state)
		}
	})
}
