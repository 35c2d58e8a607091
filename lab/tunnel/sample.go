package tunnel

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
)

// A Sample is what one run found.
type Sample struct {
	Seed    uint64  `json:"seed"`
	Seconds float64 `json:"seconds"`
	// Figures are by the keys of axes. An axis that says nothing here is left out: hits in a game
	// without shots, fairness where all are as far away.
	Figures map[string]float64 `json:"figures"`
	// Players are the same by player, of those axes that players have.
	Players []PlayerSample `json:"players"`
	// Series is what players met step by step.
	Series Series `json:"series"`
	// Incidents are the worst of each kind, kind by kind.
	Incidents []Incident `json:"incidents,omitempty"`
	// Digest is of all datagrams, to compare two runs of one seed.
	Digest uint64 `json:"digest"`
	// Apart are ticks in which the whole world was not the oracle's, of Ticks, with Setup.Exact.
	Ticks int `json:"ticks"`
	Apart int `json:"apart,omitempty"`
}

// A PlayerSample is what was measured of one player.
type PlayerSample struct {
	Home    string             `json:"home"`
	City    string             `json:"city,omitempty"`
	Trip    float64            `json:"round_trip_ms"`
	Figures map[string]float64 `json:"figures"`
}

// A line is what a machine sends and receives.
type line struct {
	end         *netsim.Endpoint
	role        Role
	before, sum link.Counters
}

// headers is what IPv4 and UDP add to a datagram.
const headers = 28

func (l *line) in() float64  { return float64(l.sum.ReceivedBytes + headers*l.sum.Received) }
func (l *line) out() float64 { return float64(l.sum.SentBytes + headers*l.sum.Sent) }

// width is that of a body, by which distances are told.
func (t *Trial) width() float64 {
	if t.body < 0 {
		return 1
	}
	return cmp.Or(t.Subject.Width(), 1)
}

// A tally adds up what was measured, of one player or of all.
type tally struct {
	counts
	own, others, server, offOwn, off []float32
	seats                            int
}

func (x *tally) add(s *Seat) {
	longest, deepest := max(x.Longest, s.Longest), max(x.Deepest, s.Deepest)
	x.counts = lab.Sum(x.counts, s.counts)
	x.Longest, x.Deepest = longest, deepest
	x.own, x.others = append(x.own, s.own...), append(x.others, s.others...)
	x.server = append(x.server, s.server...)
	x.offOwn, x.off = append(x.offOwn, s.offOwn...), append(x.off, s.off...)
	x.seats++
}

// figures are what a tally comes to.
func (x *tally) figures(t *Trial) map[string]float64 {
	f := map[string]float64{}
	width := t.width()
	distances := func(key string, list []float32, quantiles ...string) {
		if len(list) == 0 {
			return
		}
		slices.Sort(list)
		f[key+"_mean"] = mean(list) / width
		for _, q := range quantiles {
			f[key+"_"+q] = quantile(list, q) / width
		}
	}
	distances("off_others", x.off, "p50", "p95", "max")
	distances("off_own", x.offOwn, "p95")
	times := func(key string, list []float32, tail bool) {
		if len(list) == 0 {
			return
		}
		slices.Sort(list)
		f[key] = quantile(list, "p50")
		if tail {
			f[key+"_p95"] = quantile(list, "p95")
		}
	}
	times("own_ms", x.own, true)
	times("others_ms", x.others, true)
	times("server_ms", x.server, false)
	seconds := t.Time.Seconds() * float64(x.seats)
	f["still"] = 100 * x.Still.Seconds() / seconds
	f["still_longest_ms"] = lab.Millis(x.Longest)
	f["rollbacks"], f["rollback_deepest"] = float64(x.Rollbacks)/seconds, float64(x.Deepest)
	if t.body >= 0 {
		f["corrections"] = 60 * float64(x.Corrections) / seconds
	}
	share := func(key string, n, of int) {
		if of > 0 {
			f[key] = 100 * float64(n) / float64(of)
		}
	}
	share("commands_late", x.Late, x.Commands)
	share("events_taken", x.Taken, x.Events)
	share("hits_denied", x.Denied, x.Seen)
	share("hits_unseen", x.Unseen, x.Unseen+x.Seen-x.Denied)
	share("deaths_covered", x.Covered, x.Deaths)
	share("unseen", x.Absent, x.Due)
	if is := t.truth.turned.mean(); is > 0 && x.Turned.N > 0 {
		f["jerks"] = max(100*(x.Turned.mean()/is-1), 0)
	}
	return f
}

func mean(list []float32) (sum float64) {
	for _, v := range list {
		sum += float64(v)
	}
	return sum / float64(len(list))
}

// quantile is one of a sorted list.
func quantile(list []float32, q string) float64 {
	n := len(list)
	switch q {
	case "p50":
		return float64(list[n/2])
	case "p95":
		return float64(list[min(n*95/100, n-1)])
	}
	return float64(list[n-1])
}

// sample sums up.
func (t *Trial) sample() *Sample {
	var all tally
	r := &Sample{Seed: t.Seed, Seconds: t.Time.Seconds(), Digest: t.Net.Digest(),
		Ticks: t.truth.ticks, Apart: t.truth.apart, Series: t.series(), Incidents: t.worst.all()}
	centre := t.Field.Servers(1, t.Players)[0]
	for _, s := range t.Seats {
		all.add(s)
		var one tally
		one.add(s)
		r.Players = append(r.Players, PlayerSample{Home: s.Spot.Home.Name,
			City: t.Field.City(s.Spot), Trip: lab.Millis(t.Field.Trip(s.Spot, centre)),
			Figures: one.figures(t)})
	}
	f := all.figures(t)
	r.Figures = f
	x := &t.truth
	if len(x.drift) > 0 {
		f["truth_off_mean"] = mean(x.drift) / t.width()
	}
	if x.events > 0 {
		f["events_wrong"] = 100 * float64(x.wrong) / float64(x.events)
	}
	if ratio, ok := t.fairness(r.Players); ok {
		f["fairness"] = ratio
	}
	t.traffic(f)
	t.processor(f)
	if t.fault.victim != nil {
		f["fault_ms"] = lab.Millis(t.fault.recovered(t.width()))
		f["fault_others_ms"] = max(lab.Millis(t.fault.still), 0)
	}
	return r
}

// fairness is the kills of the half of the players that are farther away for each of the others. It
// says nothing where all are as far, or nobody is killed.
func (t *Trial) fairness(players []PlayerSample) (float64, bool) {
	order := make([]int, len(players))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(players[a].Trip, players[b].Trip)
	})
	half := len(order) / 2
	if half == 0 || players[order[half-1]].Trip+10 > players[order[len(order)-half]].Trip {
		return 0, false
	}
	near, far := 0, 0
	for _, i := range order[:half] {
		near += t.Seats[i].Kills
	}
	for _, i := range order[len(order)-half:] {
		far += t.Seats[i].Kills
	}
	if near+far == 0 {
		return 0, false
	}
	return (float64(far) + 0.5) / (float64(near) + 0.5), true
}

// traffic is the bytes by role.
func (t *Trial) traffic(f map[string]float64) {
	seconds := t.Time.Seconds()
	sum := map[string]float64{}
	for i := range t.lines {
		l := &t.lines[i]
		switch l.role {
		case OfPlayer:
			sum["client_down"] += l.in() / seconds / float64(t.Players)
			sum["client_up"] += l.out() / seconds / float64(t.Players)
		case OfServer:
			sum["server_out"] += l.out() / seconds
			sum["server_in"] += l.in() / seconds
		case OfGroup:
			sum["group_out"] += l.out() / seconds
		}
	}
	for k, v := range sum {
		f[k] = v
	}
}

// processor is its time by role.
func (t *Trial) processor(f map[string]float64) {
	if t.Clock == nil {
		return
	}
	ticks := float64(t.Time / t.Subject.Game.TickLength())
	micros := func(d time.Duration) float64 {
		return math.Round(1000*lab.Millis(d)/ticks/float64(t.Players)*100) / 100
	}
	f["client_cpu"] = micros(t.spent[OfPlayer])
	if d := t.spent[OfServer] + t.spent[OfGroup]; d > 0 {
		f["server_cpu"] = micros(d)
	}
}
