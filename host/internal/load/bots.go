//go:build !js

// Package load is the command bots: many of them, to see how a server does.
package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/world"
)

const long = `Let bots play on a server, to see how it does under load.

Each bot is a whole client with a socket of its own: it connects, sends a command
at every tick and decodes every snapshot, but shows and predicts nothing. The
server must be open, as {program} serve is without --key; tokens are asked for at its
HTTP address. Of a game that runs on several mirrors --server may name some of them,
separated by commas: bots come to each in turn. If one dies they go on at another.

While they play a table is shown, with a line a second: bots that play, snapshots
and bytes a second of each bot, round trips, loss, commands that came too late, and
those that have ended. On anything but a terminal the lines are simply written one
after the other. Use it against servers of your own.`

const example = `  {program} bots --count 200 --server localhost:4000
  {program} bots --count 50 --server localhost:4000 --seconds 30 --json
  {program} bots --count 24 --server eu.example.net:4000,us.example.net:4000`

// bots is what the command line says.
type bots struct {
	servers  []string
	http     string
	https    bool
	trust    string
	count    int
	seconds  float64
	spread   float64
	spectate bool
	json     bool
}

// Command is the command bots.
func Command(p *cli.Program) *cobra.Command {
	var b bots
	cmd := &cobra.Command{
		Use:     "bots",
		Short:   "Let many bots play on a server, to load it",
		Long:    long,
		Example: example,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return b.run(p, cmd) },
	}
	f := cmd.Flags()
	f.StringSliceVarP(&b.servers, "server", "s", []string{"localhost:4000"},
		"address and port of the server, or of several mirrors")
	f.StringVar(&b.http, "http", "",
		"where the server answers over HTTP, if not at the same address")
	f.BoolVar(&b.https, "https", false, "ask the server for tokens by HTTPS")
	f.StringVar(&b.trust, "trust", "",
		"by HTTPS, believe the server with this certificate: its fingerprint (sha256:...) or a "+
			"file in PEM")
	f.IntVarP(&b.count, "count", "n", 10, "how many bots")
	f.Float64Var(&b.seconds, "seconds", 0,
		"how long to play, from when the first does (default: until Ctrl-C)")
	f.Float64Var(&b.spread, "spread", 1, "within how many seconds they come")
	f.BoolVar(&b.spectate, "spectate", false, "only watch")
	f.BoolVar(&b.json, "json", false, "show no table, and print one JSON object at the end")
	return cmd
}

func (b *bots) run(p *cli.Program, cmd *cobra.Command) error {
	switch {
	case b.count < 1 || b.count > 10000:
		return cli.Usagef("--count is %d: it must be from 1 to 10000", b.count)
	case !(b.seconds >= 0) || !(b.spread >= 0 && b.spread <= 3600):
		return cli.Usagef(
			"--seconds is %v and --spread %v: they cannot be below 0, and --spread not above 3600",
			b.seconds, b.spread)
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	h, err := b.open(ctx, p)
	if err != nil {
		return err
	}
	if d := time.Duration(b.seconds * float64(time.Second)); d > 0 {
		h.plays = sync.OnceFunc(func() { time.AfterFunc(d, cancel) })
		defer time.AfterFunc(d+letIn, cancel).Stop()
	}
	report, err := h.play(ctx, cmd.OutOrStdout(), b.json)
	if err != nil {
		return err
	}
	if b.json {
		if err := json.NewEncoder(cmd.OutOrStdout()).Encode(report); err != nil {
			return err
		}
	}
	if report.Played == 0 {
		return fmt.Errorf("no bot got to play: %s", report.why())
	}
	return nil
}

// letIn is how long bots wait for the first of them to be let in, where they play for some time.
const letIn = 10 * time.Second

// A herd is all bots of a run. A few goroutines drive them, each its share.
type herd struct {
	bots    *bots
	title   *game.Title
	answer  entry.Admission // with what clients have to do as the server does
	begin   time.Time
	members []*bot
	stopped chan struct{}
	plays   func() // told when a bot plays
}

// open asks the server what it plays, and gets ready.
func (b *bots) open(ctx context.Context, p *cli.Program) (*herd, error) {
	if len(b.servers) > 1 && b.http != "" {
		return nil, cli.Usagef("--http is for one server, and --server names %d", len(b.servers))
	}
	trust, err := entry.ParseTrust(b.trust)
	if err != nil {
		return nil, cli.Usagef("--trust: %w", err)
	}
	out := &herd{bots: b, stopped: make(chan struct{}), plays: func() {}}
	var bases []*url.URL
	var servers []netip.AddrPort
	for _, name := range b.servers {
		base, err := entry.Base(strings.TrimSpace(name), b.http)
		if err != nil {
			return nil, cli.UsageError{Err: err}
		}
		if b.https || b.trust != "" {
			base.Scheme = "https"
		}
		first, err := entry.AskBy(ctx, base, trust)
		if err != nil {
			return nil, err
		}
		t, err := p.Title(first.Game)
		if err != nil {
			return nil, fmt.Errorf("the server plays %q, which this program does not have: %w",
				first.Game, err)
		}
		if out.title != nil && out.title != t {
			return nil, fmt.Errorf(
				"the servers play different games, %s and %s; name those of one game",
				out.title.Name(), t.Name())
		}
		out.title = t
		if _, err = first.Snapshots(); err != nil {
			return nil, err
		}
		out.answer = first
		addr, err := first.Resolve(ctx, base)
		if err != nil {
			return nil, err
		}
		bases, servers = append(bases, base), append(servers, addr)
	}
	for i := range b.count {
		base := bases[i%len(bases)]
		m := &bot{herd: out, number: i, server: servers[i%len(servers)],
			due: time.Duration(float64(i) / float64(b.count) * b.spread * float64(time.Second))}
		m.ask = func(ctx context.Context) (token.Token, error) {
			a, err := entry.AskBy(ctx, base, trust)
			if err != nil {
				return token.Token{}, err
			}
			return token.ParseText(a.Token)
		}
		out.members = append(out.members, m)
	}
	return out, nil
}

// A bot is one of them.
type bot struct {
	herd   *herd
	number int
	server netip.AddrPort
	due    time.Duration // when it comes
	ask    func(context.Context) (token.Token, error)

	mu     sync.Mutex // the rest is looked at by who draws the table
	client *client.Client
	think  game.Bot
	err    error
	over   bool

	down, up growing // bytes of all its connections
}

// A growing adds up a count that begins anew with each connection.
type growing struct{ before, last uint64 }

func (g *growing) total(n uint64) uint64 {
	if n < g.last {
		g.before += g.last
	}
	g.last = n
	return g.before + n
}

// drive lets a share of the bots play until the context ends; then they leave.
func (h *herd) drive(ctx context.Context, share []*bot) {
	busy := true
	_ = drive.Loop{ // nothing that a bot does ends it
		Step: h.title.Game.TickLength(), Clock: drive.Since(h.begin), Grace: time.Second,
		Tick: func(time.Duration) error {
			busy = false
			for _, m := range share {
				busy = m.turn(ctx, time.Since(h.begin)) || busy
			}
			return nil
		},
		Stop: func(error) {
			for _, m := range share {
				m.leave()
			}
		},
		Done: func() bool { return !busy },
	}.Run(ctx)
	for _, m := range share {
		m.close()
	}
}

// turn is one tick of one bot. It says whether there is anything left to do for it.
func (m *bot) turn(ctx context.Context, now time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.over || now < m.due || m.client == nil && ctx.Err() != nil:
		return false
	case m.client == nil:
		m.mu.Unlock()
		c, err := m.start(ctx)
		m.mu.Lock()
		m.client, m.err, m.over = c, err, err != nil
		return err == nil
	}
	v := m.client.Frame(now, m.command)
	m.over, m.err = v.Ended, v.Err
	if v.World != nil {
		m.herd.plays()
	}
	return !m.over
}

// BotName is what others read of a bot, where the game does not say.
func BotName(i int) string { return fmt.Sprint("bot ", i+1) }

// botReturn is for how long a bot tries to go on, at another mirror or at the same server, when its
// connection was lost.
const botReturn = 10 * time.Second

// start connects a bot.
func (m *bot) start(ctx context.Context) (*client.Client, error) {
	t, err := m.ask(ctx)
	if err != nil {
		return nil, err
	}
	l, err := entry.Bind(udp.Options{ReadBuffer: 256 << 10, WriteBuffer: 256 << 10}, m.server)
	if err != nil {
		return nil, err
	}
	m.think = m.herd.title.NewBot(uint64(m.number) + 1)
	o := client.Options{
		Title: m.herd.title, Style: predict.None,
		Link: l, Token: t, Servers: []netip.AddrPort{m.server}, Return: botReturn,
		Name: BotName(m.number), Spectate: m.herd.bots.spectate,
	}
	if err := m.herd.answer.Play(&o, true); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	c, err := client.New(o)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return c, nil
}

// command is what a bot does, by what it was shown.
func (m *bot) command(t world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
	_ = m.think(shown, me, t, in) // its commands are of the game's type
}

func (m *bot) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.client != nil && !m.over {
		m.client.Leave()
	}
}

func (m *bot) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.client != nil {
		_ = m.client.Close()
	}
}

// play runs all of it.
func (h *herd) play(ctx context.Context, out io.Writer, quiet bool) (*Report, error) {
	h.begin = time.Now()
	workers := min(runtime.GOMAXPROCS(0), len(h.members))
	var driving sync.WaitGroup
	for i := range workers {
		var share []*bot
		for k := i; k < len(h.members); k += workers {
			share = append(share, h.members[k])
		}
		driving.Go(func() { h.drive(ctx, share) })
	}
	go func() {
		driving.Wait()
		close(h.stopped)
	}()
	t := &table{herd: h, out: out, quiet: quiet}
	err := t.watch(ctx)
	<-h.stopped
	return t.report(), err
}
