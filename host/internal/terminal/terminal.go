// Package terminal plays a title in a terminal: its keys, and a page on which the world is drawn in
// characters.
package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/picture"
	"github.com/coeval-dev/coeval/world"
)

// Control sequences that every terminal of the last decades knows.
const (
	EnterScreen = "\x1b[?1049h\x1b[?25l" // another page, no cursor
	LeaveScreen = "\x1b[?25h\x1b[?1049l"
	topLeft     = "\x1b[H"
	restOfLine  = "\x1b[K"
)

// ErrQuit ends a game that its player has had enough of.
var ErrQuit = errors.New("the player has had enough")

// A Terminal is one in which a title is played.
type Terminal struct {
	title   *game.Title
	in, out *os.File
	before  *term.State
	board   keyboard
	control game.Control

	picture picture.Picture
	page    bytes.Buffer // the picture, as it was last shown
	drawn   time.Time
}

// Check says what to do where a title cannot be played: it cannot be drawn, or there is no
// terminal.
func Check(t *game.Title, in, out *os.File, instead, use string) error {
	if !t.Screen.Drawn() {
		return cli.Usagef(
			"%s cannot be drawn, as its title has no Screen; use %s", t.Name(), instead)
	}
	for _, f := range []*os.File{in, out} {
		if f == nil || !term.IsTerminal(int(f.Fd())) {
			return cli.Usagef("this is not a terminal to play in; use %s", use)
		}
	}
	return nil
}

// Open takes the terminal. Whatever happens then, Close must be called, so that it is as it was.
func Open(t *game.Title, in, out *os.File) (*Terminal, error) {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, fmt.Errorf("the terminal does not give its keys one by one: %w", err)
	}
	x := &Terminal{title: t, in: in, out: out, before: before}
	if t.Control != nil {
		x.control = t.Control()
	}
	if _, err = io.WriteString(out, EnterScreen); err != nil {
		x.Close()
	}
	return x, err
}

// Close gives the terminal back.
func (x *Terminal) Close() {
	_, _ = io.WriteString(x.out, LeaveScreen)
	_ = term.Restore(int(x.in.Fd()), x.before)
}

// Say shows a text while there is no world to show.
func (x *Terminal) Say(text string) error {
	_, err := io.WriteString(x.out, topLeft+text)
	return err
}

// Listen takes keys until there are none, or the player has had enough; stop is told. Other gets
// the keys that play no part in the game itself.
func (x *Terminal) Listen(other func(Key), stop context.CancelCauseFunc) {
	defer stop(ErrQuit)
	buf := make([]byte, 64)
	for {
		n, err := x.in.Read(buf)
		for rest := buf[:n]; len(rest) > 0; {
			var k Key
			switch k, rest = nextKey(rest); {
			case k == quit:
				return
			case k >= Pause:
				other(k)
			default:
				x.board.press(k, time.Now())
			}
		}
		if err != nil {
			return
		}
	}
}

// Command makes a command of the keys that are held.
func (x *Terminal) Command(me world.Player, in *world.Inputs) error {
	if x.control == nil {
		return nil
	}
	return x.control(&game.Input{Keys: x.board.now(time.Now())}, me, in)
}

// Show draws a world as a player sees it, with a line below, if the last time was long enough ago.
// Without a world the last picture stays.
func (x *Terminal) Show(w *world.World, me world.Player, line func() string) error {
	now := time.Now()
	if now.Sub(x.drawn) < time.Second/40 || w == nil && x.page.Len() == 0 {
		return nil
	}
	x.drawn = now
	columns, rows, err := term.GetSize(int(x.out.Fd()))
	if err != nil || columns < 1 || rows < 2 {
		columns, rows = 80, 24
	}
	if w != nil {
		x.paint(w, me, columns, rows)
	}
	_, err = io.WriteString(x.out, x.page.String()+cut(line(), columns)+restOfLine)
	return err
}

// paint makes the page: the game as large as fits, but for a line.
func (x *Terminal) paint(w *world.World, me world.Player, columns, rows int) {
	x.picture.Draw(x.title, &game.Frame{World: w, Me: me}, columns, rows-1)
	x.page.Reset()
	x.page.WriteString(topLeft)
	for row := range x.picture.Rows {
		x.page.WriteString(string(row) + restOfLine + "\r\n")
	}
}

// cut leaves of a text what fits into a line.
func cut(text string, columns int) string {
	r := []rune(text)
	return string(r[:min(len(r), columns)])
}
