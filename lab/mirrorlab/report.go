package mirrorlab

import "github.com/coeval-dev/coeval/lab"

// Report says what mirrors cost, or what came of a fault.
func (r *Result) Report(p *lab.Report) {
	p.Say("%s, %d mirrors, %d players on each, timeline %s; between mirrors %s; to players %s; "+
		"seed %d",
		r.Game, r.Mirrors, r.Players, r.Timeline, r.Between, r.Near, r.Seed)
	if r.Fault != nil {
		r.reportFault(p)
	} else {
		r.reportPlay(p)
	}
	if r.Explained {
		p.Say("How the delays of the first mirror came about")
		p.Say("%s", lab.Indent(r.Plan))
	}
	p.Say("What should be reached, where mirrors are 40 ms apart with 5 ms of jitter")
	p.Table(r.Targets, "What | Got, Want, Reached")
}

// A line is a distribution with what it is of.
type line struct {
	What string
	Spread
}

func spreads(p *lab.Report, lines ...line) { p.Table(lines, "What | Mean, Median, P95, Most, N") }

// kept are corrections where they were met.
type kept struct {
	Where string
	*Kept
}

func (r *Result) reportPlay(p *lab.Report) {
	s, b, c, t := &r.Sight, &r.Rollbacks, &r.Corrections, &r.Traffic
	p.Say("Sight, ms. The path takes %.1f; asked is that and two ticks, %.1f, at the median of "+
		"the second row.", r.Path, s.Asked)
	spreads(p,
		line{"command in at its mirror until executed by another's leading world", s.Executed},
		line{"... until that has sent the next snapshot to a player", s.Sent},
		line{"... until the player's client has it, where it is in view", s.Taken},
		line{"... until its own mirror has sent the next snapshot to a player", s.HomeSent},
		line{"command given at the client until another mirror's client has it", s.Whole},
		line{"... a client of the same mirror", s.Home},
		line{"command in at its mirror before its tick is closed", s.Early})
	p.Say("What is shown, against what is settled: bodies when their tick is first shown, " +
		"distances in the world's units; and events that were shown and taken back, and for how " +
		"long they were believed.")
	p.Table([]lab.Shown{r.Shown}, "Bodies | Wrong, OffSome, OffFar, OffMean, OffP95, OffP99, "+
		"Events, Taken, TakenShare, BelievedP50, BelievedP95")
	p.Say("Taken back, by kind: %s.", r.Shown.Kinds())
	p.Say("Rollbacks: %d of %d commands, %.2f for 1000 (%.2f while warming up); %.1f ticks deep "+
		"on average, %d at most; %d reached what is shown, %d only tidied up.",
		b.Rollbacks, b.Commands, b.PerThousand, b.Warming, b.Depth, b.Deepest, b.Seen, b.Refreshes)
	p.Add("Late commands: %d (%.2f %%); passed over for newer ones: %.2f %%. Events taken back: "+
		"%d of %d, %.1f a minute and mirror. Leading worlds went back to a late command's own "+
		"tick %.2f times a tick, by %.1f ticks on average. Steps a tick: %.2f.",
		b.Late, 100*lab.Per(b.Late, b.Commands), 100*s.PassedOver, b.Retracted, b.Provisional,
		b.PerMinute, b.Returns, b.ReturnDepth, b.StepsATick)
	p.Table(r.Each, "Name | Delays, Commands, Late, Rollbacks, Packets, KBits, ClockError, Serving")
	p.Say("Corrections of a player's own body by more than 5 cm, a minute and player. Taken back " +
		"is what comes of mirrors' repairs.")
	rows := []kept{
		{"mirrors", &c.Kept}, {"one plain server, as near", c.Plain}, {
			"one plain server, as far as another mirror", c.Distant}}
	if c.Plain == nil {
		rows = rows[:1]
	}
	p.Table(rows, "Where | All, TakenBack, Struck, Contact, Rest, Ahead, Late, Snapshots, Down, Up")
	if r.Processor != nil {
		p.Say("Processor time of a tick, µs: a mirror's with its %d players, and a plain "+
			"server's with all %d and with %d, in this run.",
			r.Players, r.Mirrors*r.Players, r.Players)
		what := "Mirror, Plain, Ratio, Few, Step, Copy"
		if c.Plain == nil {
			what = "Mirror, Step, Copy"
		}
		p.Table([]Processor{*r.Processor}, what)
	}
	p.Say("Settled worlds: %d ticks by all mirrors, %d compared, %d different. Clocks run up to "+
		"%g ppm wrong.",
		r.Settled.Ticks, r.Settled.Compared, r.Settled.Different, r.Clock.DriftPPM)
	spreads(p,
		line{"settled world behind the present, ms", r.Settled.Delay},
		line{"leading world behind the present, ms", b.Leading},
		line{"a mirror's time off from the mean of all, ms", r.Clock.Error},
		line{"... at most, as mirrors report", r.Clock.Bound})
	p.Say("Traffic between mirrors, kbit/s without UDP and IP: %.1f by the ledger, %.1f by the "+
		"sockets: %s.", t.KBits, t.Sockets, lab.Largest(t.By))
	p.Add("Model: b n (m-1) with n = %d, m = %d, b = P/k (%.1f + %.0f (m-2) + %.2f k R/P) bytes "+
		"= %.2f kbit/s, P = %.1f packets a second (here %.1f), k = %d, R = %d: %.1f. Measured is "+
		"%.3f of it.",
		r.Mirrors*r.Players, r.Mirrors, t.Packet, t.Proof, t.Command, t.B, t.P, t.Packets,
		r.Players, r.TickRate, t.Model, t.Ratio)
}

func (r *Result) reportFault(p *lab.Report) {
	q := r.Fault
	p.Say("Fault %s, %d times; ms since it happened", q.Fault, q.Times)
	var lines []line
	for _, x := range []line{
		{"players of the killed mirror are shown something", q.Shown},
		{"... and play again: their commands count", q.Again},
		{"a player's game stood still", q.Still},
		{"... of those whose mirror was not killed", q.StillOthers},
		{"all mirrors in one group again", q.Led},
		{"the mirror that joins serves", q.Serving},
	} {
		if x.N > 0 {
			lines = append(lines, x)
		}
	}
	spreads(p, lines...)
	if q.Fault == JoinLate.String() {
		p.Say("Ticks missed by other mirrors: %d; they waited for %.1f ms.", q.Missed, q.Waited)
	} else {
		p.Say("Players who did not come back: %d.", q.Lost)
	}
	p.Add("Settled worlds: %d compared, %d different.", r.Settled.Compared, r.Settled.Different)
	p.Table(q.Runs, "Seed, Mirror | At, Again, Still, Led, Serving, Moved")
}
