package terminal

import (
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host/internal/terminal/terminaltest"
	"github.com/coeval-dev/coeval/world"
)

var look = flag.String("look", "", "write what the tests show to this folder, to be looked at")

// keep writes a picture where someone wants to look at it.
func keep(t testing.TB, name string, img image.Image) {
	if *look == "" {
		return
	}
	f, err := os.Create(filepath.Join(*look, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, img); err != nil {
		t.Fatal(err)
	}
}

func TestKeys(t *testing.T) {
	var got []stroke
	for rest := []byte("\x1b[A\x1bOBw \x1b[1;2C\x1b[Zp.+-xX7\r\x00\x1b\x03"); len(rest) > 0; {
		var k stroke
		k, rest = nextKey(rest)
		got = append(got, k)
	}
	want := []stroke{{game: game.KeyUp}, {game: game.KeyDown}, {game: game.KeyW},
		{game: game.KeySpace}, {game: game.KeyRight}, {}, {own: Pause}, {own: Tick}, {own: Faster},
		{own: Slower}, {game: game.KeyX}, {game: game.KeyX, shift: true}, {game: game.Key7},
		{game: game.KeyEnter}, {}, {}, {own: quit}}
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("key %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// TestHeldKeys: a key is held for a while after it was told of, one way at a time, and each time
// that the space bar is told of is one shot.
func TestHeldKeys(t *testing.T) {
	var b keyboard
	at := time.Unix(100, 0)
	command := func(after time.Duration) (in game.Input) {
		_ = b.command(at.Add(after), func(i *game.Input) error { in = *i; return nil })
		return in
	}
	b.press(stroke{game: game.KeyUp}, at)
	b.press(stroke{game: game.KeySpace}, at)
	b.press(stroke{game: game.KeyE}, at)
	in := command(release / 2)
	if in.Keys != (game.Keys{Up: true, Fire: true}) || in.Stick != (det.Vec2{Y: 1}) ||
		!in.Held(game.KeyE) || !in.Pressed(game.KeyE) {
		t.Errorf("%+v", in)
	}
	if in := command(release / 2); in.Fire || in.Pressed(game.KeyE) || !in.Held(game.KeyE) {
		t.Errorf("fired or pressed twice: %+v", in)
	}
	b.press(stroke{game: game.KeySpace}, at)
	if !command(release / 2).Fire {
		t.Error("the next shot is not fired")
	}
	b.press(stroke{game: game.KeyS}, at)
	if in := command(0); in.Keys != (game.Keys{Down: true}) {
		t.Errorf("%+v", in.Keys)
	}
	if in := command(release); in.Keys != (game.Keys{}) || in.Held(game.KeyE) {
		t.Errorf("held for ever: %+v", in)
	}
}

func TestColors(t *testing.T) {
	for _, x := range []struct {
		env  string
		want depth
	}{
		{"TERM=xterm-256color COLORTERM=truecolor", full},
		{"TERM=xterm-256color", some}, {"TERM=screen", some}, {"TERM=xterm-kitty", full},
		{"TERM=dumb COLORTERM=truecolor", plain}, {"TERM=vt100", plain}, {"", plain},
		{"TERM=xterm-256color NO_COLOR=1", plain},
		{"TERM=xterm-256color LANG=de_DE.ISO-8859-1", plain},
		{"TERM=xterm-256color LANG=de_DE.UTF-8", some}, {"TERM=xterm-256color LANG=C", some},
		{"TERM=xterm LC_ALL=C.UTF-8 LANG=de_DE.ISO-8859-1", some},
	} {
		got := colors(func(name string) string {
			for v := range strings.FieldsSeq(x.env) {
				if key, value, _ := strings.Cut(v, "="); key == name {
					return value
				}
			}
			return ""
		})
		if got != x.want {
			t.Errorf("%s: %v, want %v", x.env, got, x.want)
		}
	}
	for _, x := range []struct{ color, want tint }{
		{0, 16}, {0xffffff, 231}, {0xff0000, 196}, {0x808080, 244}, {0x5f87af, 67},
	} {
		if got := x.color.index(); got != x.want {
			t.Errorf("%06x is %d, want %d", x.color, got, x.want)
		}
	}
}

// played is a title after some seconds, with bots where it has them.
func played(t testing.TB, g *game.Title, seconds float64) func() *world.World {
	t.Helper()
	settings, err := g.Settings(game.Level{Name: g.Levels.First(), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	w, err := g.Game.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	in := g.Game.NewInputs()
	var bots []game.Bot
	for p := range max(2, g.Players) {
		in.Join(world.Player(p + 1))
		if g.Bot != nil {
			bots = append(bots, g.NewBot(uint64(p)))
		}
	}
	step := func() *world.World {
		for p, bot := range bots {
			if w.Tick() > 0 {
				if err := bot(w, world.Player(p+1), w.Tick()+1, in); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		in.Reset()
		return w
	}
	for range int(seconds * float64(g.Game.Rate())) {
		step()
	}
	return step
}

var titles = []*game.Title{arena.Title, crowd.Title, pong.Title, stack.Title}

// TestEverySize draws on pages of every size, also such as no one has: nothing is written outside of
// them, and all of them is.
func TestEverySize(t *testing.T) {
	for i, g := range titles {
		w := played(t, g, 1)()
		var p page
		p.begin(g, depth(i%3))
		for columns := 1; columns < 200; columns += 39 {
			for rows := 2; rows < 80; rows += 19 {
				s := terminaltest.New(columns, rows)
				p.draw(&game.Frame{World: w, Me: 1}, columns, rows)
				s.Write(p.write(columns, rows, Status{Line: "about the game\x1b[2J, and more", Note: "paused"}))
				if s.Outside != 0 || len(s.Strange) != 0 {
					t.Fatalf("%dx%d: %d outside, %q", columns, rows, s.Outside, s.Strange)
				}
				if line := s.Line(rows - 1); !strings.HasPrefix("about the game?[2J, and more",
					strings.TrimRight(line[:min(len(line), 28)], " ")) {
					t.Fatalf("%dx%d: the line is %q", columns, rows, line)
				}
			}
		}
	}
}

// TestLook shows the titles in terminals of every kind.
func TestLook(t *testing.T) {
	for _, g := range titles {
		step := played(t, g, 12)
		for _, size := range [][2]int{{100, 30}, {80, 24}} {
			for d, name := range []string{"plain", "256", "full"} {
				var p page
				p.begin(g, depth(d))
				s := terminaltest.New(size[0], size[1])
				p.draw(&game.Frame{World: step(), Me: 1}, size[0], size[1])
				s.Write(p.write(size[0], size[1], Status{Line: g.Name()}))
				keep(t, g.Name()+"-"+name+"-"+strings.Repeat("x", 1)+s.Line(size[1] - 1)[:1]+
					map[int]string{100: "100", 80: "80"}[size[0]], s.Image())
			}
		}
	}
	_ = draw.White
}
