package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/titles"
)

// A Program is what commands know of the program that they are part of. In their texts {program}
// stands for its name, " {game}" and " {--game}" for a game to name where there are several.
type Program struct {
	titles.List
	Name, About string
}

// several says whether a game must be named.
func (p *Program) several() bool { return len(p.List) > 1 }

// Fill puts the program's name, and that of a game where one must be named, into a text.
func (p *Program) Fill(text string) string {
	one := ""
	if p.several() {
		one = " " + p.List[0].Name()
	}
	return strings.NewReplacer("{program}", p.Name, " {game}", one,
		" {--game}", p.GameFlag(p.List[0])).Replace(text)
}

// GameFlag names a game where there are several.
func (p *Program) GameFlag(t *game.Title) string {
	if p.several() {
		return " --game " + t.Name()
	}
	return ""
}

// OneGame has a command be about one game, which is an argument of it where there are several.
func (p *Program) OneGame(cmd *cobra.Command, run func(*cobra.Command, *game.Title) error) {
	p.game(cmd, " GAME", p.gameArgs, run)
}

// AnyGame is OneGame for a command that is about the first unless another is named.
func (p *Program) AnyGame(cmd *cobra.Command, run func(*cobra.Command, *game.Title) error) {
	p.game(cmd, " [GAME]", func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return p.gameArgs(cmd, args)
	}, run)
}

func (p *Program) game(
	cmd *cobra.Command, argument string, args cobra.PositionalArgs,
	run func(*cobra.Command, *game.Title) error,
) {
	if p.several() {
		cmd.Use += argument
	}
	cmd.ValidArgs, cmd.Args = p.Each(), args
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t := p.List[0]
		if len(args) > 0 {
			var err error
			if t, err = p.Title(args[0]); err != nil {
				return UsageError{Err: err}
			}
		}
		return run(cmd, t)
	}
}

// gameArgs takes the name of a game where there are several, and none where there is one.
func (p *Program) gameArgs(_ *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return fmt.Errorf("%q is one word too many: a command takes one game, and a flag that "+
			"is only given or not, such as --json, takes no value", args[1])
	case len(args) == 0 && p.several():
		return p.Which()
	case len(args) == 1 && !p.several() && args[0] != p.List[0].Name():
		return fmt.Errorf("there is no game %q; %s, so leave the name out", args[0], p.Are())
	}
	return nil
}
