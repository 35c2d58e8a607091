//go:build !js

package directories

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/lobby"
	"github.com/coeval-dev/coeval/service/directory/starter"
)

// LobbyOptions say how players gather.
type LobbyOptions struct {
	// Queues are GAME=SIZE.
	Queues []string
	// Start is a command that starts a server, StartMost how many of these run at once, and
	// StartWithin how long a server may take to be listed.
	Start       string
	StartMost   int
	StartWithin time.Duration

	sizes map[string]int
}

// Flags adds the flags.
func (o *LobbyOptions) Flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.Queues, "queue", nil,
		"GAME=SIZE: players who wait for a game are grouped so many at a time; may be given again")
	f.StringVar(&o.Start, "start-command", "",
		"line for the shell that starts a server, for a match for which none has room")
	f.IntVar(&o.StartMost, "start-most", 8, "with --start-command, how many may run at once")
	f.DurationVar(&o.StartWithin, "start-within", 30*time.Second,
		"with --start-command, how long a server may take to be listed")
}

// mostQueue is how many may be in a match of a queue.
const mostQueue = 1000

func (o *LobbyOptions) check() error {
	o.sizes = map[string]int{}
	for _, x := range o.Queues {
		game, text, _ := strings.Cut(x, "=")
		n, err := strconv.Atoi(text)
		if err != nil || game == "" || n < 1 || n > mostQueue {
			return cli.Usagef("--queue is %q: give a game and how many play a match, such as "+
				"pong=2", x)
		}
		o.sizes[game] = n
	}
	if o.Start != "" && (o.StartMost < 1 || o.StartWithin < time.Second) {
		return cli.Usagef("--start-most is %d and --start-within %v: give at least 1 and 1s",
			o.StartMost, o.StartWithin)
	}
	return nil
}

// rule is the rule of a game's queue: the author's own, or one of a size that the operator gave.
func (o *LobbyOptions) rule(game string) lobby.Matcher {
	if m := lobby.RuleOf(game); m != nil {
		return m
	}
	if n := o.sizes[game]; n > 0 {
		return lobby.Sized{Size: n}
	}
	return nil
}

// openLobby adds the lobby.
func (d *Directory) openLobby(ctx context.Context, o *LobbyOptions) (err error) {
	lo := directory.LobbyOptions{Scorer: d.keeper, Rule: o.rule, StartTime: o.StartWithin,
		Log: d.log}
	if o.Start != "" {
		d.starter = starter.New(starter.Options{Command: o.Start, URL: d.url(), Most: o.StartMost,
			Log: d.log})
		lo.Starter = d.starter
	}
	d.lobby, err = d.api.AddLobby(ctx, lo)
	return err
}

// url is that of this directory, for programs on this machine.
func (d *Directory) url() string {
	host, port, err := net.SplitHostPort(d.site.Addr())
	if err != nil {
		return ""
	}
	if ip, err := netip.ParseAddr(host); err != nil || ip.IsUnspecified() {
		host = "localhost"
	}
	return fmt.Sprintf("%s://%s", d.site.Scheme(), net.JoinHostPort(host, port))
}

// measureLobby takes the lobby's numbers.
func (d *Directory) measureLobby(m *serve.Metrics) {
	s := d.lobby.Stats()
	m.Gauge("lobby_rooms", "Rooms that there are.", float64(s.Rooms))
	m.Gauge("lobby_people", "Who is in the lobby.", float64(s.People))
	m.Gauge("lobby_waiting", "Who waits in queues.", float64(s.Waiting))
	m.Gauge("lobby_listeners", "Streams of events that people hold.", float64(s.Streams))
	serve.Counts(m, "lobby_total", "What happened in the lobby.", "what", map[string]uint64{
		"rooms": s.Made, "joined": s.Joined, "kicked": s.Kicked, "silent": s.Silent,
		"queued": s.Queued, "matched": s.Matched, "started": s.Started, "failed": s.Failed,
		"bad_groups": s.BadGroups})
}
