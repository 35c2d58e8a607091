//go:build !js

package tools

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/lab"
)

const benchServerLong = `Measure what it costs a server to serve many players.

The game of coeval is a crowd on a large square: everyone walks, aims and shoots at
60 ticks a second, and sees about thirty others, some shots in flight and some gems,
however many players there are. The server and the bots are processes of their own
on this machine's loopback, encryption on. Bots send a command at every tick and
decode every snapshot; they do not predict.

"tick" is the server's processor time, user and system, and what follows are its
parts. These are measured by the clock and scaled to the processor time. "work" is the share
of one core that commands and snapshots take: receive and encode.
"p99" is the processor time of all but one in a hundred ticks; a tick has 16.67 ms.
With --procs 1,2 the server runs on one core and then on two. "alone" is how long, by
the clock, interest and encoding take in a tick while the bots keep still for a
moment, so that the server has its cores for itself.

Where the bots cannot keep up with what the server leaves them of the machine, time
goes slower for both and they take turns with the server, which changes nothing about
what a tick costs; --pace 1 forbids it.

"down" and "up" are bytes a client and second, IP and UDP not counted, and below
them what they were for. Their sum is compared with the socket's own count.

With --find-limit the number of players is varied, beginning at half of --players,
until the most is found for which 99 of 100 ticks stay within their time.`

const benchServerExample = `  {program} bench server
  {program} bench server --players 100 --seconds 5 --json
  {program} bench server --strategy coeval,quake3,doom3
  {program} bench server --procs 1,2
  {program} bench server --find-limit --seconds 4`

type benchServer struct {
	options lab.ServerOptions
	seconds float64
	json    bool
	game    string
}

func benchServerCommand(p *host.Program) *cobra.Command {
	var b benchServer
	cmd := &cobra.Command{
		Use:     "server",
		Short:   "Server time, bytes and allocations for many players, and how many there can be",
		Long:    benchServerLong,
		Example: benchServerExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return b.run(p, cmd) },
	}
	o := &b.options
	f := cmd.Flags()
	f.StringVar(&b.game, "game", "", "what is played (default: the first game for which the codec has tables)")
	f.IntVar(&o.Players, "players", 1000, "how many play")
	f.Float64Var(&b.seconds, "seconds", 10, "how long each measurement lasts")
	f.IntVar(&o.Snapshots, "snapshots", 20, "snapshots a second of each player")
	f.IntSliceVar(&o.Procs, "procs", []int{1}, "cores of the server, a run for each number")
	f.StringSliceVar(&o.Strategies, "strategy", []string{"coeval"}, "how snapshots are made, a run for each: coeval, quake3, doom3")
	f.BoolVar(&o.Relay, "relay", false, "also send the commands of others in view, for clients that predict")
	f.BoolVar(&o.FindLimit, "find-limit", false, "find the most players for which a tick stays within its time")
	f.Float64Var(&o.Pace, "pace", 0, "how fast time goes, up to 1 (default: as fast as this machine's bots can keep up with)")
	f.Uint64Var(&o.Seed, "seed", 1, "what chance hangs on")
	f.StringVar(&o.Profile, "profile", "", "write a CPU profile of the server to `FILE`; costs some accuracy")
	f.BoolVar(&b.json, "json", false, "print one JSON object for each run, one a line")
	if err := cmd.RegisterFlagCompletionFunc("strategy", cobra.FixedCompletions([]string{"coeval", "quake3", "doom3"}, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // only if the flag did not exist
	}
	cmd.AddCommand(serverPartCommand(p))
	return cmd
}

// serverPartCommand is what the measuring process runs the program as, a second and a third time.
func serverPartCommand(p *host.Program) *cobra.Command {
	return &cobra.Command{
		Use:    "part ROLE GAME",
		Short:  "One of the processes of {program} bench server",
		Long:   "One of the processes of {program} bench server, which starts it and talks to it.",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := titleOf(p, args[1], trained)
			if err != nil {
				return err
			}
			return lab.ServerPart(cmd.Context(), t, args[0], cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

func (b *benchServer) run(p *host.Program, cmd *cobra.Command) error {
	o := b.options
	if !(b.seconds > 0 && b.seconds <= math.MaxInt32) {
		return cli.Usagef("--seconds is %v: it must be above zero", b.seconds)
	}
	o.Window = time.Duration(b.seconds * float64(time.Second))
	for name, v := range map[string]int{"players": o.Players, "snapshots": o.Snapshots} {
		if v == 0 {
			return cli.Usagef("--%s is 0: it must be above zero", name)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program, to start it again: %w", err)
	}
	if o.Profile != "" {
		if o.Profile, err = filepath.Abs(o.Profile); err != nil {
			return err
		}
	}
	t, err := titleOf(p, b.game, trained)
	if err != nil {
		return err
	}
	o.Title = t
	o.Command = func(role string) *exec.Cmd { return exec.Command(self, "bench", "server", "part", role, t.Name()) }
	if err := o.Fill(); err != nil {
		return cli.Usagef("%w", err)
	}
	bar := cli.NewProgress(cmd.ErrOrStderr())
	defer bar.Clear()
	o.Progress = bar.Show
	results, err := lab.Server(cmd.Context(), o)
	bar.Clear()
	if b.json {
		enc := json.NewEncoder(cmd.OutOrStdout())
		for i := range results {
			if err := enc.Encode(&results[i]); err != nil {
				return err
			}
		}
	} else if len(results) > 0 {
		if err := printServer(cmd.OutOrStdout(), results); err != nil {
			return err
		}
	}
	wrong := []error{err}
	for i := range results {
		wrong = append(wrong, results[i].Check())
	}
	return errors.Join(wrong...)
}

func printServer(out io.Writer, results []lab.ServerResult) error {
	number := func(digits int, v float64) string { return strconv.FormatFloat(v, 'f', digits, 64) }
	r := &results[0]
	relay := "without"
	if r.Relay {
		relay = "with"
	}
	fmt.Fprintf(out, "%d ticks a second, %d snapshots a client and second, %s the commands of others, encrypted\n", r.Rate, r.Rated, relay)
	for i := range results {
		if r := &results[i]; r.Pace < 1 {
			fmt.Fprintf(out, "%s, %d cores: time went at %v of its speed, so that the bots could keep up\n", r.Strategy, r.Procs, r.Pace)
		}
	}
	fmt.Fprintln(out)
	rows := [][]string{
		{"", "", "", "ms a tick", "", "", "", "", "", "p99", "share of", "", "µs a", "allocs"},
		{"strategy", "cores", "players", "tick", "receive", "step", "interest", "encode", "send", "ms", "a core", "work", "player", "/tick"},
	}
	if r.EncodeAlone > 0 {
		rows[0] = append(rows[0], "alone", "speed-")
		rows[1] = append(rows[1], "ms", "up")
	}
	for i := range results {
		r := &results[i]
		alone, speedup := "", ""
		if r.EncodeAlone > 0 {
			alone = number(2, r.EncodeAlone)
		}
		if r.Speedup > 0 {
			speedup = number(2, r.Speedup)
		}
		rows = append(rows, []string{r.Strategy, strconv.Itoa(r.Procs), strconv.Itoa(r.Players), number(2, r.Tick), number(2, r.Stages.Receive), number(2, r.Stages.Step),
			number(2, r.Stages.Interest), number(2, r.Stages.Encode), number(2, r.Stages.Send), number(2, r.Tick99),
			number(2, r.Share), number(2, r.Work), number(2, r.PerPlayer), number(2, r.Allocs), alone, speedup})
	}
	if err := printColumns(out, rows, 1); err != nil {
		return err
	}
	fmt.Fprintln(out)
	rows = [][]string{
		{"", "", "bytes a client", "and second", "", "snapshot", "bytes", "", "", "others", "things", "commands", "bots'"},
		{"strategy", "cores", "down", "x coeval", "up", "mean", "median", "p99", "/s", "in view", "in view", "in time", "share"},
	}
	for i := range results {
		r := &results[i]
		ratio := ""
		if r.DownRatio > 0 {
			ratio = number(2, r.DownRatio)
		}
		rows = append(rows, []string{r.Strategy, strconv.Itoa(r.Procs), number(0, r.Down), ratio, number(0, r.Up), number(1, r.Mean), strconv.Itoa(r.Sizes.Median), strconv.Itoa(r.Sizes.Most99),
			number(1, r.Snapshots), number(1, r.Others), number(1, r.Entities), number(1, 100*r.Commands) + " %", number(2, r.BotsShare)})
	}
	if err := printColumns(out, rows, 1); err != nil {
		return err
	}
	for i := range results {
		r := &results[i]
		fmt.Fprintf(out, "\n%s, %d cores: bytes down a client and second: %s; sum %.1f, socket %.1f\n", r.Strategy, r.Procs, byPurpose(r.Purposes), r.Booked, r.Down)
		fmt.Fprintf(out, "  of snapshots and their messages: %s\n", byPurpose(r.Inside))
		if l := r.ServerLimit; l != nil {
			fmt.Fprintf(out, "  most players: %d", l.Most)
			if l.Above > 0 {
				fmt.Fprintf(out, " (%d are too many)", l.Above)
			}
			fmt.Fprintf(out, ", limited by the %s; tried:", l.By)
			for _, t := range l.Tried {
				fmt.Fprintf(out, " %d (p99 %.1f ms)", t.Players, t.Tick99)
			}
			fmt.Fprintln(out)
		}
	}
	return nil
}

// byPurpose lists the largest first.
func byPurpose(m map[string]float64) string {
	var parts []string
	for _, name := range slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) }) {
		parts = append(parts, fmt.Sprintf("%s %.1f", name, m[name]))
	}
	return strings.Join(parts, ", ")
}
