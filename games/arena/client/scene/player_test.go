package scene_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/predict"
)

func TestPilot(t *testing.T) {
	var p scene.Pilot
	me := &arena.Fighter{Weapon: arena.Blaster, Rockets: 2}
	c := p.Command(&scene.Controls{Right: true, Up: true, Point: det.Vec2{X: 1, Y: 1}, Fire: true},
		me)
	if c.X != arena.Push || c.Y != -arena.Push || !c.Fire ||
		det.Abs(float64(c.Aim)-det.Pi/4) > 1e-9 {
		t.Errorf("%+v", c)
	}
	if c = p.Command(&scene.Controls{}, me); c.X != 0 || det.Abs(float64(c.Aim)-det.Pi/4) > 1e-9 {
		t.Errorf("the aim was forgotten: %+v", c)
	}
	if c = p.Command(&scene.Controls{Stick: det.Vec2{X: 0.1}}, me); c.X != 0 {
		t.Errorf("a stick at rest moves: %+v", c)
	}
	if c = p.Command(&scene.Controls{Stick: det.Vec2{X: 0.5}}, me); c.X != 4 {
		t.Errorf("half a stick: %+v", c)
	}
	if c = p.Command(&scene.Controls{Next: 1}, me); c.Weapon != arena.Launcher {
		t.Errorf("next is %v", c.Weapon)
	}
	me.Weapon = arena.Launcher
	if c = p.Command(&scene.Controls{Next: 1}, me); c.Weapon != arena.Blaster {
		t.Errorf("next, without slugs, is %v", c.Weapon)
	}
	me.Weapon, me.Slugs = arena.Blaster, 1
	if c = p.Command(&scene.Controls{Next: -1}, me); c.Weapon != arena.Rail {
		t.Errorf("the one before is %v", c.Weapon)
	}
	p.Say(strings.Repeat("x", 10000))
	p.Say("\x00\n")
	p.Name("Ann")
	if c = p.Command(&scene.Controls{}, nil); c.Verb != arena.Say || len(c.Text) != arena.MaxSay {
		t.Errorf("%v %d", c.Verb, len(c.Text))
	}
	if c = p.Command(&scene.Controls{}, nil); c.Verb != arena.Name || c.Text != "Ann" {
		t.Errorf("%+v", c)
	}
	for range 100 {
		p.Taunt()
	}
	n := 0
	for ; p.Command(&scene.Controls{}, nil).Verb != arena.Nothing; n++ {
	}
	if n > 4 {
		t.Errorf("%d wait to be said", n)
	}
}

// TestAnswer plays frames of a fighter that moves a given number of frames after the key, while an
// error of up to a unit is smoothed away.
func TestAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delay := rapid.IntRange(0, 5).Draw(t, "delay")
		every := rapid.IntRange(1, 3).Draw(t, "frames a tick")
		glide := rapid.SampledFrom([]float64{0, 1, -0.5}).Draw(t, "glide")
		var a scene.Answer
		x, v, frame := 0.0, 0.0, 0
		show := func(key bool) {
			a.Watch(key, det.Vec2{X: x + glide}, det.Vec2{X: v}, uint64(frame/every))
			glide *= 0.9
			frame++
		}
		for range 3 {
			show(false)
		}
		first := frame
		for i := range delay + 3 {
			if i >= delay {
				x++
				v = 1
			}
			show(true)
		}
		if a.Count != 1 || a.Frames != delay || a.Ticks > delay || every == 1 && a.Ticks != delay {
			t.Fatalf("measured %d times, %d frames and %d ticks from frame %d, want %d", a.Count,
				a.Frames, a.Ticks, first, delay)
		}
	})
	var a scene.Answer
	for i := range 10 { // who runs already, or is dead, is not measured
		a.Watch(true, det.Vec2{X: float64(i)}, det.Vec2{X: 1}, uint64(i))
	}
	a.Watch(false, det.Vec2{X: 9}, det.Vec2{}, 10)
	a.Lose()
	a.Watch(true, det.Vec2{X: 50}, det.Vec2{X: 1}, 11)
	if a.Count != 0 {
		t.Errorf("measured %d times", a.Count)
	}
}

// TestBlind takes many tests: the pair differs, both are played equally often before the question,
// and the votes are all in the score.
func TestBlind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b scene.Blind
		b.Seed(rapid.Uint64().Draw(t, "seed"))
		if _, on := b.Update(0, true); on || b.Summary() != "" {
			t.Fatal("it began by itself")
		}
		now := rapid.Float64Range(0, 1000).Draw(t, "start")
		b.Start(now)
		votes := 0
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			var turns []predict.Style
			for !b.Asking() {
				s, on := b.Update(now, rapid.IntRange(0, 20).Draw(t, "playing") > 0)
				if !on || s > predict.HalfLife {
					t.Fatal("no style")
				}
				if len(turns) == 0 || turns[len(turns)-1] != s {
					turns = append(turns, s)
				}
				if line, _ := b.Text(now); strings.Contains(line, s.String()) {
					t.Fatalf("%q gives it away", line)
				}
				now += 0.5
			}
			if len(turns) < 4 || turns[0] == turns[1] || turns[0] != turns[2] ||
				turns[1] != turns[3] {
				t.Fatalf("turns were %v", turns)
			}
			b.Vote(rapid.IntRange(-1, 1).Draw(t, "vote"))
			votes++
			if b.Asking() {
				t.Fatal("it asks the same again")
			}
		}
		won, lost, even := 0, 0, 0
		for _, s := range b.Score {
			won, lost, even = won+s.Won, lost+s.Lost, even+s.Even
		}
		if won != lost || won+even/2 != votes || even%2 != 0 {
			t.Fatalf("%d votes, score %+v", votes, b.Score)
		}
		b.Stop()
		if _, on := b.Update(now, true); on {
			t.Fatal("it goes on")
		}
	})
}
