package server

import (
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
	"pgregory.net/rapid"
)

// deed is a command with all that edges can be: a number, one that says whether there is a text,
// the text, and a vector in two parts.
type deed struct {
	X    int8
	Shot uint16 `world:"edge"`
	Verb uint8  `world:"edge"`
	Text string `world:"edge"`
}

func (c *deed) Sync(s *bits.Sync) {
	s.Int8(&c.X, -100, 100)
	s.Uint16(&c.Shot, 0, 1000)
	s.Uint8(&c.Verb, 0, 3)
	if c.Verb == 1 {
		s.String(&c.Text, 8)
	}
}

var deeds = world.Define("deeds", world.Commands[deed]())

func (c deed) image(t testing.TB) []int32 {
	in := deeds.NewInputs()
	image := make([]int32, len(deeds.Commands().Slots))
	must(t, world.Give(in, 1, c))
	if !in.Image(1, image) {
		t.Fatalf("no image of %+v", c)
	}
	return image
}

func deedOf(t testing.TB, image []int32) deed {
	in := deeds.NewInputs()
	must(t, in.GiveImage(1, image))
	c, _ := world.Given[deed](in, 1)
	return c
}

// TestMergeKeepsWhatBelongsTogether: levels stay those of the newer command, a text goes with its
// verb, and what is taken waits for the next.
func TestMergeKeepsWhatBelongsTogether(t *testing.T) {
	e, err := newEdgeFinder(deeds)
	must(t, err)
	var l lateEdges
	l.add(e, 10, deed{X: 5}.image(t))
	if len(l.waiting) != 0 {
		t.Fatal("a command without edges waits")
	}
	l.add(e, 12, deed{X: 7, Shot: 3, Verb: 1, Text: "hello"}.image(t))
	l.add(e, 11, deed{X: 6, Shot: 2}.image(t))
	for _, step := range []struct {
		tick       world.Tick
		own, want  deed
		done, left int
	}{
		{13, deed{X: 1, Shot: 9, Verb: 2}, deed{X: 1, Shot: 9, Verb: 2}, 0, 2},
		{14, deed{X: 2, Verb: 1, Text: "me"}, deed{X: 2, Shot: 2, Verb: 1, Text: "me"}, 1, 1},
		{15, deed{X: 3, Shot: 4}, deed{X: 3, Shot: 4, Verb: 1, Text: "hello"}, 0, 1},
		{16, deed{X: -4}, deed{X: -4, Shot: 3}, 1, 0},
		{17, deed{X: 9}, deed{X: 9}, 0, 0},
	} {
		own := step.own.image(t)
		before := slices.Clone(own)
		out, done := l.merge(e, step.tick, 15, own)
		if got := deedOf(t, out); got != step.want || done != step.done ||
			len(l.waiting) != step.left {
			t.Errorf("tick %d: %+v with %d done and %d left, want %+v, %d, %d", step.tick, got,
				done, len(l.waiting), step.want, step.done, step.left)
		}
		if !slices.Equal(own, before) {
			t.Error("the command itself was changed")
		}
	}
	l.add(e, 20, deed{Shot: 5}.image(t))
	if out, _ := l.merge(e, 36, 15, deed{}.image(t)); deedOf(t, out).Shot != 0 ||
		len(l.waiting) != 0 {
		t.Error("what waited for too long was used")
	}
}

// TestNoEdgeIsLostOrDoubled: commands come in packets with some repeats, and these are lost,
// doubled, delayed and overtaken. What a server does with them is compared with a model that knows
// everything: each edge is used once, in time or as soon afterwards as there is room for it, and
// not at all only if that is later than the limit.
func TestNoEdgeIsLostOrDoubled(t *testing.T) {
	e, err := newEdgeFinder(deeds)
	must(t, err)
	const limit = 15
	rapid.Check(t, func(t *rapid.T) {
		repeats := rapid.IntRange(1, 6).Draw(t, "repeats")
		lead := rapid.IntRange(0, 6).Draw(t, "lead")
		jitter := rapid.IntRange(0, 30).Draw(t, "jitter")
		loss := rapid.IntRange(0, 60).Draw(t, "loss")
		often := rapid.IntRange(1, 20).Draw(t, "often")
		const ticks = 120
		sent := make([]int, ticks+1) // the shot of each command
		for i := 1; i <= ticks; i++ {
			if rapid.IntRange(1, often).Draw(t, "shoots") == 1 {
				sent[i] = i
			}
		}
		arrive := map[int][]int{} // by tick of the server: the newest command of each packet
		for i := 1; i <= ticks; i++ {
			for range rapid.IntRange(1, 2).Draw(t, "copies") {
				if rapid.IntRange(0, 99).Draw(t, "lost") >= loss {
					at := max(i-lead+rapid.IntRange(0, jitter).Draw(t, "delay"), 0)
					arrive[at] = append(arrive[at], i)
				}
			}
		}
		q, l := newQueue(len(deeds.Commands().Slots), 60, false), lateEdges{}
		here := map[int]bool{}
		type waiting struct{ tick int }
		var model []waiting
		uses := map[int]int{}
		for now := 0; now < ticks+60; now++ {
			for _, newest := range arrive[now] {
				for c := max(newest-repeats+1, 1); c <= newest; c++ {
					image := deed{X: int8(c % 100), Shot: uint16(sent[c])}.image2(t)
					tick := world.Tick(c)
					if q.put(world.Tick(now), tick, image) == late && tick+
						limit > world.Tick(now) && q.first(tick) {
						l.add(e, tick, image)
					}
					if !here[c] {
						here[c] = true
						if c <= now && c+limit > now && sent[c] != 0 && len(model) < mostLate {
							model = append(model, waiting{c})
							slices.SortFunc(model,
								func(a, b waiting) int { return a.tick - b.tick })
						}
					}
				}
			}
			next := world.Tick(now + 1)
			image, _ := q.take(next)
			inTime := here[now+1] && now+1 <= ticks
			if (image != nil) != inTime {
				t.Fatalf("tick %d: a command is there: %v, want %v", next, image != nil, inTime)
			}
			if image == nil {
				continue
			}
			out, _ := l.merge(e, next, limit, image)
			in := deeds.NewInputs()
			if err := in.GiveImage(1, out); err != nil {
				t.Fatal(err)
			}
			got, _ := world.Given[deed](in, 1)
			model = slices.DeleteFunc(model, func(w waiting) bool { return w.tick+limit < now+1 })
			want := sent[now+1]
			if want == 0 && len(model) > 0 {
				want, model = sent[model[0].tick], model[1:]
			}
			if int(got.Shot) != want || got.X != int8((now+1)%100) {
				t.Fatalf("tick %d: shot %d with level %d, want %d", next, got.Shot, got.X, want)
			}
			if got.Shot != 0 {
				if uses[int(got.Shot)]++; uses[int(got.Shot)] > 1 {
					t.Fatalf("shot %d was made twice", got.Shot)
				}
			}
		}
	})
}

func (c deed) image2(t *rapid.T) []int32 {
	in := deeds.NewInputs()
	image := make([]int32, len(deeds.Commands().Slots))
	if world.Give(in, 1, c) != nil || !in.Image(1, image) {
		t.Fatalf("no image of %+v", c)
	}
	return image
}

// TestLateShotsCount: on paths where commands come late, far more shots are fired than without the
// merging, never more than were meant, and none at the cost of the steps.
func TestLateShotsCount(t *testing.T) {
	jittery := netsim.WiFi
	jittery.Up.Jitter = netsim.Jitter{Shape: netsim.LongTail, Amount: 15 * time.Millisecond}
	jittery.Up.Reorder, jittery.Up.HoldBack = 0.1, 80*time.Millisecond
	shots := func(n *netsim.Net, late time.Duration) (meant, made int, counts CommandCounts,
		err error) {
		s, err := newSim(n, Options{Title: near(100), Limits: Limits{Late: late}})
		if err != nil {
			return 0, 0, counts, err
		}
		defer s.close()
		b := s.join("a", 1, jittery, client.Options{})
		b.makeMove = func(t world.Tick) walk {
			fire := t%10 == 3 && n.Now() < 22*time.Second
			if fire {
				meant++
			}
			return walk{X: 1, Fire: fire}
		}
		n.Run(25 * time.Second)
		for _, x := range world.All[walker](s.server.World()) {
			made = x.Shots
		}
		return meant, made, s.server.Stats().Commands, s.err
	}
	var all, without, merged int
	simtest.Run(t, 2, func(n *netsim.Net) error {
		meant, made, counts, err := shots(n, 0)
		if err != nil {
			return err
		}
		if made > meant || counts.Differed > 0 {
			t.Errorf("seed %d: %d shots were made of %d that were meant", n.Seed(), made, meant)
		}
		other := netsim.New(netsim.Options{Seed: n.Seed()})
		_, fewer, none, err := shots(other, -1)
		if none.Merged != 0 {
			t.Errorf("seed %d: %d were merged that should not be", n.Seed(), none.Merged)
		}
		all, without, merged = all+meant-made, without+meant-fewer, merged+int(counts.Merged)
		return err
	})
	t.Logf("shots lost: %d, and %d without merging; %d were merged", all, without, merged)
	if merged == 0 || all*2 > without {
		t.Errorf("%d shots were lost with merging, %d without", all, without)
	}
}

// TestBeingLateGainsNothing: a client that sends every command too late, each with an edge, fires
// no faster than one that is in time could, and is not believed for long.
func TestBeingLateGainsNothing(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		s, err := newSim(n, Options{})
		if err != nil {
			return err
		}
		defer s.close()
		b := s.join("a", 1, netsim.Perfect, client.Options{})
		if !s.playing(5 * time.Second) {
			s.fail("not playing")
		}
		b.makeMove = func(world.Tick) walk { return walk{X: 1} }
		n.Run(time.Second)
		// From now on it sends, beside honest commands, late ones for the same ticks with shots, of
		// all ages and over and over.
		from := s.server.World().Tick()
		lie := []int32{1, 0, 1}
		b.end.Every(yard.TickLength(), func() {
			seat := s.server.seats[1]
			if seat == nil || seat.peer == nil {
				return
			}
			now := s.server.World().Tick()
			for back := range world.Tick(40) {
				s.server.late(seat.peer, now, now-back, lie)
			}
		})
		n.Run(2 * time.Second)
		made := 0
		for _, x := range world.All[walker](s.server.World()) {
			made = x.Shots
		}
		if most := int(s.server.World().Tick() - from); made > most {
			s.fail("%d shots in %d ticks", made, most)
		}
		if w := s.server.seats[1].peer.edges; len(w.waiting)+len(w.spare) > mostLate+1 {
			s.fail("%d late commands are kept", len(w.waiting)+len(w.spare))
		}
		return s.err
	})
}

func BenchmarkLateEdge(b *testing.B) {
	e, err := newEdgeFinder(deeds)
	must(b, err)
	var l lateEdges
	late, own := deed{X: 7, Shot: 3, Verb: 1, Text: "hello"}.image(b), deed{X: 1}.image(b)
	b.ReportAllocs()
	for i := range b.N {
		l.add(e, world.Tick(i), late)
		l.merge(e, world.Tick(i+1), 15, own)
	}
}
