//go:build !js

// Package join plays a title on a server: in a terminal, or by a bot.
package join

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
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
	// Send is what is sent to the server in one piece, NAME=FILE of the title's Uploads.
	Send []string

	// Each, if set, is shown each frame in which there is a world, where a Bot plays: to tell of
	// the game elsewhere.
	Each func(t *game.Title, now time.Duration, v *client.View) error

	// Enter, if set, finds the way in, in place of Servers: at first, and whenever the player has
	// to be let in anew.
	Enter func(context.Context) (Entrance, error)

	// Find finds the title that the server plays, and Game is which that is, as far as it is known
	// before the server is asked.
	Find func(name string) (*game.Title, error)
	Game string
}

// An Entrance is a way into a game: what a server admits by, with a token, and where it is, the
// nearest first. The others are gone on at when that has ended.
type Entrance struct {
	entry.Admission
	Servers []netip.AddrPort
}

// send has a session send files, each as what it is to the game.
func send(s *client.Session, files []string) error {
	for _, x := range files {
		name, file, ok := strings.Cut(x, "=")
		if !ok {
			return cli.Usagef("--send %s: give what it is and a file, such as replay=match.trace",
				x)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("--send: %w", err)
		}
		if err := s.Upload(name, data); err != nil {
			return fmt.Errorf("--send: %w", err)
		}
	}
	return nil
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
	if err := send(s, o.Send); err != nil {
		return nil, err
	}
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
