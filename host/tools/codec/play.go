//go:build !js

package codec

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/codeclab"
)

const playLong = `Make tables for a game that comes with the program, by letting bots play it.

The images of the game are recorded as its clients would be sent them, with the
round trips that clients have, and tables are trained from that. The same game,
players, seconds and seed make the same tables.`

func playCommand(p *host.Program) *cobra.Command {
	var o codeclab.GameTablesOptions
	var out string
	options := o.List()
	cmd := &cobra.Command{
		Use: "play GAME --out FILE.tables", Short: "Make tables by letting bots play a game",
		Long:    playLong,
		Example: "  {program} codec play {game} --out game.tables",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.Title, err = p.Title(strings.Join(args, "")); err != nil {
				return cli.Usage(err)
			}
			if err := verb.Check(options); err != nil {
				return err
			}
			return makeTables(cmd, out, func(p lab.Progress) (*codec.Model, error) {
				o.Progress = p
				return codeclab.GameTables(o)
			}, func(m *codec.Model) string {
				var names []string
				for _, c := range m.Schema().Classes {
					names = append(names, c.Name)
				}
				return "for " + strings.Join(names, ", ")
			})
		},
	}
	verb.Flags(cmd, options)
	cmd.Flags().StringVar(&out, "out", "", "`FILE` to write the tables to")
	require(cmd, "out")
	return cmd
}
