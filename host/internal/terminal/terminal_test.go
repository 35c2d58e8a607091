package terminal

import (
	"flag"
	"fmt"
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
		{game: game.KeySpace}, {game: game.KeyRight}, {}, {own: Pause, game: game.KeyP},
		{own: Tick, game: game.KeyPeriod}, {own: Faster},
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
		_ = b.command(at.Add(after), func(i *game.Input) error {
			i.Held(game.KeyE)
			in = *i
			return nil
		})
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
	if b.asked(game.KeyP) || !b.asked(game.KeyE) || b.asked(game.KeyNone) {
		t.Error("the game asked for E, and not for P")
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

// TestEverySize draws on pages of every size, also such as no one has: nothing is written outside
// of them, and all of them is.
func TestEverySize(t *testing.T) {
	for i, g := range titles {
		w := played(t, g, 0.5)()
		var p page
		p.begin(g, depth(i%3))
		for columns := 1; columns < 200; columns += 61 {
			for rows := 2; rows < 80; rows += 29 {
				s := terminaltest.New(columns, rows)
				p.draw(&game.Frame{World: w, Me: 1}, columns, rows)
				s.Write(p.write(columns, rows,
					Status{Line: "about the game\x1b[2J, and more", Note: "paused"}))
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

// TestLook shows the titles in terminals of every kind, to be looked at: in each there is more than
// one character, or color.
func TestLook(t *testing.T) {
	for _, g := range titles {
		step := played(t, g, 0.5)
		for i, size := range [][2]int{{100, 30}, {80, 24}, {100, 30}} {
			var p page
			p.begin(g, depth(i))
			s := terminaltest.New(size[0], size[1])
			p.draw(&game.Frame{World: step(), Me: 1, Fresh: true}, size[0], size[1])
			s.Write(p.write(size[0], size[1], Status{Line: g.Name()}))
			if *look != "" {
				keep(t, fmt.Sprintf("%s-%d", g.Name(), i), s.Image())
			}
			looks := map[terminaltest.Cell]bool{}
			for j := range size[0] * (size[1] - 1) {
				looks[s.At(j%size[0], j/size[0])] = true
			}
			if len(looks) < 4 {
				t.Errorf("%s in kind %d has %d kinds of cells", g.Name(), i, len(looks))
			}
		}
	}
}

// TestOnlyWhatChanged: a screen that is told of the differences alone shows the same as one that is
// told of all, but for colors that no one can tell apart.
func TestOnlyWhatChanged(t *testing.T) {
	const columns, rows = 60, 20
	for _, g := range []*game.Title{arena.Title, pong.Title} {
		for _, d := range []depth{plain, some, full} {
			step := played(t, g, 2)
			var p page
			p.begin(g, d)
			s := terminaltest.New(columns, rows)
			all := 0
			for i := range 20 {
				p.draw(&game.Frame{World: step(), Me: 1, Time: float64(i) / 60}, columns, rows)
				status := Status{Line: fmt.Sprint("tick ", i)}
				if i == 10 {
					status.Note = "paused"
				}
				n, _ := s.Write(p.write(columns, rows, status))
				if i == 0 {
					all = n
				} else if n >= all && i != 10 && i != 11 {
					t.Errorf("%s: frame %d took %d bytes, and the first %d", g.Name(), i, n, all)
				}
			}
			fresh := terminaltest.New(columns, rows)
			p.output.drawn = false
			fresh.Write(p.write(columns, rows, Status{Line: "tick 19"}))
			for i := range columns * rows {
				a, b := s.At(i%columns, i/columns), fresh.At(i%columns, i/columns)
				if !seenAlike(a, b) {
					t.Fatalf("%s, depth %v, cell %d: %+v, want %+v", g.Name(), d, i, a, b)
				}
			}
		}
	}
}

// seenAlike says whether two cells look the same, however they are written.
func seenAlike(a, b terminaltest.Cell) bool {
	halves := func(c terminaltest.Cell) (rune, tint, tint) {
		ink, paper := tint(c.Ink), tint(c.Paper)
		switch c.Letter {
		case '▀':
			return 0, ink, paper
		case '▄':
			return 0, paper, ink
		case '█':
			return 0, ink, ink
		case ' ':
			return 0, paper, paper
		}
		return c.Letter, ink, paper
	}
	x, t, u := halves(a)
	y, v, w := halves(b)
	return x == y && (a.Ink < 0 && b.Ink < 0 || t.near(v) && u.near(w))
}

// TestTexts: letters are written where there is room for them, covered by what is drawn on them
// later, drawn where they are large and left out where they are small; and nothing that a player
// calls themselves reaches the terminal as a control sequence.
func TestTexts(t *testing.T) {
	const columns, rows = 40, 11
	show := func(f func(s *draw.Surface)) *terminaltest.Screen {
		var p page
		p.begin(&game.Title{Game: pong.Game, Screen: game.Screen{Draw: func(s *draw.Surface,
			_ *game.Frame) {
			s.Camera(draw.Camera{X: 20, Y: 10, Width: 40, Height: 20}) // a unit is a pixel
			f(s)
		}}}, full)
		s := terminaltest.New(columns, rows)
		if err := p.draw(&game.Frame{}, columns, rows); err != nil {
			t.Error(err)
		}
		s.Write(p.write(columns, rows, Status{}))
		if s.Outside != 0 || len(s.Strange) != 0 {
			t.Errorf("%d characters outside, %q", s.Outside, s.Strange)
		}
		return s
	}
	for _, x := range []struct {
		name string
		draw func(s *draw.Surface)
		row  int
		want string // of the row, between spaces
	}{
		{"left", func(s *draw.Surface) { s.Text(3, 5, 2, "Grüße", draw.White, draw.Left) }, 2,
			"Grüße"},
		{"right", func(s *draw.Surface) { s.Text(40, 5, 2, "end", draw.White, draw.Right) }, 2,
			"end"},
		{"cut", func(s *draw.Surface) { s.Text(40, 5, 2, "middle", draw.White, draw.Center) }, 2,
			"mid"},
		{"small", func(s *draw.Surface) { s.Text(3, 5, 0.5, "x", draw.White, draw.Left) }, 2, ""},
		{"pale", func(s *draw.Surface) { s.Text(3, 5, 2, "x", draw.White.Alpha(0.05), draw.Left) },
			2, ""},
		{"covered", func(s *draw.Surface) {
			s.Text(3, 5, 2, "hidden", draw.White, draw.Left)
			s.Rect(0, 0, 6, 20, draw.RGB(0x805020))
		}, 2, "den"},
		{"small on another", func(s *draw.Surface) {
			s.Text(3, 5, 2, "first", draw.White, draw.Left)
			s.Text(5, 5, 1, "second", draw.White, draw.Left)
		}, 2, "first"},
		{"clipped", func(s *draw.Surface) {
			s.Clip(0, 0, 5, 0, 5, 20, 0, 20)
			s.Text(3, 5, 2, "clipped", draw.White, draw.Left)
		}, 2, "cl"},
		{"control", func(s *draw.Surface) {
			s.Text(3, 5, 2, "\x1b[2Jx\r\n\u0301世", draw.White, draw.Left)
		}, 2, "?[2Jx????"},
	} {
		s := show(x.draw)
		got := strings.Trim(strings.NewReplacer("▀", " ", "▄", " ", "█",
			" ").Replace(s.Line(x.row)), " ")
		if got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
	big := show(func(s *draw.Surface) { s.Text(20, 10, 12, "H", draw.White, draw.Center) })
	if text := big.Text(); strings.Contains(text, "H") || !strings.ContainsAny(text, "▀▄█") {
		t.Errorf("a large text is not drawn:\n%s", text)
	}
}

// TestWhatIsWrongIsSaid: an image that is missing, a frame that is too large, and a panic.
func TestWhatIsWrongIsSaid(t *testing.T) {
	const columns, rows = 90, 10
	for _, x := range []struct {
		draw func(s *draw.Surface, f *game.Frame)
		line string // begins so
		err  string // contains that
	}{
		{func(s *draw.Surface, _ *game.Frame) {
			s.Image("tank.png", 1, 1, 1, 1, 0, draw.White)
		}, `the image "tank.png" was not found in the title's Screen.Assets  pong`, ""},
		{func(s *draw.Surface, _ *game.Frame) {
			for range draw.MaxList / draw.MaxText {
				s.Text(1, 1, 1, strings.Repeat("x", draw.MaxText), draw.White, draw.Left)
			}
		}, "a frame has more than 4 MB of calls; the rest of it was left out", ""},
		{func(_ *draw.Surface, f *game.Frame) { f.World.Tick() }, "",
			"pong panicked while it drew a frame: "},
	} {
		var p page
		p.begin(&game.Title{Game: pong.Game, Screen: game.Screen{Draw: x.draw}}, plain)
		err := p.draw(&game.Frame{}, columns, rows)
		if (err != nil) != (x.err != "") || err != nil && !strings.Contains(err.Error(), x.err) {
			t.Errorf("%v, want %q", err, x.err)
		}
		if err != nil {
			if !strings.Contains(err.Error(), "terminal_test.go") {
				t.Errorf("%v does not say where", err)
			}
			continue
		}
		s := terminaltest.New(columns, rows)
		s.Write(p.write(columns, rows, Status{Line: "pong"}))
		if line := s.Line(rows - 1); !strings.HasPrefix(line, x.line) {
			t.Errorf("%q, want %q", line, x.line)
		}
	}
}

// BenchmarkFrame says how long a frame takes and how many bytes it is, at forty frames a second.
func BenchmarkFrame(b *testing.B) {
	for _, g := range titles {
		for _, d := range []depth{some, full} {
			b.Run(fmt.Sprintf("%s/%d-colors", g.Name(), map[depth]int{some: 256, full: 1 << 24}[d]),
				func(b *testing.B) {
					step := played(b, g, 5)
					var p page
					p.begin(g, d)
					const columns, rows = 100, 30
					frame := func(i int) int {
						f := game.Frame{World: step(), Me: 1, Time: float64(i) / 40, Fresh: true}
						if i%2 == 0 {
							f.World = step() // 60 ticks and 40 frames
						}
						b.StartTimer()
						defer b.StopTimer()
						p.draw(&f, columns, rows)
						return len(p.write(columns, rows, Status{Line: fmt.Sprintf("tick %d", i)}))
					}
					b.StopTimer()
					frame(0)
					b.ReportAllocs()
					b.ResetTimer()
					bytes := 0
					for i := range b.N {
						bytes += frame(i)
					}
					b.ReportMetric(float64(bytes)/float64(b.N), "B/frame")
				})
		}
	}
}
