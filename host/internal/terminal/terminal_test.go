package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/world"
)

func TestKeys(t *testing.T) {
	var got []Key
	for rest := []byte("\x1b[A\x1bOBw \x1b[C\x1b[Zp.+-x\x03"); len(rest) > 0; {
		var k Key
		k, rest = nextKey(rest)
		got = append(got, k)
	}
	want := []Key{up, down, up, fire, right, none, Pause, Tick, Faster, Slower, none, quit}
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("key %d is %v, want %v", i, got[i], want[i])
		}
	}
	var b keyboard
	at := time.Unix(100, 0)
	b.press(up, at)
	b.press(fire, at)
	if k := b.now(at.Add(release / 2)); k != (game.Keys{Up: true, Fire: true}) {
		t.Errorf("%+v", k)
	}
	if k := b.now(at.Add(release / 2)); k.Fire {
		t.Error("fired twice")
	}
	b.press(down, at)
	if k := b.now(at); k != (game.Keys{Down: true}) {
		t.Errorf("%+v", k)
	}
	if k := b.now(at.Add(release)); k != (game.Keys{}) {
		t.Errorf("%+v is release for ever", k)
	}
}

// TestPaint draws on pages of every size, also such as no one has.
func TestPaint(t *testing.T) {
	for _, g := range []*game.Title{arena.Title, crowd.Title, pong.Title, stack.Title} {
		if !g.Screen.Drawn() {
			continue
		}
		w, err := g.Game.New(world.Settings{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		x := Terminal{title: g}
		for columns := 1; columns < 200; columns += 13 {
			for rows := 2; rows < 80; rows += 7 {
				x.paint(w, 1, columns, rows)
				lines := strings.Split(strings.NewReplacer(topLeft, "", restOfLine,
					"").Replace(x.page.String()), "\r\n")
				if len(lines) != rows || lines[rows-1] != "" { // the last is for the line below
					t.Fatalf("%dx%d: %d lines", columns, rows, len(lines))
				}
				lines[rows-1] = cut("about the game, and how it is going on", columns)
				for _, l := range lines {
					if len([]rune(l)) > columns {
						t.Fatalf("%dx%d: %q is too long", columns, rows, l)
					}
				}
			}
		}
		x.paint(w, 1, 120, 40)
		if text := x.page.String(); !strings.Contains(text, "#") {
			t.Errorf("%s", text)
		}
	}
}
