package hosttest

import (
	"bytes"
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/titles"
)

// A Program is a program that tests run.
type Program struct{ cli.Program }

// NewProgram makes one with these games, called coeval.
func NewProgram(list ...*game.Title) *Program {
	return &Program{cli.Program{Name: "coeval", List: titles.List(list)}}
}

// Try runs a command line of it with these commands, and gives what it printed.
func (p *Program) Try(cmds []*cobra.Command, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = p.Run(context.Background(), args, &out, &err, cmds)
	return code, out.String(), err.String()
}

// patience is when a test gives up on something that should have happened long ago.
const patience = 90 * time.Second

// WaitUntil waits for something to be so.
func WaitUntil(t testing.TB, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); !so(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("never happened: %s", what)
		}
	}
}

// Soak says whether everything is to be tried, however long it takes: make soak sets COEVAL_SOAK.
func Soak() bool { return os.Getenv("COEVAL_SOAK") != "" }

// Main runs the tests of a package that mostly wait for things to happen: more of them at once than
// there are cores, unless -parallel says otherwise.
func Main(m *testing.M) int {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	return m.Run()
}
