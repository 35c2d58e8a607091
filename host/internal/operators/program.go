//go:build !js

package operators

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/service/admin"
)

type saved struct{ admin.Saved }

func (s *saved) String() string { return fmt.Sprintf("all is safe up to tick %d\n", s.Tick) }

type drained struct{ admin.Drained }

func (d *drained) String() string {
	if !d.Draining {
		return "people are let in again\n"
	}
	return fmt.Sprintf("nobody new is let in; %d players and %d spectators are still here\n",
		d.Players, d.Spectators)
}

type stopping struct{ admin.Stopping }

func (s *stopping) String() string { return "it is stopping\n" }

type written struct {
	File  string `json:"file"`
	Bytes int    `json:"bytes"`
}

func (w *written) String() string {
	return fmt.Sprintf("%s: %s. It holds the world's secrets and players' addresses.\n", w.File,
		bytesOf(uint64(w.Bytes)))
}

// write writes a file that only its owner can read.
func write(name string, data []byte) (fmt.Stringer, error) {
	f, err := cli.CreatePrivate(name)
	if err == nil {
		err = f.Commit(data)
	}
	if err != nil {
		return nil, &admin.Error{Message: err.Error()}
	}
	return &written{name, len(data)}, nil
}

// programCommands are those that deal with the program.
func (o *operator) programCommands() []*cobra.Command {
	return []*cobra.Command{
		o.command("save", "Have the whole game written to disk now, where it is kept", cobra.NoArgs,
			func(cmd *cobra.Command, _ []string) error {
				return o.each(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
					var s saved
					return &s, t.Post(ctx, "save", nil, &s.Saved)
				})
			}),
		o.drainCommand(),
		o.command("welcome", "Let people in again, after drain", cobra.NoArgs,
			func(cmd *cobra.Command, _ []string) error {
				return o.each(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
					var d drained
					return &d, t.Post(ctx, "welcome", nil, &d.Drained)
				})
			}),
		o.bundleCommand(), o.shutdownCommand(),
	}
}

func (o *operator) drainCommand() *cobra.Command {
	cmd := o.command("drain [SERVER]...", "Send everyone to other servers, and let nobody new in",
		cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error {
			var q admin.DrainRequest
			for _, name := range args {
				at, err := udp.Resolve(cmd.Context(), name)
				if err != nil || at.Port() == 0 {
					return cli.Usagef("%q: want an address and a port, like 203.0.113.7:4000", name)
				}
				q.To = append(q.To, at.String())
			}
			return o.each(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
				var d drained
				return &d, t.Post(ctx, "drain", q, &d.Drained)
			})
		})
	cmd.Long = `Send everyone to other servers of the game, which have the same key, in turn; and
newcomers, too. A mirror's players go to the other mirrors, without any being named.
Where no other server is known, those who play stay, and nobody new is let in.
/readyz says so at once. {program} admin welcome ends it.`
	return cmd
}

func (o *operator) bundleCommand() *cobra.Command {
	out := ""
	cmd := o.command("bundle", "Fetch all that helps to find out what is wrong, as a tar.gz",
		cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
			return o.each(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
				name := out
				if name == "" {
					name = fmt.Sprintf("diagnosis-%s-%s.tar.gz", t.URL.Hostname()+"-"+t.URL.Port(),
						time.Now().UTC().Format("20060102T150405Z"))
				}
				var data []byte
				if err := t.Post(ctx, "bundle", nil, &data); err != nil {
					return nil, err
				}
				return write(name, data)
			})
		})
	cmd.Long = `Fetch all that helps to find out what is wrong, as a tar.gz: status, players, knobs,
metrics, settings without secrets, the build, goroutines, memory, the last of the log, and a
trace of the last seconds where the server remembers them. Only you can read the file.`
	cmd.Flags().StringVarP(&out, "out", "o", "", "the file (default: diagnosis-SERVER-TIME.tar.gz)")
	return cmd
}

func (o *operator) shutdownCommand() *cobra.Command {
	var q admin.ShutdownRequest
	cmd := o.command("shutdown", "End the program, as a signal does", cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) error {
			return o.each(cmd, func(ctx context.Context, t Target) (fmt.Stringer, error) {
				var s stopping
				return &s, t.Post(ctx, "shutdown", q, &s.Stopping)
			})
		})
	cmd.Flags().StringVar(&q.Drain, "drain", "",
		"how long players have to go on elsewhere (default: as the server was started)")
	cmd.Flags().StringVar(&q.Why, "why", "", "what players are told")
	return cmd
}
