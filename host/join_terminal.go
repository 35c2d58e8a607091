//go:build !js

package host

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
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
)

// play shows the game in a terminal until the player has had enough, or the server. Whatever happens, the terminal is as it was afterwards.
func (j *join) play(ctx context.Context, t *game.Title, e *entry, in, out *os.File) error {
	var board keyboard
	s := netScreen{screen: screen{title: t, board: &board, out: out}}
	control := controlOf(t)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	sees, err := newSeer(t, j.style, func(_ world.Tick, p world.Player, _ *world.World, in *world.Inputs) {
		if err := control(board.now(time.Now()), p, in); err != nil {
			stop(err)
		}
	})
	if err != nil {
		return err
	}
	c, err := j.client(ctx, t, e, sees, clientserver.ClientOptions{Told: s.told})
	if err != nil {
		return err
	}
	defer c.Close()

	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("the terminal does not give its keys one by one: %w", err)
	}
	defer func() {
		_, _ = io.WriteString(out, leaveScreen)
		_ = term.Restore(int(in.Fd()), before)
	}()
	if _, err := io.WriteString(out, enterScreen+topLeft+"connecting to "+e.base.Host); err != nil {
		return err
	}
	asks := make(chan func())
	go listenKeys(ctx, in, &board, asks, func() { c.SetPaused(!c.Paused()) }, stop)
	err = drive(ctx, c, t.Game.TickLength(), asks, func(now time.Duration) {
		w, err := sees.show(now)
		if err == nil && w != nil && ctx.Err() == nil {
			err = s.show(c, sees, w, time.Now())
		}
		if err != nil {
			stop(err)
		}
	})
	if cause := context.Cause(ctx); err == nil && cause != nil && !errors.Is(cause, errQuit) && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	return err
}

// listenKeys takes keys until there are none, or the player has had enough.
func listenKeys(ctx context.Context, in io.Reader, board *keyboard, asks chan<- func(), pause func(), stop context.CancelCauseFunc) {
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
				select {
				case asks <- pause:
				case <-ctx.Done():
					return
				}
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

// A netScreen is a screen with a line about the connection, and what is said.
type netScreen struct {
	screen
	said string
	at   time.Time
}

func (s *netScreen) told(w clientserver.Word) {
	s.at = time.Now()
	switch w.Kind {
	case clientserver.Chat:
		s.said = w.Name + ": " + w.Text
	case clientserver.Pause:
		s.said = "paused by " + w.Text
	case clientserver.Proceed:
		s.said = "it goes on"
	default:
		s.said = w.Text
	}
}

// show draws, if the last time was long enough ago.
func (s *netScreen) show(c *clientserver.Client, sees *seer, w *world.World, now time.Time) error {
	if now.Sub(s.drawn) < time.Second/40 {
		return nil
	}
	s.drawn = now
	columns, rows, err := term.GetSize(int(s.out.Fd()))
	if err != nil || columns < 1 || rows < 2 {
		columns, rows = 80, 24
	}
	s.me = c.Player()
	s.paint(w, columns, rows)
	s.line(s.about(c, sees, w, now), columns)
	_, err = s.out.Write(s.text.Bytes())
	return err
}

// line puts another text in the place of the last line.
func (s *netScreen) line(text string, columns int) {
	if i := bytes.LastIndex(s.text.Bytes(), []byte("\r\n")); i >= 0 {
		s.text.Truncate(i + 2)
	}
	if r := []rune(text); len(r) > columns {
		text = string(r[:columns])
	}
	s.text.WriteString(text + restOfLine)
}

func (s *netScreen) about(c *clientserver.Client, sees *seer, w *world.World, now time.Time) string {
	cn := c.Conn()
	switch {
	case c.Phase() == clientserver.Connecting || cn == nil:
		return "the connection is lost; trying to come back  q leaves"
	case s.said != "" && now.Sub(s.at) <= 5*time.Second:
		return s.said
	}
	who := fmt.Sprintf("%s, player %d", c.Name(), c.Player())
	if c.Player() == world.Nobody {
		who = c.Name() + ", watching"
	}
	q := cn.Quality()
	return fmt.Sprintf("%s  %s  tick %d  round trip %.0f ms  loss %.0f %%  ahead %.0f  q leaves", w.Game().Name(), who, w.Tick(), q.RoundTrip.Seconds()*1000, 100*q.LossIn, sees.ahead())
}
