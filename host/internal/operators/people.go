//go:build !js

package operators

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/admin"
)

type done struct {
	verb  string
	title string // of the sanctions, or nothing
	admin.Done
}

func (d *done) String() string {
	var out strings.Builder
	for _, x := range d.People {
		fmt.Fprintf(&out, "%s %s (player %d, client:%d)\n", d.verb, show(x.Name), x.Player,
			x.Client)
	}
	if len(d.Sanctions) > 0 {
		out.WriteString(d.title)
		out.WriteString(listSanctions(d.Sanctions))
	}
	return out.String()
}

type told struct{ admin.Told }

func (t *told) String() string { return fmt.Sprintf("%d were told\n", t.Told.Told) }

// who says how people are named.
const who = "\n\nWHO is the number of a player, client: and an account, or a name, as {program} " +
	"admin players\nlists them."

// peopleCommands are those that deal with people.
func (o *operator) peopleCommands() []*cobra.Command {
	return []*cobra.Command{
		o.kickCommand(), o.messageCommand(),
		o.sanctionCommand("ban", "Keep someone out, or all who come from a network",
			"threw out"),
		o.liftCommand("unban", "not banned any more"),
		o.sanctionCommand("mute", "Have nobody hear what someone writes", "muted"),
		o.liftCommand("unmute", "not muted any more"),
	}
}

func (o *operator) kickCommand() *cobra.Command {
	why := ""
	cmd := o.command("kick WHO", "Throw someone out", cobra.ExactArgs(1),
		func(cmd *cobra.Command, args []string) error {
			return o.each(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
				d := &done{verb: "threw out"}
				return d, t.Post(ctx, "kick", admin.KickRequest{Who: args[0], Why: why}, &d.Done)
			})
		})
	cmd.Long = "Throw someone out, and tell them why. They may come back: see {program} admin " +
		"ban." + who
	cmd.Flags().StringVar(&why, "why", "", "what they are told")
	return cmd
}

func (o *operator) sanctionCommand(kind, short, verb string) *cobra.Command {
	var q admin.SanctionRequest
	cmd := o.command(kind+" WHO", short, cobra.MaximumNArgs(1),
		func(cmd *cobra.Command, args []string) error {
			q := q
			if len(args) == 1 {
				q.Who = args[0]
			}
			if (q.Who == "") == (q.Network == "") {
				return cli.Usagef("say WHO, or give --network: one of them")
			}
			if q.For != "" {
				if _, err := admin.ParseTime(q.For); err != nil {
					return cli.Usagef("--for: %w", err)
				}
			}
			return o.each(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
				d := &done{verb: verb}
				return d, t.Post(ctx, kind, q, &d.Done)
			})
		})
	cmd.Long = short + ". It counts at once and after a restart." + who + `
An account that is not here is named by client: and its number. At an open server
everyone who asks is a new account: there, ban by --address or --network as well.`
	f := cmd.Flags()
	f.StringVar(&q.For, "for", "", "how long, such as 30m, 24h or 7d (default: for ever)")
	f.StringVar(&q.Why, "why", "", "what they are told")
	f.StringVar(&q.Network, "network", "", "in place of WHO, an address or network, such as "+
		"203.0.113.0/24")
	f.BoolVar(&q.WithAddress, "address", false, "also whoever comes from the address of WHO")
	return cmd
}

func (o *operator) liftCommand(name, verb string) *cobra.Command {
	return o.command(name+" WHICH", "End what "+strings.TrimPrefix(name, "un")+" began: by its "+
		"number, client: and an account, or a network", cobra.ExactArgs(1),
		func(cmd *cobra.Command, args []string) error {
			return o.each(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
				d := &done{verb: verb, title: verb + ":\n"}
				return d, t.Post(ctx, name, admin.LiftRequest{Which: args[0]}, &d.Done)
			})
		})
}

func (o *operator) messageCommand() *cobra.Command {
	to := ""
	cmd := o.command("message TEXT", "Tell everyone something, or one person",
		cobra.MinimumNArgs(1),
		func(cmd *cobra.Command, args []string) error {
			q := admin.MessageRequest{Text: strings.Join(args, " "), Who: to}
			return o.each(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
				var x told
				return &x, t.Post(ctx, "message", q, &x.Told)
			})
		})
	cmd.Flags().StringVar(&to, "to", "", "whom, if not everyone: a player's number, client: and "+
		"an account, or a name")
	return cmd
}
