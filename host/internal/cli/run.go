package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit codes, for scripts.
const (
	ExitOK          = 0
	ExitFailure     = 1   // the command was understood and did not succeed
	ExitUsage       = 2   // the command line was wrong; nothing was done
	ExitNothing     = 3   // it looked for something, and there is none
	ExitInterrupted = 130 // stopped by Ctrl-C before it was finished, as shells report it
)

// groups of commands in --help, those first that people look for first.
var groups = []*cobra.Group{
	{ID: "play", Title: "Play:"},
	{ID: "run", Title: "Run servers:"},
	{ID: "look", Title: "Look inside:"},
}

// ToolGroup is where tools stand in --help.
const ToolGroup = "tools"

// In puts commands into a group.
func In(group string, list ...*cobra.Command) []*cobra.Command {
	for _, c := range list {
		c.GroupID = group
	}
	return list
}

// Run executes one command line and gives the exit code. The first interrupt ends long work in good
// order; the second ends the process at once.
func (p *Program) Run(
	ctx context.Context, args []string, stdout, stderr io.Writer, cmds []*cobra.Command,
) int {
	ctx, restore := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	said := make(chan struct{})
	say := func() {
		restore()
		fmt.Fprintf(stderr, "%s: stopping; press Ctrl-C again to end at once\n", p.Name)
		close(said)
	}
	unsaid := context.AfterFunc(ctx, say)

	root, started := p.Root(cmds, stdout, stderr)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)

	interrupted := ctx.Err() != nil
	if unsaid() && interrupted { // the command ended before there was time to say so
		say()
	}
	if interrupted {
		<-said // the writer is ours again
	}
	restore()
	return p.report(stderr, cmd, err, *started, interrupted)
}

// report tells people what went wrong, and scripts by the exit code.
func (p *Program) report(
	stderr io.Writer, cmd *cobra.Command, err error, started, interrupted bool,
) int {
	if err == nil {
		return ExitOK
	}
	if interrupted && errors.Is(err, context.Canceled) {
		fmt.Fprintf(stderr, "%s: interrupted before it was finished\n", cmd.CommandPath())
		return ExitInterrupted
	}
	fmt.Fprintf(stderr, "%s: %s\n", cmd.CommandPath(), p.Fill(err.Error()))
	var usage UsageError
	if !started || errors.As(err, &usage) {
		fmt.Fprintf(stderr, "Run '%s --help' for what it takes.\n", cmd.CommandPath())
		return ExitUsage
	}
	var nothing NothingError
	if errors.As(err, &nothing) {
		return ExitNothing
	}
	return ExitFailure
}

// A NothingError says that what was looked for is not there, which is no failure of the command.
type NothingError struct{ Err error }

func (e NothingError) Error() string { return e.Err.Error() }

func (e NothingError) Unwrap() error { return e.Err }

// Nothingf makes an error that is reported by the exit code for what is not there.
func Nothingf(format string, args ...any) error {
	return NothingError{fmt.Errorf(format, args...)}
}

// unsorted has cobra list commands in our order.
var unsorted = sync.OnceFunc(func() { cobra.EnableCommandSorting = false })

// Root assembles the command tree. Whatever goes wrong before a command's own code has started is a
// usage mistake; started tells.
func (p *Program) Root(
	cmds []*cobra.Command, stdout, stderr io.Writer,
) (root *cobra.Command, started *bool) {
	unsorted() // those first that people look for first
	root = &cobra.Command{
		Use:           p.Name,
		Short:         "Play, serve and look inside " + p.Names(),
		Long:          p.about(),
		Example:       rootExample,
		Version:       thisProgram(p.Name).String(),
		SilenceErrors: true, // report does it
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Version}}")
	root.SetOut(stdout) // before the completion command, which keeps the writer it finds
	root.SetErr(stderr)
	root.AddGroup(groups...)
	for _, c := range cmds {
		if c.GroupID == ToolGroup && !root.ContainsGroup(ToolGroup) {
			root.AddGroup(&cobra.Group{ID: ToolGroup, Title: "Measure:"})
		}
	}
	root.AddCommand(cmds...)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	started = new(bool)
	p.prepare(root, started)
	return root, started
}

// about is what --help begins with.
func (p *Program) about() string {
	switch t := p.List[0]; {
	case p.About != "":
		return p.About
	case p.several():
		return "Games, to be played alone or with others:\n\n" + p.Lines()
	case t.About == "":
		return t.Name() + ", alone or with others."
	default:
		return t.Name() + ": " + t.About
	}
}

const rootExample = `  {program} play {game}
  {program} serve {game}
  {program} join localhost:4000
  {program} demo
  source <({program} completion bash)    complete commands and flags with Tab`

// prepare gives every command the behaviour that all share.
func (p *Program) prepare(cmd *cobra.Command, started *bool) {
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if cmd.HasSubCommands() && cmd.Args == nil {
		cmd.Args = NoUnknownCommand
	}
	if inner := cmd.RunE; inner != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			*started = true
			return inner(cmd, args)
		}
	} else if inner := cmd.Run; inner != nil {
		cmd.Run = func(cmd *cobra.Command, args []string) {
			*started = true
			inner(cmd, args)
		}
	}
	cmd.Short, cmd.Long, cmd.Example = p.Fill(cmd.Short), p.Fill(cmd.Long), p.Fill(cmd.Example)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = p.Fill(f.Usage) })
	for _, sub := range cmd.Commands() {
		p.prepare(sub, started)
	}
}
