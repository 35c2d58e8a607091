package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/lab/tunnel"
)

// Markdown is the report as text: the advice, for each network a table with all axes, and the worst
// incidents.
func Markdown(r *tunnel.Result, a *tunnel.Advice, worst []tunnel.Worst) []byte {
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
					text = tunnel.Short(k.Cost)
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
	for i, g := range tunnel.Groups() {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " %s %s", g, tunnel.Short(a.Weights[g]))
	}
	b.WriteString(".\n")
	for _, n := range r.Networks {
		tableOf(&b, r, n)
	}
	incidentsOf(&b, worst)
	b.WriteString("\n## The axes\n\n")
	for _, x := range tunnel.Axes() {
		unit := ""
		if x.Unit != "" {
			unit = ", " + x.Unit
		}
		fmt.Fprintf(&b, "- **%s**%s (`%s`): %s.\n", x.Head, unit, x.Key, x.About)
	}
	return []byte(b.String())
}

// tableOf is the table of a network.
func tableOf(b *strings.Builder, r *tunnel.Result, n tunnel.NetworkEntry) {
	fmt.Fprintf(b, "\n## %s\n\nPlayers on %s", n.Name, n.Homes)
	if n.City != "" {
		fmt.Fprintf(b, ", one server in %s", n.City)
	}
	fmt.Fprintf(b, ". To a server %.0f ms there and back, %.0f at most; between players %.0f, %.0f "+
		"at most.\n\n", n.Trip, n.Far, n.Peers, n.Most)
	var cells []*tunnel.Cell
	b.WriteString("| |")
	for _, e := range r.Architectures {
		if c := r.Cell(e.Name, n.Name); c != nil && c.Refused == "" {
			cells = append(cells, c)
			fmt.Fprintf(b, " %s |", e.Name)
		}
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(cells)) + "\n")
	for _, a := range tunnel.Axes() {
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

// incidentsOf writes the worst incidents of each architecture.
func incidentsOf(b *strings.Builder, list []tunnel.Worst) {
	if len(list) == 0 {
		return
	}
	b.WriteString("\n## The worst incidents\n\nThe worst of each kind in any run, and the command " +
		"that shows it as a film: what who decides held and what each player saw.\n")
	last := ""
	for i := range list {
		w := &list[i]
		if w.Arch != last {
			last = w.Arch
			fmt.Fprintf(b, "\n%s:\n\n", w.Arch)
		}
		fmt.Fprintf(b, "- %s, on %s, seed %d\n  `%s`\n", w.Tells(), w.Network, w.Seed, w.Command)
	}
	b.WriteString("\n")
	var kinds []string
	for _, k := range tunnel.IncidentKinds() {
		if slices.ContainsFunc(list, func(w tunnel.Worst) bool { return w.Kind == k.Kind }) {
			kinds = append(kinds, fmt.Sprintf("%s: %s", k.Name, k.About))
		}
	}
	fmt.Fprintf(b, "How bad: %s.\n", strings.Join(kinds, "; "))
}
