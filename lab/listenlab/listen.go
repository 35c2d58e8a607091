package listenlab

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/netsim"
)

// A Listener sends probes and keeps what their answers tell. It is driven from outside: see Next
// and Take.
type Listener struct {
	session uint64
	every   time.Duration
	sent    []time.Duration
	up      []float64 // by probe: ms by two clocks, or NaN
	down    []float64
	came    []bool // at the other end
	newest  int
	Late    int // answers that were overtaken by later ones
	Twice   int // answers that came twice
	Refused int // datagrams that are no answers of this session
}

// NewListener makes one that sends a probe after each interval.
func NewListener(session uint64, every time.Duration) *Listener {
	return &Listener{session: session, every: every, newest: -1}
}

// Sent is how many probes there were.
func (l *Listener) Sent() int { return len(l.sent) }

// Due is when the next probe is.
func (l *Listener) Due() time.Duration {
	return time.Duration(len(l.sent)) * l.every
}

// Next makes the next probe.
func (l *Listener) Next(now time.Duration) []byte {
	p := probe{session: l.session, number: uint32(len(l.sent)), sent: int64(now)}
	l.sent = append(l.sent, now)
	l.up, l.down = append(l.up, math.NaN()), append(l.down, math.NaN())
	l.came = append(l.came, false)
	return p.append(nil)
}

// Take takes a datagram.
func (l *Listener) Take(now time.Duration, b []byte) {
	var p probe
	if p.parse(b) != nil || !p.last || p.session != l.session || int(p.number) >= len(l.sent) ||
		p.sent != int64(l.sent[p.number]) {
		l.Refused++
		return
	}
	n := int(p.number)
	if !math.IsNaN(l.up[n]) {
		l.Twice++
		return
	}
	if n < l.newest {
		l.Late++
	}
	l.newest = max(l.newest, n)
	l.up[n] = lab.Millis(time.Duration(p.came) - l.sent[n])
	l.down[n] = lab.Millis(now - time.Duration(p.came))
	l.came[n] = true
	for i := range min(n, 64) {
		if p.have>>i&1 == 1 {
			l.came[n-1-i] = true
		}
	}
}

// Result is what was found. The JSON names are for scripts and stay.
type Result struct {
	Probes  int     `json:"probes"`
	Seconds float64 `json:"seconds"`
	// RoundTrip is the shortest, the median and one in twenty, in milliseconds.
	Least  float64   `json:"round_trip_ms_least"`
	Median float64   `json:"round_trip_ms_median"`
	P95    float64   `json:"round_trip_ms_p95"`
	Up     Direction `json:"up"`
	Down   Direction `json:"down"`
	// Network is what the simulated network is to be given, a setting each.
	Network []string `json:"network"`

	conditions netsim.Conditions
}

// A Direction is one way.
type Direction struct {
	Way    string  `json:"-" head:"way"`
	Jitter float64 `json:"jitter_ms" head:"jitter, ms" as:"%.2f"` // median above the least
	P95    float64 `json:"jitter_ms_p95" head:"p95" as:"%.2f"`
	Most   float64 `json:"jitter_ms_most" head:"most" as:"%.1f"`
	Loss   float64 `json:"loss" head:"lost" as:"%.2f %%"`
	Runs   int     `json:"loss_runs" head:"times"`
	Run    float64 `json:"loss_run_mean" head:"in a row" as:"%.2f"`
}

// keep is how many delays a network has recorded at most.
const keep = 2000

// Result sums up. It fails if too little has come to say anything.
func (l *Listener) Result() (*Result, error) {
	r := &Result{Probes: len(l.sent), Seconds: (l.every * time.Duration(len(l.sent))).Seconds()}
	var trips []float64
	for i := range l.up {
		if !math.IsNaN(l.up[i]) {
			trips = append(trips, l.up[i]+l.down[i])
		}
	}
	if len(trips) < 20 {
		return nil, fmt.Errorf("of %d probes only %d were answered, which is too little to say "+
			"anything: does the other end run, and do datagrams get through?", len(l.sent),
			len(trips))
	}
	slices.Sort(trips)
	r.Least, r.Median, r.P95 = trips[0], trips[len(trips)/2], trips[len(trips)*95/100]
	half := time.Duration(r.Least / 2 * float64(time.Millisecond))
	window := max(int(10*time.Second/l.every), 50)
	r.Up, r.conditions.Up = l.direction("there", l.up, half, window, func(i int) bool {
		return l.came[i]
	})
	r.Down, r.conditions.Down = l.direction("back", l.down, half, window, func(i int) bool {
		return !math.IsNaN(l.down[i])
	})
	if l.Late > 0 {
		r.conditions.Down.Reorder = float64(l.Late) / float64(len(l.sent))
	}
	if l.Twice > 0 {
		r.conditions.Down.Duplicate = float64(l.Twice) / float64(len(l.sent))
	}
	r.Network = append(lines("up.", r.conditions.Up), lines("down.", r.conditions.Down)...)
	return r, nil
}

// direction is what one way is like. On the way back only those count that got there.
func (l *Listener) direction(name string, delays []float64, half time.Duration, window int,
	got func(i int) bool) (d Direction, p netsim.Profile) {
	d.Way = name
	back := name == "back"
	over := above(delays, window)
	lost, of, run := 0, 0, false
	for i := range delays {
		if back && !l.came[i] {
			continue
		}
		of++
		if got(i) {
			run = false
			continue
		}
		lost++
		if !run {
			d.Runs++
		}
		run = true
	}
	d.Loss, d.Run = lab.Per(lost, of), lab.Ratio(float64(lost), float64(d.Runs))
	sorted := slices.Clone(over)
	slices.Sort(sorted)
	if n := len(sorted); n > 0 {
		d.Jitter, d.P95, d.Most = sorted[n/2], sorted[n*95/100], sorted[n-1]
	}
	p.Latency = half.Round(10 * time.Microsecond)
	if d.Most > 0.01 {
		p.Jitter.Shape = netsim.Recorded
		for _, ms := range over[:min(len(over), keep)] {
			p.Jitter.Recorded = append(p.Jitter.Recorded,
				time.Duration(ms*float64(time.Millisecond)).Round(10*time.Microsecond))
		}
	}
	if d.Runs > 0 && d.Run > 1.2 {
		p.Burst = netsim.Burst{Enter: float64(d.Runs) / float64(of-lost), Leave: 1 / d.Run, Loss: 1}
	} else {
		p.Loss = d.Loss
	}
	return d, p
}

// above are delays above the least around them, of those that are known: two clocks drift apart,
// and what is least moves with them.
func above(delays []float64, window int) (list []float64) {
	size := max(window/4, 1)
	least := make([]float64, len(delays)/size+1) // of each piece
	for i := range least {
		least[i] = math.Inf(1)
	}
	for i, v := range delays {
		if !math.IsNaN(v) {
			least[i/size] = min(least[i/size], v)
		}
	}
	for i, v := range delays {
		if at := i / size; !math.IsNaN(v) {
			around := least[max(at-2, 0):min(at+3, len(least))]
			list = append(list, v-slices.Min(around))
		}
	}
	return list
}

// lines are the settings of one direction, as netsim reads them.
func lines(way string, p netsim.Profile) (list []string) {
	for s := range strings.FieldsSeq(p.String()) {
		if s != "perfect" {
			list = append(list, way+s)
		}
	}
	return list
}

// Conditions are what the simulated network plays.
func (r *Result) Conditions() netsim.Conditions { return r.conditions }

// File is the network as a file: a setting a line, which a network of lab run can be.
func (r *Result) File(about string) []byte {
	text := fmt.Sprintf("# %s\n# %d probes in %.0f s; round trip %.1f ms at least, median %.1f\n",
		strings.ReplaceAll(about, "\n", " "), r.Probes, r.Seconds, r.Least, r.Median)
	return []byte(text + strings.Join(r.Network, "\n") + "\n")
}

// Check has nothing that must be reached.
func (r *Result) Check() error { return nil }

// Report is two lines.
func (r *Result) Report(p *lab.Report) {
	p.Say("%d probes in %.0f s: round trip %.2f ms at least, median %.2f, p95 %.2f", r.Probes,
		r.Seconds, r.Least, r.Median, r.P95)
	p.Table([]Direction{r.Up, r.Down}, "Way | Jitter, P95, Most, Loss, Runs, Run")
	p.Say("Each direction is taken to be half of the shortest round trip: %v.",
		r.conditions.Up.Latency)
}
