package host

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
)

// bundled is a program with the games that come with the toolkit.
var bundled = hosttest.NewProgram(arena.Title, crowd.Title, pong.Title, stack.Title)

func commands() []*cobra.Command { return new(Program).commands(&bundled.Program) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer, cmds []*cobra.Command) int {
	return bundled.Run(ctx, args, stdout, stderr, cmds)
}

func try(args ...string) (code int, stdout, stderr string) {
	return bundled.Try(append(commands(), testCommands()...), args...)
}
