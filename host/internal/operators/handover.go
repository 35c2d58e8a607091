//go:build !js

package operators

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/service/admin"
)

type handover struct{ admin.Handover }

func (h *handover) String() string {
	switch {
	case h.Ceded:
		return fmt.Sprintf("the game is that of the mirrors at %s, from tick %d on\n",
			strings.Join(h.To, ", "), h.Tick)
	case len(h.To) > 0:
		return fmt.Sprintf("the game is being given to the mirrors at %s, from tick %d on\n",
			strings.Join(h.To, ", "), h.Tick)
	case h.Tick == 0:
		return "the mirrors play\n"
	case !h.Final:
		return fmt.Sprintf("the mirrors stop after tick %d\n", h.Tick)
	}
	return fmt.Sprintf("the mirrors stand still after tick %d, for %.0f ms by now\n", h.Tick,
		h.StillMS)
}

// handoverCommands are those by which mirrors give their game away. mirror --upgrade does all of it
// by itself.
func (o *operator) handoverCommands() []*cobra.Command {
	status := o.command("handover", "Say how far mirrors are with giving their game away",
		cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
			return o.each(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
				var h handover
				return &h, t.Get(ctx, "handover", &h.Handover)
			})
		})
	goOn := o.command("go-on", "Have mirrors play on that stand still for another group",
		cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
			return o.once(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
				var h handover
				return &h, t.Post(ctx, "goon", nil, &h.Handover)
			})
		})
	return []*cobra.Command{status, o.haltCommand(), o.worldCommand(), o.cedeCommand(), goOn}
}

func (o *operator) haltCommand() *cobra.Command {
	within := time.Second
	cmd := o.command("halt", "Have mirrors stand still after an agreed tick, for another group",
		cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
			return o.once(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
				var h handover
				q := admin.HaltRequest{Within: within.String()}
				return &h, t.Post(ctx, "halt", q, &h.Handover)
			})
		})
	cmd.Long = `Have all mirrors of a group stand still after a tick on which they agree, for another
group to take over the game. If none does within --within they play on.
{program} mirror --upgrade does this and all that follows by itself.`
	cmd.Flags().DurationVar(&within, "within", within, "for how long at most, up to 30s")
	return cmd
}

func (o *operator) worldCommand() *cobra.Command {
	out, final := "", false
	cmd := o.command("world", "Fetch the world of mirrors, as they have settled it", cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) error {
			return o.once(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
				var data []byte
				q := admin.WorldRequest{Final: final}
				if err := t.Post(ctx, "world", q, &data); err != nil {
					return nil, err
				}
				return write(out, data)
			})
		})
	cmd.Long = `Fetch the world of mirrors, as they have settled it, with who sits in it and what the
game declares, as JSON. Only you can read the file.`
	cmd.Flags().StringVarP(&out, "out", "o", "world.json", "the file")
	cmd.Flags().BoolVar(&final, "final", false, "the last world of mirrors that stand still")
	return cmd
}

func (o *operator) cedeCommand() *cobra.Command {
	q := admin.CedeRequest{}
	cmd := o.command("cede SERVER...", "Give the game of mirrors that stand still away, for good",
		cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error {
			q.To = nil
			for _, name := range args {
				at, err := udp.Resolve(cmd.Context(), name)
				if err != nil || at.Port() == 0 {
					return cli.Usagef("%q: want an address and a port, like 203.0.113.7:4000", name)
				}
				q.To = append(q.To, at.String())
			}
			return o.once(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
				var h handover
				return &h, t.Post(ctx, "cede", q, &h.Handover)
			})
		})
	cmd.Long = `Give the game of mirrors that stand still away, for good: they send their players to
these servers, which must have the game already, and end. Their folders do not bring the
game back. {program} mirror --upgrade does this by itself; there is hardly a reason to do
it by hand.`
	cmd.Flags().Uint64Var(&q.Tick, "tick", 0, "the tick after which they stand still, as halt says")
	_ = cmd.MarkFlagRequired("tick") // it was added above
	return cmd
}
