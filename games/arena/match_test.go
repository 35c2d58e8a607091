package arena

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
	"pgregory.net/rapid"
)

// A round ends, is announced, and the next begins on the next map.
func TestRounds(t *testing.T) {
	mapOf(t, "test-hall", hall)
	s := on(t, "test-hall", Options{Kills: 2, Rotation: []string{"duel"}}, 2)
	m := world.StateOf[Match](s.w)
	for range 2 {
		s.put(1, 5, 3.5)
		s.put(2, 9, 3.5).Health = 5
		s.give(1, Command{Fire: true})
		s.step(30)
	}
	if m.Over == 0 || s.sheet(1).Kills != 2 {
		t.Fatalf("%+v", m)
	}
	at := s.body(1).Pos
	s.hold(1, Command{X: Push, Fire: true}, 30)
	if s.body(1).Pos != at || world.Count[Shot](s.w) != 0 {
		t.Error("the round is over, and still one moves or shoots")
	}
	began := 0
	for range pause {
		s.step(1)
		began += len(events[RoundBegan](s.w))
	}
	if began != 1 || m.Over != 0 || m.Level().Name != "duel" || s.sheet(1).Kills != 0 {
		t.Fatalf("%d began, %+v", began, m)
	}
	if world.Count[Door](s.w) != len(m.Level().Doors) ||
		world.Count[Pickup](s.w) != len(m.Level().Items) {
		t.Error("what belongs to the map is not there")
	}
	// And by time, back to the first.
	m.Time = 100
	for range 200 + pause {
		s.step(1)
	}
	if m.Level().Name != "test-hall" {
		t.Errorf("after the last map comes %s", m.Level().Name)
	}
	if left := m.Left(s.w); left < 0 || left > 100 {
		t.Error(left, "ticks left")
	}
}

// A program that lacks the map stands still, and plays on when it has learned it.
func TestUnknownMap(t *testing.T) {
	m, err := Parse([]byte("name elsewhere\nmap" + hall))
	if err != nil {
		t.Fatal(err)
	}
	w, err := Game.New(world.Settings{Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	world.StateOf[Match](w).Map = m.Hash()
	bot := NewBot(1)
	for range 3 {
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
		if got := bot.Think(w, 1); got != (Command{}) {
			t.Error(got)
		}
	}
	if world.StateOf[Match](w).Level() != nil {
		t.Fatal("where does it have it from?")
	}
	in := newInterest()
	if err := in.Follow(w); err == nil {
		t.Error("no map, no interest")
	}
	Register(m)
	if err := w.Host().Step(nil); err != nil || world.StateOf[Match](w).Level() != m {
		t.Error("it is still not there", err)
	}
	if _, err := Settings("nowhere", Options{}); err == nil ||
		!strings.Contains(err.Error(), `"duel"`) {
		t.Error("the error does not say which maps there are:", err)
	}
}

// Talking all the time is cut short, and what is said can be shown.
func TestTalk(t *testing.T) {
	s := on(t, "duel", Options{}, 2)
	said := 0
	for range 600 {
		s.hold(1, Command{Verb: Say, Text: "buy\x00 my\nthings"}, 1)
		for _, e := range events[Said](s.w) {
			said++
			if e.By != 1 || e.Text != "buy my things" {
				t.Errorf("%+v", e)
			}
		}
	}
	if said > 3+600/talk || said < 600/talk {
		t.Errorf("%d lines in ten seconds", said)
	}
	s.hold(2, Command{Verb: Name, Text: strings.Repeat("long ", 2000)}, 1)
	if got := s.sheet(2).Name; got != "long long long l"[:len(got)] || len(got) > MaxName ||
		got == "" {
		t.Errorf("%q", got)
	}
	s.hold(2, Command{Verb: Name, Text: "\x07\xff  "}, 1)
	if s.sheet(2).Name == "" {
		t.Error("a name of nothing")
	}
	s.hold(2, Command{Verb: Taunt}, 1)
	if got := events[Said](s.w); len(got) != 1 || got[0] != (Said{By: 2}) {
		t.Errorf("%+v", got)
	}
}

func TestCleanText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()),
				func(b []byte) string { return string(b) })).Draw(t, "text")
		limit := rapid.IntRange(0, 40).Draw(t, "limit")
		got := CleanText(text, limit)
		if len(got) > limit || strings.TrimSpace(got) != got ||
			strings.ContainsAny(got, "\n\r\t\x00") || strings.ToValidUTF8(got, "") != got ||
			CleanText(got, limit) != got {
			t.Fatalf("%q of %q", got, text)
		}
	})
}

func TestTerms(t *testing.T) {
	s, err := Settings("duel",
		Options{Kills: 5, Time: 90 * time.Second,
			Rotation: []string{"maze", "foundry", "duel", "duel", "duel"}})
	if err != nil {
		t.Fatal(err)
	}
	if m := s.States[0].(*Match); m.Kills != 5 || m.Time != 90*rate ||
		m.Rotation[3] != m.Rotation[0] {
		t.Errorf("%+v", m)
	}
	s, _ = Settings("duel", Options{Kills: -1, Time: -1})
	if m := s.States[0].(*Match); m.Kills != 0 || m.Time != 0 {
		t.Errorf("%+v", m)
	}
	w, err := Game.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if m := world.StateOf[Match](w); m.Level().Name != DefaultMap || m.Kills != defaultKills {
		t.Errorf("%+v", m)
	}
}

func TestView(t *testing.T) {
	w, _, _ := crowded(t, "foundry", 6)
	for id, f := range world.All[Fighter](w) {
		if w.Owner(id) == 1 {
			f.Health = 50 // it may be dead at the time
		}
	}
	// Two who stand side by side are drawn there, whoever looks, and each of them in the middle.
	at := map[world.Player]det.Vec2{}
	for id, f := range world.All[Fighter](w) {
		switch f.Health = 0; w.Owner(id) {
		case 1:
			at[1] = f.Pos
			f.Health, f.Vel = 50, det.Vec2{}
		case 2:
			f.Health, f.Vel, f.Pos = 50, det.Vec2{}, at[1].Add(det.Vec2{X: 1})
		}
	}
	at[2] = at[1].Add(det.Vec2{X: 1})
	for _, me := range []world.Player{1, 2, world.Nobody} {
		var s draw.Surface
		s.Begin(500, 290)
		new(View).Draw(&s, &game.Frame{World: w, Me: me, Fresh: true})
		counts, circles, words := map[draw.Op]int{}, map[draw.Color]det.Vec2{}, ""
		var r draw.Reader
		r.Read(s.List())
		for c := range r.Calls() {
			counts[c.Op]++
			if c.Op == draw.OpCircle {
				circles[c.Color] = det.Vec2{X: c.N[0], Y: c.N[1]}
			}
			words += string(c.Bytes) + "|"
		}
		star := me
		if me == world.Nobody {
			star = Star(w, world.Nobody)
		}
		if p := circles[mine]; p.Sub(at[star]).LenSq() > 1e-6 {
			t.Errorf("player %d is drawn at %v, not at %v", me, p, at[star])
		}
		if p := circles[fighters[(3-star)%6]]; p.Sub(at[3-star]).LenSq() > 1e-6 {
			t.Errorf("to player %d, the other is at %v, not at %v", me, p, at[3-star])
		}
		if counts[draw.OpPolygon] < 3 {
			t.Errorf("%d shapes: there are walls, floor and what is in sight",
				counts[draw.OpPolygon])
		}
		for _, want := range []string{"health 50", "rockets", "slugs", "kills", "deaths"} {
			if !strings.Contains(words, want) {
				t.Errorf("%q does not say %q", words, want)
			}
		}
		if watches := strings.Contains(words, "watching"); watches != (me == world.Nobody) {
			t.Errorf("player %d: %q", me, words)
		}
	}
	var p Pad
	p.Keys(false, true, false, true, false)
	if c := p.Keys(false, false, false, false, true); !c.Fire || c.X != 0 ||
		det.Abs(float64(c.Aim)-det.Pi/4) > 0.01 {
		t.Errorf("%+v", c)
	}
}

// A command is small unless something is said.
func TestCommandIsSmall(t *testing.T) {
	size := func(c Command) int {
		w := bits.NewWriter(make([]byte, 200))
		var s bits.Sync
		s.StartWrite(w)
		c.Sync(&s)
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		return w.Len()
	}
	if n := size(Command{X: Push, Y: -Push, Aim: 1, Weapon: Rail, Fire: true}); n != 27 {
		t.Errorf("%d bits", n)
	}
	if n := size(Command{Verb: Say, Text: "hello"}); n < 27+40 {
		t.Errorf("%d bits for five letters", n)
	}
}

// The map that docs/arena.md shows is a map.
func TestTheDocsShowAMap(t *testing.T) {
	page, err := os.ReadFile("../../docs/arena.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```\n; Lines")
	text, _, _ = strings.Cut(text, "```")
	m, err := Parse([]byte("; Lines" + text))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Rooms) != 4 || len(m.Doors) != 2 || len(m.Portals) != 4 {
		t.Errorf("%d rooms, %d doors, %d portals", len(m.Rooms), len(m.Doors), len(m.Portals))
	}
}
