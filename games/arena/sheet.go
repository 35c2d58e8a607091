package arena

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// Sheet is a player's line on the score board. Everyone sees all of them, wherever the fighters
// are.
type Sheet struct {
	Name   string
	Team   int // 0 where there are none
	Kills  int
	Deaths int
	Quiet  uint32 // tick up to which what was said lasts, so that no one talks all the time
}

// Sync names the fields.
func (s *Sheet) Sync(b *bits.Sync) {
	b.String(&s.Name, MaxName)
	b.Int(&s.Team, 0, 2)
	b.Int(&s.Kills, -maxKills, maxKills)
	b.Int(&s.Deaths, 0, maxKills)
	syncTick(b, &s.Quiet)
}

const (
	talk  = 90       // ticks that a line of chat lasts
	flood = 3 * talk // and how many may be ahead of time
)

// Step does what its player asks for beside fighting.
func (s *Sheet) Step(w *world.World, me world.ID) {
	cmd := world.Command[Command](w, me)
	switch cmd.Verb {
	case Say, Taunt:
		text := ""
		if cmd.Verb == Say {
			if text = CleanText(cmd.Text, MaxSay); text == "" {
				return
			}
		}
		if s.Quiet = max(s.Quiet, now(w)); s.Quiet+talk > now(w)+flood {
			return // a flood
		}
		s.Quiet += talk
		world.Emit(w, world.None, Said{By: w.Owner(me), Text: text})
	case Name:
		if name := CleanText(cmd.Text, MaxName); name != "" {
			s.Name = name
		}
	}
}

// CleanText makes text from a stranger fit to be shown: valid, in one line, without what cannot be
// seen, and of at most so many bytes.
func CleanText(s string, limit int) string {
	if len(s) > 4*limit+64 {
		s = s[:4*limit+64]
	}
	s = strings.Map(func(c rune) rune {
		switch {
		case c == utf8.RuneError:
			return -1
		case c == '\t' || c == '\n' || c == ' ':
			return ' '
		case !unicode.IsPrint(c):
			return -1
		}
		return c
	}, s)
	s = strings.TrimSpace(s)
	for len(s) > limit {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return strings.TrimSpace(s)
}

// Traits tell everyone of it.
func (s *Sheet) Traits(*world.World, world.ID) interest.Traits {
	return interest.Traits{Nowhere: true, Always: true, Importance: 0.3}
}
