// Package terminal plays a title in a terminal: its keys, and a page on which its frames are shown
// in characters.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/world"
)

// Control sequences that every terminal of the last decades knows.
const (
	EnterScreen = "\x1b[?1049h\x1b[?25l" // another page, no cursor
	LeaveScreen = "\x1b[0m\x1b[?25h\x1b[?1049l"
)

// ErrQuit ends a game that its player has had enough of.
var ErrQuit = errors.New("the player has had enough")

// A Terminal is one in which a title is played.
type Terminal struct {
	in, out *os.File
	before  *term.State
	board   keyboard
	control game.Control

	mu    sync.Mutex
	page  page
	began time.Time
	last  time.Time     // when the last frame was
	shown time.Time     // when one was last written
	pause time.Duration // until the next
}

// A Status is what is said beside the game: a line below it, and where something stops it, a note
// in its middle.
type Status struct{ Line, Note string }

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
	x := &Terminal{in: in, out: out, before: before, began: time.Now()}
	x.page.begin(t, environment())
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
	x.mu.Lock()
	defer x.mu.Unlock()
	_, _ = io.WriteString(x.out, LeaveScreen)
	_ = term.Restore(int(x.in.Fd()), x.before)
}

// Listen takes keys until there are none, or the player has had enough; stop is told. Other gets
// the keys that play no part in the game itself.
func (x *Terminal) Listen(other func(Key), stop context.CancelCauseFunc) {
	defer stop(ErrQuit)
	buf := make([]byte, 64)
	for {
		n, err := x.in.Read(buf)
		for rest := buf[:n]; len(rest) > 0; {
			var k stroke
			switch k, rest = nextKey(rest); {
			case k.own == none || x.board.asked(k.game):
				x.board.press(k, time.Now())
			case k.own == quit:
				return
			default:
				other(k.own)
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
	return x.board.command(time.Now(), func(i *game.Input) error { return x.control(i, me, in) })
}

// frameTime is the least time between two frames that are written. On a slow line there is more: as
// long again as writing one took.
const frameTime = time.Second / 40

// Show draws a frame, so that its events are taken, and writes it with what is said beside it if
// the last time was long enough ago. It fills in the frame's times. Without a frame the last one
// stays.
func (x *Terminal) Show(f *game.Frame, s func() Status) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now()
	if f != nil {
		columns, rows := x.size()
		f.Time = now.Sub(x.began).Seconds()
		if !x.last.IsZero() {
			f.Seconds = now.Sub(x.last).Seconds()
		}
		x.last = now
		if err := x.page.draw(f, columns, rows); err != nil {
			return err
		}
	}
	if now.Sub(x.shown) < max(frameTime, x.pause) {
		return nil
	}
	return x.write(s())
}

// Say shows the last frame again at once, with something else beside it.
func (x *Terminal) Say(s Status) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.write(s)
}

func (x *Terminal) write(s Status) error {
	columns, rows := x.size()
	before := time.Now()
	_, err := x.out.Write(x.page.write(columns, rows, s))
	x.shown = time.Now()
	x.pause = 2 * x.shown.Sub(before)
	return err
}

func (x *Terminal) size() (columns, rows int) {
	columns, rows, err := term.GetSize(int(x.out.Fd()))
	if err != nil || columns < 1 || rows < 2 {
		return 80, 24
	}
	return min(columns, 1000), min(rows, 500)
}
