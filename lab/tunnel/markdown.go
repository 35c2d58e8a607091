package tunnel

import (
	"fmt"
	"strings"
)

// Markdown is the report as text: the advice, for each network a table with all axes, and the worst
// incidents.
func (r *Result) Markdown(a *Advice, worst []Worst) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s in the wind tunnel\n\n", r.Game)
	fmt.Fprintf(&b, "Map %s, %d players, %.0f s a run at %d ticks a second, seed %d on.", r.Level,
		r.Players, r.Seconds, r.Rate, r.Seed)
	b.WriteString(" " + r.Who())
	b.WriteString("\n\n## What to choose\n\n")
	for _, w := range a.Words {
		fmt.Fprintf(&b, "%s\n\n", w)
	}
	b.WriteString("| network |")
	for _, e := range r.Architectures {
		fmt.Fprintf(&b, " %s |", e.Name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(r.Architectures)) + "\n")
	for _, n := range a.Networks {
		fmt.Fprintf(&b, "| %s |", n.Network)
		for _, e := range r.Architectures {
			text := "–"
			for _, k := range n.Ranks {
				if k.Arch == e.Name {
					text = round(k.Cost)
				}
			}
			if e.Name == n.Choice {
				text = "**" + text + "**"
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteString("\n")
	}
	b.WriteString("\nWhat each costs, in units of annoyance: the sum over axes of how much of it " +
		"there is, each by what people notice, and groups by their weights:")
	for i, g := range Groups() {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " %s %s", g, round(a.Weights[g]))
	}
	b.WriteString(".\n")
	for _, n := range r.Networks {
		r.tableOf(&b, n)
	}
	incidentsOf(&b, worst)
	b.WriteString("\n## The axes\n\n")
	for _, x := range axes {
		unit := ""
		if x.Unit != "" {
			unit = ", " + x.Unit
		}
		fmt.Fprintf(&b, "- **%s**%s (`%s`): %s.\n", x.Head, unit, x.Key, x.About)
	}
	return []byte(b.String())
}

// tableOf is the table of a network.
func (r *Result) tableOf(b *strings.Builder, n NetworkEntry) {
	fmt.Fprintf(b, "\n## %s\n\nPlayers on %s", n.Name, n.Homes)
	if n.City != "" {
		fmt.Fprintf(b, ", one server in %s", n.City)
	}
	fmt.Fprintf(b, ". To a server %.0f ms there and back, %.0f at most; between players %.0f, %.0f "+
		"at most.\n\n", n.Trip, n.Far, n.Peers, n.Most)
	var cells []*Cell
	b.WriteString("| |")
	for _, e := range r.Architectures {
		if c := r.Cell(e.Name, n.Name); c != nil && c.Refused == "" {
			cells = append(cells, c)
			fmt.Fprintf(b, " %s |", e.Name)
		}
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(cells)) + "\n")
	for _, a := range axes {
		any := false
		line := "| " + a.Head
		if a.Unit != "" {
			line += ", " + a.Unit
		}
		line += " |"
		for _, c := range cells {
			f := c.Figures[a.Key]
			any = any || f.N > 0
			line += " " + f.Text(a) + " |"
		}
		if any {
			b.WriteString(line + "\n")
		}
	}
	for _, e := range r.Architectures {
		if c := r.Cell(e.Name, n.Name); c != nil && c.Refused != "" {
			fmt.Fprintf(b, "\n%s: %s.\n", e.Name, strings.TrimSuffix(c.Refused, "."))
		}
	}
}
