//go:build !js

package join

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/terminal"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// show plays in a terminal until the player has had enough, or the server.
func (p *visit) show(ctx context.Context) (*Joined, error) {
	x, err := terminal.Open(p.title, p.In, p.Out)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if err := x.Say(terminal.Status{Line: "connecting to " + p.Servers[0]}); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go x.Listen(func(k terminal.Key) {
		if k == terminal.Pause {
			_ = p.calls.Do(ctx, p.pause) // when it has ended there is nothing to pause
		}
	}, stop)
	command := func(_ world.Tick, me world.Player, _ *world.World, in *world.Inputs) {
		if err := x.Command(me, in); err != nil {
			stop(err)
		}
	}
	var s news
	err = p.drive(ctx, command, func(_ time.Duration, v *client.View) error {
		s.told(v.Words)
		s.sent(v)
		s.moved(v, p.session)
		return x.Show(p.frame(v), func() terminal.Status { return s.status(p.session.Client(), v) })
	})
	cause := context.Cause(ctx)
	left := cause == nil || errors.Is(cause, terminal.ErrQuit) || errors.Is(cause, context.Canceled)
	if err == nil && !left {
		err = cause
	}
	return &p.joined, err
}

// frame is what there is to draw, or nil.
func (p *visit) frame(v *client.View) *game.Frame {
	if v.World == nil {
		return nil
	}
	return &game.Frame{
		World: v.World, Me: v.Me, Lead: v.Lead, Others: v.Others, Fresh: v.Fresh,
		Names: p.session.NameOf,
	}
}

// pause asks for a pause, or for an end of it.
func (p *visit) pause() {
	if c := p.session.Client(); c != nil {
		c.SetPaused(!c.Paused())
	}
}

// news is what was said last.
type news struct {
	said string
	at   time.Time
}

// told takes what the server says to players.
func (s *news) told(words []client.Word) {
	for _, w := range words {
		s.at = time.Now()
		switch w.Kind {
		case client.Chat:
			s.said = w.Name + ": " + w.Text
			if len(w.To) > 0 {
				s.said = w.Name + " (private): " + w.Text
			}
		case client.Pause:
			s.said = "paused by " + w.Text
		case client.Proceed:
			s.said = "it goes on"
		default:
			s.said = w.Text
		}
	}
}

// sent says what became of files that were sent.
func (s *news) sent(v *client.View) {
	for _, u := range v.Uploads {
		if s.at, s.said = time.Now(), u.Name+" was sent"; u.Err != nil {
			s.said = u.Name + " was not sent: " + u.Err.Error()
		}
	}
}

// moved says where the player goes on.
func (s *news) moved(v *client.View, at *client.Session) {
	if len(v.Moved) > 0 {
		s.at = time.Now()
		s.said = fmt.Sprintf("you play at %s now, %.0f ms away", at.Place(),
			at.Numbers().RoundTrip.Seconds()*1000)
	}
}

// status is what is said beside the game.
func (s *news) status(c *client.Client, v *client.View) terminal.Status {
	x := terminal.Status{Line: s.line(c, v)}
	if c != nil && c.Phase() == client.Playing && c.Paused() {
		x.Note = "paused"
	}
	return x
}

// line is about the connection, or the last that was said.
func (s *news) line(c *client.Client, v *client.View) string {
	switch {
	case c == nil || c.Phase() == client.Connecting || c.Conn() == nil:
		if v.Status != "" {
			return v.Status + "  q leaves"
		}
		return "the connection is lost; trying to come back  q leaves"
	case s.said != "" && time.Since(s.at) <= 5*time.Second:
		return s.said
	case v.World == nil:
		return v.Status + "  q leaves"
	case c.Paused():
		return v.Status + "  p asks for it to go on, q leaves"
	}
	who := fmt.Sprintf("%s, player %d", c.Name(), c.Player())
	if c.Player() == world.Nobody {
		who = c.Name() + ", watching"
	}
	q := c.Conn().Quality()
	at := ""
	if len(c.Servers()) > 0 {
		at = "  at " + c.Place()
	}
	return fmt.Sprintf("%s  %s%s  tick %d  round trip %.0f ms  loss %.0f %%  ahead %.0f  q leaves",
		v.World.Game().Name(), who, at, v.World.Tick(), q.RoundTrip.Seconds()*1000,
		100*q.LossIn, ahead(c))
}
