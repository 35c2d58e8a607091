//go:build desktop && !js

package window

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// Run plays a game on a server, until the window is closed.
func Run(t *game.Title, o Options) error {
	if !t.Screen.Drawn() {
		return fmt.Errorf("%s cannot be shown: its title has no Screen to draw with", t.Name())
	}
	if o.Server == "" {
		return errors.New("no server: give one in Options.Server, such as localhost:8080")
	}
	base, err := entry.Base(o.Server, "")
	if err != nil {
		return err
	}
	var style predict.Style
	if o.Style != "" {
		if style, err = predict.ParseStyle(o.Style); err != nil {
			return err
		}
	}
	s := client.NewSession(client.SessionOptions{
		Options: client.Options{Title: t, Style: style, Name: o.Name},
		Join:    func(ctx context.Context) (client.Entry, error) { return Join(ctx, base) },
	})
	defer s.Leave()
	if o.Title == "" {
		o.Title = t.Name()
	}
	o.Assets = t.Screen.Assets
	g := &run{session: s, draw: t.Screen.Drawer(), begin: time.Now()}
	if t.Control != nil {
		g.control = t.Control()
	}
	return Open(o, g.frame)
}

// A run is a game under way.
type run struct {
	session *client.Session
	draw    func(*draw.Surface, *game.Frame)
	control game.Control // nil where there is nothing to control
	begin   time.Time
	before  float64
}

// frame plays and draws.
func (r *run) frame(s *Screen) {
	now := time.Since(r.begin)
	v := r.session.Frame(now,
		func(_ world.Tick, me world.Player, _ *world.World, in *world.Inputs) {
			if r.control != nil {
				_ = r.control(s.Input(), me, in) // its commands are of the game's type
				s.Given()
			}
		})
	passed := now.Seconds() - r.before
	r.before = now.Seconds()
	if v.World != nil {
		r.draw(&s.Surface, &game.Frame{World: v.World, Me: v.Me, Time: now.Seconds(),
			Seconds: passed, Lead: v.Lead, Others: v.Others, Fresh: v.Fresh,
			Names: r.session.NameOf})
	}
	if v.Status != "" {
		s.Surface.Overlay()
		w, h := s.Surface.Width(), s.Surface.Height()
		s.Surface.Rect(0, h/2-30, w, 60, draw.Black.Alpha(0.8))
		s.Surface.Text(w/2, h/2, 20, v.Status, draw.White, draw.Center)
	}
}

// Join asks an open server for a token, and opens a socket.
func Join(ctx context.Context, base *url.URL) (e client.Entry, err error) {
	a, err := entry.Ask(ctx, base)
	if err != nil {
		return e, err
	}
	if e.Token, err = token.ParseText(a.Token); err != nil {
		return e, err
	}
	at, err := a.Resolve(ctx, base)
	if err != nil {
		return e, err
	}
	e.Servers = []netip.AddrPort{at}
	e.Link, err = entry.Bind(udp.Options{}, at)
	return e, err
}
