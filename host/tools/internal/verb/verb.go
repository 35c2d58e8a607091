//go:build !js

// Package verb makes a command of an experiment: its options become flags, and what it found is
// printed as tables, as JSON or as a plot.
//
//	host/tools/bench, lab   which experiments there are
//	verb                    flags, progress, results      <- here
//	lab/...                 the experiments
package verb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/lab"
)

// A Verb is an experiment as a command.
type Verb struct {
	Name, Short, Long, Example string
	// Options are its flags.
	Options []*lab.Option
	// Title, if it is set, is to be given the title that is played, of those that fit: --game.
	Title *(*game.Title)
	Fits  Kind
	// Plots says what --plot draws, if it draws anything.
	Plots string
	// Prepare checks the options before anything is measured.
	Prepare func(cmd *cobra.Command) error
	// Run does it. What it returns beside an error is printed, too.
	Run func(ctx context.Context, p lab.Progress) (lab.Result, error)
	// Work, if it is set, is what a worker does: the same program, started again.
	Work func(cmd *cobra.Command, role string) error
	// Profile, if it is set, is the file that workers write a profile to.
	Profile *string
	// Command, if it is set, is to be given how workers are started.
	Command *func(role string) *exec.Cmd
}

// Run makes the Run of a verb: it gives an experiment its options, with where to tell of progress.
func Run[O any, R lab.Result](o *O, p *lab.Progress,
	run func(context.Context, O) (R, error)) func(context.Context, lab.Progress) (lab.Result,
	error) {
	return func(ctx context.Context, progress lab.Progress) (lab.Result, error) {
		*p = progress
		return run(ctx, *o)
	}
}

// A Kind is of titles that an experiment is for.
type Kind struct {
	About string
	Has   func(*game.Title) bool
}

// Embodied titles say what a player moves about in.
var Embodied = Kind{"that says what a player moves about in", func(t *game.Title) bool {
	_, _, ok := t.Body()
	return ok
}}

// Trained titles are such as many play at once: the codec has learned of them.
var Trained = Kind{
	"for which the codec has tables", func(t *game.Title) bool { return t.Tables != nil }}

// A Plotted result can be drawn.
type Plotted interface{ Plot() *lab.Plot }

// List is a command that stands above verbs, and lists them if it is given none.
func List(use, short, long, example string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: cli.NoUnknownCommand,
		RunE: cli.List}
	cmd.AddCommand(verbs...)
	return cmd
}

// Flags adds options to a command's flags.
func Flags(cmd *cobra.Command, list []*lab.Option) {
	for _, o := range list {
		o.Reset()
		f := cmd.Flags().VarPF(o, o.Name, "", o.Help)
		if o.Kind == "bool" {
			f.NoOptDefVal = "true"
		}
		if o.Among == nil {
			continue
		}
		words := cobra.FixedCompletions(o.Among, cobra.ShellCompDirectiveNoFileComp)
		if err := cmd.RegisterFlagCompletionFunc(o.Name, words); err != nil {
			panic(err) // only if the flag did not exist
		}
	}
}

// Check is a usage error if a flag has a value that it may not have.
func Check(list []*lab.Option) error {
	for _, o := range list {
		if err := o.Check(); err != nil {
			return cli.Usagef("--%w", err)
		}
	}
	return nil
}

// running is a verb of a program.
type running struct {
	Verb
	program    *host.Program
	game, plot string
	json       bool
}

// For makes the command, for a program.
func (v Verb) For(p *host.Program) *cobra.Command {
	r := &running{Verb: v, program: p}
	cmd := &cobra.Command{
		Use: v.Name, Short: v.Short, Long: v.Long, Example: v.Example, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd) },
	}
	if v.Title != nil {
		r.Options = append(r.Options,
			lab.Text(&r.game, "game", "",
				"what is played (default: the first game "+v.Fits.About+")"))
	}
	if v.Plots != "" {
		r.Options = append(r.Options,
			lab.Text(&r.plot, "plot", "", "draw "+v.Plots+" to `FILE`, an SVG"))
	}
	if v.Profile != nil {
		r.Options = append(r.Options,
			lab.Text(v.Profile, "profile", "",
				"write a CPU profile of the server to `FILE`; costs some accuracy"))
	}
	r.Options = append(r.Options,
		lab.Switch(&r.json, "json",
			"print JSON: one object, or one a line where there are several"))
	Flags(cmd, r.Options)
	if v.Work != nil {
		cmd.AddCommand(r.worker())
	}
	return cmd
}

// worker is what the measuring process runs the program as, a second and a third time.
func (r *running) worker() *cobra.Command {
	about := "One of the processes of {program} bench " + r.Name
	return &cobra.Command{
		Use: "worker ROLE [GAME]", Short: about, Long: about + ", which starts it and talks to it.",
		Hidden: true, Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				r.game = args[1]
			}
			if err := r.choose(); err != nil {
				return err
			}
			return r.Work(cmd, args[0])
		},
	}
}

// choose finds the title that --game names. Without a name it is the first of the program that
// fits, or the first if none does.
func (r *running) choose() error {
	if r.Title == nil {
		return nil
	}
	*r.Title = r.program.Titles[0]
	for i := len(r.program.Titles) - 1; i >= 0; i-- {
		if t := r.program.Titles[i]; r.Fits.Has(t) {
			*r.Title = t
		}
	}
	if r.game == "" {
		return nil
	}
	t, err := r.program.Title(r.game)
	if err != nil {
		return cli.Usagef("--game: %w", err)
	}
	*r.Title = t
	return nil
}

// start says how workers are started.
func (r *running) start(cmd *cobra.Command) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program, to start it again: %w", err)
	}
	if *r.Profile != "" {
		if *r.Profile, err = filepath.Abs(*r.Profile); err != nil {
			return err
		}
	}
	*r.Command = func(role string) *exec.Cmd {
		args := []string{cmd.Parent().Name(), cmd.Name(), "worker", role}
		if r.Title != nil {
			args = append(args, (*r.Title).Name())
		}
		return exec.Command(self, args...)
	}
	return nil
}

func (r *running) run(cmd *cobra.Command) error {
	if err := Check(r.Options); err != nil {
		return err
	}
	if r.plot != "" && filepath.Ext(r.plot) != ".svg" {
		return cli.Usagef("--plot %s: the name must end in .svg, the only format that it draws",
			r.plot)
	}
	if err := r.choose(); err != nil {
		return err
	}
	if r.Work != nil {
		if err := r.start(cmd); err != nil {
			return err
		}
	}
	if r.Prepare != nil {
		if err := r.Prepare(cmd); err != nil {
			return err
		}
	}
	bar := cli.NewProgress(cmd.ErrOrStderr())
	defer bar.Clear()
	result, err := r.Run(cmd.Context(), bar.Show)
	bar.Clear()
	if v := reflect.ValueOf(result); !v.IsValid() || v.IsZero() {
		return err
	}
	return errors.Join(err, r.show(cmd, result))
}

// show prints what was found, and says what is wrong with it.
func (r *running) show(cmd *cobra.Command, result lab.Result) (err error) {
	out := cmd.OutOrStdout()
	if r.plot != "" {
		if err := os.WriteFile(r.plot, result.(Plotted).Plot().SVG(), 0o644); err != nil {
			return err
		}
	}
	if r.json {
		lines := []any{result}
		if l, ok := result.(lab.Listing); ok {
			lines = l.Lines()
		}
		enc := json.NewEncoder(out)
		for _, x := range lines {
			err = errors.Join(err, enc.Encode(x))
		}
	} else {
		report := lab.NewReport(out, cli.Width(out))
		result.Report(report)
		err = report.Err()
	}
	return errors.Join(err, result.Check())
}
