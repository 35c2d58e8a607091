//go:build !js

// Package newgame is the command that makes a module for a game of one's own.
package newgame

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/newgame"
	"github.com/coeval-dev/coeval/host/internal/page"
)

const long = `Make a module for a game of your own, in a folder of its name: rules, drawing, a
test, and all that Go needs. It plays in a browser at once:

  {program} new tanks
  cd tanks
  go run . demo

Templates, the simplest first:

%s
The game is compiled here once, for this machine and for the browser side by side,
so that it starts at once afterwards. The first time on a machine that compiles
the toolkit as well and takes about half a minute; --no-build leaves it to the first
start.

A program that was compiled from a checkout makes modules that use the same
checkout, and a released one those of its own version, which Go downloads. With
--local you choose a checkout, as while a version is not published.`

const example = `  {program} new tanks
  {program} new tanks --template shooter
  {program} new tanks --module example.org/games/tanks --local ../coeval`

// Command is {program} new: a module for a game of one's own.
func Command(_ *host.Program) *cobra.Command {
	var (
		o       newgame.Options
		noBuild bool
		list    strings.Builder
	)
	for _, t := range newgame.Templates {
		fmt.Fprintf(&list, "  %-9s %s\n", t.Name, t.About)
	}
	cmd := &cobra.Command{
		Use:     "new NAME",
		Short:   "Make a game of your own that plays in a browser at once",
		Long:    fmt.Sprintf(long, list.String()),
		Example: example,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Dir = args[0]
			m, err := newgame.Make(cmd.Context(), o)
			if err != nil {
				return err
			}
			return made(cmd, m, noBuild)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.Template, "template", "t", newgame.Templates[0].Name, "the game to begin with")
	f.StringVar(&o.Module, "module", "", "path of the module (default: example.com/NAME)")
	f.StringVar(&o.Local, "local", "",
		"folder of a checkout of the toolkit to use, in place of a released version")
	f.BoolVar(&noBuild, "no-build", false, "only write files, and compile nothing")
	return cmd
}

// made is what people are told.
func made(cmd *cobra.Command, m *newgame.Module, noBuild bool) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	fmt.Fprintf(out, "%s is a game in %d lines of Go, in the folder %s\n", m.Name, m.Lines, m.Dir)
	if m.Local != "" {
		fmt.Fprintf(out, "it uses the toolkit in %s\n", m.Local)
	}
	if !noBuild {
		bar := cli.NewProgress(out)
		err := page.Precompile(ctx, m.Path, m.Dir, bar.Show)
		bar.Clear()
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("the files are in %s, and could not be compiled:\n%w", m.Dir, err)
		}
	}
	fmt.Fprintf(out, "\nPlay it in a browser:\n\n  cd %s\n  go run . demo\n\n"+
		"With --watch, what you change is there when you save it.\n", m.Dir)
	return ctx.Err()
}
