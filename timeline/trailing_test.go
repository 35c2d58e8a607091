package timeline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// busy is what players do who do a lot.
func busy(p world.Player, n world.Tick) (act, bool) {
	r := det.At(5, uint64(p), uint64(n)/6)
	a := act{X: int8(r.IntN(3) - 1), Y: int8(r.IntN(3) - 1), Aim: r.Angle()}
	a.Fire = (uint64(n)+uint64(p)*3)%11 == 0
	a.Grab = (uint64(n)+uint64(p)*5)%13 == 0
	return a, det.Draw(6, uint64(p), uint64(n), 0)%9 != 0
}

// With commands in time nothing is ever repaired, and each copy takes each tick once.
func TestInTime(t *testing.T) {
	for _, m := range makers() {
		k := talk{ticks: 200, mirrors: 2, players: 3, do: busy, waits: m.waits}
		out := mustPlay(t, m, k.script(), 200)
		if out.stats.Rollbacks != 0 || out.stats.Late != 0 || out.stats.Conflicts != 0 {
			t.Errorf("%s: %+v", m.name, out.stats)
		}
	}
}

// Where the leading world's delay covers the way, it is the same with a way.
func TestCovered(t *testing.T) {
	o := timeline.TrailingOptions{
		Delays: timeline.DelaysOf(50*time.Millisecond, 150*time.Millisecond, 500*time.Millisecond)}
	m := maker{name: "covered",
		make: func(start *world.World, base timeline.Options, _ []member.ID) (timeline.Timeline,
			error) {
			o.Options = base
			return timeline.NewTrailing(start, o)
		}}
	k := talk{ticks: 300, mirrors: 2, players: 3, do: busy,
		delay: func(m member.ID, n world.Tick) time.Duration {
			return time.Duration(m-1) * 50 * time.Millisecond
		}}
	out := mustPlay(t, m, k.script(), 300)
	line := out.line.(*timeline.Trailing)
	if out.stats.Rollbacks != 0 || out.stats.Late != 0 {
		t.Errorf("%+v", out.stats)
	}
	led := int(line.Leading().Tick())
	if want := led + int(led-6) + int(line.Settled().Tick()); out.stats.Steps != want {
		t.Errorf("%d steps; three copies at ticks %d, %d and %d take %d", out.stats.Steps, led,
			led-6, line.Settled().Tick(), want)
	}
}

// Late commands are repaired by all that do not wait, and what that cost is counted.
func TestLate(t *testing.T) {
	for _, m := range makers() {
		k := talk{ticks: 300, mirrors: 2, players: 3, do: busy, waits: m.waits,
			delay: func(m member.ID, n world.Tick) time.Duration {
				return time.Duration(m-1) * (30*time.Millisecond +
					time.Duration(det.Draw(1, uint64(n), 0, 0)%90)*time.Millisecond)
			}}
		s := mustPlay(t, m, k.script(), 300).stats
		if s.Commands == 0 || s.TooLate > 0 || s.Refused > 0 || s.Conflicts > 0 ||
			s.GameErrors > 0 {
			t.Errorf("%s: %+v", m.name, s)
		}
		switch {
		case m.name == "trailing 1": // has waited long enough
			if s.Late > 0 || s.Rollbacks > 0 {
				t.Errorf("%s: %+v", m.name, s)
			}
		case m.waits && m.name != "rollback":
			if s.Waited == 0 || s.Rollbacks > 0 || s.Copies > 0 {
				t.Errorf("%s: %+v", m.name, s)
			}
		default:
			repairs, depth := s.Rollbacks+s.Returns, s.Depth+s.Returned
			if s.Late == 0 || repairs == 0 || depth < repairs || s.Copies < repairs ||
				s.CopiedBytes == 0 || s.Jump == 0 {
				t.Errorf("%s: %+v", m.name, s)
			}
			if strings.HasPrefix(m.name, "trailing back") != (s.Returns > 0) {
				t.Errorf("%s: %+v", m.name, s)
			}
		}
		if m.name == "trailing correct" && s.Corrections == 0 {
			t.Errorf("%s: %+v", m.name, s)
		}
		if again := float64(s.Steps) / float64(s.Steps-s.Depth-s.Returned); s.Again() != again {
			t.Errorf("%s: %v, %v", m.name, s.Again(), again)
		}
	}
}

// Where no copy is compared but by strict events, and nothing strict is late, nothing is repaired
// until the network is calm; with places compared it is.
func TestMargins(t *testing.T) {
	walk := func(p world.Player, n world.Tick) (act, bool) {
		return act{X: int8(n/20%2)*2 - 1}, true
	}
	k := talk{ticks: 300, mirrors: 2, players: 2, do: walk,
		delay: func(m member.ID, n world.Tick) time.Duration {
			return time.Duration(m-1) * 70 * time.Millisecond
		}}
	rollbacks := func(by float64, correct bool) timeline.Stats {
		start := begin(t)
		line, err := timeline.NewTrailing(start, timeline.TrailingOptions{
			Options: timeline.Options{
				Margins: []timeline.Margin{{Class: "runner", Field: "Pos", By: by}}},
			Delays:  timeline.DelaysOf(0, 100*time.Millisecond, 300*time.Millisecond),
			Correct: correct, Calm: -1,
		})
		if err != nil {
			t.Fatal(err)
		}
		s := k.script().sorted()
		for n := world.Tick(0); n < 300; n++ {
			for ; len(s) > 0 && s[0].at <= at(n); s = s[1:] {
				if _, err := line.Submit(s[0].at, s[0].Command); err != nil {
					t.Fatal(err)
				}
			}
			if err := line.Advance(at(n)); err != nil {
				t.Fatal(err)
			}
		}
		return line.Stats()
	}
	loose, tight, corrected := rollbacks(50, false), rollbacks(0.3, false), rollbacks(0.3, true)
	// Players who are not there yet are a difference at any margin; after that, only places are.
	if loose.Rollbacks > 4 || tight.Rollbacks < 10 || corrected.Rollbacks > 4 ||
		corrected.Corrections < 10 {
		t.Errorf("with a wide margin %+v\nwith a narrow one %+v\ncorrected %+v", loose, tight,
			corrected)
	}
}

// A game may ask whether a command was repeated. Then a copy that guessed what came late was wrong
// all the same, and the game is not to blame.
func TestGameThatAsks(t *testing.T) {
	start, err := counting.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	line, err := timeline.NewTrailing(start, timeline.TrailingOptions{
		Options: timeline.Options{HashEvery: 1},
		Delays: timeline.DelaysOf(0, 50*time.Millisecond, 100*time.Millisecond,
			200*time.Millisecond),
	})
	if err != nil {
		t.Fatal(err)
	}
	const ticks = 300
	silent := 0 // how often nobody had anything to say, in the end
	for n := world.Tick(1); n <= ticks; n++ {
		switch {
		case n == 1:
			_, err = line.Submit(at(n), timeline.Command{Kind: timeline.Join, Tick: n, Player: 1})
		case n <= 20:
			_, err = line.Submit(at(n),
				timeline.Command{Tick: n, Seq: uint32(n), Player: 1, Image: image(act{X: 1})})
		case n > 26 && n < 200 && n%5 > 0: // the same, and 6 ticks late
			_, err = line.Submit(at(n),
				timeline.Command{Tick: n - 6, Seq: uint32(n), Player: 1, Image: image(act{X: 1})})
		default:
			silent++
		}
		if err == nil {
			err = line.Advance(at(n))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range []*world.World{line.Leading(), line.Settled()} {
		for _, c := range world.All[counter](w) {
			if want := silent - int(ticks-w.Tick()); c.Silent != want {
				t.Errorf("at tick %d it has counted %d, and not %d", w.Tick(), c.Silent, want)
			}
		}
	}
	if line.Stats().Refreshes == 0 {
		t.Errorf("%+v", line.Stats())
	}
}

// A copy that is repaired itself is not compared with a leading world that is known to be wrong and
// has not gone back yet.
func TestBackBeforeCompared(t *testing.T) {
	const ms, ticks = time.Millisecond, 50
	give := func(at time.Duration, tick world.Tick, m member.ID, seq uint32, p world.Player,
		a act) arrival {
		return arrival{at: at, Command: timeline.Command{Tick: tick, Origin: m, Seq: seq, Player: p,
			Image: image(a)}}
	}
	join := func(at time.Duration, m member.ID, seq uint32, p world.Player) arrival {
		return arrival{at: at, Command: timeline.Command{Kind: timeline.Join, Tick: 1, Origin: m,
			Seq: seq, Player: p}}
	}
	s := script{
		join(40*ms, 2, 2, 4), join(40*ms, 2, 1, 1), join(120*ms, 3, 1, 2), join(160*ms, 1, 5, 3),
		give(160*ms, 1, 1, 3, 1, act{X: -1}), give(200*ms, 5, 2, 3, 3, act{X: 1}),
		give(240*ms, 6, 1, 6, 2, act{X: -1}),
	}
	for _, m := range holders(ms) {
		if m.name != "trailing back" {
			continue
		}
		out, err := play(begin(t), m, []member.ID{1, 2, 3}, s, ticks,
			func(now time.Duration, line timeline.Timeline) error {
				if now >= at(14) { // the last copy begins when the last command comes
					line.(limited).Hold(s.come(now, ticks))
				}
				return nil
			})
		if err == nil {
			out.taken = s
			err = judge(begin(t), out, ticks)
		}
		if err != nil {
			t.Error(err)
		}
	}
}
