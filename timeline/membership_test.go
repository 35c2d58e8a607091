package timeline_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

func waiters() []maker {
	return slices.DeleteFunc(makers(), func(m maker) bool { return !m.waits })
}

// A change of mirrors: the fourth joins after one tick, the third leaves after another.
type turnover struct{ from, until world.Tick }

func (c turnover) joined() []timeline.Membership {
	return []timeline.Membership{{Mirror: 1}, {Mirror: 2}, {Mirror: 3}, {Mirror: 4, From: c.from}}
}

func (c turnover) left() []timeline.Membership {
	list := c.joined()
	list[2].Left, list[2].Until = true, c.until
	return list
}

// drawTurnover makes up what four mirrors say, in the order and with the promises that each makes.
func drawTurnover(t *rapid.T, ticks world.Tick) (script, turnover) {
	c := turnover{
		world.Tick(rapid.IntRange(1, int(ticks)).Draw(t, "from")),
		world.Tick(rapid.IntRange(1, int(ticks)).Draw(t, "until"))}
	s, _ := drawScript(t, ticks, true)
	for i := range s { // not beyond what a book has room for
		s[i].at = min(s[i].at, at(s[i].Tick)+300*time.Millisecond)
	}
	seq := uint32(0)
	for n := c.from + 1; n <= ticks+30; n++ {
		when := at(n) + time.Duration(rapid.IntRange(0, 80).Draw(t, "way"))*time.Millisecond
		if n <= ticks && rapid.Bool().Draw(t, "speaks") {
			seq++
			s = append(s, arrival{at: when, Command: timeline.Command{
				Tick: n, Origin: 4, Seq: seq,
				Player: world.Player(rapid.IntRange(1, 4).Draw(t, "player")),
				Image:  image(act{X: 1, Grab: n%3 == 0}),
			}})
		}
		s = append(s,
			arrival{at: when,
				Command: timeline.Command{Kind: timeline.Promise, Tick: n, Origin: 4, Seq: seq}})
	}
	return s, c
}

// seen is the script as one of the mirrors that stay comes to see it. It learns of the changes when
// it does: until then it keeps what the new one says and stamps nothing itself beyond the tick from
// which on that one speaks; and of what the third said for ticks after its last, it has got what
// did not make it settle them.
func (s script) seen(t *rapid.T, self member.ID, c turnover) script {
	join := time.Duration(rapid.IntRange(0, 1500).Draw(t, "learns of join ms")) * time.Millisecond
	leave := join +
		time.Duration(rapid.IntRange(0, 700).Draw(t, "and of leave ms"))*time.Millisecond
	gap := rapid.Bool().Draw(t, "gap")
	first := uint32(0) // what the third said first that does not count
	for i := range s {
		if a := &s[i]; a.Origin == 3 && a.Kind != timeline.Promise && a.Tick > c.until &&
			(first == 0 || a.Seq < first) {
			first = a.Seq
		}
	}
	set := func(list []timeline.Membership) func(time.Duration, timeline.Timeline) error {
		return func(now time.Duration, line timeline.Timeline) error {
			return line.SetMirrors(now, list)
		}
	}
	out := script{{at: join, do: set(c.joined())}, {at: leave, do: set(c.left())}}
	for _, a := range s {
		if a.Origin != self && a.Kind != timeline.Promise {
			a.at += time.Duration(rapid.IntRange(0, 40).Draw(t, "more ms")) * time.Millisecond
		}
		switch {
		case a.Origin == 4, a.Origin == self && a.Tick > c.from:
			a.at = max(a.at, join+1)
		case a.Origin == 3 && a.Tick > c.until:
			if a.Kind == timeline.Promise || gap && a.Seq == first {
				continue
			}
			if a.refused = true; !gap && a.Tick > c.until+1 {
				a.at = max(a.at, leave+1)
			}
		}
		out = append(out, a)
	}
	return out
}

// Mirrors that learn at different moments who has joined and who has left settle the same worlds:
// those that come of what all said that stay, of the new one from its tick on, and of the one that
// left up to its last, whatever else of it had come and had been executed by guess.
func TestTurnover(t *testing.T) {
	const ticks = 40
	start := begin(t)
	struck := 0
	rapid.Check(t, func(t *rapid.T) {
		s, c := drawTurnover(t, ticks)
		counts := slices.DeleteFunc(slices.Clone(s),
			func(a arrival) bool { return a.Origin == 3 && a.Tick > c.until })
		right, _ := oracle(start, counts, ticks)
		for self := member.ID(1); self <= 2; self++ {
			m := rapid.SampledFrom(waiters()).Draw(t, "kind")
			mine := s.seen(t, self, c)
			out, err := play(start, m, []member.ID{1, 2, 3}, mine, ticks, nil)
			if err != nil {
				t.Fatalf("mirror %d, %s, %+v: %v\n%v", self, m.name, c, err, mine.sorted())
			}
			for n := world.Tick(1); n <= ticks; n++ {
				if out.hashes[n] != right[n] {
					t.Fatalf("mirror %d, %s, %+v: tick %d is not what it should be\n%v", self,
						m.name, c, n, mine.sorted())
				}
			}
			for _, a := range out.taken {
				if a.Origin == 3 && a.Tick > c.until {
					struck++
				}
			}
		}
	})
	if struck == 0 {
		t.Error("nothing had to be struck out")
	}
}

// What gave way to something that is struck out counts again.
func TestStruckOut(t *testing.T) {
	for _, m := range waiters() {
		start := begin(t)
		s := script{
			{Command: timeline.Command{Kind: timeline.Join, Tick: 1, Origin: 1, Seq: 1, Player: 1}},
			{Command: timeline.Command{Kind: timeline.Promise, Tick: 4, Origin: 2}},
			{Command: timeline.Command{Tick: 5, Origin: 1, Seq: 2, Player: 1,
				Image: image(act{Grab: true})}},
			{Command: timeline.Command{Tick: 5, Origin: 2, Seq: 1, Player: 1,
				Image: image(act{X: 1})}},
			{Command: timeline.Command{Kind: timeline.Leave, Tick: 5, Origin: 2, Seq: 2,
				Player: 1}},
			{Command: timeline.Command{Kind: timeline.Promise, Tick: 20, Origin: 1, Seq: 2}},
			{at: at(7), do: func(now time.Duration, line timeline.Timeline) error {
				return line.SetMirrors(now,
					[]timeline.Membership{{Mirror: 1}, {Mirror: 2, Left: true, Until: 4}})
			}},
		}
		out, err := play(start, m, []member.ID{1, 2}, s, 10, nil)
		if err != nil {
			t.Fatal(err)
		}
		right, _ := oracle(start, s[:3], 10)
		if out.hashes[10] != right[10] || m.name == "rollback" && out.stats.Rollbacks == 0 {
			t.Errorf("%s: %+v", m.name, out.stats)
		}
	}
}

// What one says that has left, for ticks that do not count, at least shows that nothing is missing
// before it.
func TestLastWords(t *testing.T) {
	for _, m := range waiters() {
		line, err := m.make(begin(t), timeline.Options{}, []member.ID{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		if err := line.SetMirrors(0,
			[]timeline.Membership{{Mirror: 1}, {Mirror: 2, Left: true, Until: 4}}); err != nil {
			t.Fatal(err)
		}
		if _, err := line.Submit(0,
			timeline.Command{Kind: timeline.Promise, Tick: 9, Origin: 1}); err != nil {
			t.Fatal(err)
		}
		if err := line.Advance(at(20)); err != nil || line.Settled().Tick() != 0 {
			t.Errorf("%s: tick %d, %v", m.name, line.Settled().Tick(), err)
		}
		if _, err := line.Submit(0,
			timeline.Command{
				Kind: timeline.Join, Tick: 5, Origin: 2, Seq: 1, Player: 1}); !errors.Is(err,
			timeline.ErrMirror) {
			t.Errorf("%s: %v", m.name, err)
		}
		if err := line.Advance(at(20)); err != nil || line.Settled().Tick() != 9 {
			t.Errorf("%s: tick %d, %v", m.name, line.Settled().Tick(), err)
		}
	}
}

// A change that comes too late, or makes no sense, is refused, and nothing is changed.
func TestTurnoverRefused(t *testing.T) {
	for _, m := range waiters() {
		line, err := m.make(begin(t), timeline.Options{}, []member.ID{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []member.ID{1, 2} {
			if _, err := line.Submit(0,
				timeline.Command{Kind: timeline.Promise, Tick: 10, Origin: o}); err != nil {
				t.Fatal(err)
			}
		}
		if err := line.Advance(at(20)); err != nil || line.Settled().Tick() != 10 {
			t.Fatalf("%s: tick %d, %v", m.name, line.Settled().Tick(), err)
		}
		many := make([]timeline.Membership, 300)
		for i := range many {
			many[i].Mirror = member.ID(i)
		}
		for _, c := range []struct {
			list []timeline.Membership
			err  error
			want string
		}{
			{[]timeline.Membership{{Mirror: 1}, {Mirror: 1}, {Mirror: 2}}, nil, "listed twice"},
			{[]timeline.Membership{{Mirror: 1}}, nil, "mirror 2 is waited for and missing"},
			{[]timeline.Membership{{Mirror: 1, Left: true, Until: 10},
				{Mirror: 2, Left: true, Until: 10}}, nil, "nobody left"},
			{[]timeline.Membership{{Mirror: 1}, {Mirror: 2, Left: true, Until: 9}},
				timeline.ErrSettled, "mirror 2 leaves after tick 9"},
			{[]timeline.Membership{{Mirror: 1}, {Mirror: 2}, {Mirror: 3, From: 9}},
				timeline.ErrSettled, "mirror 3 speaks after tick 9"},
			{many, nil, "300 mirrors"},
		} {
			if err := line.SetMirrors(at(20), c.list); err == nil ||
				!strings.Contains(err.Error(), c.want) || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("%s: %+v: got %v, want %q", m.name, c.list, err, c.want)
			}
		}
		if got := line.Members(); len(got) != 2 || got[0].From != 10 || got[1].Left {
			t.Errorf("%s: %+v", m.name, got)
		}
		gone := []timeline.Membership{{Mirror: 1}, {Mirror: 2, Left: true, Until: 10}}
		if err := line.SetMirrors(at(20), gone); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if _, err := line.Submit(at(20),
			timeline.Command{Kind: timeline.Promise, Tick: 15, Origin: 1}); err != nil {
			t.Error(err)
		}
		if _, err := line.Submit(at(20),
			timeline.Command{
				Kind: timeline.Join, Tick: 12, Origin: 2, Seq: 1, Player: 1}); !errors.Is(err,
			timeline.ErrMirror) {
			t.Errorf("%s: one that has left speaks: %v", m.name, err)
		}
		if err := line.Advance(at(20)); err != nil || line.Settled().Tick() != 15 {
			t.Errorf("%s: without the one who left tick %d is settled, %v", m.name,
				line.Settled().Tick(), err)
		}
		if err := line.SetMirrors(at(20), gone[:1]); err != nil { // it need not be listed for ever
			t.Errorf("%s: %v", m.name, err)
		}
		if got := line.Members(); len(got) != 1 {
			t.Errorf("%s: %+v", m.name, got)
		}
	}
}

// A mirror that joins with another's settled world, sent as bytes, and what that one has for later
// settles the same as all.
func TestNewcomer(t *testing.T) {
	const ticks = 60
	for _, m := range append(holders(0), waiters()...) {
		t.Run(m.name, func(t *testing.T) {
			start := begin(t)
			rapid.Check(t, func(t *rapid.T) {
				s, mirrors := drawScript(t, ticks, m.waits)
				right, _ := oracle(start, s, ticks)
				when := time.Duration(rapid.IntRange(100, 900).Draw(t,
					"joins ms")) * time.Millisecond
				var joiner timeline.Timeline
				hashes := map[world.Tick]uint64{}
				next := s.sorted()
				_, err := play(start, m, mirrors, s, ticks,
					func(now time.Duration, line timeline.Timeline) error {
						line.Hold(s.come(now, ticks))
						if joiner == nil && now >= when {
							var err error
							if joiner, err = join(line, m, hashes); err != nil {
								return err
							}
						}
						for ; len(next) > 0 && next[0].at <= now; next = next[1:] {
							if joiner == nil || next[0].at <= when {
								continue
							}
							if _, err := joiner.Submit(now, next[0].Command); err != nil {
								return fmt.Errorf("the new one: %v: %w", &next[0].Command, err)
							}
						}
						if joiner == nil {
							return nil
						}
						joiner.Hold(s.come(now, ticks))
						return joiner.Advance(now)
					})
				if err == nil && joiner != nil {
					err = joiner.Advance(at(3 * ticks))
					if w := joiner.Settled(); err == nil && w.Tick() < ticks {
						err = fmt.Errorf("the new one has settled only tick %d", w.Tick())
					}
				}
				for n, h := range hashes {
					if n <= ticks && h != right[n] && err == nil {
						err = fmt.Errorf("the new one has another tick %d", n)
					}
				}
				if err != nil {
					t.Fatalf("%v\n%v", err, s.sorted())
				}
			})
		})
	}
}

// join makes a timeline out of what another one can tell.
func join(from timeline.Timeline, m maker, hashes map[world.Tick]uint64) (timeline.Timeline,
	error) {
	w, err := game.Load(from.Settled().Host().Save(nil))
	if err != nil {
		return nil, err
	}
	o := timeline.Options{
		Margins: margins, HashEvery: 8, Ahead: 2 * time.Second,
		Settled: func(w *world.World, _ *world.Inputs) { hashes[w.Tick()] = w.Hash() }}
	for c := range from.Pending {
		c.Image = slices.Clone(c.Image)
		o.Pending = append(o.Pending, c)
	}
	line, err := m.make(w, o, []member.ID{9})
	if err != nil || !m.waits {
		return line, err
	}
	members := from.Members()
	far := timeline.Membership{Mirror: 9, From: 1 << 20} // it has nothing to say itself
	return line, line.SetMirrors(0, append(members, far))
}
