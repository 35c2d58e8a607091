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

	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/world"
)

func isTerminal(files ...*os.File) bool {
	for _, f := range files {
		if f == nil || !term.IsTerminal(int(f.Fd())) {
			return false
		}
	}
	return true
}

// show plays in a terminal until the player has had enough, or the server. Whatever happens, the
// terminal is as it was afterwards.
func (p *visit) show(ctx context.Context) (*Joined, error) {
	in, out := p.In, p.Out
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, fmt.Errorf("the terminal does not give its keys one by one: %w", err)
	}
	defer func() {
		_, _ = io.WriteString(out, leaveScreen)
		_ = term.Restore(int(in.Fd()), before)
	}()
	_, err = io.WriteString(out, enterScreen+topLeft+"connecting to "+p.Servers[0])
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var board keyboard
	control := controlOf(p.title)
	go listenKeys(ctx, in, &board, &p.calls, func() {
		if c := p.session.Client(); c != nil {
			c.SetPaused(!c.Paused())
		}
	}, stop)
	s := netScreen{screen: screen{title: p.title, board: &board, out: out}}
	command := func(_ world.Tick, me world.Player, _ *world.World, in *world.Inputs) {
		if err := control(board.now(time.Now()), me, in); err != nil {
			stop(err)
		}
	}
	err = p.drive(ctx, command, func(_ time.Duration, v *client.View) error {
		s.told(v.Words)
		return s.show(p.session, v, time.Now())
	})
	cause := context.Cause(ctx)
	left := cause == nil || errors.Is(cause, errQuit) || errors.Is(cause, context.Canceled)
	if err == nil && !left {
		err = cause
	}
	return &p.joined, err
}

// listenKeys takes keys until there are none, or the player has had enough.
func listenKeys(
	ctx context.Context, in io.Reader, board *keyboard,
	calls *drive.Calls, pause func(), stop context.CancelCauseFunc,
) {
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
				if calls.Do(ctx, pause) != nil {
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

func (s *netScreen) told(words []client.Word) {
	for _, w := range words {
		s.at = time.Now()
		switch w.Kind {
		case client.Chat:
			s.said = w.Name + ": " + w.Text
		case client.Pause:
			s.said = "paused by " + w.Text
		case client.Proceed:
			s.said = "it goes on"
		default:
			s.said = w.Text
		}
	}
}

// show draws, if the last time was long enough ago.
func (s *netScreen) show(session *client.Session, v *client.View, now time.Time) error {
	if now.Sub(s.drawn) < time.Second/40 || v.World == nil && s.text.Len() == 0 {
		return nil
	}
	s.drawn = now
	columns, rows, err := term.GetSize(int(s.out.Fd()))
	if err != nil || columns < 1 || rows < 2 {
		columns, rows = 80, 24
	}
	if v.World != nil {
		s.me = v.Me
		s.paint(v.World, columns, rows)
	} // else the last picture stays, with another line
	s.line(s.about(session, v, now), columns)
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

func (s *netScreen) about(session *client.Session, v *client.View, now time.Time) string {
	c := session.Client()
	switch {
	case c == nil || c.Phase() == client.Connecting || c.Conn() == nil:
		if v.Status != "" {
			return v.Status + "  q leaves"
		}
		return "the connection is lost; trying to come back  q leaves"
	case s.said != "" && now.Sub(s.at) <= 5*time.Second:
		return s.said
	case v.World == nil:
		return v.Status + "  q leaves"
	}
	who := fmt.Sprintf("%s, player %d", c.Name(), c.Player())
	if c.Player() == world.Nobody {
		who = c.Name() + ", watching"
	}
	q := c.Conn().Quality()
	return fmt.Sprintf("%s  %s  tick %d  round trip %.0f ms  loss %.0f %%  ahead %.0f  q leaves",
		s.title.Name(), who, v.World.Tick(), q.RoundTrip.Seconds()*1000, 100*q.LossIn, ahead(c))
}
