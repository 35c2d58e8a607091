package host

import (
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/hud"
	"github.com/coeval-dev/coeval/predict"
)

// served is a game on a server.
type served struct {
	hud.Served
	silence entry.Silence
}

var servedKeys = []pageKey{
	{game.KeyO, "ghosts", ""}, {game.KeyB, "blind", ""}, {game.KeyP, "style", ""},
}

func (s *served) keys() []pageKey { return servedKeys }

// hands sees to the blind test.
func (s *served) hands(p *page) {
	b := &p.hud.Blind
	if b.Asking() {
		for i := range 3 {
			if p.screen.Struck(game.Key1 + game.Key(i)) {
				b.Vote(i)
			}
		}
	}
	if style, on := b.Update(p.now(), s.Playing()); on && style != s.Style() {
		s.SetStyle(style)
	}
}

func (s *served) status(said string, passed float64) string {
	return s.silence.Say(said, passed, s.Numbers().Packets)
}

func (s *served) line() string { return "" }

func (s *served) set(p *page, name, value string) {
	h := &p.hud
	switch name {
	case "style":
		style, err := predict.ParseStyle(value)
		if value == "" {
			style, err = (s.Style()+1)%(predict.HalfLife+1), nil
			h.Announce(p.now(), style.String())
		}
		if err == nil {
			h.Blind.Stop()
			s.SetStyle(style)
		}
	case "blind":
		if h.Blind.On() {
			h.Blind.Stop()
			h.Announce(p.now(), "the blind test has ended")
		} else {
			h.Blind.Start(p.now())
		}
	case "ghosts":
		h.Outlines = !h.Outlines
	case "name":
		s.SetName(value)
	case "say":
		s.Speak(value)
	case "leave":
		s.Leave()
	case "panicked":
		if c := s.Client(); c != nil {
			c.Leave()
		}
	}
}

func (s *served) tell(p *page, out map[string]any) {
	h := &p.hud
	out["undone"], out["ghosts"] = "an event", h.Outlines
	out["blind"], out["score"] = h.Blind.On(), h.Blind.Summary()
	entry.Stats(out, s.Session)
}
