package timeline_test

import (
	"errors"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// What is withdrawn has never been: whatever had been computed by then, what is settled is what one
// machine would have computed from the other commands, those included that had given way.
func TestWithdraw(t *testing.T) {
	const ticks, gone = 50, 3
	for _, m := range holders(3 * time.Second) {
		line, err := m.make(begin(t), timeline.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, trails := line.(interface{ Spread() *timeline.Spread }); !trails {
			if line.Withdraw(gone, 1, math.MaxUint32) {
				t.Errorf("%s: it says that it withdraws", m.name)
			}
			continue
		}
		if os.Getenv("COEVAL_SOAK") == "" &&
			!slices.Contains([]string{"trailing 4", "trailing back", "auto"}, m.name) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			start := begin(t)
			rapid.Check(t, func(t *rapid.T) {
				s, mirrors := drawScript(t, ticks, false)
				first := uint32(rapid.IntRange(1, 30).Draw(t, "first"))
				when := time.Duration(rapid.IntRange(0, 1200).Draw(t, "when")) * time.Millisecond
				not := func(a arrival) bool { return a.Origin == gone && a.Seq >= first }
				s = slices.DeleteFunc(s, func(a arrival) bool {
					return not(a) && (a.Kind != timeline.Give || a.at > when)
				})
				rest := slices.DeleteFunc(slices.Clone(s), not)
				until := world.Tick(ticks + 5)
				for _, a := range s {
					if not(a) {
						until = min(until, a.Tick-1)
					}
				}
				do := func(_ time.Duration, line timeline.Timeline) error {
					until = ticks + 5
					if !line.Withdraw(gone, first, math.MaxUint32) {
						return errors.New("it cannot withdraw")
					}
					return nil
				}
				out, err := play(start, m, mirrors, append(slices.Clone(s),
					arrival{at: when, do: do}), ticks+5,
					func(now time.Duration, line timeline.Timeline) error {
						line.Hold(min(until, s.come(now, ticks+5)))
						return nil
					})
				if err == nil {
					out.taken = rest
					err = judge(start, out, ticks+5)
				}
				if err != nil {
					t.Fatalf("%v\nwithout those of mirror %d from %d on, at %v\n%v", err, gone,
						first, when, s.sorted())
				}
			})
		})
	}
}

// What had given way is kept as long as it is little; and who came or went is not withdrawn.
func TestWithdrawTooMuch(t *testing.T) {
	for name, c := range map[string]struct {
		gaveWay int
		kind    timeline.Kind
		can     bool
	}{
		"some": {200, timeline.Give, true},
		"many": {300, timeline.Give, false},
		"join": {0, timeline.Join, false},
	} {
		line, err := timeline.NewTrailing(begin(t), timeline.TrailingOptions{})
		if err != nil {
			t.Fatal(err)
		}
		submit := func(kind timeline.Kind, seq uint32, x int8) {
			if _, err := line.Submit(0, timeline.Command{Kind: kind, Tick: 5, Origin: 2, Seq: seq,
				Player: 1, Image: image(act{X: x})}); err != nil {
				t.Fatal(err)
			}
		}
		for seq := range uint32(c.gaveWay) {
			submit(timeline.Give, seq+1, 1)
		}
		submit(c.kind, 1000, -1)
		if got := line.Withdraw(2, 1000, 1000); got != c.can {
			t.Errorf("%s: withdrawn %v", name, got)
		}
		want := image(act{X: -1})
		if c.can {
			want = image(act{X: 1})
		}
		for p := range line.Pending {
			if p.Kind == timeline.Give && !slices.Equal(p.Image, want) {
				t.Errorf("%s: what counts is %v", name, p.Image)
			}
		}
	}
}
