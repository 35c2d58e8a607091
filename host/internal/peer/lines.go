//go:build !js

package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/host/internal/terminal"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// A line is something that is told to people and to machines. The JSON names are for scripts and
// stay.
type line struct {
	Event      string    `json:"event"` // invitation, news, mark, stats or end
	Invitation string    `json:"invitation,omitempty"`
	Relay      string    `json:"relay,omitempty"`
	Mode       string    `json:"mode,omitempty"`   // at a relay: rows or mesh
	Before     string    `json:"before,omitempty"` // the code of a match that was not left
	Addresses  []string  `json:"addresses,omitempty"`
	News       *newsLine `json:"news,omitempty"`
	Mark       *markLine `json:"mark,omitempty"`
	Stats      *Standing `json:"stats,omitempty"`
	Error      string    `json:"error,omitempty"`
}

type newsLine struct {
	Kind   string       `json:"kind"`
	Member member.ID    `json:"member,omitempty"`
	Player world.Player `json:"player,omitempty"`
	Tick   world.Tick   `json:"tick,omitempty"`
	Text   string       `json:"text,omitempty"`
}

// A markLine is the hash of a world that is settled: the same on every machine of a match.
type markLine struct {
	Tick world.Tick `json:"tick"`
	Hash string     `json:"hash"`
}

// A Standing is how a match stands, as seen from here. Times are in milliseconds.
type Standing struct {
	Phase    string       `json:"phase"`
	Player   world.Player `json:"player"`
	Tick     world.Tick   `json:"tick"`
	Settled  world.Tick   `json:"settled"`
	Style    string       `json:"style"`
	Depth    int          `json:"depth"`
	Delay    int          `json:"delay"`
	Waits    uint64       `json:"waits"`     // ticks that had to wait
	WaitedMS float64      `json:"waited_ms"` // for how long in all, what goes on now included
	Waiting  float64      `json:"waiting_ms"`
	Returns  uint64       `json:"rollbacks"`
	Again    uint64       `json:"ticks_again"` // that were computed again
	Deepest  int          `json:"deepest"`
	Compared uint64       `json:"compared"` // settled worlds that were the same everywhere
	Differed uint64       `json:"differed"`
	Members  []Companion  `json:"members"`
}

// A Companion is one who takes part.
type Companion struct {
	Member  member.ID    `json:"member"`
	Player  world.Player `json:"player"`
	Name    string       `json:"name"`
	Self    bool         `json:"self,omitempty"`
	Open    bool         `json:"open"`
	TripMS  float64      `json:"round_trip_ms"`
	Loss    float64      `json:"loss"`
	Silence float64      `json:"silent_ms"`
}

// Stand says how a match stands. It is called by the goroutine that drives it.
func Stand(m Match) Standing {
	st, style := m.Stats(), m.Style()
	s := Standing{
		Phase: m.Phase().String(), Player: m.Player(), Style: StyleName(style), Depth: style.Depth,
		Delay: m.Delay(), Waits: st.Waits, Waiting: ms(m.Waiting()),
		WaitedMS: ms(st.Waited + m.Waiting()), Compared: st.Compared, Differed: st.Differed,
	}
	if c := m.Copy(); c != nil {
		n := c.Stats()
		s.Tick, s.Settled = c.Shown(), c.Settled()
		s.Returns, s.Again, s.Deepest = n.Returns, n.Again, n.Deepest
	}
	for _, x := range m.Members() {
		s.Members = append(s.Members, Companion{Member: x.ID, Player: x.Player, Name: x.Name,
			Self: x.Self, Open: x.Open, TripMS: ms(x.RoundTrip), Loss: x.Loss,
			Silence: ms(x.Silent)})
	}
	return s
}

// String is the standing in one line.
func (s *Standing) String() string {
	return fmt.Sprintf("%s  %s  settled %d", s.Phase, s.brief(), s.Settled)
}

// brief is the standing as far as a narrow terminal has room for it.
func (s *Standing) brief() string {
	var b strings.Builder
	fmt.Fprintf(&b, "tick %d", s.Tick)
	if s.Player == world.Nobody {
		b.WriteString("  watching")
	} else {
		fmt.Fprintf(&b, "  player %d  ", s.Player)
		if s.Depth > 0 {
			fmt.Fprintf(&b, "rollback %d", s.Depth)
		} else {
			b.WriteString("lock step")
		}
		fmt.Fprintf(&b, ", delay %d  waited %.1f s  rolled back %d", s.Delay, s.WaitedMS/1000,
			s.Again)
	}
	for _, m := range s.Members {
		switch {
		case m.Self:
		case m.Open:
			fmt.Fprintf(&b, "  %s %.0f ms", m.name(), m.TripMS)
		case s.Player == world.Nobody:
			b.WriteString("  " + m.name())
		default:
			fmt.Fprintf(&b, "  %s not reached", m.name())
		}
	}
	return b.String()
}

func (c *Companion) name() string {
	if c.Name != "" {
		return c.Name
	}
	return fmt.Sprint("member ", c.Member)
}

// say writes a line.
func (s *session) say(l line, text string) {
	if s.JSON {
		b, err := json.Marshal(l)
		if err != nil {
			return
		}
		text = string(b)
	}
	if text != "" {
		fmt.Fprintln(s.Lines, text)
	}
}

// invite prints the invitation of who founds a match.
func (s *session) invite() {
	if s.Match == nil {
		return
	}
	if s.Relay != "" {
		s.tellCode()
		return
	}
	l := line{Event: "invitation", Invitation: s.invitation.String()}
	for _, a := range s.invitation.Addrs {
		l.Addresses = append(l.Addresses, a.String())
	}
	s.say(l, fmt.Sprintf("others join by this line, which is good until %s:\n\n%s %s\n",
		s.invitation.Expires.Format("15:04 on 2 January"), s.Fill("{program} peer join"),
		l.Invitation))
}

// tellCode prints what others join by at a relay.
func (s *session) tellCode() {
	c, err := s.code()
	if err != nil {
		return // the match ends with the reason
	}
	l := line{Event: "invitation", Invitation: c.String(), Relay: s.Relay, Mode: s.mode.String()}
	text := fmt.Sprintf("others join by this line; should this program crash, the same line, and "+
		"not another host, leads you back to your body:\n\n%s\n", s.joinLine(l.Invitation))
	x := s.seats.left(s.relayName, s.Title.Name(), time.Now())
	if x != nil && x.Code != l.Invitation {
		l.Before = x.Code
		text = fmt.Sprintf("the match that this program was in before may still go on; this leads "+
			"back to it:\n\n%s\n\n", s.joinLine(x.Code)) + text
	}
	s.say(l, text)
}

// report says what is new.
func (s *session) report() {
	for _, n := range s.heard() {
		text := n.Text
		if n.Err != nil {
			text = strings.TrimPrefix(text+": "+n.Err.Error(), ": ")
		}
		s.say(line{Event: "news", News: &newsLine{n.Kind.String(), n.Member, n.Player, n.Tick,
			text}}, n.String())
	}
}

// marks lists the settled worlds that are new. It is called by the goroutine that drives.
func (s *session) marks() (list []markLine) {
	c := s.match.Copy()
	if c == nil {
		return nil
	}
	for _, m := range c.Marks() {
		if m.Tick > s.marked && m.Tick <= c.Settled() {
			s.marked = m.Tick
			list = append(list, markLine{m.Tick, fmt.Sprintf("%016x", m.Hash)})
		}
	}
	return list
}

// tell plays unseen, with lines.
func (s *session) tell(ctx context.Context) error {
	s.invite()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		var now Standing
		var marks []markLine
		if s.match.Do(ctx, func() { now, marks = Stand(s.match), s.marks() }) != nil {
			return nil
		}
		s.report()
		for i := range marks {
			s.say(line{Event: "mark", Mark: &marks[i]}, "")
		}
		if n%10 == 0 {
			s.say(line{Event: "stats", Stats: &now}, now.String())
		}
	}
}

// farewell says how it ended, after it has.
func (s *session) farewell(err error) {
	s.report()
	marks := s.marks()
	for i := range marks {
		s.say(line{Event: "mark", Mark: &marks[i]}, "")
	}
	now := Stand(s.match)
	l := line{Event: "end", Stats: &now}
	if err != nil && !errors.Is(err, terminal.ErrQuit) && !errors.Is(err, context.Canceled) {
		l.Error = err.Error()
	}
	s.say(l, now.String())
}
