//go:build !js

package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
)

// A Command makes a command for a program, such as those of package host/tools. In its texts
// {program} stands for the program's name, and " {game}" for a game to name where there are
// several.
type Command func(p *Program) *cobra.Command

// Groups of commands in --help, those first that people look for first.
var groups = []*cobra.Group{
	{ID: "play", Title: "Play:"},
	{ID: "run", Title: "Run servers:"},
	{ID: "look", Title: "Look inside:"},
}

// ToolGroup is where the commands of Tools stand in --help.
const ToolGroup = "tools"

// commands lists what stands directly below the program, one line each.
func (p *Program) commands() []*cobra.Command {
	in := func(group string, list ...*cobra.Command) []*cobra.Command {
		for _, c := range list {
			c.GroupID = group
		}
		return list
	}
	list := in("play", p.playCommand(), p.serveCommand(), p.joinCommand(), p.demoCommand())
	list = append(list, in("run", p.mirrorCommand(), p.botsCommand(), p.tokenCommand())...)
	list = append(list, in("look", p.traceCommand(), p.desyncCommand(), p.versionCommand())...)
	for _, tool := range p.Tools {
		list = append(list, in(ToolGroup, tool(p))...)
	}
	return list
}

// Exit codes, for scripts.
const (
	exitOK          = 0
	exitFailure     = 1   // the command was understood and did not succeed
	exitUsage       = 2   // the command line was wrong; nothing was done
	exitInterrupted = 130 // stopped by Ctrl-C before it was finished, as shells report it
)

// Main does what the command line says, and ends the process.
func (p Program) Main() {
	os.Exit(p.Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// Run does what a command line says and gives the exit code: 0, 1 if it did not succeed, 2 if the
// command line or a title is wrong, 130 if it was interrupted before it was finished. The first
// interrupt ends long work in good order; the second ends the process at once.
func (p Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	p.name()
	if err := p.check(); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
		return exitUsage
	}
	return p.run(ctx, args, stdout, stderr, p.commands())
}

// name sees to it that the program has one.
func (p *Program) name() {
	if p.Name == "" {
		p.Name = strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	}
}

// run executes one command line and gives the exit code.
func (p *Program) run(
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

	root, started := p.newRoot(cmds, stdout, stderr)
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
	var usage cli.UsageError
	text := ""
	if err != nil {
		text = p.fill(err.Error())
	}
	switch {
	case err == nil:
		return exitOK
	case interrupted && errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "%s: interrupted before it was finished\n", cmd.CommandPath())
		return exitInterrupted
	case !started || errors.As(err, &usage):
		fmt.Fprintf(stderr, "%s: %s\nRun '%s --help' for what it takes.\n",
			cmd.CommandPath(), text, cmd.CommandPath())
		return exitUsage
	}
	fmt.Fprintf(stderr, "%s: %s\n", cmd.CommandPath(), text)
	return exitFailure
}

// unsorted has cobra list commands in our order.
var unsorted = sync.OnceFunc(func() { cobra.EnableCommandSorting = false })

// newRoot assembles the command tree. Whatever goes wrong before a command's own code has started
// is a usage mistake; started tells.
func (p *Program) newRoot(
	cmds []*cobra.Command, stdout, stderr io.Writer,
) (root *cobra.Command, started *bool) {
	unsorted() // those first that people look for first
	root = &cobra.Command{
		Use:           p.Name,
		Short:         "Play, serve and look inside " + strings.Join(p.names(), ", "),
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
	if len(p.Tools) > 0 {
		root.AddGroup(&cobra.Group{ID: ToolGroup, Title: "Measure:"})
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
	if p.About != "" {
		return p.About
	}
	if len(p.Titles) == 1 {
		t := p.Titles[0]
		if t.About == "" {
			return t.Name() + ", alone or with others."
		}
		return t.Name() + ": " + t.About
	}
	return "Games, to be played alone or with others:\n\n" + p.list()
}

// list says of each title what it is, a line each.
func (p *Program) list() string {
	var lines []string
	for _, t := range p.Titles {
		lines = append(lines, fmt.Sprintf("  %-8s %s", t.Name(), t.About))
	}
	return strings.Join(lines, "\n")
}

const rootExample = `  {program} play {game}
  {program} serve {game}
  {program} join localhost:4000
  {program} demo
  source <({program} completion bash)    complete commands and flags with Tab`

// fill puts the program's name, and that of a game where one must be named, into a text.
func (p *Program) fill(text string) string {
	one, flag := "", ""
	if len(p.Titles) > 1 {
		one, flag = " "+p.Titles[0].Name(), " --game "+p.Titles[0].Name()
	}
	return strings.NewReplacer("{program}", p.Name, " {game}", one, " {--game}", flag).Replace(text)
}

// gameArgs takes the name of a game where there are several, and none where there is one.
func (p *Program) gameArgs(_ *cobra.Command, args []string) error {
	switch {
	case len(args) > 1 || len(args) == 0 && len(p.Titles) > 1:
		return fmt.Errorf("which game? There are %s", strings.Join(p.names(), ", "))
	case len(args) == 1 && len(p.Titles) == 1 && args[0] != p.Titles[0].Name():
		return fmt.Errorf("there is no game %q; %s, so leave the name out", args[0], p.are())
	}
	return nil
}

// gameOf is the title that the arguments of a command name.
func (p *Program) gameOf(args []string) (*game.Title, error) {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	t, err := p.Title(name)
	if err != nil {
		return nil, cli.UsageError{Err: err}
	}
	return t, nil
}

// optional is a command that is about the first game unless another is named.
func (p *Program) optional(name string) string {
	if len(p.Titles) > 1 {
		return name + " [GAME]"
	}
	return name
}

// optionalGame takes the name of a game, or none.
func (p *Program) optionalGame(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return p.gameArgs(cmd, args)
}

// gameFlag names a game where there are several.
func (p *Program) gameFlag(t *game.Title) string {
	if len(p.Titles) > 1 {
		return " --game " + t.Name()
	}
	return ""
}

// verb is a command that is about one game.
func (p *Program) verb(name string) string {
	if len(p.Titles) > 1 {
		return name + " GAME"
	}
	return name
}

// prepare gives every command the behaviour that all share.
func (p *Program) prepare(cmd *cobra.Command, started *bool) {
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if cmd.HasSubCommands() && cmd.Args == nil {
		cmd.Args = cli.NoUnknownCommand
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
	cmd.Short, cmd.Long, cmd.Example = p.fill(cmd.Short), p.fill(cmd.Long), p.fill(cmd.Example)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = p.fill(f.Usage) })
	for _, sub := range cmd.Commands() {
		p.prepare(sub, started)
	}
}
