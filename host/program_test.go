package host

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
)

// bundled is a program with the games that come with the toolkit.
func bundled() *Program {
	return &Program{Name: "coeval", Titles: []*game.Title{arena.Title, crowd.Title, pong.Title, stack.Title}}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer, cmds []*cobra.Command) int {
	return bundled().run(ctx, args, stdout, stderr, cmds)
}

func commands() []*cobra.Command { return bundled().commands() }

func joinCommand() *cobra.Command { return bundled().joinCommand() }

func demoCommand() *cobra.Command { return bundled().demoCommand() }

func mirrorCommand() *cobra.Command { return bundled().mirrorCommand() }

func playCommand() *cobra.Command { return bundled().playCommand() }

func tokenCommand() *cobra.Command { return bundled().tokenCommand() }

func traceCommand() *cobra.Command { return bundled().traceCommand() }

func desyncCommand() *cobra.Command { return bundled().desyncCommand() }
