package peer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/host/internal/hud"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// tally is what a page shows of how a match goes.
type tally struct {
	polled bool // since the match began
	// worldless is until when there was no match to have a world of
	worldless time.Duration
	graph     client.Graph
	received  uint64
	packets   uint64
	trip      time.Duration // to the relay and back
	loss      float64
	again     uint64
	marked    world.Tick
	marks     []string // the last settled worlds
	line      string
	said      time.Duration
	members   []peers.Member
}

// MatchKeys are those of a page that plays in a match, besides those of the game.
var MatchKeys = [][2]string{
	{"I", "invite: the code, and a link to share"},
	{"L", "lock step or rollback"},
	{"J K", "own commands count sooner, later"},
	{"Tab", "score board"},
	{"N", "net graph, with frames a second"},
	{"M", "sound off and on"},
	{"F", "full screen"},
	{"H", "this help"},
}

// view is what there is to show.
func (s *Paged) view() client.View {
	s.given, s.words = s.words, s.given[:0]
	v := client.View{Words: s.given, Phase: client.Loading, Status: s.status()}
	if s.over != nil {
		v.Ended, v.Err, v.Phase = true, s.over, client.Ended
	}
	if s.match == nil {
		return v
	}
	if w := s.match.World(); w != nil {
		v.World, v.Fresh, v.Me = s.viewer.Look(w), true, s.match.Player()
		v.Lead = s.match.Past().Seconds()
		v.Others = v.Lead
	}
	if s.Playing() {
		v.Phase = client.Playing
	}
	s.measure()
	return v
}

// status is what the player waits for.
func (s *Paged) status() string {
	switch m := s.match; {
	case s.over != nil:
		return plain(s.over)
	case s.lost != "":
		return s.lost + "; trying again"
	case m == nil || m.Client() == nil && !s.tally.polled:
		return "asking the relay"
	case m.ID() == 0 && m.World() != nil:
		return "the connection with the relay was lost; coming back"
	case m.ID() == 0:
		return "connecting with the relay"
	case m.World() == nil && s.alone():
		return "nobody else is in this match to send you its world: wait for somebody who was " +
			"in it, or begin another match"
	case m.World() == nil && s.now > s.tally.worldless+worldLate:
		return "nobody has sent the world yet; if this goes on, check the second half of the code"
	case m.World() == nil:
		return "waiting for the world"
	case m.World().Tick() == 0:
		return s.begins()
	case s.o.Watch:
		return ""
	case m.Phase() != peers.Playing:
		return "about to enter"
	case m.Waiting() > 700*time.Millisecond:
		return fmt.Sprintf("nothing has come from the relay for %.0f s; the game goes on when it "+
			"is back", m.Waiting().Seconds())
	}
	return ""
}

// alone says whether nobody else is there who could send the world.
func (s *Paged) alone() bool {
	for _, m := range s.match.Members() {
		if !m.Self {
			return false
		}
	}
	return true
}

// begins says for whom a match waits that has not begun.
func (s *Paged) begins() string {
	start, here := s.match.Match().Start, 0
	for _, m := range s.tally.members {
		if m.Open || m.Self {
			here++
		}
	}
	return fmt.Sprintf("waiting for players: the match begins when %d are here; now %d", start,
		max(here, 1))
}

// hear takes the news of a match.
func (s *Paged) hear(n peers.News) {
	say := func(format string, args ...any) {
		if len(s.words) < 16 {
			s.words = append(s.words, client.Word{Kind: client.Notice,
				Text: fmt.Sprintf(format, args...)})
		}
	}
	name := s.NameOf(n.Player)
	switch n.Kind {
	case peers.Joined:
		if n.Text != "" {
			name = n.Text
			s.names[n.Player] = name
		}
		say("%s plays", name)
	case peers.Left:
		if strings.Contains(n.Text, "waits") {
			say("%s is gone; the body waits", name)
		} else {
			say("%s has left", name)
		}
	case peers.Watching:
		say("%s watches", orSomebody(n.Text))
	case peers.Differs:
		say("the worlds differ: %s", strings.TrimPrefix(n.String(), "differs: "))
	case peers.Repaired:
		say("the world was put right by that of another")
	}
}

func orSomebody(name string) string {
	if name == "" {
		return "somebody"
	}
	return name
}

// NameOf is what a player is called.
func (s *Paged) NameOf(p world.Player) string {
	if n := s.names[p]; n != "" || p == world.Nobody {
		return n
	}
	return fmt.Sprint("player ", p)
}

// Playing says whether the match goes on for this player, or for one who watches.
func (s *Paged) Playing() bool {
	m := s.match
	return m != nil && s.over == nil && m.Client() != nil && (m.Phase() == peers.Playing ||
		s.o.Watch && m.World() != nil && m.World().Tick() > 0)
}

// Together says whether somebody else is there, too.
func (s *Paged) Together() bool { return s.Playing() && !s.alone() }

// Packets is how many have come so far.
func (s *Paged) Packets() uint64 { return s.tally.packets }

// Style is how commands that are not there yet are dealt with.
func (s *Paged) Style() peers.Style {
	if s.match != nil {
		return s.match.Style()
	}
	return s.o.Style
}

// SetStyle changes that, from now on: by the name of a style, or to the other one.
func (s *Paged) SetStyle(name string) {
	style := s.Style()
	switch {
	case name == "lockstep" || name == "" && style.Depth > 0:
		style = peers.Lockstep()
	case name == "rollback" || name == "":
		style = peers.Rollback()
	default:
		return
	}
	s.setStyle(style)
}

// Later changes after how many ticks commands count.
func (s *Paged) Later(by int) {
	style := s.Style()
	if style.Delay < 0 {
		style.Delay = s.delay()
	}
	style.Delay = min(max(style.Delay+by, 0), peers.MaxDelay)
	s.setStyle(style)
}

// delay is after how many ticks commands count: what was asked for, unless the way is too long for
// it.
func (s *Paged) delay() int {
	if s.match == nil {
		return 0
	}
	return max(s.match.Delay(), s.Style().Delay)
}

func (s *Paged) setStyle(style peers.Style) {
	s.o.Style = style
	if s.match != nil {
		_ = s.match.SetStyle(style) // it is within the bounds
	}
}

// measure takes stock after a frame.
func (s *Paged) measure() {
	t := &s.tally
	sample := client.Sample{}
	if c := s.match.Client(); c != nil {
		l := c.Ledger()
		sample.Bytes = float64(l.Received - min(l.Received, t.received))
		t.received, t.packets = l.Received, l.ReceivedPackets
		if cn := c.Conn(); cn != nil {
			q := cn.Quality()
			t.trip, t.loss = q.RoundTrip, q.LossIn
			sample.RoundTrip = ms(q.RoundTrip)
		}
	}
	if c := s.match.Copy(); c != nil {
		again := c.Stats().Again
		sample.Corrected = float64(again-min(again, t.again)) / 8
		t.again = again
		for _, m := range c.Marks() {
			if m.Tick > t.marked && m.Tick <= c.Settled() {
				t.marked = m.Tick
				t.marks = append(t.marks, fmt.Sprintf("%d:%016x", m.Tick, m.Hash))
			}
		}
		if n := len(t.marks); n > mostMarks {
			t.marks = append(t.marks[:0], t.marks[n-mostMarks:]...)
		}
	}
	t.graph.Add(sample)
	if t.line != "" && s.now < t.said+lineEvery {
		return
	}
	t.said, t.members = s.now, append(s.match.Members(), s.match.Absent()...)
	for _, m := range t.members {
		if m.Name != "" && m.Player != world.Nobody {
			s.names[m.Player] = m.Name
		}
	}
	t.line = s.line()
}

const (
	// mostMarks is how many settled worlds a page can tell of.
	mostMarks = 30
	// worldLate is when a newcomer without a world is told what may be wrong.
	worldLate = 6 * time.Second
	// lineEvery is how often the line at the top is made.
	lineEvery = 200 * time.Millisecond
)

// Line says who plays and how, in one line.
func (s *Paged) Line() string { return s.tally.line }

func (s *Paged) line() string {
	var who []string
	slices.SortStableFunc(s.tally.members, func(a, b peers.Member) int {
		return cmp.Compare(rank(&a), rank(&b))
	})
	for _, m := range s.tally.members {
		name := m.Name
		switch {
		case m.Self:
			name = "you"
		case m.Player != world.Nobody:
			name = s.NameOf(m.Player)
		}
		if name = orSomebody(name); !m.Self && s.away(&m) {
			name += " (away)"
		}
		who = append(who, name)
	}
	text := strings.Join(who, ", ")
	if s.o.Watch {
		return strings.TrimSpace(text + " · you watch")
	}
	if !s.Playing() {
		return text
	}
	style := "lock step"
	if st := s.Style(); st.Depth > 0 {
		style = "rollback"
	}
	text += fmt.Sprintf(" · %s, delay %d", style, s.delay())
	if c := s.match.Copy(); c != nil && c.Stats().Returns > 0 {
		text += fmt.Sprintf(", rolled back %d times", c.Stats().Returns)
	}
	return text
}

// away says whether somebody's body stands still. One who watches is not told who is connected.
func (s *Paged) away(m *peers.Member) bool {
	return !m.Open && !s.o.Watch || m.Silent > 2*time.Second
}

// rank is the place of a member in the line: oneself, and then by player, newcomers last.
func rank(m *peers.Member) int {
	switch {
	case m.Self:
		return -1
	case m.Player == world.Nobody:
		return peers.MaxSeats + int(m.ID)
	}
	return int(m.Player)
}

// Graph is the last seconds: bytes, round trips, and in red ticks that were computed again.
func (s *Paged) Graph() *client.Graph { return &s.tally.graph }

// Facts are the numbers below the graph.
func (s *Paged) Facts(m *hud.Moment, _ bool) [][2]string {
	list := [][2]string{{"frames", fmt.Sprintf("%.0f a second, %.1f ms each", m.Rate, m.Work)}}
	if s.match == nil {
		return list
	}
	st, style := s.match.Stats(), s.Style()
	list = append(list, [2]string{"round trip", fmt.Sprintf("%.0f ms to the relay, %.1f %% lost",
		ms(s.tally.trip), 100*s.tally.loss)})
	name := "lock step"
	if style.Depth > 0 {
		name = fmt.Sprintf("rollback, up to %d ticks", style.Depth)
	}
	list = append(list, [2]string{"style", name},
		[2]string{"own commands", fmt.Sprintf("count after %d ticks", s.delay())})
	if c := s.match.Copy(); c != nil {
		n := c.Stats()
		list = append(list, [2]string{"rolled back", fmt.Sprintf("%d times, %d ticks, deepest %d",
			n.Returns, n.Again, n.Deepest)})
	}
	return append(list,
		[2]string{"waited", fmt.Sprintf("%d times, %.1f s", st.Waits,
			(st.Waited + s.match.Waiting()).Seconds())},
		[2]string{"compared", fmt.Sprintf("%d worlds, %d differed", st.Compared, st.Differed)})
}

// Tell adds how it goes to what a page's panel, or a test, is told.
func (s *Paged) Tell(out map[string]any) {
	out["playing"], out["over"], out["code"] = s.Playing(), s.Over(), s.Code()
	out["style"], out["watching"] = StyleName(s.Style()), s.o.Watch
	out["line"], out["marks"] = s.tally.line, strings.Join(s.tally.marks, " ")
	m := s.match
	if m == nil {
		return
	}
	st := m.Stats()
	out["phase"], out["delay"], out["depth"] = m.Phase().String(), s.delay(), m.Style().Depth
	out["waits"], out["waited"] = int(st.Waits), ms(st.Waited+m.Waiting())
	out["compared"], out["differed"] = int(st.Compared), int(st.Differed)
	out["returns"] = int(st.Returns)
	if c := m.Copy(); c != nil {
		n := c.Stats()
		out["settled"], out["rollbacks"], out["again"] = int(c.Settled()), int(n.Returns),
			int(n.Again)
	}
	out["roundTrip"], out["lossIn"] = ms(s.tally.trip), s.tally.loss
}

// plain says what is wrong, and what to do, to somebody who plays.
func plain(err error) string {
	var refused *peers.RefusedError
	if errors.As(err, &refused) {
		switch refused.Refusal {
		case relay.RefusedUnknown:
			return "There is no match with this code, or it is over. Check the code, or begin a " +
				"new match."
		case relay.RefusedExpired:
			return "The code has expired: it lets nobody new in. Ask someone in the match to " +
				"begin a new one."
		case relay.RefusedGame:
			return "The match is of another game, or another version of this one. Everybody " +
				"needs the same: open the link that you were sent, or reload this page."
		case relay.RefusedFull:
			if strings.Contains(refused.Why, "watch") {
				return "The match is full: " + refused.Why + "."
			}
			return "The match is full: " + refused.Why + ". You can watch it."
		case relay.RefusedMode:
			return "This code is of a match in which machines speak to each other directly, " +
				"which browsers cannot. Join it in a terminal, or ask for one that goes through " +
				"the relay."
		}
		return "The relay does not let you in: " + refused.Why + "."
	}
	switch {
	case errors.Is(err, peers.ErrOther):
		return "The match is of another game, or another version of this one. Everybody needs " +
			"the same: open the link that you were sent, or reload this page."
	case errors.Is(err, peers.ErrApart):
		return "The match is over: the players' machines did not compute the same any more, and " +
			"it was to end then. Begin a new one."
	case errors.Is(err, peers.ErrNoWorld):
		return "Nobody who is in the match has sent you its world. Check the second half of the " +
			"code, try again when others are there, or begin a new match."
	case errors.Is(err, ErrLeft):
		return "You have left the match."
	}
	return strings.TrimPrefix(err.Error(), "peers: ")
}
