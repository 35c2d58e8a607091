package timeline_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/ruled"
	"github.com/coeval-dev/coeval/world"
)

// alone is a judge who has nobody to tell.
func alone(held bool) maker {
	return maker{
		name: "ruled",
		make: func(start *world.World, o timeline.Options, _ []member.ID) (timeline.Timeline,
			error) {
			o.Held = held
			return ruled.New(start, ruled.Options{Options: o, Judge: true, Wait: window})
		}}
}

// What comes to the judge within the time it waits is executed where it was meant to be, so its
// world is that of a machine that had every command in time.
func TestJudgeAlone(t *testing.T) {
	const ticks = 50
	start := begin(t)
	rapid.Check(t, func(t *rapid.T) {
		s, mirrors := drawScript(t, ticks, false)
		for i := range s {
			s[i].at = min(s[i].at, at(s[i].Tick)+window-time.Millisecond)
		}
		out, err := play(start, alone(rapid.Bool().Draw(t, "held")), mirrors, s, ticks+5,
			func(now time.Duration, line timeline.Timeline) error {
				line.(*ruled.Timeline).Hold(line.Leading().Tick() - min(line.Leading().Tick(), 10))
				return nil
			})
		if err == nil {
			err = judge(start, out, ticks+5)
		}
		if err != nil {
			t.Fatalf("%v\n%v", err, s.sorted())
		}
		if out.stats.Rollbacks > 0 || out.stats.Late > 0 {
			t.Fatalf("%+v", out.stats)
		}
	})
}

// pair is a judge and another mirror, in the hands of a test.
func pair(t testing.TB, o ruled.Options) (judge, other *ruled.Timeline) {
	t.Helper()
	o.Judge = true
	judge, err := ruled.New(begin(t), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Judge = false
	if other, err = ruled.New(begin(t), o); err != nil {
		t.Fatal(err)
	}
	return judge, other
}

// advance lets a judge come to a time and collects its rulings as bytes.
func advance(t testing.TB, judge *ruled.Timeline, now time.Duration) (out [][]byte) {
	t.Helper()
	if err := judge.Advance(now); err != nil {
		t.Fatal(err)
	}
	for r := range judge.Rulings {
		out = append(out, r.Append(nil))
	}
	return out
}

func parse(t testing.TB, b []byte) *ruled.Ruling {
	t.Helper()
	r, err := ruled.ParseRuling(game, b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Where all mirrors wait for as long as commands take, nobody has to go back; where the others do
// not, they do, and are right again at once.
func TestRuledCovered(t *testing.T) {
	for _, c := range []struct {
		delay time.Duration
		some  bool
	}{{50 * time.Millisecond, false}, {0, true}} {
		court := newCourt(t, 3, 3, ruled.Options{Wait: 50 * time.Millisecond, Delay: c.delay})
		court.path, court.jitter = 40*time.Millisecond, time.Millisecond
		for range 5000 {
			court.step(busy)
		}
		if court.err != nil {
			t.Fatal(court.err)
		}
		for i, s := range court.seats {
			st := s.line.Stats()
			if (st.Rollbacks > 0) != (c.some && i > 0) || st.TooLate > 0 || st.Settled < 280 {
				t.Errorf("with a delay of %v, mirror %d: %+v", c.delay, i, st)
			}
		}
	}
}

// A command that comes to the judge too late for its tick is executed at the next, unless something
// newer of the same player is known; joins and leaves always are.
func TestJudgeTakesTheNewest(t *testing.T) {
	judge, _ := pair(t, ruled.Options{Wait: -1})
	give := func(n world.Tick, seq uint32, a act) timeline.Command {
		return timeline.Command{Tick: n, Origin: 1, Seq: seq, Player: 1, Image: image(a)}
	}
	submit := func(c timeline.Command, want timeline.Fate) {
		t.Helper()
		if f, err := judge.Submit(0, c); f != want || err != nil {
			t.Errorf("%v is %v, %v; want %v", &c, f, err, want)
		}
	}
	ruled := func(n world.Tick) *ruled.Ruling {
		t.Helper()
		b := advance(t, judge, at(n))
		if len(b) == 0 {
			t.Fatalf("nothing was ruled at tick %d", n)
		}
		return parse(t, b[len(b)-1])
	}
	ruled(10)
	submit(timeline.Command{Kind: timeline.Join, Tick: 1, Origin: 1, Seq: 1, Player: 1},
		timeline.Late)
	if r := ruled(11); !slices.Equal(r.Joins, []world.Player{1}) || len(r.Commands) > 0 {
		t.Errorf("%+v", r)
	}
	submit(give(9, 4, act{Fire: true}), timeline.Late)
	submit(give(8, 3, act{X: 1}), timeline.Superseded)
	submit(give(9, 4, act{Fire: true}), timeline.Duplicate)
	if r := ruled(12); len(r.Commands) != 1 || r.Digest == 0 {
		t.Errorf("%+v", r)
	}
	submit(give(12, 5, act{Fire: true}), timeline.Late)
	submit(give(13, 6, act{X: 1}), timeline.OnTime) // goes before it
	if r := ruled(13); len(r.Commands) != 1 || r.Digest != 0 {
		t.Errorf("%+v", r)
	}
	ruled(100)
	submit(give(20, 7, act{X: 1}), timeline.TooLate)
	submit(give(39, 7, act{X: 1}), timeline.TooLate)
	submit(give(40, 7, act{X: 1}), timeline.Late)
	submit(timeline.Command{Kind: timeline.Leave, Tick: 20, Origin: 1, Seq: 8, Player: 1},
		timeline.Late)
	if r := ruled(101); !slices.Equal(r.Leaves, []world.Player{1}) {
		t.Errorf("%+v", r)
	}
}

// Without rulings the leading world goes on for its window, then it waits; with them it catches up,
// in whatever order they come.
func TestRuledWaits(t *testing.T) {
	judge, other := pair(t,
		ruled.Options{Wait: 20 * time.Millisecond, Window: 500 * time.Millisecond})
	for _, line := range []*ruled.Timeline{judge, other} {
		for p := world.Player(1); p <= 2; p++ {
			if _, err := line.Submit(0,
				timeline.Command{
					Kind: timeline.Join, Tick: 1, Origin: 1, Seq: uint32(p),
					Player: p}); err != nil {
				t.Fatal(err)
			}
		}
	}
	all := advance(t, judge, 10*time.Second)
	for now := 10 * time.Second; ; { // there are more than it can remember at a time
		more := advance(t, judge, now)
		if all = append(all, more...); len(more) == 0 {
			break
		}
	}
	if n := len(all); n != 598 || judge.Settled().Tick() != 598 {
		t.Fatalf("%d rulings, and tick %d is settled", n, judge.Settled().Tick())
	}
	calls := 0
	for now := time.Duration(0); now < 10*time.Second; now = max(now, other.Next()) {
		if err := other.Advance(now); err != nil {
			t.Fatal(err)
		}
		if calls++; calls > 2000 {
			t.Fatalf("it asks to be called again and again: %v at %v", other.Next(), now)
		}
	}
	stamp := other.Stamp(10 * time.Second)
	if n := other.Leading().Tick(); n < 30 || n > 32 || other.Settled().Tick() != 0 ||
		other.Stats().Waited < 9*time.Second || stamp <= n || stamp > n+60 {
		t.Errorf("it leads with tick %d and stamps %d: %+v", n, stamp, other.Stats())
	}
	r := det.At(4, 4, 4)
	for len(all) > 0 {
		room := min(len(all), 80)
		for range 20 * room { // some come twice
			if _, err := other.Rule(0, parse(t, all[r.IntN(room)])); err != nil {
				t.Fatal(err)
			}
		}
		if err := other.Advance(10 * time.Second); err != nil {
			t.Fatal(err)
		}
		for len(all) > 0 && parse(t, all[0]).Tick <= other.Have() {
			all = all[1:]
		}
	}
	if a, b := judge.Settled(), other.Settled(); a.Tick() != b.Tick() || a.Hash() != b.Hash() ||
		other.Leading().Tick() < 598 {
		t.Errorf("ticks %d and %d are settled", a.Tick(), b.Tick())
	}
}

// Rulings that are not to be believed, and changes of judge that come too late, are refused.
func TestRuledRefused(t *testing.T) {
	judge, other := pair(t, ruled.Options{Wait: -1})
	if _, err := judge.Submit(0,
		timeline.Command{Kind: timeline.Join, Tick: 3, Player: 1}); err != nil {
		t.Fatal(err)
	}
	all := advance(t, judge, at(10))
	if err := other.Advance(at(10)); err != nil {
		t.Fatal(err)
	}
	rule := func(line *ruled.Timeline, b []byte, change func(*ruled.Ruling), want timeline.Fate,
		err error) {
		t.Helper()
		r := parse(t, b)
		if change != nil {
			change(r)
		}
		if f, got := line.Rule(0, r); f != want && err == nil || !errors.Is(got, err) {
			t.Errorf("ruling for tick %d in term %d is %v, %v; want %v, %v", r.Tick, r.Term, f, got,
				want, err)
		}
	}
	rule(other, all[1], nil, timeline.OnTime, nil)
	rule(other, all[1], nil, timeline.Duplicate, nil)
	rule(other, all[1], func(r *ruled.Ruling) { r.Digest = 7 }, 0, timeline.ErrMirror)
	rule(other, all[2], func(r *ruled.Ruling) { r.Tick = 1000 }, 0, timeline.ErrAhead)
	// kept for later
	rule(other, all[2], func(r *ruled.Ruling) { r.Term = 1 }, timeline.OnTime, nil)
	rule(other, all[2], func(r *ruled.Ruling) { r.Term = 1 }, timeline.Duplicate, nil)
	rule(judge, all[2], nil, timeline.Duplicate, nil)
	rule(judge, all[2], func(r *ruled.Ruling) { r.Tick = 11 }, 0, timeline.ErrMirror)
	for _, r := range []*ruled.Ruling{nil, {}, {Tick: 3}} {
		if _, err := other.Rule(0, r); err == nil {
			t.Errorf("%+v was taken in", r)
		}
	}
	kept := 0
	var full error
	for ; full == nil && kept < 10_000; kept++ {
		r := parse(t, all[2])
		r.Term, r.Tick = 5, world.Tick(1+kept%100)
		r.Digest = uint32(kept)
		_, full = other.Rule(0, r)
	}
	if !errors.Is(full, timeline.ErrAhead) || kept > 1000 {
		t.Errorf("%d rulings of the future were kept: %v", kept, full)
	}

	if err := judge.SetJudge(0, false, 9); !errors.Is(err, timeline.ErrSettled) || !judge.Judge() ||
		judge.Term() != 0 {
		t.Errorf("a change after what is settled: %v", err)
	}
	if err := other.SetJudge(0, false, 1<<20); !errors.Is(err, timeline.ErrAhead) {
		t.Errorf("a change far ahead: %v", err)
	}
	if err := other.SetJudge(0, true, 2); err != nil || other.Term() != 1 || !other.Judge() {
		t.Errorf("a change: %v", err)
	}
	if err := other.SetJudge(0, true, 1); err == nil ||
		!strings.Contains(err.Error(), "follow each other") {
		t.Errorf("a change before the last: %v", err)
	}
	rule(other, all[4], nil, timeline.Superseded, nil) // its judge is none any more
	if other.Advance(at(10)) != nil || other.Settled().Tick() != 0 {
		t.Errorf("it rules without what was ruled before: tick %d is settled",
			other.Settled().Tick())
	}
	rule(other, all[0], nil, timeline.OnTime, nil)
	if other.Advance(at(10)) != nil || other.Settled().Tick() < 9 {
		t.Errorf("it has what was ruled before, and tick %d is settled", other.Settled().Tick())
	}
}

// A ruling by which something else happens here than at the judge, or that no command can be made
// of, ends it.
func TestRulingsAreProved(t *testing.T) {
	for name, spoil := range map[string]func(r *ruled.Ruling){
		"digest": func(r *ruled.Ruling) { r.Digest ^= 5 },
		"image": func(r *ruled.Ruling) {
			r.Commands = []ruled.Executed{
				{Player: 1, Changes: []ruled.Change{{Slot: 0, Value: 99}}}}
		},
	} {
		judge, other := pair(t, ruled.Options{Wait: -1})
		for _, c := range []timeline.Command{
			{Kind: timeline.Join, Tick: 1, Player: 1}, {
				Tick: 2, Player: 1, Image: image(act{Fire: true})}} {
			if _, err := judge.Submit(0, c); err != nil {
				t.Fatal(err)
			}
		}
		for i, b := range advance(t, judge, at(3)) {
			r := parse(t, b)
			if i == 1 {
				spoil(r)
			}
			if _, err := other.Rule(0, r); err != nil {
				t.Fatal(err)
			}
		}
		err := other.Advance(at(10))
		var d *timeline.DesyncError
		if name == "digest" && !errors.As(err, &d) || name == "image" &&
			!errors.Is(err, timeline.ErrMirror) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A game that is not deterministic is found out on the judge itself.
func TestRuledNotDeterministic(t *testing.T) {
	broken = true
	defer func() { broken = false }()
	k := talk{ticks: 200, mirrors: 2, players: 2, do: busy}
	_, err := play(begin(t), alone(false), nil, k.script(), 150, nil)
	var d *timeline.DesyncError
	if !errors.As(err, &d) || d.Difference.Field != "Health" {
		t.Error(err)
	}
}

// Terms tell a mirror that joins how to come to the present term, also over those in which nothing
// was ruled.
func TestTerms(t *testing.T) {
	l := newListener(t, ruled.Options{Options: timeline.Options{Held: true}, Term: 3}, 12)
	for _, from := range []world.Tick{5, 5, 7, 7} {
		if err := l.line.SetJudge(0, false, from); err != nil {
			t.Fatal(err)
		}
	}
	if term, changes := l.line.Terms(); term != 3 ||
		!slices.Equal(changes, []world.Tick{5, 5, 7, 7}) || l.line.Term() != 7 {
		t.Errorf("%d %v, and now it is %d", term, changes, l.line.Term())
	}
	l.rule(1, 2, 3, 4, 5)
	l.line.Hold(5)
	l.advance(6)
	if term, changes := l.line.Terms(); term != 5 || !slices.Equal(changes, []world.Tick{7, 7}) ||
		l.line.Settled().Tick() != 5 {
		t.Errorf("%d %v", term, changes)
	}
}

// A judge who is the judge again after an earlier tick rules anew what came after it.
func TestJudgeAgain(t *testing.T) {
	judge, _ := pair(t, ruled.Options{Options: timeline.Options{Held: true}, Wait: -1})
	advance(t, judge, at(10))
	judge.Hold(4)
	advance(t, judge, at(10))
	if err := judge.SetJudge(0, true, 6); err != nil {
		t.Fatal(err)
	}
	all := advance(t, judge, at(10))
	if len(all) != 4 || parse(t, all[0]).Tick != 7 || parse(t, all[0]).Term != 1 ||
		judge.Settled().Tick() != 4 {
		t.Errorf("%d rulings, and tick %d is settled", len(all), judge.Settled().Tick())
	}
	if err := judge.SetJudge(0, true, 3); !errors.Is(err, timeline.ErrSettled) {
		t.Error(err)
	}
}
