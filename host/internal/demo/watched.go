//go:build !js

package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/page"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/web"
)

// left is what one program leaves to the next, besides the sources.
type left struct {
	Game    *server.Saved `json:"game"`
	Network networkWish   `json:"network"`
}

// serveWatched is the demo in a program that a watcher has started: it is told what to show, and
// ends when its input does.
func (d *flags) serveWatched(ctx context.Context, told string, in io.Reader, out io.Writer) error {
	var b beginning
	if err := json.Unmarshal([]byte(told), &b); err != nil {
		return fmt.Errorf("%s: %w", watchedBy, err)
	}
	_ = os.Unsetenv(watchedBy)
	d.port = b.Port
	say := func(r report) { _ = json.NewEncoder(out).Encode(r) } // without a watcher, it ends
	level, err := d.check()
	if err != nil {
		return err
	}
	if b.Invite != "" {
		d.reach.key = b.Invite
	}
	var from *left
	if b.From != "" {
		var note string
		if from, note = d.takeOver(b.From); note != "" {
			say(report{Note: note})
		}
		if from != nil {
			d.resume = from.Game
		}
	}
	s, err := d.open(level)
	if err != nil {
		return err
	}
	defer s.close()
	h := s.shown.(*demoServer)
	if from != nil {
		_ = h.network.set(&from.Network) // which was set before
	}
	s.client.Elsewhere()
	say(report{Ready: &readyReport{URL: s.url(), Port: s.port(), Print: s.print, Links: s.links()}})
	ctx, end := context.WithCancel(ctx)
	go func() {
		defer end()
		s.obey(ctx, in)
	}()
	return s.run(ctx)
}

// takeOver reads what another program left. What does not fit this one begins anew, and is noted.
func (d *flags) takeOver(file string) (from *left, note string) {
	text, err := cli.ReadFile(file, 256<<20)
	if err == nil {
		err = json.Unmarshal(text, &from)
	}
	if err != nil || from.Game == nil {
		return nil, fmt.Sprintf("the game begins anew: %v", err)
	}
	level, state := from.Game.Fits(d.title)
	if level != nil {
		return nil, fmt.Sprintf("the game begins anew: %v", level)
	}
	if state != nil {
		from.Game.World = nil
		note = "the world begins anew, as its classes or fields are others now"
	}
	return from, note
}

// obey does what the watcher orders, until it is told to leave, or the watcher is gone.
func (s *site) obey(ctx context.Context, in io.Reader) {
	lines := json.NewDecoder(in)
	for {
		var o order
		if lines.Decode(&o) != nil {
			return
		}
		switch {
		case o.Build != nil:
			s.client.Relay(*o.Build)
		case o.Client != "":
			if b, err := web.LoadBundle(os.DirFS(o.Client)); err == nil {
				s.client.Tell(page.Done(b), b)
			}
		case o.Leave != "":
			s.leave(ctx, o.Leave)
			return
		}
	}
}

// leave writes what the next program goes on with.
func (s *site) leave(ctx context.Context, file string) {
	h := s.shown.(*demoServer)
	var game *server.Saved
	var err error
	if h.server.Do(ctx, func() { game, err = h.server.Save() }) != nil || err != nil {
		return // it begins anew
	}
	text, err := json.Marshal(left{Game: game, Network: h.network.wish()})
	if err == nil {
		_ = os.WriteFile(file, text, 0o600) // if it cannot be, the game begins anew
	}
}
