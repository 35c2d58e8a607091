package timeline_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// A limited timeline says what it may settle.
type limited interface {
	timeline.Timeline
	Settles() world.Tick
}

// holders are the timelines that can be held, held.
func holders(slack time.Duration) []maker {
	auto := maker{
		name: "auto",
		make: func(start *world.World, o timeline.Options, _ []member.ID) (timeline.Timeline,
			error) {
			return timeline.NewAuto(start, timeline.AutoOptions{
				TrailingOptions: timeline.TrailingOptions{
					Options: o, Delays: timeline.DelaysOf(0, 60*time.Millisecond, window)},
				Step: 50 * time.Microsecond, Copy: 20 * time.Microsecond,
				Every: 100 * time.Millisecond,
			})
		}}
	var out []maker
	for _, m := range append(makers(), auto) {
		if m.waits {
			continue
		}
		unheld := m.make
		m.make = func(start *world.World, o timeline.Options,
			mirrors []member.ID) (timeline.Timeline, error) {
			o.Held, o.Slack = true, slack
			return unheld(start, o, mirrors)
		}
		out = append(out, m)
	}
	return out
}

// come is the last tick for which nothing of a script is missing any more at a time.
func (s script) come(now time.Duration, end world.Tick) world.Tick {
	for i := range s {
		if s[i].at > now {
			end = min(end, s[i].Tick-1)
		}
	}
	return end
}

// Where ticks are held until everything for them has come, nothing is ever too late, however late
// it is: what is settled is what one machine would have computed that had every command. How far
// the last copy falls behind, and whether the leading one has to stop for it, makes no difference.
func TestHold(t *testing.T) {
	const ticks = 50
	for _, m := range holders(0) {
		t.Run(m.name, func(t *testing.T) {
			start := begin(t)
			rapid.Check(t, func(t *rapid.T) {
				slack := rapid.SampledFrom([]time.Duration{time.Millisecond, 50 * time.Millisecond,
					400 * time.Millisecond, 3 * time.Second}).Draw(t, "slack")
				m := holders(slack)[slices.IndexFunc(holders(slack),
					func(o maker) bool { return o.name == m.name })]
				s, mirrors := drawScript(t, ticks, false)
				for i := range s {
					if rapid.IntRange(0, 9).Draw(t, "far") == 0 {
						s[i].at += time.Duration(rapid.IntRange(0, 2500).Draw(t,
							"far ms")) * time.Millisecond
					}
				}
				lag := time.Duration(rapid.IntRange(0, 300).Draw(t, "lag ms")) * time.Millisecond
				rare := rapid.IntRange(1, 20).Draw(t, "rare")
				calls := 0
				out, err := play(start, m, mirrors, s, ticks+5,
					func(now time.Duration, line timeline.Timeline) error {
						h := line.(limited)
						if line.Settled().Tick() > h.Settles() {
							return fmt.Errorf("tick %d is settled, and %d was allowed",
								line.Settled().Tick(), h.Settles())
						}
						if calls++; calls%rare == 0 {
							h.Hold(s.come(now-lag, ticks+5))
							h.Hold(h.Settles() / 2) // what was allowed stays so
						}
						return nil
					})
				if err == nil && out.fates[timeline.TooLate] > 0 {
					err = fmt.Errorf("%d were too late", out.fates[timeline.TooLate])
				}
				if err == nil {
					out.taken = s // every one
					err = judge(start, out, ticks+5)
				}
				if err != nil {
					t.Fatalf("%v\n%v", err, s.sorted())
				}
			})
		})
	}
}

// A timeline that is held goes on showing the present until its slack is used up; then it waits,
// stamps nothing more, does not ask to be called in vain, and catches up when it is let go.
func TestHoldSlack(t *testing.T) {
	for _, m := range holders(500 * time.Millisecond) {
		line, err := m.make(begin(t), timeline.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		h := line.(limited)
		run := func(from, to time.Duration) {
			calls := 0
			for now := from; now < to; now = min(max(now, line.Next()), to) {
				if err := line.Advance(now); err != nil {
					t.Fatal(err)
				}
				if calls++; calls > 10_000 {
					t.Fatalf("%s: it asks to be called again and again: %v at %v", m.name,
						line.Next(), now)
				}
			}
			if err := line.Advance(to); err != nil {
				t.Fatal(err)
			}
		}
		alone := m.name == "trailing 1" // the leading world is the last
		run(0, 600*time.Millisecond)
		if n := line.Leading().Tick(); line.Settled().Tick() != 0 || !alone && n < 35 {
			t.Errorf("%s: after 600 ms it leads with tick %d and has settled %d", m.name, n,
				line.Settled().Tick())
		}
		run(600*time.Millisecond, 5*time.Second)
		const most = 42 + 3 // 700 ms
		stamp := line.Stamp(5 * time.Second)
		if n := line.Leading().Tick(); line.Settled().Tick() != 0 || n > most || !alone &&
			n < most-3 || stamp <= n || stamp > n+60 || line.Stats().Waited < 3*time.Second {
			t.Errorf("%s: after 5 s it leads with tick %d, stamps %d, and has settled %d: %+v",
				m.name, n, stamp, line.Settled().Tick(), line.Stats())
		}
		if _, err := line.Submit(5*time.Second,
			timeline.Command{Kind: timeline.Join, Tick: stamp, Player: 1, Seq: 1}); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		h.Hold(100)
		run(5*time.Second, 5*time.Second)
		if n := line.Leading().Tick(); line.Settled().Tick() != 100 || !alone &&
			(n < 142 || n > 146) {
			t.Errorf("%s: let go up to tick 100 it leads with tick %d and has settled %d", m.name,
				n, line.Settled().Tick())
		}
		h.Hold(1000)
		run(5*time.Second, 5*time.Second+length)
		if n := line.Leading().Tick(); line.Settled().Tick() != 289 || !alone && n < 300 {
			t.Errorf("%s: let go it leads with tick %d and has settled %d", m.name, n,
				line.Settled().Tick())
		}
		if line.Stamp(5*time.Second) < stamp {
			t.Errorf("%s: the stamp went back", m.name)
		}
	}
}

// What is not held settles by the clock, whatever Hold says.
func TestHoldWithoutHeld(t *testing.T) {
	line, err := timeline.NewTrailing(begin(t),
		timeline.TrailingOptions{Delays: timeline.DelaysOf(0, 100*time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	line.Hold(3)
	if err := line.Advance(time.Second); err != nil {
		t.Fatal(err)
	}
	if line.Settled().Tick() != 54 || line.Settles() < 1<<60 {
		t.Errorf("tick %d is settled, and %d may be", line.Settled().Tick(), line.Settles())
	}
}
