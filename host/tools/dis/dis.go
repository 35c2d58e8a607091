//go:build !js

// Package dis are the commands that take part in an exercise of simulators, by DIS.
package dis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/dis"
	"github.com/coeval-dev/coeval/service/dis/network"
)

const long = `Take part in an exercise of simulators that speak DIS (IEEE 1278.1), of versions 6
and 7: listen to one, keep it in a file, play such a file, fly something of your own.

Without --to, PDUs are broadcast to port 3000 of this network, as DIS has always
done it. Nothing that comes from there is believed without a look: what is
malformed, impossible, or speaks for others is refused, and counted by reason.`

const example = `  {program} dis listen
  {program} dis listen --to 239.1.2.3:3000 --interface eth0 --map
  {program} dis fly --entities 20 --at 37.8,-122.4 --to 239.1.2.3:3000`

// Command is {program} dis.
func Command(p *host.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "dis",
		Short:   "Listen to an exercise of simulators (DIS), record and play it, take part",
		Long:    long,
		Example: example,
		RunE:    cli.List,
	}
	cmd.AddCommand(listenCommand(), recordCommand(), playCommand(), flyCommand(),
		gatewayCommand(), showCommand(p), measureCommand())
	return cmd
}

// reach is how a command takes part.
type reach struct {
	network.Options
	exercise int
	lasts    time.Duration
}

func (r *reach) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.To, "to", "", "`ADDR` of a multicast group, broadcast address or other "+
		"program, with a port; 255.255.255.255:3000 if not given")
	f.StringVar(&r.Listen, "listen", "",
		"`ADDR` and port to listen on; the port of --to if not given")
	f.StringVar(&r.Interface, "interface", "",
		"network interface for multicast; the one that routes choose if not given")
	f.IntVar(&r.TTL, "ttl", 1, "how many routers multicast may pass")
	f.IntVar(&r.exercise, "exercise", 0, "number of the exercise, 1 to 255; 0: all, or none")
	f.DurationVar(&r.lasts, "for", 0, "end after so long; 0: when interrupted")
}

func (r *reach) check() error {
	if r.exercise < 0 || r.exercise > 255 {
		return cli.Usagef("exercise %d: choose 0 to 255", r.exercise)
	}
	if r.TTL < 1 || r.TTL > 255 {
		return cli.Usagef("a TTL of %d: choose 1 to 255", r.TTL)
	}
	return nil
}

// join opens the way and gives a context that ends when the command is to.
func (r *reach) join(cmd *cobra.Command) (*network.Network, context.Context, func(), error) {
	if err := r.check(); err != nil {
		return nil, nil, nil, err
	}
	n, err := network.Join(r.Options)
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := cmd.Context(), func() {}
	if r.lasts > 0 {
		ctx, cancel = context.WithTimeout(ctx, r.lasts)
	}
	return n, ctx, func() { cancel(); n.Close() }, nil
}

// over is what a command returns whose context has ended: nothing where that was its time.
func (r *reach) over(cmd *cobra.Command) error {
	if err := cmd.Context().Err(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// stampNow is the time stamp of a PDU that goes out now.
func stampNow() dis.Stamp { return dis.Absolute(time.Now()) }

// force is what a number means for people.
func force(n uint8) string {
	switch n {
	case 0:
		return "other"
	case 1:
		return "friendly"
	case 2:
		return "opposing"
	case 3:
		return "neutral"
	}
	return fmt.Sprintf("force %d", n)
}
