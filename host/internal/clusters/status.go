//go:build !js

package clusters

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/zone"
)

// status says how a world is.
func status() *cobra.Command {
	var r reach
	var asJSON, watch bool
	cmd := &cobra.Command{
		Use: "status", Short: "Say how a world is: zones, servers, and a map",
		Long: `Say which zones there are, what each has to do and which server steps it, and draw where
they are. With --watch it is drawn anew each second.`,
		Example: "  {program} cluster status --watch\n  {program} cluster status --json",
		Args:    cobra.NoArgs,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := r.open(cmd.Context())
		if err != nil {
			return err
		}
		defer c.Close()
		out := cmd.OutOrStdout()
		for {
			s, err := seamless.Look(cmd.Context(), c.Map())
			if err != nil {
				return err
			}
			colour := false
			if f, ok := out.(*os.File); ok {
				colour = term.IsTerminal(int(f.Fd()))
			}
			if watch && colour {
				fmt.Fprint(out, "\x1b[H\x1b[2J")
			}
			err = cli.Print(out, report{s, colour, min(cli.Width(out), 100)}, asJSON)
			if err != nil || !watch {
				return err
			}
			select {
			case <-cmd.Context().Done():
				return nil
			case <-time.After(time.Second):
			}
		}
	}
	r.flags(cmd)
	cli.JSONFlag(cmd, &asJSON)
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "go on, until you interrupt it")
	return cmd
}

// report is a world as people read it.
type report struct {
	*seamless.Status
	colour bool
	width  int
}

func (r report) String() string {
	var b strings.Builder
	state := "goes on"
	if r.Paused > 0 {
		state = fmt.Sprintf("is paused after tick %d", r.Paused)
	}
	fmt.Fprintf(&b, "%s, level %q, %s; plan %d", r.Game, r.Level, state, r.Version)
	if r.Balance != nil {
		fmt.Fprintf(&b, ", borders move by themselves")
	}
	b.WriteString("\n\n")
	r.draw(&b)
	b.WriteString("\n")
	r.tables(&b)
	return b.String()
}

// names are the servers', for people.
func (r report) names() map[zone.ServerID]string {
	names := map[zone.ServerID]string{0: "nobody"}
	for _, s := range r.Servers {
		names[s.Server] = cmp.Or(s.Name, fmt.Sprint(uint64(s.Server)))
	}
	return names
}

func (r report) tables(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	names := r.names()
	fmt.Fprintln(w, "zone\tserver\tentities\tghosts\tplayers\tof a tick\t")
	for i := range r.Zones {
		z := &r.Zones[i]
		note := ""
		switch {
		case z.Halted:
			note = "halted"
		case z.Spare:
			note = "spare"
		case z.Server == 0:
			note = "stands still"
		case z.Thin > 0:
			note = fmt.Sprintf("too dense: what is far is shown every %d ticks", 1<<z.Thin)
		}
		if z.Zone == r.Home {
			note = strings.TrimPrefix(note+", home", ", ")
		}
		fmt.Fprintf(w, "%d\t%s\t%d\t%d\t%d\t%.1f %%\t%s\n", z.Zone, names[z.Server], z.Entities,
			z.Ghosts, z.Players, 100*z.Busy, note)
	}
	fmt.Fprintln(w, "\t\t\t\t\t\t\nserver\taddress\tzones\tplayers\tat tick\t\t")
	for _, s := range r.Servers {
		note := ""
		if s.Drained {
			note = "drained"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t\t%s\n", names[s.Server], s.Address, len(s.Zones),
			s.Players, s.Tick, note)
	}
	_ = w.Flush() // to memory
}

// colours tell zones apart in a terminal.
var colours = [...]int{25, 130, 28, 90, 124, 23, 94, 55, 22, 88, 60, 100}

// draw draws where zones are, from above: across the two longest sides of the world.
func (r report) draw(b *strings.Builder) {
	size := r.Bounds.Hi.Sub(r.Bounds.Lo)
	if !(size.X > 0) || r.width < 10 {
		return
	}
	deep := size.Y
	height := size.Z > size.Y
	if height {
		deep = size.Z
	}
	rows := int(max(min(float64(r.width)*deep/size.X/2, 24), 1))
	at := func(x, y float64) zone.ID {
		p := det.Vec3{X: r.Bounds.Lo.X + size.X*x, Y: r.Bounds.Lo.Y + deep*y,
			Z: r.Bounds.Lo.Z + size.Z/2}
		if height {
			p.Y, p.Z = r.Bounds.Lo.Y+size.Y/2, r.Bounds.Lo.Z+deep*y
		}
		return r.Zone(p)
	}
	seen := map[zone.ID]bool{}
	for row := range rows {
		var last zone.ID
		for col := 0; col < r.width; {
			x := (float64(col) + 0.5) / float64(r.width)
			y := 1 - (float64(row)+0.5)/float64(rows)
			id := at(x, y)
			text := " "
			if label := fmt.Sprint(id); id != last || col == 0 {
				if !r.colour {
					text = "|"
				}
				if middle := row == rows/2 || !seen[id]; middle && col+len(label)+1 < r.width {
					seen[id] = true
					text = (text + label)[:len(label)+1]
				}
			}
			if r.colour {
				fmt.Fprintf(b, "\x1b[48;5;%dm%s", colours[int(id)%len(colours)], text)
			} else {
				b.WriteString(text)
			}
			last = id
			col += len(text)
		}
		if r.colour {
			b.WriteString("\x1b[0m")
		}
		b.WriteString("\n")
	}
}
