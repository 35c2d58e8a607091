//go:build !js

package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/mirrorlab"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline/kinds"
)

const labMirrorsLong = `Let bots play the game on mirrored servers and measure what mirrors cost: real
mirrors and real clients that predict, over a simulated network.

Printed are

  sight        how long after a player's command a player of another mirror is
               shown what came of it
  rollbacks    how often mirrors had to repair the world that they show, and
               events that were shown and then taken back
  corrections  how often players saw their own body moved, and how much of that
               comes of mirrors: the same players also play on one plain server,
               nearby and far away
  settled      every settled world of every mirror, compared at every tick
  clocks       how well mirrors agree about the time
  traffic      between mirrors, against the model of Cronin, Filstrup and Kurc
               (2001), chapter 2

With --fault it is measured instead what happens to players when a mirror, or the
überserver, is killed without a word, or when a mirror joins a game of 32
players; as often as --times says, each time with the next seed.

The same seed gives the same run. The command fails if settled worlds differ, and
with --strict if anything that should be reached is missed.`

const labMirrorsExample = `  {program} lab mirrors
  {program} lab mirrors --quick --latency 80ms --jitter normal:10ms
  {program} lab mirrors --timeline trailing --delays 25ms,100ms,1s --plot mirrors.svg
  {program} lab mirrors --fault uber --times 10
  {program} lab mirrors --json > mirrors.json`

type labMirrors struct {
	options               mirrorlab.Options
	latency, jitter, loss string
	near                  string
	fault                 string
	plot, game            string
	delays                []string
	minutes, margin       float64
	json, quick, strict   bool
	explain               bool
}

func labMirrorsCommand(p *host.Program) *cobra.Command {
	var l labMirrors
	cmd := &cobra.Command{
		Use:     "mirrors",
		Short:   "Mirrored servers: sight, rollbacks, corrections, faults, traffic",
		Long:    labMirrorsLong,
		Example: labMirrorsExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return l.run(p, cmd) },
	}
	o, f := &l.options, cmd.Flags()
	f.IntVar(&o.Mirrors, "mirrors", 3, "how many mirrors")
	f.IntVar(&o.Players, "players", 0, "how many play on each (default 8; with --fault join, 32 on all that are there)")
	f.StringVar(&l.latency, "latency", "40ms", "from mirror to mirror, one way")
	f.StringVar(&l.jitter, "jitter", "5ms", "and how much that varies; or normal:5ms, longtail:5ms")
	f.StringVar(&l.loss, "loss", "0.1%", "and how much is lost")
	f.StringVar(&l.near, "near", "latency=8ms jitter=1ms loss=0.1%", "the network from players to their mirror: a preset, settings, or both")
	f.StringVar(&o.Timeline, "timeline", "auto", "how mirrors are kept consistent: "+strings.Join(kinds.Names(), ", "))
	f.StringSliceVar(&l.delays, "delays", nil, "delays of the copies of the world, such as 0,100ms,1s (default: the mirrors' own, or what fits the network)")
	f.Float64Var(&l.margin, "margin", 0, "how far places may differ between copies before that is repaired; 0: only by what comes of it")
	f.DurationVar(&o.SendEvery, "send-every", 0, "how often mirrors pass on commands (default: half a tick)")
	f.IntVar(&o.SnapshotRate, "snapshots", 30, "snapshots a second of each player")
	f.Float64Var(&l.minutes, "minutes", 1, "how long is measured, in the game's time, after ten seconds to warm up")
	f.StringVar(&l.fault, "fault", "none", "what happens: mirror, uber or join")
	f.IntVar(&o.Times, "times", 5, "how often, with --fault")
	f.StringVar(&l.game, "game", "", "what is played (default: the first game that says what a player moves about in)")
	f.StringVar(&o.Level, "map", "", "where they play (default: the game's for so many)")
	f.Uint64Var(&o.Seed, "seed", 1, "what the game and the network hang on")
	f.BoolVar(&o.Alone, "alone", false, "leave out the plain servers")
	f.BoolVar(&l.quick, "quick", false, "measure for 15 seconds, and without the plain servers; with --fault, twice")
	f.BoolVar(&l.explain, "explain", false, "tell how auto came to its delays")
	f.BoolVar(&l.strict, "strict", false, "fail if something that should be reached is missed")
	f.StringVar(&l.plot, "plot", "", "draw rollbacks, delays and traffic over time to `FILE`, an SVG")
	f.BoolVar(&l.json, "json", false, "print one JSON object")
	return cmd
}

func (l *labMirrors) run(p *host.Program, cmd *cobra.Command) error {
	if err := l.prepare(p, cmd); err != nil {
		return err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr())
	defer bar.Clear()
	l.options.Progress = bar.Show
	r, err := mirrorlab.Run(cmd.Context(), l.options)
	if err != nil {
		return err
	}
	bar.Clear()
	if l.plot != "" {
		if err := os.WriteFile(l.plot, mirrorlab.Plot(r), 0o644); err != nil {
			return err
		}
	}
	if l.json {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(r)
	} else {
		err = printMirrors(cmd.OutOrStdout(), r, l.explain)
	}
	if err == nil {
		err = r.Check()
	}
	if err == nil && l.strict {
		err = r.Missed()
	}
	return err
}

// prepare checks what was asked for before anything is measured.
func (l *labMirrors) prepare(p *host.Program, cmd *cobra.Command) error {
	o := &l.options
	t, err := titleOf(p, l.game, embodied)
	if err != nil {
		return err
	}
	o.Title = t
	var way netsim.Profile
	for _, x := range [][2]string{{"latency", l.latency}, {"jitter", l.jitter}, {"loss", l.loss}} {
		if err := way.Set(x[0], x[1]); err != nil {
			return cli.Usagef("--%s: %w", x[0], err)
		}
	}
	if way.Latency > 400*time.Millisecond || way.Loss > 0.5 {
		return cli.Usagef("--latency %s, --loss %s: the window is a second, so mirrors can be 400ms apart at most, and at most half may be lost", l.latency, l.loss)
	}
	o.Between = netsim.Both(way)
	if way.String() == "perfect" {
		o.Between = netsim.Perfect // it has a name, so that it is not taken for the default
	}
	if o.Near, err = netsim.ParseConditions(l.near); err != nil {
		return cli.Usagef("--near: %w", err)
	}
	if o.Near.Up.String() == "perfect" && o.Near.Down.String() == "perfect" {
		o.Near = netsim.Perfect
	}
	for _, text := range l.delays {
		d, err := time.ParseDuration(text)
		if text == "0" {
			d, err = 0, nil
		}
		if err != nil || d < 0 {
			return cli.Usagef("--delays has %q: write them like 0,100ms,1s", text)
		}
		o.Delays = append(o.Delays, d)
	}
	if o.Fault, err = mirrorlab.ParseFault(l.fault); err != nil {
		return cli.Usagef("--fault: %w", err)
	}
	if !(l.margin >= 0) {
		return cli.Usagef("--margin is %v: it must be 0 or more", l.margin)
	}
	if l.margin > 0 {
		if o.Margins, err = lab.Margins(t, l.margin); err != nil {
			return cli.UsageError{Err: err}
		}
	}
	if !(l.minutes >= 0.02 && l.minutes <= 120) {
		return cli.Usagef("--minutes is %v: choose 0.02 to 120", l.minutes)
	}
	o.Time = time.Duration(l.minutes * float64(time.Minute))
	if l.quick {
		o.Alone = true
		if !cmd.Flags().Changed("minutes") {
			o.Time = 15 * time.Second
		}
		if !cmd.Flags().Changed("times") {
			o.Times = 2
		}
	}
	if l.plot != "" && filepath.Ext(l.plot) != ".svg" {
		return cli.Usagef("--plot %s: the name must end in .svg, the only format that it draws", l.plot)
	}
	if err := o.Valid(); err != nil {
		return cli.UsageError{Err: err}
	}
	return nil
}

func printMirrors(out io.Writer, r *mirrorlab.Result, explain bool) error {
	p := &mirrorsPrinter{out: out, r: r}
	p.say("%s, %d mirrors, %d players on each, timeline %s; between mirrors %s; to players %s; seed %d\n\n", r.Game, r.Mirrors, r.Players, r.Timeline, r.Between, r.Near, r.Seed)
	if r.Fault != nil {
		p.fault()
	} else {
		p.sight()
		p.rollbacks()
		p.corrections()
		p.agreement()
		p.traffic()
	}
	if explain && r.Plan != "" {
		p.say("How the delays of the first mirror came about\n\n%s\n", indent(r.Plan))
	}
	p.targets()
	return errors.Join(p.errs...)
}

// mirrorsPrinter prints a result for people.
type mirrorsPrinter struct {
	out  io.Writer
	r    *mirrorlab.Result
	errs []error
}

func (p *mirrorsPrinter) say(format string, args ...any) {
	if _, err := fmt.Fprintf(p.out, format, args...); err != nil {
		p.errs = append(p.errs, err)
	}
}

func (p *mirrorsPrinter) table(rows [][]string) {
	if err := printColumns(p.out, rows, 1); err != nil {
		p.errs = append(p.errs, err)
	}
	p.say("\n")
}

func spreadRow(what string, s mirrorlab.Spread) []string {
	return []string{what, decimals(s.Mean, 1), decimals(s.Median, 1), decimals(s.P95, 1), decimals(s.Most, 1), strconv.Itoa(s.N)}
}

var spreadHead = []string{"", "mean", "median", "p95", "most", "samples"}

func (p *mirrorsPrinter) sight() {
	s := &p.r.Sight
	p.say("Sight, ms. The path takes %.1f; asked is that and two ticks, %.1f, at the median of the second row.\n\n", p.r.Path, s.Asked)
	p.table([][]string{spreadHead,
		spreadRow("command in at its mirror until executed by another's leading world", s.Executed),
		spreadRow("... until that has sent the next snapshot to a player", s.Sent),
		spreadRow("... until the player's client has it, where it is in view", s.Taken),
		spreadRow("command given at the client until another mirror's client has it", s.Whole),
		spreadRow("... a client of the same mirror", s.Home),
		spreadRow("command in at its mirror before its tick is closed", s.Early),
	})
}

func (p *mirrorsPrinter) rollbacks() {
	b := &p.r.Rollbacks
	p.say("Rollbacks: %d of %d commands, %.2f for 1000 (%.2f while warming up); %.1f ticks deep on average, %d at most; %d reached what is shown, %d only tidied up.\n",
		b.Rollbacks, b.Commands, b.PerThousand, b.Warming, b.Depth, b.Deepest, b.Seen, b.Refreshes)
	p.say("Late commands: %d (%.2f %%); passed over for newer ones: %.2f %%. Events taken back: %d of %d, %.1f a minute and mirror. Steps a tick: %.2f.\n\n",
		b.Late, 100*float64(b.Late)/float64(max(b.Commands, 1)), 100*p.r.Sight.PassedOver, b.Retracted, b.Provisional, b.PerMinute, b.StepsATick)
	rows := [][]string{{"mirror", "delays ms", "commands", "late", "rollbacks", "packets", "kbit/s out", "clock off ms", "served after ms"}}
	for _, m := range p.r.Each {
		var delays []string
		for _, d := range m.Delays {
			delays = append(delays, strconv.FormatFloat(d, 'f', -1, 64))
		}
		rows = append(rows, []string{m.Name, strings.Join(delays, ","), strconv.Itoa(m.Commands), strconv.Itoa(m.Late), strconv.Itoa(m.Rollbacks), strconv.FormatUint(m.Packets, 10),
			decimals(m.KBits, 1), decimals(m.ClockError, 2), decimals(m.Serving, 0)})
	}
	p.table(rows)
}

func (p *mirrorsPrinter) corrections() {
	c := &p.r.Corrections
	p.say("Corrections of a player's own body by more than 5 cm, a minute and player. Taken back is what comes of mirrors' repairs.\n\n")
	rows := [][]string{{"", "all", "taken back", "hit or killed", "contact", "rest", "ahead ticks", "late %", "snapshots/s", "kbit/s down", "up"}}
	add := func(what string, k *mirrorlab.Kept) {
		if k != nil {
			rows = append(rows, []string{what, decimals(k.All, 2), decimals(k.TakenBack, 2), decimals(k.Struck, 2), decimals(k.Contact, 2), decimals(k.Rest, 2), decimals(k.Ahead, 1),
				decimals(100*k.Late, 2), decimals(k.Snapshots, 1), decimals(k.Down, 1), decimals(k.Up, 1)})
		}
	}
	add("mirrors", &c.Kept)
	add("one plain server, as near", c.Plain)
	add("one plain server, as far as another mirror", c.Distant)
	p.table(rows)
}

func (p *mirrorsPrinter) agreement() {
	s, c := &p.r.Settled, &p.r.Clock
	p.say("Settled worlds: %d ticks by all mirrors, %d compared, %d different. Clocks run up to %g ppm wrong.\n\n", s.Ticks, s.Compared, s.Different, c.DriftPPM)
	p.table([][]string{spreadHead,
		spreadRow("settled world behind the present, ms", s.Delay),
		spreadRow("leading world behind the present, ms", p.r.Rollbacks.Leading),
		spreadRow("a mirror's time off from the mean of all, ms", c.Error),
		spreadRow("... at most, as mirrors report", c.Bound),
	})
}

func (p *mirrorsPrinter) traffic() {
	t := &p.r.Traffic
	p.say("Traffic between mirrors, kbit/s without UDP and IP: %.1f by the ledger, %.1f by the sockets:", t.KBits, t.Sockets)
	for i, name := range slices.SortedFunc(maps.Keys(t.By), func(a, b string) int {
		if t.By[a] != t.By[b] {
			return int(1000 * (t.By[b] - t.By[a]))
		}
		return strings.Compare(a, b)
	}) {
		sep := ","
		if i == 0 {
			sep = ""
		}
		p.say("%s %s %.1f", sep, name, t.By[name])
	}
	p.say(".\nModel: b n (m-1) with n = %d, m = %d, b = P/k (%.1f + %.0f (m-2) + %.2f k R/P) bytes = %.2f kbit/s, P = %.1f packets a second (here %.1f), k = %d, R = %d: %.1f. Measured is %.3f of it.\n\n",
		p.r.Mirrors*p.r.Players, p.r.Mirrors, t.Packet, t.Proof, t.Command, t.B, t.P, t.Packets, p.r.Players, p.r.TickRate, t.Model, t.Ratio)
}

func (p *mirrorsPrinter) fault() {
	q := p.r.Fault
	p.say("Fault %s, %d times; ms since it happened\n\n", q.Fault, q.Times)
	rows := [][]string{spreadHead}
	add := func(what string, s mirrorlab.Spread) {
		if s.N > 0 {
			rows = append(rows, spreadRow(what, s))
		}
	}
	add("players of the killed mirror are shown something", q.Shown)
	add("... and play again: their commands count", q.Again)
	add("a player's game stood still", q.Still)
	add("... of those whose mirror was not killed", q.StillOthers)
	add("all mirrors in one group again", q.Led)
	add("the mirror that joins serves", q.Serving)
	p.table(rows)
	if q.Fault == mirrorlab.JoinLate.String() {
		p.say("Ticks missed by other mirrors: %d; they waited for %.1f ms.\n", q.Missed, q.Waited)
	} else {
		p.say("Players who did not come back: %d.\n", q.Lost)
	}
	p.say("Settled worlds: %d compared, %d different.\n\n", p.r.Settled.Compared, p.r.Settled.Different)
	rows = [][]string{{"seed", "mirror", "at s", "plays again", "stood still", "one group", "serves", "another leads"}}
	for _, x := range q.Runs {
		rows = append(rows, []string{strconv.FormatUint(x.Seed, 10), x.Mirror, decimals(x.At/1000, 2), decimals(x.Again, 0), decimals(x.Still, 0), decimals(x.Led, 0), decimals(x.Serving, 0), strconv.FormatBool(x.Moved)})
	}
	p.table(rows)
}

func (p *mirrorsPrinter) targets() {
	p.say("What should be reached, where mirrors are 40 ms apart with 5 ms of jitter\n\n")
	var rows [][]string
	for _, t := range p.r.Targets {
		verdict := "reached"
		if !t.Reached {
			verdict = "MISSED"
		}
		rows = append(rows, []string{"  " + t.What, strconv.FormatFloat(t.Got, 'g', 4, 64), t.Want, verdict})
	}
	p.table(rows)
}
