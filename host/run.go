//go:build !js

package host

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/clusters"
	"github.com/coeval-dev/coeval/host/internal/demo"
	"github.com/coeval-dev/coeval/host/internal/directories"
	"github.com/coeval-dev/coeval/host/internal/find"
	"github.com/coeval-dev/coeval/host/internal/join"
	"github.com/coeval-dev/coeval/host/internal/keeps"
	"github.com/coeval-dev/coeval/host/internal/load"
	"github.com/coeval-dev/coeval/host/internal/lobbies"
	"github.com/coeval-dev/coeval/host/internal/mirrors"
	"github.com/coeval-dev/coeval/host/internal/operators"
	"github.com/coeval-dev/coeval/host/internal/peer"
	"github.com/coeval-dev/coeval/host/internal/play"
	"github.com/coeval-dev/coeval/host/internal/queries"
	"github.com/coeval-dev/coeval/host/internal/relays"
	"github.com/coeval-dev/coeval/host/internal/replays"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/host/internal/stores"
	"github.com/coeval-dev/coeval/host/internal/tokens"
	"github.com/coeval-dev/coeval/host/internal/traces"
	"github.com/coeval-dev/coeval/service/cluster/brokers"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/store/database"
)

// A Command makes a command for a program, such as those of package host/tools. In its texts
// {program} stands for the program's name, and " {game}" for a game to name where there are
// several.
type Command func(p *Program) *cobra.Command

// ToolGroup is where the commands of Tools stand in --help.
const ToolGroup = cli.ToolGroup

// commands lists what stands directly below the program, one line each.
func (p *Program) commands(c *cli.Program) []*cobra.Command {
	list := cli.In("play", play.Command(c), serve.Command(c), find.Command(c), lobbies.Command(c),
		join.Command(c), peer.Command(c), demo.Command(c))
	list = append(list, cli.In("run", mirrors.Command(c), relays.Command(c), load.Command(c),
		tokens.Command(), operators.Command(), keeps.Command(c))...)
	list = append(list, cli.In("look", replays.Command(c), queries.Command(),
		traces.Command(c), traces.DesyncCommand(c), cli.VersionCommand(c))...)
	if directory.In() != nil {
		list = append(list, cli.In("run", directories.Command(c))...)
	}
	if brokers.In() != nil {
		list = append(list, cli.In("run", clusters.Command(c))...)
	}
	if database.In() != nil {
		list = append(list, cli.In("run", stores.Command(c))...)
	}
	for _, tool := range p.Tools {
		list = append(list, cli.In(ToolGroup, tool(p))...)
	}
	return list
}

// Main does what the command line says, and ends the process.
func (p Program) Main() {
	os.Exit(p.Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// Run does what a command line says and gives the exit code: 0, 1 if it did not succeed, 2 if the
// command line or a title is wrong, 130 if it was interrupted before it was finished. The first
// interrupt ends long work in good order; the second ends the process at once.
func (p Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if p.Name == "" {
		p.Name = strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	}
	c := &cli.Program{List: p.Titles, Name: p.Name, About: p.About}
	if err := c.Check(); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
		return cli.ExitUsage
	}
	return c.Run(ctx, args, stdout, stderr, p.commands(c))
}
