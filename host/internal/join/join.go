//go:build !js

// Package join plays a title on a server: in a terminal, or by a bot.
package join

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/terminal"
	"github.com/coeval-dev/coeval/topology/client"
)

// Options say where and how to play. Those that are zero have the defaults of host.JoinOptions.
type Options struct {
	Servers                   []string
	HTTP, Over, Token, Ticket string
	// HTTPS asks the server by HTTPS. Trust is whose certificate is believed, and means HTTPS.
	HTTPS bool
	Trust string
	// Player is the client that joins: its Name, Style, and whether it only watches.
	Player client.Options
	// AsServed takes the style of the server's architecture, if it has one, in place of the
	// player's.
	AsServed bool
	Patience time.Duration
	Bot      func(*game.Title) game.Bot
	For      time.Duration
	In, Out  *os.File

	// Find finds the title that the server plays, and Game is which that is, as far as it is known
	// before the server is asked.
	Find func(name string) (*game.Title, error)
	Game string
}

// Join plays, and says what came of it.
func Join(ctx context.Context, o Options) (*Joined, error) {
	j := &joiner{Options: o}
	j.Over, j.Patience = cmp.Or(j.Over, "udp"), cmp.Or(j.Patience, 30*time.Second)
	trust, err := entry.ParseTrust(j.Trust)
	if err != nil {
		return nil, cli.Usagef("--trust: %w", err)
	}
	j.trust = trust
	e, err := j.find(ctx)
	if err != nil {
		return nil, err
	}
	t, err := o.Find(e.Game)
	if err != nil {
		return nil, fmt.Errorf(
			"the server plays %q, which this program does not have: %w", e.Game, err)
	}
	if o.Bot == nil {
		const instead = "--headless to let a bot play"
		if err := terminal.Check(t, o.In, o.Out, instead, instead); err != nil {
			return nil, err
		}
	}
	s, err := j.session(ctx, t, e)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	p := &visit{joiner: j, title: t, session: s, ticket: e.ticket}
	var r *Joined
	if o.Bot != nil {
		r, err = p.watch(ctx)
	} else {
		r, err = p.show(ctx)
	}
	var version *client.VersionError
	if errors.As(err, &version) {
		err = fmt.Errorf("%w\nuse the same build of the program on both sides", err)
	}
	return r, errors.Join(err, j.unkept)
}
