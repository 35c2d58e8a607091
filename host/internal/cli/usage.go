package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// A UsageError is a mistake in the command line that only the command itself could see, such as a
// flag whose value makes no sense.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

func (e UsageError) Unwrap() error { return e.Err }

// Usagef makes an error that is reported with a pointer to --help and the exit code for usage
// mistakes.
func Usagef(format string, args ...any) error {
	return UsageError{fmt.Errorf(format, args...)}
}

// NoUnknownCommand refuses an argument where only the name of a command can stand, and guesses
// which was meant.
func NoUnknownCommand(cmd *cobra.Command, args []string) error {
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

// List prints the commands below one, a line each.
func List(cmd *cobra.Command, _ []string) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 3, ' ', 0)
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			fmt.Fprintf(w, "%s\t%s\n", sub.CommandPath(), sub.Short)
		}
	}
	return w.Flush()
}

// Usage makes a usage error of one that a command got from elsewhere.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return UsageError{err}
}
