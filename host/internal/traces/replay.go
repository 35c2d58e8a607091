package traces

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

const replayLong = `Repeat a run from its trace, and compare every hash that was recorded.

If the replay comes apart, the tick is named, and the first entity and field that
differ where the trace holds a state to compare with. The exit code is 1 then, and
also if the file is damaged.

With --record the replay is recorded in turn, as this machine computes it, whether
or not it agrees. With --states 1 that holds the whole world at every tick, so that
{program} desync can compare two machines field by field.`

// replay are the flags of trace replay.
type replay struct {
	from, until uint64
	record      string
	states      int
	json        bool
	trust       trust
}

func replayCommand(p *cli.Program) *cobra.Command {
	var o replay
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Repeat a run from its trace and compare hashes",
		Long:  replayLong,
		Example: `  {program} trace replay match.trace
  {program} trace replay match.trace --until 6000 --json
  {program} trace replay match.trace --record here.trace --states 1`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.trust.explain(o.run(p, cmd, args[0]))
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&o.from, "from", 0, "begin at the last state at or before this tick")
	f.Uint64Var(&o.until, "until", 0, "stop after this tick (default: the last)")
	f.StringVar(&o.record, "record", "",
		"record the replay to a `FILE`, as this machine computes it")
	f.IntVar(&o.states, "states", 0,
		"with --record, hold the whole world every so many ticks (default: once a minute)")
	cli.JSONFlag(cmd, &o.json)
	o.trust.flag(cmd)
	return cmd
}

// replayReport is what trace replay prints as JSON. The names are for scripts and stay.
type replayReport struct {
	File       string     `json:"file"`
	Game       string     `json:"game"`
	First      world.Tick `json:"first_tick"`
	Last       world.Tick `json:"last_tick"`
	Hash       string     `json:"hash"`
	Compared   int        `json:"hashes_compared"`
	Verified   bool       `json:"verified"`
	Mismatch   string     `json:"mismatch,omitempty"`
	Apart      world.Tick `json:"mismatch_tick,omitempty"`
	Damage     string     `json:"damage,omitempty"`
	GameErrors int        `json:"game_errors,omitempty"`
	GameError  string     `json:"game_error,omitempty"`
	// where the game panicked, in the tick after the last
	Panic string `json:"panic,omitempty"`
	Note  string `json:"note,omitempty"`
	// that it is a chapter of a game that is being kept, and has no end
	Unended string `json:"unended,omitempty"`
}

func (o *replay) run(p *cli.Program, cmd *cobra.Command, name string) error {
	if o.states != 0 && o.record == "" {
		return cli.Usagef("--states says what to record; give --record too")
	}
	if o.states < 0 {
		return cli.Usagef("--states is %d: it must be above zero", o.states)
	}
	f, r, err := openTrace(name, o.trust)
	if err != nil {
		return err
	}
	defer f.Close()
	game, err := recorded(p, r.Header())
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	rec, err := o.recorder(r.Header())
	if err != nil {
		return err
	}
	defer rec.abandon()
	bar := cli.NewProgress(cmd.ErrOrStderr())
	defer bar.Clear()
	size, err := f.Stat()
	if err != nil {
		return err
	}
	res, err := trace.Replay(game, r,
		trace.ReplayOptions{
			From: world.Tick(o.from), Until: world.Tick(o.until), GoOn: o.record != "",
			Each: func(w *world.World, t *trace.Record) error {
				if w.Tick()%256 == 0 {
					bar.Show(float64(r.Counts().Bytes)/float64(max(size.Size(), 1)),
						fmt.Sprintf("tick %d", w.Tick()))
				}
				return errors.Join(cmd.Context().Err(), rec.add(w, t))
			}})
	bar.Clear()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := rec.finish(); err != nil {
		return err
	}
	open := unended(f, res.Damage)
	if open != "" {
		res.Damage = nil
	}
	return o.report(cmd.OutOrStdout(), name, r.Header(), res, open)
}

func (o *replay) report(out io.Writer, name string, h *trace.Header, res *trace.Replayed,
	open string) error {
	rep := replayReport{
		File: name, Game: h.Game, First: res.First, Last: res.Last,
		Hash: fmt.Sprintf("%016x", res.Hash), Compared: res.Compared,
		Verified: res.Mismatch == nil && res.Damage == nil, GameErrors: res.GameErrors,
		Note: buildNote(h), Unended: open}
	var wrong []string
	if m := res.Mismatch; m != nil {
		rep.Mismatch, rep.Apart = m.String(), m.Tick
		wrong = append(wrong,
			"the replay is not what was recorded: "+rep.Mismatch+
				fmt.Sprintf("; recorded by %s, this is %s", h.Build, recording.Build()))
	}
	if res.Damage != nil {
		rep.Damage = res.Damage.Error()
		wrong = append(wrong, rep.Damage)
	}
	if res.Panic != nil {
		rep.Panic = res.Panic.Error()
		wrong = append(wrong, rep.Panic)
	}
	if res.GameError != nil {
		rep.GameError = res.GameError.Error()
	}
	err := cli.Print(out, &rep, o.json)
	if err == nil && len(wrong) > 0 {
		err = fmt.Errorf("%s: %s", name, strings.Join(wrong, "; "))
	}
	return err
}

// String is what people are told.
func (r *replayReport) String() string {
	verdict := "all agree"
	if r.Apart > 0 {
		verdict = fmt.Sprintf("they differ from tick %d on", r.Apart)
	}
	out := fmt.Sprintf(
		"%s, ticks %d to %d: %d hashes compared, %s\nhash of the world at tick %d: %s\n",
		r.Game, r.First, r.Last, r.Compared, verdict, r.Last, r.Hash)
	if r.GameErrors > 0 {
		out += fmt.Sprintf("the game reported an error in %d ticks, first: %s\n", r.GameErrors,
			r.GameError)
	}
	if r.Note != "" {
		out += "note: " + r.Note + "\n"
	}
	if r.Unended != "" {
		out += "remark: " + r.Unended + "\n"
	}
	return out
}

// A rerecorder records a replay.
type rerecorder struct {
	file   *cli.WholeFile
	buf    *bufio.Writer
	header *trace.Header
	states int
	w      *trace.Writer
	in     *world.Inputs
}

// recorder is nil if nothing is to be recorded.
func (o *replay) recorder(h *trace.Header) (*rerecorder, error) {
	if o.record == "" {
		return nil, nil
	}
	f, err := cli.CreatePrivate(o.record)
	if err != nil {
		return nil, err
	}
	return &rerecorder{file: f, buf: bufio.NewWriter(f), header: h, states: o.states}, nil
}

func (c *rerecorder) add(w *world.World, t *trace.Record) (err error) {
	switch {
	case c == nil:
		return nil
	case c.w == nil:
		c.in = w.Game().NewInputs()
		c.w, err = trace.NewWriter(c.buf, w,
			trace.Options{
				Build: recording.Build(),
				Note:  strings.TrimPrefix(c.header.Note+"; replayed", "; "), StateEvery: c.states})
		return err
	case t.IsState():
		return c.w.State(w)
	}
	if err := t.Inputs(c.in); err != nil {
		return err
	}
	return c.w.Tick(c.in, w)
}

func (c *rerecorder) finish() error {
	if c == nil {
		return nil
	}
	if c.w == nil {
		return fmt.Errorf("%s is not written: there are no ticks to record", c.file.Name())
	}
	if err := errors.Join(c.w.Close(), c.buf.Flush()); err != nil {
		return c.file.Explain(err)
	}
	return c.file.Commit(nil)
}

func (c *rerecorder) abandon() {
	if c != nil {
		c.file.Abandon()
	}
}
