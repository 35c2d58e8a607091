//go:build !js

// Package keeps are the commands about folders in which games survive their machines: what serve
// and mirror write with --keep.
package keeps

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
)

const long = `Look after the folder in which a game survives its machine (--keep of serve and
mirror): see what is in it, check it, back it up while the game runs, and go back to
a moment.

FROM is such a folder, or a backup of it: another folder, or one file if its name
ends in .tar. A folder may be in use; it is only read.`

const example = `  {program} keep list folder
  {program} keep check folder
  {program} keep backup folder monday.tar
  {program} keep restore monday.tar new-folder
  {program} keep restore folder new-folder --to "10m ago"`

// A command is one of them.
type command struct {
	p    *cli.Program
	json bool
	all  bool
	to   string
}

// Command is the command keep.
func Command(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "keep", Short: "List, check, back up and restore kept games", Long: long,
		Example: example,
	}
	cmd.AddCommand(list(p), check(p), backup(p), restore(p))
	return cmd
}

// verb makes one command.
func (c *command) verb(
	use, short, long, example string, args int, run func(args []string) (fmt.Stringer, error),
) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: "  {program} keep " + example,
		Args: cobra.ExactArgs(args),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := run(args)
			if r != nil {
				err = errors.Join(cli.Print(cmd.OutOrStdout(), r, c.json), err)
			}
			return err
		},
	}
	cli.JSONFlag(cmd, &c.json)
	return cmd
}

func list(p *cli.Program) *cobra.Command {
	c := &command{p: p}
	return c.verb("list FROM", "Say what is in a folder",
		`Say of which game a folder is, which chapters it has, from which tick to which, when
they began, whether they are whole, and what a server would go on with. It works for
any game, also while a server runs.`, "list folder", 1,
		func(args []string) (fmt.Stringer, error) {
			s, err := openSource(args[0])
			if err != nil {
				return nil, err
			}
			defer s.close()
			return s.list()
		})
}

func check(p *cli.Program) *cobra.Command {
	c := &command{p: p}
	cmd := c.verb("check FROM", "Say what this program would not load",
		`Load a kept game as this program would when it is started: find the newest chapter,
convert it if another version has written it, compute its ticks again and compare
the hashes. Other chapters are read and their checksums compared; with --all they are
computed as well. The exit code is 1 if anything is wrong. Nothing is changed, and the
game may run meanwhile.`, "check folder", 1,
		func(args []string) (fmt.Stringer, error) {
			s, err := openSource(args[0])
			if err != nil {
				return nil, err
			}
			defer s.close()
			r, err := s.check(p, c.all)
			if err == nil && len(r.Problems) > 0 {
				err = fmt.Errorf("%s: not all of it is good; restore a backup, or a moment before, "+
					"with: {program} keep restore", args[0])
			}
			if r == nil {
				return nil, err
			}
			return r, err
		})
	cmd.Flags().BoolVar(&c.all, "all", false, "compute every chapter, not only the newest")
	return cmd
}

func backup(p *cli.Program) *cobra.Command {
	c := &command{p: p}
	return c.verb("backup FROM TO", "Copy a kept game while it is played",
		`Copy a kept game, up to the last whole tick, with its history and the key of its
tickets, while the game runs. TO is one file if it ends in .tar, or else a new folder.
What was written is loaded before it has its name; a backup that fails leaves
nothing. Keep it as safe as the folder: it holds the key and the world's secrets.

A mirror's backup has its world but not its votes: see {program} keep restore --help.`,
		"backup folder monday.tar", 2,
		func(args []string) (fmt.Stringer, error) { return c.copy(args[0], args[1], nil) })
}

func restore(p *cli.Program) *cobra.Command {
	c := &command{p: p}
	cmd := c.verb("restore FROM TO", "Fill a new folder from a backup, or go back to a moment",
		`Fill a new or empty folder from a backup, or from the folder of a server that may
run. With --to it goes back to the last whole tick at or before a moment: a tick such
as 7200, a time such as 2026-03-01T14:05:00Z, 14:05, or "10m ago". How far one can go
back is said by --keep-history of serve. What was written is loaded before it counts.

Then start the server with --keep TO. Start a mirror with --found-anew, if it is to
go on from there while all others are stopped, or with --join, to join the others as
a newcomer. What a mirror had voted for is not restored: an older memory of it could
break the group.`, `restore folder new-folder --to "10m ago"`, 2,
		func(args []string) (fmt.Stringer, error) {
			if archived(args[1]) {
				return nil, cli.Usagef("%s ends as a file does that backup writes: name a folder",
					args[1])
			}
			if c.to == "" {
				return c.copy(args[0], args[1], nil)
			}
			m, err := parseMoment(c.to, time.Now())
			if err != nil {
				return nil, err
			}
			return c.copy(args[0], args[1], m)
		})
	cmd.Flags().StringVar(&c.to, "to", "",
		"moment to go back to: a tick, a time, or one such as \"10m ago\" (default: the last)")
	return cmd
}
