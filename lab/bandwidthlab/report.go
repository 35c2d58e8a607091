package bandwidthlab

import (
	"fmt"

	"github.com/coeval-dev/coeval/lab"
)

// Report says what the paper's tables say, with our figures.
func (r *Result) Report(p *lab.Report) {
	r.reportVariables(p)
	r.reportServed(p)
	r.reportArchitectures(p)
	if len(r.Topologies) > 0 {
		r.reportTopologies(p)
	}
}

// A variable is one of Table 2.1.
type variable struct {
	Name  string
	About string
	Paper float64 `head:"paper" as:"%.2f"`
	Here  float64 `head:"here" as:"%.2f"`
}

// reportVariables is Table 2.3, theirs and ours.
func (r *Result) reportVariables(p *lab.Report) {
	v, q, l, c := r.Variables, r.Paper, &r.Line, &r.Command
	p.Say("Variables of Table 2.1, kbit/s. %s, %d ticks and %d state updates a second; the "+
		"paper's are Quake's (Table 2.3).", r.Game, r.TickRate, r.Snapshots)
	p.Table([]variable{
		{"a", "a client's commands to its server", q.A, v.A},
		{"b", "the same to one other mirror or peer", q.B, v.B},
		{"c", "state updates with no clients", q.C, v.C},
		{"d+e", "and for each client more", q.DE, v.DE},
	}, "Name, About | Paper, Here")
	p.Say("Regression: update = %.2f (±%.2f) + %.3f (±%.3f) n; correlation %.4f, R² %.4f. The "+
		"paper's correlation is %.4f.",
		l.Intercept, l.InterceptError, l.Slope, l.SlopeError, l.Correlation, l.RSquared,
		paperCorrelation)
	p.Add("A packet between mirrors has %.1f bytes and %.1f for each command, and %.0f for each "+
		"mirror beyond the second: b is %.2f for one command a packet, %.2f for eight.",
		c.Packet, c.Each, c.Proof, c.B(1, 2, r.TickRate), c.B(8, 2, r.TickRate))
}

// reportServed is what was measured at a real server, with Table 2.5.
func (r *Result) reportServed(p *lab.Report) {
	for i := range r.Served {
		s := &r.Served[i]
		s.ByLine, s.Paper = s.Update-s.Residual, paperAlpha[s.Clients]
	}
	p.Say("A real server, measured. Commands and updates are kbit/s of one client. c, d and e " +
		"are from the server's ledger: updates are " +
		"c + d n + e (1 + alpha (n-1)). alpha is the share of other clients in an update, in " +
		"view the share that is in view.")
	p.Table(r.Served,
		"Clients | Command, Update, UpdateLeast, UpdateMost, ByLine, Residual, C, D, E, Alpha, "+
			"Paper, InView, Late")
}

// compared are four figures about one thing.
type compared struct {
	Clients  int     `head:"clients"`
	Mirrors  int     `head:"mirrors" as:"?%d"`
	Of       string  `head:"of"`
	Paper    float64 `head:"paper" as:"%.0f"`
	Counted  float64 `head:"counted" as:"%.1f"`
	Measured float64 `head:"measured" as:"%.1f"`
	Ratio    float64 `head:"ratio" as:"?%.2f"`
}

// forCommands is the part of what mirrors send each other that the models count.
const forCommands = "... for commands"

// columns are what is told of each architecture.
var columns = map[Architecture][]struct {
	of   string
	rate func(r *Rates) float64
}{
	ClientServer: {{"a client", (*Rates).client}, {"a server", (*Rates).server}},
	PeerToPeer: {
		{"a client", (*Rates).client}, {"all peers", func(r *Rates) float64 { return r.Public }}},
	Mirrored: {
		{"a server", (*Rates).server},
		{"between mirrors", func(r *Rates) float64 { return r.Private }},
		{forCommands, func(r *Rates) float64 { return r.Private }},
		{"everyone", func(r *Rates) float64 { return r.Private + r.Public }},
	},
}

// reportArchitectures is Tables 2.2 and 2.4 with our variables, and what was measured.
func (r *Result) reportArchitectures(p *lab.Report) {
	p.Say("The three architectures, kbit/s: by the paper's Table 2.2 with the variables above, " +
		"by a count of all messages, and measured; " +
		"the ratio is measured by counted. Mirrors are real ones; what they send each other " +
		"beside commands, to agree, is in no model.")
	for _, a := range Architectures() {
		p.Say("%s", a)
		var rows []compared
		for _, c := range columns[a] {
			for _, x := range r.of(a) {
				row := compared{
					x.Clients, x.Mirrors, c.of, c.rate(&x.Paper), c.rate(&x.Counted),
					c.rate(&x.Measured), 0}
				if c.of == forCommands {
					row.Measured = x.Commands
				}
				row.Ratio = lab.Ratio(row.Measured, row.Counted)
				rows = append(rows, row)
			}
		}
		p.Table(rows, "Of, Clients, Mirrors | Paper, Counted, Measured, Ratio")
	}
}

// of are the comparisons of one architecture.
func (r *Result) of(a Architecture) (list []Comparison) {
	for _, c := range r.Compared {
		if c.Architecture == a {
			list = append(list, c)
		}
	}
	return list
}

// reportTopologies is the study of Figure 2.5.
func (r *Result) reportTopologies(p *lab.Report) {
	p.Say("From a player's command until another player sees it, ms, over all pairs of players: " +
		"on the network alone; with the protocols' waits, " +
		"computed; and measured. Late is the share of commands that came after their tick. Home " +
		"and back is the mean round trip of a player to the own server.")
	for name, rows := range lab.Groups(r.Topologies,
		func(t *TopologyRow) string {
			return fmt.Sprintf("%s: %s, %d players", t.Topology, t.About, t.Players)
		}) {
		p.Say("%s", name)
		list := "Architecture | Home"
		for _, of := range []string{"Path", "Computed", "Measured"} {
			list += fmt.Sprintf(", %s.Mean: %[1]s mean, %[1]s.Median, %[1]s.P95, %[1]s.Worst", of)
		}
		p.Table(rows, list+", Late, Measured.From, Measured.To, Servers")
	}
	for _, w := range r.Warnings {
		p.Say("warning: %s", w)
	}
}
