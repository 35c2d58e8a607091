package tools

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host"
)

// The exit codes of programs.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// bundled is a program with the games that come with the toolkit.
func bundled() *host.Program {
	return &host.Program{
		Name: "coeval", Tools: All,
		Titles: []*game.Title{arena.Title, crowd.Title, pong.Title, stack.Title},
	}
}

// TestMain lets the test binary stand in for the program, which some commands start again.
func TestMain(m *testing.M) {
	if os.Getenv("COEVAL_TEST_AS_PROGRAM") != "" {
		bundled().Main()
	}
	os.Exit(m.Run())
}

func try(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = bundled().Run(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// run runs a command line in a program with no other tools than those given.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, cmds []*cobra.Command) int {
	p := bundled()
	p.Tools = nil
	for _, c := range cmds {
		p.Tools = append(p.Tools, func(*host.Program) *cobra.Command { return c })
	}
	return p.Run(ctx, args, stdout, stderr)
}

// testCommands are none.
func testCommands() []*cobra.Command { return nil }
