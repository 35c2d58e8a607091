//go:build !js

package relays

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/queries"
)

const long = `Run a relay: where players meet who have no server.

A relay knows nothing of any game. Players create a match at it, tell each other
the match's code, and are told of each other. For matches between peers it gathers
what all command in a tick and sends it to each, so that one slow player stops
nobody for longer than the match's patience; and it carries datagrams for those
who cannot reach each other. One relay serves any number of games at a time.

Players connect over UDP to --listen. On the same port number the relay answers
over HTTP (--http), or HTTPS (--tls-cert): /healthz and /readyz, /metrics and /status
for this machine (or --metrics-from), and /token, which lets anyone in. With --key
only those may connect who have a token of that key; issue one with
"{program} token issue --game '` + Game + `' --key FILE". With --open as well, anyone may.
Browsers come by --websocket and --webtransport.

Every setting can also come from the environment, as COEVAL_ and the flag's name,
or from a file given by --config. With --json the relay says where it is, and with --every how
it is doing, in JSON objects. Ctrl-C, or SIGTERM, tells everybody and stops;
their matches are over then.`

const example = `  {program} relay
  {program} relay --listen :4300 --matches 200 --per-address 8
  {program} relay --websocket --webtransport :4301 --tls-cert c.pem --tls-key k.pem
  {program} relay --json --every 10s`

// flags are what the command line says.
type flags struct {
	Options
	settings cli.Settings
	key      string
	json     bool
	every    time.Duration
}

// Command is the command relay.
func Command(*cli.Program) *cobra.Command {
	var r flags
	cmd := &cobra.Command{
		Use:     "relay",
		Short:   "Run a relay, where players meet who have no server",
		Long:    long,
		Example: example,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return r.run(cmd) },
	}
	r.settings.LogFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&r.Listen, "listen", ":4300",
		"UDP address for players; port 0 for any that is free")
	f.StringVar(&r.HTTP, "http", "",
		"HTTP address for health, metrics and tokens "+
			"(default: as --listen, over TCP; \"none\" for none)")
	f.BoolVar(&r.WebSocket, "websocket", false,
		"also take players over WebSocket, at /coeval of the HTTP address")
	f.StringVar(&r.WebTransport, "webtransport", "",
		"also take players over WebTransport, at this UDP address")
	f.StringSliceVar(&r.Hosts, "host", []string{"localhost"},
		"names of this machine, for certificates")
	f.StringVarP(&r.key, "key", "k", "",
		"file with the key that tokens are sealed with, from: {program} token key")
	f.BoolVar(&r.Open, "open", false,
		"let anyone in who asks at /token (default: if there is no --key)")
	f.StringSliceVar(&r.Origins, "origin", nil,
		"hosts whose pages may get tokens and connect (default: all)")
	r.Web.Flags(f)
	r.Directory.Flags(f, "name")
	queries.Flag(f, &r.Queries)
	l := &r.Limits
	f.IntVar(&l.Matches, "matches", 1024, "how many matches there may be at a time")
	f.IntVar(&l.MatchesPerAddress, "matches-per-address", 16,
		"how many of them one address may have created, IPv6 by /64")
	f.IntVar(&l.Connections, "connections", 0,
		"how many players may be connected (default: 8 for each match, at most 16000)")
	f.IntVar(&l.PerAddress, "per-address", 64, "how many of them from one address, IPv6 by /64")
	f.IntVar(&l.Watchers, "watchers", 16, "how many may watch a match; below 0 for none")
	f.IntVar(&l.WatchRate, "watch-rate", 10, "packets a second to each who watches")
	f.DurationVar(&l.Patience, "patience", 500*time.Millisecond,
		"the longest that a match may let others wait for a slow player")
	f.DurationVar(&l.Grace, "grace", 10*time.Minute,
		"the longest that a match may keep the seat of somebody who is gone")
	f.DurationVar(&l.CodeLife, "code-life", 2*time.Hour, "how long a code lets others in")
	f.IntVar(&l.Guesses, "guesses", 10, "how many wrong codes one address may try in a minute")
	f.IntVar(&l.CarryRate, "carry-rate", 64_000,
		"bytes a second that are carried for one player to others")
	f.IntVar(&l.CarryBurst, "carry-burst", 1_500_000,
		"and how many at once, after a while without: a world for somebody who joins")
	f.IntVar(&l.History, "history", 256<<10, "bytes of rows that are kept of each match at most")
	f.BoolVar(&r.json, "json", false, "print where the relay is, and --every, as JSON objects")
	f.DurationVar(&r.every, "every", 0, "say how the relay is doing every so often, such as 10s")
	return cmd
}

// check looks at what can be wrong with the command line alone.
func (r *flags) check() error {
	l := &r.Limits
	switch {
	case l.Matches < 1 || l.Matches > 16000:
		return cli.Usagef("--matches is %d: it must be from 1 to 16000", l.Matches)
	case l.MatchesPerAddress < 1 || l.PerAddress < 1:
		return cli.Usagef(
			"--matches-per-address is %d and --per-address %d: they must be above zero",
			l.MatchesPerAddress, l.PerAddress)
	case l.Connections < 0 || l.Connections > 16000:
		return cli.Usagef("--connections is %d: it must be from 1 to 16000", l.Connections)
	case l.WatchRate < 1 || l.WatchRate > 240:
		return cli.Usagef("--watch-rate is %d: it must be from 1 to 240", l.WatchRate)
	case l.Patience <= 0 || l.Grace <= 0 || l.CodeLife <= 0:
		return cli.Usagef("--patience, --grace and --code-life must be above zero")
	case l.Guesses < 1 || l.CarryRate < 1 || l.CarryBurst < 1 || l.History < 1:
		return cli.Usagef("--guesses, --carry-rate, --carry-burst and --history must be above zero")
	case r.every < 0:
		return cli.Usagef("--every is %v: it must not be below zero", r.every)
	}
	if l.Watchers == 0 {
		l.Watchers = -1
	}
	return nil
}

func (r *flags) run(cmd *cobra.Command) (err error) {
	if err := r.settings.Fill(cmd); err != nil {
		return err
	}
	if r.Log, err = r.settings.Logger(cmd.ErrOrStderr()); err != nil {
		return err
	}
	if err := r.check(); err != nil {
		return err
	}
	if r.key != "" {
		key, err := cli.ReadKey(r.key)
		if err != nil {
			return err
		}
		r.Keys = []token.Key{key}
	}
	relay, err := New(r.Options)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	r.announce(out, relay)
	ctx, cancel := context.WithCancel(cmd.Context())
	var telling sync.WaitGroup
	if r.every > 0 {
		telling.Go(func() { r.tell(ctx, out, relay) })
	}
	err = relay.Run(cmd.Context())
	cancel()
	telling.Wait()
	return errors.Join(err, relay.Close())
}

// announce says where the relay is.
func (r *flags) announce(out io.Writer, x *Relay) {
	if r.json {
		_ = json.NewEncoder(out).Encode(map[string]any{
			"udp": x.Addr().String(), "http": x.HTTP(), "open": x.open, "trust": x.Fingerprint()})
		return
	}
	fmt.Fprintf(out, "relay at %s\n", x.Addr())
	if x.Fingerprint() != "" {
		fmt.Fprintf(out, "trust it by %s\n", x.Fingerprint())
	}
}

// tell says how the relay is doing, again and again.
func (r *flags) tell(ctx context.Context, out io.Writer, x *Relay) {
	t := time.NewTicker(r.every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		s, err := x.Status(ctx)
		switch {
		case err != nil:
		case r.json:
			_ = json.NewEncoder(out).Encode(s)
		default:
			fmt.Fprintf(out, "%d matches, %d play, %d watch, %d rows, %d bytes carried\n",
				s.Matches, s.Playing, s.Watching, s.Rows, s.Carried)
		}
	}
}
