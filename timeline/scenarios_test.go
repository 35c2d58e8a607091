package timeline_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// TestScenarios plays the conversations in testdata/scenarios: what trailing states do with
// commands that come late. A file has the lines that play knows, and what the timeline made of
// each.
func TestScenarios(t *testing.T) {
	simtest.Scenarios(t, func(t *testing.T) func(simtest.Line, *strings.Builder) {
		s := &scene{t: t}
		return s.play
	})
}

// A scene is one mirror's timeline, the time, and what has been seen so far.
type scene struct {
	t    *testing.T
	line *timeline.Trailing
	now  time.Duration
	seen timeline.Stats
	seq  map[member.ID]uint32
	out  *strings.Builder
}

// play does what a line says:
//
//	trailing 0s 100ms 500ms held correct   makes the timeline, with these delays from the leading world's to the window
//	join 2 mirror=1 tick=1                 submits what another mirror, or this one, has stamped
//	leave 2 mirror=1 tick=90
//	give 2 mirror=1 tick=8 x=1 fire        a command of a player; seq=4 gives it another number than the next
//	until 300ms                            lets time pass
//	hold 30                                allows ticks to be settled
//	stamp                                  which tick a command would get now
//	player 2                               where a player is, in the leading world and in the settled one
//	delays 0s 50ms 500ms                   changes the delays
func (s *scene) play(l simtest.Line, out *strings.Builder) {
	s.out = out
	switch l.Verb {
	case "trailing":
		s.begin(l)
	case "join":
		s.submit(l, timeline.Command{Kind: timeline.Join})
	case "leave":
		s.submit(l, timeline.Command{Kind: timeline.Leave})
	case "give":
		s.submit(l, timeline.Command{Kind: timeline.Give,
			Image: image(act{X: int8(l.Number("x", 0)), Y: int8(l.Number("y", 0)),
				Fire: l.Is("fire"), Grab: l.Is("grab")})})
	case "until":
		s.until(l.Duration(0))
	case "hold":
		s.line.Hold(world.Tick(l.Int(0)))
	case "stamp":
		fmt.Fprintf(out, "tick %d\n", s.line.Stamp(s.now))
	case "player":
		fmt.Fprintf(out, "leading %s\nsettled %s\n", s.where(s.line.Leading(), l.Int(0)),
			s.where(s.line.Settled(), l.Int(0)))
	case "delays":
		if err := s.line.SetDelays(delaysOf(l, len(l.Args))); err != nil {
			fmt.Fprintln(out, err)
		}
	default:
		l.Fail("nobody knows how to do that")
	}
}

func (s *scene) begin(l simtest.Line) {
	n := len(l.Args)
	for n > 0 && strings.Trim(l.Args[n-1], "abcdefghijklmnopqrstuvwxyz") == "" {
		n--
	}
	o := timeline.TrailingOptions{Delays: delaysOf(l, n), Correct: l.Is("correct"), Calm: -1}
	o.Margins, o.Held, o.Slack, o.HashEvery = margins, l.Is("held"), 300*time.Millisecond, 8
	var err error
	if s.line, err = timeline.NewTrailing(begin(s.t), o); err != nil {
		l.Fail(err.Error())
	}
	s.seq = map[member.ID]uint32{}
}

func delaysOf(l simtest.Line, n int) timeline.Delays {
	var list []time.Duration
	for i := range n {
		list = append(list, l.Duration(i))
	}
	return timeline.DelaysOf(list...)
}

// submit gives the timeline a command at the present time.
func (s *scene) submit(l simtest.Line, c timeline.Command) {
	c.Player, c.Origin, c.Tick = world.Player(l.Int(0)), member.ID(l.Number("mirror", 1)),
		world.Tick(l.Number("tick", 1))
	s.seq[c.Origin]++
	c.Seq = uint32(l.Number("seq", int(s.seq[c.Origin])))
	fate, err := s.line.Submit(s.now, c)
	if err != nil {
		fmt.Fprintln(s.out, err)
		return
	}
	fmt.Fprintln(s.out, fate)
}

// until lets time pass tick by tick, and tells what happens.
func (s *scene) until(end time.Duration) {
	for s.now < end {
		s.now = min(max(s.line.Next(), s.now+1), end)
		if err := s.line.Advance(s.now); err != nil {
			fmt.Fprintln(s.out, err)
			return
		}
		s.tell()
	}
	fmt.Fprintf(s.out, "%s: leading tick %d, settled tick %d\n", s.clock(), s.line.Leading().Tick(),
		s.line.Settled().Tick())
}

// tell says what the last Advance found out.
func (s *scene) tell() {
	now := s.line.Stats()
	if n := now.Rollbacks - s.seen.Rollbacks; n > 0 {
		fmt.Fprintf(s.out,
			"%s: copies taken back: %d, seen by players: %d, ticks computed again: %d\n", s.clock(),
			n, now.Seen-s.seen.Seen, now.Depth-s.seen.Depth)
	}
	if n := now.Corrections - s.seen.Corrections; n > 0 {
		fmt.Fprintf(s.out, "%s: places corrected: %d\n", s.clock(), n)
	}
	if now.Waited > 0 && s.seen.Waited == 0 {
		fmt.Fprintf(s.out, "%s: the leading world begins to wait\n", s.clock())
	}
	s.seen = now
	for _, n := range s.line.Notices() {
		name := game.Events()[n.Event.Kind].Name()
		if name == "footstep" {
			continue
		}
		fmt.Fprintf(s.out, "%s: %s %s at tick %d by player %d\n", s.clock(), n.What, name,
			n.Event.Tick, s.line.Leading().Owner(n.Event.By))
	}
}

func (s *scene) clock() string { return s.now.Round(time.Millisecond).String() }

// where says where a player is.
func (s *scene) where(w *world.World, p int) string {
	for id, r := range world.All[runner](w) {
		if w.Owner(id) == world.Player(p) {
			return fmt.Sprintf("tick %d: at %g, health %d", w.Tick(), r.Pos.X, r.Health)
		}
	}
	return fmt.Sprintf("tick %d: not there", w.Tick())
}
