package timeline_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// An item is one thing that a player does somewhere, and what the network does to it.
type item struct {
	Mirror member.ID
	Tick   world.Tick
	Player world.Player
	Kind   timeline.Kind
	Act    act
	Late   time.Duration // after the mirror's path
	// if not 0: comes so long after its tick to the nanosecond, when some copy takes it
	Exact time.Duration
	Again time.Duration // if not 0: comes a second time, so much later
}

func drawItem(ticks world.Tick) *rapid.Generator[item] {
	ms := func(t *rapid.T, most int, name string) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(t, name)) * time.Millisecond
	}
	return rapid.Custom(func(t *rapid.T) item {
		i := item{
			Tick:   world.Tick(rapid.IntRange(1, int(ticks)).Draw(t, "tick")),
			Mirror: member.ID(rapid.IntRange(1, 3).Draw(t, "mirror")),
			Player: world.Player(rapid.IntRange(1, 4).Draw(t, "player")),
			Kind: rapid.SampledFrom([]timeline.Kind{timeline.Give, timeline.Give, timeline.Give,
				timeline.Give, timeline.Join, timeline.Leave}).Draw(t, "kind"),
		}
		if i.Kind == timeline.Give {
			keys := rapid.IntRange(0, 11).Draw(t, "keys")
			i.Act = act{X: int8(keys%3 - 1), Fire: keys/3%2 == 1, Grab: keys/6 == 1}
		}
		switch rapid.IntRange(0, 9).Draw(t, "way") {
		case 0, 1:
			i.Exact = rapid.SampledFrom([]time.Duration{10, 40, 50, 60, 100, 120}).Draw(t,
				"boundary") * time.Millisecond
		case 2, 3:
			i.Late = ms(t, 100, "jitter")
		case 4: // perhaps beyond the window
			i.Late = ms(t, 400, "spike")
		}
		if rapid.IntRange(0, 4).Draw(t, "twice") == 0 {
			i.Again = 1 + ms(t, 60, "again")
		}
		return i
	})
}

// A network is what happens to all that one mirror sends: its way, its clock's error, a stall after
// which everything comes in a burst, and silence.
type network struct {
	path, skew time.Duration
	stall      world.Tick
}

func (n network) when(tick world.Tick) time.Duration {
	when := at(tick) + n.path + n.skew
	if tick >= n.stall && tick < n.stall+6 {
		when = max(when, at(n.stall+6))
	}
	return max(when, 0)
}

// drawScript makes up mirrors with players who do things, and a network that does the rest: any
// order, duplication, bursts after a stall, silence, clocks that disagree, commands of one player
// and tick by several mirrors, and arrivals at the very moment when a copy takes the tick.
func drawScript(t *rapid.T, ticks world.Tick, waits bool) (script, []member.ID) {
	mirrors := []member.ID{1, 2, 3}
	items := rapid.SliceOfN(drawItem(ticks), 0, 90).Draw(t, "items")
	for p := world.Player(1); p <= 4; p++ { // without players nothing happens
		items = append(items,
			item{Mirror: member.ID(p%3 + 1), Tick: 1, Player: p, Kind: timeline.Join})
	}
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(a.Tick, b.Tick) })
	var s script
	for _, m := range mirrors {
		n := network{
			path:  time.Duration(rapid.IntRange(0, 120).Draw(t, "path ms")) * time.Millisecond,
			skew:  time.Duration(rapid.IntRange(-20, 20).Draw(t, "clock ms")) * time.Millisecond,
			stall: world.Tick(rapid.IntRange(0, int(2*ticks)).Draw(t, "stall")),
		}
		seq := uint32(0)
		tick := world.Tick(0)
		promise := func(until world.Tick) {
			for ; waits && tick < until; tick++ {
				s = append(s,
					arrival{at: n.when(tick + 1),
						Command: timeline.Command{
							Kind: timeline.Promise, Tick: tick, Origin: m, Seq: seq}})
			}
		}
		for _, i := range items {
			if i.Mirror != m {
				continue
			}
			promise(i.Tick)
			seq++
			c := timeline.Command{Kind: i.Kind, Tick: i.Tick, Origin: m, Seq: seq, Player: i.Player}
			if c.Kind == timeline.Give {
				c.Image = image(i.Act)
			}
			when := n.when(i.Tick) + i.Late
			if i.Exact > 0 {
				when = at(i.Tick) + i.Exact
			}
			s = append(s, arrival{at: when, Command: c})
			if i.Again > 0 {
				s = append(s, arrival{at: when + i.Again, Command: c})
			}
		}
		promise(ticks + 30)
	}
	if rapid.Bool().Draw(t, "batches") { // what comes within 40 ms comes at once, the newest first
		for i := range s {
			s[i].at += 40*time.Millisecond - s[i].at%(40*time.Millisecond)
		}
		slices.Reverse(s)
	}
	return s, mirrors
}

// Whatever the network does, what is settled is what one machine would have computed from the
// commands that came in time; and every event that was announced is confirmed or taken back.
func TestFaults(t *testing.T) {
	const ticks = 50
	for _, m := range makers() {
		t.Run(m.name, func(t *testing.T) {
			start := begin(t)
			rapid.Check(t, func(t *rapid.T) {
				s, mirrors := drawScript(t, ticks, m.waits)
				out, err := play(start, m, mirrors, s, ticks+5, nil)
				if err == nil {
					err = judge(start, out, ticks+5)
				}
				if err == nil && m.waits && out.fates[timeline.TooLate] > 0 {
					err = fmt.Errorf("%d were too late, though all were waited for",
						out.fates[timeline.TooLate])
				}
				if err != nil {
					t.Fatalf("%v\n%v", err, s.sorted())
				}
			})
		})
	}
}

// Two mirrors that get the same commands in different orders settle the same worlds, of whatever
// sort they are.
func TestMirrorsAgree(t *testing.T) {
	const ticks = 40
	start := begin(t)
	sorts := makers()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SampledFrom(sorts).Draw(t, "a"), rapid.SampledFrom(sorts).Draw(t, "b")
		s, mirrors := drawScript(t, ticks, true)
		// within the window, as what is too late on one mirror only is lost there
		for i := range s {
			s[i].at = min(s[i].at, at(s[i].Tick)+window-time.Millisecond)
		}
		other := slices.Clone(s)
		for i := range other {
			early := max(at(other[i].Tick)-10*time.Millisecond, 0)
			other[i].at = early +
				time.Duration(rapid.Int64Range(0, int64(window-11*time.Millisecond)).Draw(t,
					"other"))
		}
		x, err := play(start, a, mirrors, s, ticks, nil)
		if err != nil {
			t.Fatalf("%s: %v\n%v", a.name, err, s.sorted())
		}
		y, err := play(start, b, mirrors, other, ticks, nil)
		if err != nil {
			t.Fatalf("%s: %v\n%v", b.name, err, other.sorted())
		}
		for n := world.Tick(1); n <= ticks; n++ {
			if x.hashes[n] != y.hashes[n] {
				t.Fatalf("%s and %s have settled tick %d differently\n%v\nand\n%v", a.name, b.name,
					n, s.sorted(), other.sorted())
			}
		}
	})
}

// The leading world comes to be right again once the network is calm.
func TestCalm(t *testing.T) {
	start := begin(t)
	const ticks = 240
	for _, m := range makers()[1:5] {
		k := talk{ticks: ticks, mirrors: 2, players: 2, do: busy,
			delay: func(m member.ID, n world.Tick) time.Duration {
				if m == 2 && n < 60 {
					return 90 * time.Millisecond
				}
				return 0
			}}
		s := k.script()
		right, _ := oracle(start, s, ticks)
		var led error
		out, err := play(start, m, nil, s, ticks-20,
			func(now time.Duration, line timeline.Timeline) error {
				if w := line.Leading(); w.Tick() > 160 && w.Tick() <= ticks &&
					w.Hash() != right[w.Tick()] {
					led = fmt.Errorf("%s: at tick %d the leading world is still wrong", m.name,
						w.Tick())
				}
				return nil
			})
		if err != nil || led != nil {
			t.Error(err, led)
		} else if out.stats.Late == 0 || out.stats.Rollbacks == 0 {
			t.Errorf("%s: nothing was late: %+v", m.name, out.stats)
		}
	}
}

// Delays may change at any time, and nothing is lost by it.
func TestSetDelays(t *testing.T) {
	const ticks = 80
	start := begin(t)
	m := makers()[2]
	rapid.Check(t, func(t *rapid.T) {
		s, mirrors := drawScript(t, ticks, false)
		changes := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 199), 1, 4), 1, 8).Draw(t,
			"delays")
		step := 0
		out, err := play(start, m, mirrors, s, ticks,
			func(now time.Duration, line timeline.Timeline) error {
				if step++; step%7 != 0 {
					return nil
				}
				var delays []time.Duration
				for _, d := range changes[step/7%len(changes)] {
					delays = append(delays, time.Duration(d)*time.Millisecond)
				}
				slices.Sort(delays)
				return line.(*timeline.Trailing).SetDelays(
					timeline.DelaysOf(append(slices.Compact(delays), window)...))
			})
		if err == nil {
			err = judge(start, out, ticks)
		}
		if err != nil {
			t.Fatalf("%v\n%v", err, s.sorted())
		}
	})
}

// After a repair by a copy that has everything, the leading world is what one machine would have
// computed from all that has come so far.
func TestRepairIsExact(t *testing.T) {
	const ticks = 50
	start := begin(t)
	m := maker{name: "two states",
		make: func(start *world.World, o timeline.Options, _ []member.ID) (timeline.Timeline,
			error) {
			return timeline.NewTrailing(start,
				timeline.TrailingOptions{
					Options: o, Delays: timeline.DelaysOf(0, 190*time.Millisecond),
					Everything: true})
		}}
	repairs := 0
	rapid.Check(t, func(t *rapid.T) {
		s, mirrors := drawScript(t, ticks, false)
		come := s.sorted()
		seen := 0
		_, err := play(start, m, mirrors, s, ticks,
			func(now time.Duration, line timeline.Timeline) error {
				if line.Stats().Refreshes > 0 {
					return errors.New("there was something left to refresh")
				}
				if line.Stats().Seen == seen {
					return nil
				}
				seen = line.Stats().Seen
				repairs++
				known, _ := slices.BinarySearchFunc(come, now+1,
					func(a arrival, t time.Duration) int { return cmp.Compare(a.at, t) })
				if line.Stats().TooLate > 0 {
					return nil // the oracle would have those
				}
				w := line.Leading()
				if right, _ := oracle(start, come[:known], w.Tick()); w.Hash() != right[w.Tick()] {
					return fmt.Errorf("after a repair at %v, tick %d is wrong", now, w.Tick())
				}
				return nil
			})
		if err != nil {
			t.Fatalf("%v\n%v", err, come)
		}
	})
	if repairs == 0 {
		t.Error("nothing was repaired")
	}
}

// A copy that was repaired has another past than its records of before that; a command for that
// past must not be taken for a right guess by them. Here the leading world walked at tick 10
// because a command had come late, the world it was repaired from stood still, and then it comes to
// light that it should have walked.
func TestOldRecordsAreNotTrusted(t *testing.T) {
	start := begin(t)
	line, err := timeline.NewTrailing(start, timeline.TrailingOptions{
		Options: timeline.Options{HashEvery: 8},
		Delays: timeline.DelaysOf(0, 40*time.Millisecond, 100*time.Millisecond,
			200*time.Millisecond),
	})
	if err != nil {
		t.Fatal(err)
	}
	give := func(when, stamp world.Tick, seq uint32, a act) arrival {
		return arrival{
			at: at(when) + time.Millisecond, Command: timeline.Command{
				Tick: stamp, Origin: 1, Seq: seq, Player: 1, Image: image(a)}}
	}
	s := script{
		{Command: timeline.Command{Kind: timeline.Join, Tick: 1, Origin: 1, Seq: 1, Player: 1}},
		give(9, 8, 2, act{X: -1}),
		give(10, 9, 3, act{}),
		give(12, 11, 5, act{Fire: true}), // what the repair is for, at tick 11
		give(14, 10, 4, act{X: -1}),
	}
	right, _ := oracle(start, s, 100)
	rest := s
	for n := world.Tick(0); n < 100; n++ {
		for _, now := range []time.Duration{
			at(n), at(n) + time.Millisecond, at(n) + 10*time.Millisecond} {
			for ; len(rest) > 0 && rest[0].at <= now; rest = rest[1:] {
				if _, err := line.Submit(now, rest[0].Command); err != nil {
					t.Fatal(err)
				}
			}
			if err := line.Advance(now); err != nil {
				t.Fatal(err)
			}
		}
	}
	if st := line.Stats(); st.Late != 4 || st.Rollbacks == 0 {
		t.Errorf("%+v", st)
	}
	if w := line.Leading(); w.Hash() != right[w.Tick()] {
		t.Errorf("long after, tick %d of the leading world is still wrong", w.Tick())
	}
}
