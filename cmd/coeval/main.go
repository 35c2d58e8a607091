// Command coeval measures, runs and inspects real-time multiplayer games built
// with the coeval toolkit. Run it without arguments to see what it can do.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// commands lists what stands directly below coeval, one line each.
func commands() []*cobra.Command {
	return []*cobra.Command{
		demoCommand(),
		playCommand(),
		serveCommand(),
		mirrorCommand(),
		joinCommand(),
		botsCommand(),
		benchCommand(),
		labCommand(),
		netsimCommand(),
		crimpCommand(),
		tokenCommand(),
		codecCommand(),
		traceCommand(),
		desyncCommand(),
		vetCommand(),
		versionCommand(),
	}
}

// Exit codes, for scripts.
const (
	exitOK          = 0
	exitFailure     = 1   // the command was understood and did not succeed
	exitUsage       = 2   // the command line was wrong; nothing was done
	exitInterrupted = 130 // stopped by Ctrl-C before it was finished, as shells report it
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr, commands()))
}

// run executes one command line and gives the exit code. The first interrupt
// cancels the context that commands are given, so that long work can end
// cleanly; the second ends the program at once.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, cmds []*cobra.Command) int {
	ctx, restore := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	said := make(chan struct{})
	say := func() {
		restore()
		fmt.Fprintln(stderr, "coeval: stopping; press Ctrl-C again to end at once")
		close(said)
	}
	unsaid := context.AfterFunc(ctx, say)

	root, started := newRoot(cmds, stdout, stderr)
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
	return report(stderr, cmd, err, *started, interrupted)
}

// report tells people what went wrong, and scripts by the exit code.
func report(stderr io.Writer, cmd *cobra.Command, err error, started, interrupted bool) int {
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case interrupted && errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "%s: interrupted before it was finished\n", cmd.CommandPath())
		return exitInterrupted
	case !started || errors.As(err, &usage):
		fmt.Fprintf(stderr, "%s: %v\nRun '%s --help' for what it takes.\n", cmd.CommandPath(), err, cmd.CommandPath())
		return exitUsage
	}
	fmt.Fprintf(stderr, "%s: %v\n", cmd.CommandPath(), err)
	return exitFailure
}

// A usageError is a mistake in the command line that only the command itself
// could see, such as a flag whose value makes no sense.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usageErrorf makes an error that is reported with a pointer to --help and the
// exit code for usage mistakes.
func usageErrorf(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

const rootLong = `coeval is a toolkit for real-time multiplayer games: write a game once, as if
one person played it on one machine, and choose afterwards how it is networked.

This program measures what that costs and looks inside what is sent.`

const rootExample = `  coeval bench                        list what can be measured
  coeval bench codec                  what a snapshot costs
  coeval version --json               what was built, for scripts
  source <(coeval completion bash)    complete commands and flags with Tab`

// newRoot assembles the command tree. Whatever goes wrong before a command's
// own code has started is a usage mistake; started tells.
func newRoot(cmds []*cobra.Command, stdout, stderr io.Writer) (root *cobra.Command, started *bool) {
	root = &cobra.Command{
		Use:           "coeval",
		Short:         "Build, measure and run real-time multiplayer games",
		Long:          rootLong,
		Example:       rootExample,
		SilenceErrors: true, // report does it
		SilenceUsage:  true,
	}
	root.SetOut(stdout) // before the completion command, which keeps the writer it finds
	root.SetErr(stderr)
	root.AddCommand(cmds...)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	started = new(bool)
	prepare(root, started)
	return root, started
}

// prepare gives every command the behaviour that all share.
func prepare(cmd *cobra.Command, started *bool) {
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if cmd.HasSubCommands() && cmd.Args == nil {
		cmd.Args = noUnknownCommand
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
	for _, sub := range cmd.Commands() {
		prepare(sub, started)
	}
}

// noUnknownCommand refuses an argument where only the name of a command can
// stand, and guesses which was meant.
func noUnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	// Without this cobra would only ever suggest what begins alike.
	if cmd.SuggestionsMinimumDistance <= 0 {
		cmd.SuggestionsMinimumDistance = 2
	}
	near := cmd.SuggestionsFor(args[0])
	if len(near) == 0 {
		return fmt.Errorf("there is no command %q", args[0])
	}
	text := near[0]
	for _, n := range near[1:] {
		text += " or " + n
	}
	return fmt.Errorf("there is no command %q; did you mean %s?", args[0], text)
}
