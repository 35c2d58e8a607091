//go:build !js

package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/topology/solo"
	"github.com/coeval-dev/coeval/world"
)

// Control sequences that every terminal of the last decades knows.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // another page, no cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	topLeft     = "\x1b[H"
	restOfLine  = "\x1b[K"
)

// show plays in a terminal, until the player has had enough. Whatever happens, also a panic of the game, the terminal is as it was afterwards.
func (o *PlayOptions) show(ctx context.Context, t *game.Title, settings world.Settings) error {
	in, out := o.In, o.Out
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("the terminal does not give its keys one by one: %w", err)
	}
	defer func() {
		_, _ = io.WriteString(out, leaveScreen)
		_ = term.Restore(int(in.Fd()), before)
	}()
	if _, err := io.WriteString(out, enterScreen); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var board keyboard
	s := screen{title: t, me: 1, board: &board, out: out}
	control := controlOf(t)
	var rec *recorder
	others := newCompany(t, o.Players, settings.Seed)
	run, err := solo.New(t.Game, solo.Options{
		Settings: settings, Players: o.Players, Ticks: o.Ticks, Speed: o.Speed,
		Inputs: func(_ world.Tick, in *world.Inputs) {
			if err := errors.Join(control(board.now(time.Now()), 1, in), others.give(in)); err != nil {
				stop(err)
			}
		},
		After: func(w *world.World, in *world.Inputs) {
			others.seen = w
			rec.tick(w, in)
			if err := s.frame(w, time.Now()); err != nil {
				stop(err)
			}
		},
	})
	if err != nil {
		return err
	}
	if rec, err = newRecorder(o.Record, run); err != nil {
		return err
	}
	go listen(in, &board, run, stop)
	err = run.Real(ctx)
	if recorded := rec.close(); recorded != nil {
		return recorded
	}
	if errors.Is(err, errQuit) {
		return nil
	}
	return err
}

// A company is the bots that play along.
type company struct {
	bots []game.Bot
	seen *world.World // as it was after the last tick; nil before the first, at which no one can do anything yet
}

// newCompany makes the players beyond the first, if the title has bots.
func newCompany(t *game.Title, players int, seed uint64) *company {
	var c company
	for i := 1; i < players && t.Bot != nil; i++ {
		c.bots = append(c.bots, t.NewBot(seed+uint64(i)))
	}
	return &c
}

// controlOf makes commands of keys; of a title without commands it makes none.
func controlOf(t *game.Title) game.Control {
	if t.Control == nil {
		return func(game.Keys, world.Player, *world.Inputs) error { return nil }
	}
	return t.Control()
}

// give lets each bot look and decide.
func (c *company) give(in *world.Inputs) error {
	if c.seen == nil {
		return nil
	}
	for i, bot := range c.bots {
		if err := bot(c.seen, world.Player(i+2), c.seen.Tick()+1, in); err != nil {
			return err
		}
	}
	return nil
}

var errQuit = errors.New("the player has had enough")

// listen takes keys until there are none, or the player has had enough.
func listen(in io.Reader, board *keyboard, run *solo.Run, stop context.CancelCauseFunc) {
	buf := make([]byte, 64)
	for {
		n, err := in.Read(buf)
		for rest := buf[:n]; len(rest) > 0; {
			var k key
			k, rest = nextKey(rest)
			switch k {
			case keyQuit:
				stop(errQuit)
				return
			case keyPause:
				run.SetPaused(!run.Paused())
			case keyTick:
				run.SetPaused(true)
				run.Advance()
			case keyFaster, keySlower:
				speed := run.Speed() * 2
				if k == keySlower {
					speed = run.Speed() / 2
				}
				_ = run.SetSpeed(speed) // beyond the ends it stays as it is
			default:
				board.press(k, time.Now())
			}
		}
		if err != nil {
			stop(errQuit)
			return
		}
	}
}

// A key is what the player means.
type key int

const (
	keyNone key = iota
	keyUp
	keyDown
	keyLeft
	keyRight
	keyFire
	keyPause
	keyTick
	keyFaster
	keySlower
	keyQuit
)

var plainKeys = map[byte]key{
	'w': keyUp, 's': keyDown, 'a': keyLeft, 'd': keyRight, ' ': keyFire, 'p': keyPause, '.': keyTick, '+': keyFaster, '=': keyFaster, '-': keySlower,
	'q': keyQuit, 3: keyQuit, 4: keyQuit, // Ctrl-C and Ctrl-D come as they are
}

// nextKey takes one key from what a terminal sent.
func nextKey(b []byte) (key, []byte) {
	if len(b) >= 3 && b[0] == 0x1b && (b[1] == '[' || b[1] == 'O') {
		switch b[2] {
		case 'A':
			return keyUp, b[3:]
		case 'B':
			return keyDown, b[3:]
		case 'C':
			return keyRight, b[3:]
		case 'D':
			return keyLeft, b[3:]
		}
		return keyNone, b[3:]
	}
	return plainKeys[b[0]], b[1:]
}

// held is how long a key counts as held after the terminal last told of it. Terminals tell when a key goes down and repeat that, but not when it goes up.
const held = 250 * time.Millisecond

// A keyboard remembers when each key was last told of.
type keyboard struct {
	mu   sync.Mutex
	last [keyQuit + 1]time.Time
	shot bool // fire counts once for each time it is told of
}

func (b *keyboard) press(k key, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last[k] = now
	switch k { // one way at a time
	case keyUp:
		b.last[keyDown] = time.Time{}
	case keyDown:
		b.last[keyUp] = time.Time{}
	case keyLeft:
		b.last[keyRight] = time.Time{}
	case keyRight:
		b.last[keyLeft] = time.Time{}
	case keyFire:
		b.shot = true
	}
}

func (b *keyboard) now(now time.Time) game.Keys {
	b.mu.Lock()
	defer b.mu.Unlock()
	down := func(k key) bool { return now.Sub(b.last[k]) < held }
	k := game.Keys{Up: down(keyUp), Down: down(keyDown), Left: down(keyLeft), Right: down(keyRight), Fire: b.shot}
	b.shot = false
	return k
}

// A screen draws the game in characters.
type screen struct {
	title *game.Title
	me    world.Player // as whom
	board *keyboard
	out   *os.File
	picture
	text  bytes.Buffer
	drawn time.Time
}

// frame draws, if the last time was long enough ago.
func (s *screen) frame(w *world.World, now time.Time) error {
	if now.Sub(s.drawn) < time.Second/40 {
		return nil
	}
	s.drawn = now
	columns, rows, err := term.GetSize(int(s.out.Fd()))
	if err != nil || columns < 1 || rows < 2 {
		columns, rows = 80, 24
	}
	s.paint(w, columns, rows)
	_, err = s.out.Write(s.text.Bytes())
	return err
}

// paint makes the text of a page: the game as large as fits, and a line about it.
func (s *screen) paint(w *world.World, columns, rows int) {
	s.picture.draw(s.title, w, s.me, columns, rows-1) // one row is for the line
	s.text.Reset()
	s.text.WriteString(topLeft)
	for row := range rows - 1 {
		for _, c := range s.picture.row(row) {
			s.text.WriteRune(c)
		}
		s.text.WriteString(restOfLine + "\r\n")
	}
	line := fmt.Sprintf("%s  tick %d  arrows play, p pauses, . steps, + - speed, q ends", w.Game().Name(), w.Tick())
	if len(line) > columns {
		line = line[:columns]
	}
	s.text.WriteString(line + restOfLine)
}
