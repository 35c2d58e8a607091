//go:build !js

package clusters

import (
	"cmp"
	"context"
	"fmt"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/cluster/brokers"
	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/zone"
)

// order is a command that has something done with a world.
type order struct {
	reach
	access
	json bool
	wait time.Duration

	at     float64
	axis   string
	server string
	off    bool
	by     seamless.Balance
}

// verb makes a command of an order. Fill completes it from the command's arguments.
func verb(use, short, long string, args cobra.PositionalArgs, flags func(*order, *cobra.Command),
	fill func(o *order, cmd *cobra.Command, args []string, s *seamless.Status) (seamless.Order,
		error),
) *cobra.Command {
	o := &order{}
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: args}
	cmd.Example = "  {program} cluster " + strings.NewReplacer("ZONE", "3", "SERVER", `"server 2"`,
		"[WITH]", "").Replace(use)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := o.open(cmd.Context())
		if err != nil {
			return err
		}
		defer c.Close()
		s, err := seamless.Look(cmd.Context(), c.Map())
		if err != nil {
			return err
		}
		x, err := fill(o, cmd, args, s)
		if err != nil {
			return err
		}
		said, err := o.do(cmd.Context(), c, x)
		if err != nil {
			return err
		}
		return cli.Print(cmd.OutOrStdout(), answer{said}, o.json)
	}
	o.reach.flags(cmd)
	o.access.flags(cmd)
	cli.JSONFlag(cmd, &o.json)
	cmd.Flags().DurationVar(&o.wait, "wait", 30*time.Second, "how long to wait until it is done")
	if flags != nil {
		flags(o, cmd)
	}
	return cmd
}

// answer is what was done.
type answer struct {
	Done string `json:"done"`
}

func (a answer) String() string { return a.Done + "\n" }

// do has an order carried out, by whoever may give it.
func (o *order) do(ctx context.Context, c brokers.Cluster, x seamless.Order) (string, error) {
	x.By = "-"
	if u, err := user.Current(); err == nil {
		x.By = cmp.Or(u.Username, x.By)
	}
	told, err := o.access.allow(&x)
	if err != nil {
		return "", err
	}
	once, cancel := context.WithTimeout(ctx, o.wait)
	defer cancel()
	said, err := seamless.Do(once, c.Map(), x)
	return said, told(err)
}

func zoneOf(text string) (zone.ID, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 {
		return 0, cli.Usagef("%q is no zone; \"{program} cluster status\" lists their numbers",
			text)
	}
	return zone.ID(n), nil
}

func serverOf(s *seamless.Status, name string) (zone.ServerID, error) {
	id, ok := s.Find(name)
	if !ok {
		return 0, fmt.Errorf("there is no server %q; \"{program} cluster status\" lists them", name)
	}
	return id, nil
}

// cutFlags say where a border is to be.
func cutFlags(o *order, cmd *cobra.Command) {
	cmd.Flags().Float64Var(&o.at, "at", 0, "where, in the world's units")
}

// orders are the commands that have something done.
func orders() []*cobra.Command {
	return []*cobra.Command{
		verb("split ZONE", "Cut a zone in two",
			`Cut a zone in two. Without --at each part has half of what is there, by the axis
along which the border has least beside it. The part behind the cut is for another
zone, which is a spare one, or is founded on the server with the least to do.`,
			cobra.ExactArgs(1), func(o *order, cmd *cobra.Command) {
				cutFlags(o, cmd)
				cmd.Flags().StringVar(&o.axis, "axis", "x",
					"with --at, across which axis: x, y or z")
				cmd.Flags().StringVar(&o.server, "on", "",
					"the `SERVER` that is to have the new part (default: the one with the least to do)")
			}, splitOrder),
		verb("merge ZONE [WITH]", "Make one zone of two",
			`Give a zone the part of the one on the other side of its cut, which is spare from
then on: it gives away all it has, and the next split uses it.`,
			cobra.RangeArgs(1, 2), nil,
			func(_ *order, _ *cobra.Command, args []string, _ *seamless.Status) (x seamless.Order,
				err error) {
				x.Kind = seamless.Merge
				if x.Zone, err = zoneOf(args[0]); err == nil && len(args) > 1 {
					x.With, err = zoneOf(args[1])
				}
				return x, err
			}),
		verb("shift ZONE", "Move a border", "Move the border that made a zone to --at.",
			cobra.ExactArgs(1), cutFlags,
			func(o *order, cmd *cobra.Command, args []string, _ *seamless.Status) (x seamless.Order,
				err error) {
				if !cmd.Flags().Changed("at") {
					return x, cli.Usagef("say with --at to where the border is to move")
				}
				x.Kind, x.Cut = seamless.Shift, &o.at
				x.Zone, err = zoneOf(args[0])
				return x, err
			}),
		verb("move ZONE SERVER", "Have another server step a zone",
			"Have another server step a zone. It stands still for a few ticks, which it makes up for.",
			cobra.ExactArgs(2), nil,
			func(_ *order, _ *cobra.Command, args []string, s *seamless.Status) (x seamless.Order,
				err error) {
				x.Kind = seamless.Move
				if x.Zone, err = zoneOf(args[0]); err == nil {
					x.Server, err = serverOf(s, args[1])
				}
				return x, err
			}),
		verb("drain SERVER", "Have a server give all its zones away",
			`Have a server give all its zones to others and take none any more, so that it can be
ended, and another version started in its place: a rolling upgrade drains, ends and
starts one server after the other. A server that is only interrupted does the same.`,
			cobra.ExactArgs(1), nil,
			func(_ *order, _ *cobra.Command, args []string, s *seamless.Status) (x seamless.Order,
				err error) {
				x.Kind = seamless.Drain
				x.Server, err = serverOf(s, args[0])
				return x, err
			}),
		plain("pause", "Have the whole world stand still", seamless.Pause),
		plain("resume", "Have a world go on that stands still", seamless.Resume),
		balance(),
	}
}

func splitOrder(o *order, cmd *cobra.Command, args []string, s *seamless.Status) (
	x seamless.Order, err error) {
	x.Kind = seamless.Split
	if x.Zone, err = zoneOf(args[0]); err != nil {
		return x, err
	}
	if o.server != "" {
		if x.Server, err = serverOf(s, o.server); err != nil {
			return x, err
		}
	}
	if x.Axis = strings.Index("xyz", o.axis); len(o.axis) != 1 || x.Axis < 0 {
		return x, cli.Usagef("--axis %q: choose x, y or z", o.axis)
	}
	if cmd.Flags().Changed("at") {
		x.Cut = &o.at
	} else if cmd.Flags().Changed("axis") {
		return x, cli.Usagef("--axis says across which axis to cut at --at: give both")
	}
	return x, nil
}

// plain is an order without anything to fill in.
func plain(use, short string, kind seamless.OrderKind) *cobra.Command {
	return verb(use, short, short+": all zones, from the same tick on.", cobra.NoArgs, nil,
		func(*order, *cobra.Command, []string, *seamless.Status) (seamless.Order, error) {
			return seamless.Order{Kind: kind}, nil
		})
}

// balance says how borders move by themselves.
func balance() *cobra.Command {
	return verb("balance", "Have borders move by themselves, or not any more",
		`Have zones be split that are too full for a while, and merged where two would be far
from full together; and have zones move from the busiest server to the idlest.`,
		cobra.NoArgs, func(o *order, cmd *cobra.Command) {
			f := cmd.Flags()
			f.IntVar(&o.by.Entities, "entities", 0,
				"how many a zone may have (default: only --busy counts)")
			f.Float64Var(&o.by.Busy, "busy", 0.5, "which part of a tick's time a zone may take")
			f.IntVar(&o.by.Zones, "zones", 0, "how many zones there may be (default: 256)")
			f.DurationVar(&o.by.Calm, "calm", 5*time.Second,
				"for how long nothing is changed after a change")
			f.BoolVar(&o.off, "off", false, "leave borders where they are")
		}, func(o *order, _ *cobra.Command, _ []string, _ *seamless.Status) (seamless.Order,
			error) {
			x := seamless.Order{Kind: seamless.Rebalance}
			if !o.off {
				x.Balance = &o.by
			}
			return x, nil
		})
}
