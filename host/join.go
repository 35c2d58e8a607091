//go:build !js

package host

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/join"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
)

// JoinOptions say where and how a title is played. Servers has no default.
type JoinOptions struct {
	// Servers are addresses and ports, such as localhost:4000: of a game on several mirrors any
	// number. The player begins at the nearest of them, and goes on at one that is much nearer.
	Servers []string
	// Stay begins at the first of them, and has the player go elsewhere only if it must.
	Stay bool
	// HTTP is where the server answers over HTTP and is asked for a token, if not at the same
	// address.
	HTTP string
	// HTTPS asks for the token by HTTPS. Trust is the certificate that is believed, by its
	// fingerprint (sha256:...) or a file in PEM, and means HTTPS; otherwise it is as the system
	// says.
	HTTPS bool
	Trust string
	// Over is how to reach the server: udp, websocket or webtransport. Default: udp.
	Over string
	// Token is one from the game's backend, as text, in place of asking the server for one.
	Token string
	// Ticket is a file to keep the ticket in by which the same player can come back.
	Ticket string

	// Name is what others read, and Spectate asks only to watch.
	Name     string
	Spectate bool
	// Style is how what the server has not told yet is shown.
	Style predict.Style
	// AsServed takes the style of the server's architecture, if it has one, in place of Style.
	AsServed bool
	// Patience is for how long a server that has gone is looked for. Default: 30 s.
	Patience time.Duration

	// Bot, if set, makes who plays, with nothing shown: for so long as For says, or until the
	// context ends. Otherwise the game is played in a terminal, until the player has had enough.
	Bot func(*game.Title) game.Bot
	For time.Duration
	// In and Out are the terminal. Defaults: os.Stdin and os.Stdout.
	In, Out *os.File
}

// Joined is what came of playing: which game and level as which player, how many snapshots came and
// commands went, the round trip, and how well it was predicted. Its String is for people, and its
// JSON for scripts.
type Joined = join.Joined

// Join plays a title on a server, in the terminal or by a bot, and says what came of it. If the
// server is started anew the player goes on there.
func Join(ctx context.Context, t *game.Title, o JoinOptions) (*Joined, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	return join.Join(ctx, join.Options{
		Servers: o.Servers, HTTP: o.HTTP, HTTPS: o.HTTPS, Trust: o.Trust, Over: o.Over,
		Token: o.Token, Ticket: o.Ticket,
		Player: client.Options{Name: o.Name, Spectate: o.Spectate, Style: o.Style,
			Stay: o.Stay},
		AsServed: o.AsServed,
		Patience: o.Patience, Bot: o.Bot, For: o.For,
		In: cmp.Or(o.In, os.Stdin), Out: cmp.Or(o.Out, os.Stdout),
		Game: t.Name(), Find: func(name string) (*game.Title, error) {
			if name != t.Name() {
				return nil, fmt.Errorf("this program has %s", t.Name())
			}
			return t, nil
		},
	})
}
