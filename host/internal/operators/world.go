//go:build !js

package operators

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/admin"
)

type knobs struct{ admin.Knobs }

func (k *knobs) String() string {
	if len(k.Knobs.Knobs) == 0 {
		return "the game declares no knobs (an author does by world.Knob)\n"
	}
	out := table("KNOB\tVALUE\tTYPE\tFROM\tTO\tSTEP", func(row func(string, ...any)) {
		for _, x := range k.Knobs.Knobs {
			least, most, step := "-", "-", "-"
			if x.Least != nil && x.Most != nil && x.Step != nil {
				least, most, step = fmt.Sprint(*x.Least), fmt.Sprint(*x.Most), fmt.Sprint(*x.Step)
			}
			row("%s\t%s\t%s\t%s\t%s\t%s", x.Name, show(x.Value), x.Type, least, most, step)
		}
	})
	return out + inForce(k.InForce, k.Tick)
}

// inForce says from when something counts.
func inForce(yes *bool, tick uint64) string {
	switch {
	case yes == nil:
		return ""
	case *yes:
		return fmt.Sprintf("in force at tick %d\n", tick)
	}
	return fmt.Sprintf("from the next tick on; the world stands at %d\n", tick)
}

type levels struct{ admin.Levels }

func (l *levels) String() string {
	out := fmt.Sprintf("now: %s\n", show(l.Now))
	if len(l.Levels.Levels) > 0 {
		out += "levels: " + strings.Join(l.Levels.Levels, ", ") + "\n"
	}
	if l.Files {
		out += fmt.Sprintf("or a file of at most %s\n", bytesOf(uint64(l.Most)))
	}
	return out
}

type begun struct{ admin.LevelBegun }

func (b *begun) String() string {
	text := fmt.Sprintf("level %q has begun, with seed %d\n", b.Level, b.Seed)
	if b.Kept != nil && !*b.Kept {
		text += "not all disks have that yet: see coeval_keep_safe_tick\n"
	}
	return text
}

type content struct{ admin.Content }

func (c *content) String() string {
	return fmt.Sprintf("%d bytes of content: %s", c.Bytes, inForce(&c.InForce, c.Tick))
}

type paused struct{ admin.Paused }

func (p *paused) String() string {
	if p.Paused.Paused {
		return fmt.Sprintf("the world stands still at tick %d\n", p.Tick)
	}
	return fmt.Sprintf("the world goes on at tick %d\n", p.Tick)
}

// worldCommands are those that deal with the world.
func (o *operator) worldCommands() []*cobra.Command {
	return []*cobra.Command{
		o.knobsCommand(), o.levelCommand(), o.contentCommand(),
		o.pauseCommand("pause", "Let the world stand still"),
		o.pauseCommand("resume", "Let the world go on"),
	}
}

func (o *operator) knobsCommand() *cobra.Command {
	cmd := o.command("knobs [NAME=VALUE]...", "List what can be set while the game runs, or set it", nil,
		func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return o.each(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
					var k knobs
					return &k, t.Get(ctx, "knobs", &k.Knobs)
				})
			}
			var q admin.KnobsRequest
			for _, text := range args {
				s, err := admin.ParseSetting(text)
				if err != nil {
					return cli.Usage(err)
				}
				q.Set = append(q.Set, s)
			}
			return o.once(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
				var k knobs
				return &k, t.Post(ctx, "knobs", q, &k.Knobs)
			})
		})
	cmd.Args = cobra.ArbitraryArgs
	cmd.Long = `List what can be set while the game runs, or set it: all that is named, in one tick, or
nothing. It counts from the next tick on, the same on all mirrors, and is part of recordings.

Knobs are what the game declares by world.Knob. Values are tried on a copy of the world
first: one by which the game panics is refused.`
	return cmd
}

func (o *operator) levelCommand() *cobra.Command {
	seed := uint64(0)
	cmd := o.command("level [NAME|FILE]", "List the levels, or begin one", cobra.MaximumNArgs(1),
		func(cmd *cobra.Command, args []string) error {
			to := o.each
			if len(args) > 0 {
				to = o.once
			}
			return to(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
				var l levels
				err := t.Get(ctx, "levels", &l.Levels)
				if err != nil || len(args) == 0 {
					return &l, err
				}
				q := admin.LevelRequest{Name: args[0], Seed: seed}
				if !slices.Contains(l.Levels.Levels, args[0]) && l.Files {
					data, err := cli.ReadFile(args[0], l.Most)
					switch {
					case err == nil:
						q.Name, q.Data = "", data
					case !errors.Is(err, fs.ErrNotExist):
						return nil, &admin.Error{Message: fmt.Sprintf("the level: %v", err)}
					}
				}
				var b begun
				return &b, t.Post(ctx, "level", q, &b.LevelBegun)
			})
		})
	cmd.Long = `List the levels, or begin one, by its name or with a file of its data. Everyone stays
connected. It is made ready beside the game that goes on; if anything is wrong with it,
nothing is changed. Mirrors all begin it with one tick, when each has it ready.`
	cmd.Flags().Uint64Var(&seed, "seed", 0, "random seed (default: drawn)")
	return cmd
}

func (o *operator) contentCommand() *cobra.Command {
	cmd := o.command("content FILE", "Give the game new content while it runs", cobra.ExactArgs(1),
		func(cmd *cobra.Command, args []string) error {
			const most = 64 << 10
			data, err := cli.ReadFile(args[0], most)
			if err != nil {
				return err
			}
			return o.once(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
				var c content
				return &c, t.Post(ctx, "content", data, &c.Content)
			})
		})
	cmd.Long = `Give the game new content while it runs, such as a table of weapons: what it declares by
world.OnContent. It counts from the next tick on, the same on all mirrors, and is part of
recordings. A copy of the world is given it first: if that makes no difference, as with a
damaged file, or the game panics, nothing is changed.`
	return cmd
}

func (o *operator) pauseCommand(name, short string) *cobra.Command {
	why := ""
	cmd := o.command(name, short, cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		return o.once(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
			var p paused
			return &p, t.Post(ctx, name, admin.PauseRequest{Why: why}, &p.Paused)
		})
	})
	cmd.Flags().StringVar(&why, "why", os.Getenv("USER"), "what players are told")
	return cmd
}
