package timeline_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// backwards is a leading world that goes back as far as anything can be late.
func backwards(back time.Duration, delays ...time.Duration) maker {
	return maker{name: fmt.Sprint("back ", back, " of ", delays),
		make: func(start *world.World, o timeline.Options, _ []member.ID) (timeline.Timeline,
			error) {
			return timeline.NewTrailing(start, timeline.TrailingOptions{
				Options: o, Delays: timeline.DelaysOf(delays...), Back: back})
		}}
}

// TestBackIsExact: where the past reaches, the leading world is at each of its ticks what one
// machine would have computed from all that has come so far, whatever the network does.
func TestBackIsExact(t *testing.T) {
	const ticks = 30
	start := begin(t)
	m := backwards(400*time.Millisecond, 0, 60*time.Millisecond, 190*time.Millisecond)
	returns := 0
	rapid.Check(t, func(t *rapid.T) {
		s, mirrors := drawScript(t, ticks, false)
		come := s.sorted()
		led := world.Tick(0)
		out, err := play(start, m, mirrors, s, ticks,
			func(now time.Duration, line timeline.Timeline) error {
				w := line.Leading()
				if w.Tick() == led || line.Stats().TooLate > 0 { // the oracle would have those
					return nil
				}
				led = w.Tick()
				known, _ := slices.BinarySearchFunc(come, now+1,
					func(a arrival, t time.Duration) int { return cmp.Compare(a.at, t) })
				if right, _ := oracle(start, come[:known], led); w.Hash() != right[led] {
					return fmt.Errorf("at %v, tick %d is wrong", now, led)
				}
				return nil
			})
		if err != nil {
			t.Fatalf("%v\n%v", err, come)
		}
		if out.stats.Seen > 0 {
			t.Fatalf("a copy behind found something: %+v\n%v", out.stats, come)
		}
		returns += out.stats.Returns
	})
	if returns == 0 {
		t.Error("it never went back")
	}
}

// A late shot of a remote player is announced once, at its own tick, and never taken back; the
// paper's way shows it where it was executed, takes that back and shows it again.
func TestBackAnnouncesOnce(t *testing.T) {
	for _, x := range []struct {
		m         maker
		announced int
	}{
		{backwards(150*time.Millisecond, 0, 100*time.Millisecond, 200*time.Millisecond), 1},
		{backwards(0, 0, 100*time.Millisecond, 200*time.Millisecond), 2},
	} {
		const shot = 30
		s := script{{Command: timeline.Command{Kind: timeline.Join, Tick: 1, Origin: 2, Seq: 1,
			Player: 1}},
			{at: at(shot) + 50*time.Millisecond, Command: timeline.Command{Tick: shot, Origin: 2,
				Seq: 2, Player: 1, Image: image(act{Fire: true})}}}
		announced, taken, first := 0, 0, world.Tick(0)
		out, err := play(begin(t), x.m, []member.ID{1, 2}, s, 60,
			func(now time.Duration, line timeline.Timeline) error {
				for _, n := range line.Notices() {
					if game.Events()[n.Event.Kind].Name() != "fired" {
						continue
					}
					switch n.What {
					case timeline.Provisional:
						if announced++; first == 0 {
							first = n.Event.Tick
						}
					case timeline.Retracted:
						taken++
					}
				}
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		if announced != x.announced || taken != x.announced-1 || (first == shot) != (taken == 0) {
			t.Errorf("%s: announced %d times, first at tick %d, and taken back %d times",
				x.m.name, announced, first, taken)
		}
		if s := out.stats; s.Events < announced || s.Taken != taken {
			t.Errorf("%s: %+v", x.m.name, s)
		}
	}
}

// However late commands are, a tick costs no more than the past reaches and the copies there are.
func TestBackIsBounded(t *testing.T) {
	start := begin(t)
	const back, ticks = 6, 240
	m := backwards(at(back), 0, 100*time.Millisecond, 500*time.Millisecond)
	line, err := m.make(start, timeline.Options{Margins: margins}, nil)
	if err != nil {
		t.Fatal(err)
	}
	seq := uint32(0)
	submit := func(now time.Duration, c timeline.Command) {
		seq++
		c.Origin, c.Seq = 1, seq
		if _, err := line.Submit(now, c); err != nil {
			t.Fatal(err)
		}
	}
	submit(0, timeline.Command{Kind: timeline.Join, Tick: 1, Player: 1})
	most, before := 0, timeline.Stats{}
	for n := world.Tick(1); n <= ticks; n++ {
		for late := world.Tick(1); late <= min(back, n-1); late++ {
			submit(at(n), timeline.Command{Tick: n - late, Player: 1,
				Image: image(act{X: int8((n+late)%3) - 1, Fire: true})})
		}
		for range 4 { // as often as a mirror looks
			if err := line.Advance(at(n)); err != nil {
				t.Fatal(err)
			}
		}
		s := line.Stats()
		if s.Rollbacks == before.Rollbacks {
			most = max(most, s.Steps-before.Steps)
		}
		before = s
	}
	if want := back + 3; most > want || before.Returns < ticks/2 || before.Returns > ticks {
		t.Errorf("a tick took %d steps, at most %d are allowed: %+v", most, want, before)
	}
}

// A crossing is what the network does to a command on its way from one mirror to another.
type crossing struct {
	to   member.ID
	at   time.Duration
	what timeline.Command
}

// roads draws how all that mirrors say comes to each of them: with jitter, so out of order; some of
// it lost and sent again; some twice; and over a time in which one of them is cut off from the
// others, which hear of each other all the same.
func roads(r *det.Rand, said []timeline.Command, mirrors int, cutFrom, cutTo world.Tick,
	cut member.ID) (list []crossing) {
	for _, c := range said {
		for to := member.ID(1); int(to) <= mirrors; to++ {
			when := at(c.Tick) - time.Duration(r.IntN(16))*time.Millisecond
			if to != c.Origin {
				when += time.Duration(20+r.IntN(60)) * time.Millisecond
				if r.IntN(10) == 0 {
					when += time.Duration(80+r.IntN(200)) * time.Millisecond
				}
				if (to == cut) != (c.Origin == cut) && c.Tick >= cutFrom && c.Tick < cutTo {
					when = max(when, at(cutTo)+time.Duration(r.IntN(40))*time.Millisecond)
				}
			}
			list = append(list, crossing{to, max(when, 0), c})
			if r.IntN(8) == 0 {
				list = append(list, crossing{to, when + 30*time.Millisecond, c})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b crossing) int { return cmp.Compare(a.at, b.at) })
	return list
}

// TestBackMirrorsAgree: mirrors whose leading worlds go back settle the same worlds at every tick,
// under loss, reordering, duplication, jitter and a partition, with windows shorter than what is
// lost takes; and those of one machine that had everything in time.
func TestBackMirrorsAgree(t *testing.T) {
	seeds := uint64(6)
	if os.Getenv("COEVAL_SOAK") != "" {
		seeds = 400
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		if err := backMirrors(begin(t), seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func backMirrors(start *world.World, seed uint64) error {
	const mirrors, ticks = 3, world.Tick(180)
	r := det.At(seed, 1, 2)
	var said []timeline.Command
	for m := member.ID(1); m <= mirrors; m++ {
		seq := uint32(0)
		for n := world.Tick(1); n <= ticks; n++ {
			for p := world.Player(2*m - 1); p <= world.Player(2*m); p++ {
				c := timeline.Command{Tick: n, Origin: m, Player: p, Kind: timeline.Join}
				if n > 1 {
					a, ok := busy(p, n)
					if !ok {
						continue
					}
					c.Kind, c.Image = timeline.Give, image(a)
				}
				seq++
				c.Seq = seq
				said = append(said, c)
			}
		}
	}
	cut := member.ID(r.IntN(mirrors) + 1)
	from := world.Tick(40 + r.IntN(60))
	list := roads(&r, said, mirrors, from, from+world.Tick(10+r.IntN(30)), cut)
	var lines []timeline.Timeline
	hashes := make([]map[world.Tick]uint64, mirrors)
	for i := range hashes {
		hashes[i] = map[world.Tick]uint64{}
		m := backwards(time.Duration(50+50*i)*time.Millisecond, 0, 100*time.Millisecond,
			time.Duration(150+50*r.IntN(3))*time.Millisecond)
		line, err := m.make(start, timeline.Options{
			Margins: margins, HashEvery: 8, Held: true,
			Settled: func(w *world.World, _ *world.Inputs) { hashes[i][w.Tick()] = w.Hash() },
		}, nil)
		if err != nil {
			return err
		}
		lines = append(lines, line)
	}
	missing := map[world.Tick]int{} // by tick: what has not come to all
	for _, x := range list {
		missing[x.what.Tick]++
	}
	held, returns := world.Tick(0), 0
	for now := time.Duration(0); now < at(ticks)+2*time.Second; now += at(1) / 4 {
		for ; len(list) > 0 && list[0].at <= now; list = list[1:] {
			x := &list[0]
			missing[x.what.Tick]--
			if f, err := lines[x.to-1].Submit(now, x.what); err != nil || f == timeline.TooLate &&
				hashes[x.to-1][x.what.Tick] == 0 {
				return fmt.Errorf("mirror %d: %v is %v: %w", x.to, &x.what, f, err)
			}
		}
		for held < ticks && missing[held+1] == 0 {
			held++
		}
		for i, line := range lines {
			line.Hold(held)
			if err := line.Advance(now); err != nil {
				return fmt.Errorf("mirror %d: %w", i+1, err)
			}
		}
	}
	var all script
	for _, c := range said {
		all = append(all, arrival{Command: c})
	}
	right, _ := oracle(start, all, ticks)
	for i, line := range lines {
		returns += line.Stats().Returns
		for n := world.Tick(1); n <= ticks; n++ {
			if hashes[i][n] != right[n] {
				return fmt.Errorf("mirror %d has settled tick %d otherwise than one machine",
					i+1, n)
			}
		}
	}
	if returns == 0 {
		return fmt.Errorf("no leading world ever went back")
	}
	return nil
}
