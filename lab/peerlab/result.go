package peerlab

import (
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/lab"
)

// Result is what Run found. The JSON names are for scripts and stay.
type Result struct {
	Game    string       `json:"game"`
	Level   string       `json:"map"`
	Players int          `json:"players"`
	Rate    int          `json:"tick_rate"`
	Packets int          `json:"packets"`
	Relay   bool         `json:"relay,omitempty"` // it goes through one
	Path    string       `json:"path"`
	Seed    uint64       `json:"seed"`
	Seconds float64      `json:"seconds"`
	Rows    []Row        `json:"styles,omitempty"`
	Again   *Again       `json:"again,omitempty"`
	Forced  *Forced      `json:"forced,omitempty"`
	Join    *Join        `json:"join,omitempty"`
	Targets []lab.Target `json:"targets,omitempty"`
	// Series is what happened in each second of the last style.
	Series []Moment `json:"series,omitempty"`
}

// A Row is what was measured of one style. Counts are those of one peer, on average.
type Row struct {
	Style string `json:"style" head:"style"`
	Depth int    `json:"depth" head:"depth"`
	// Delay is after how many ticks own commands counted at the end, the most of all peers.
	Delay int `json:"delay" head:"delay"`
	// OwnTicks is after how many ticks own input is shown, on average, and Own the time that takes.
	OwnTicks float64 `json:"own_ticks" head:"own input, ticks" as:"%.2f"`
	Own      Spread  `json:"own_ms"`
	Others   Spread  `json:"others_ms"`
	// Shown is how many ticks a second were shown.
	Shown   float64 `json:"shown_per_second" head:"ticks/s" as:"%.1f"`
	Waits   float64 `json:"waits_per_second" head:"waits/s" as:"%.2f"`
	Still   float64 `json:"still" head:"stood still" as:"%.2f %%"`
	Longest float64 `json:"longest_wait_ms" head:"longest, ms" as:"%.0f"`

	Rollbacks float64 `json:"rollbacks_per_second" head:"rollbacks/s" as:"%.1f"`
	Again     float64 `json:"again_per_tick" head:"ticks again, a tick" as:"%.2f"`
	Deepest   int     `json:"deepest" head:"deepest"`
	Wrong     float64 `json:"wrong" head:"wrong guesses" as:"%.2f %%"`
	Settled   Spread  `json:"settled_ms"`

	// Bytes is what one peer sends one other in a second, with all headers: on average, and on the
	// line with the most.
	Bytes     float64            `json:"bytes_per_second" head:"B/s a line" as:"%.0f"`
	BytesMost float64            `json:"bytes_per_second_most" head:"most" as:"%.0f"`
	Datagrams float64            `json:"datagrams_per_second" head:"datagrams/s" as:"%.1f"`
	By        map[string]float64 `json:"bytes_by_purpose"`

	// Relay is what goes out of a relay and into it, if the match goes through one. Then Bytes are
	// what one peer sends the relay.
	Relay *AtRelay `json:"relay,omitempty"`

	Compared
	// Processor is what a tick takes a peer, without its bot, as a multiple of a step of the world.
	Processor float64 `json:"processor_ratio" head:"CPU, steps a tick" as:"?%.2f"`
	Tick      float64 `json:"processor_us" head:"CPU a tick, µs" as:"?%.1f"`
}

// headers is what IPv4 and UDP add to a datagram.
const headers = 28

// A Moment is a second of a match.
type Moment struct {
	Second    float64 `json:"second"`
	Rollbacks uint64  `json:"rollbacks"`
	Waits     uint64  `json:"waits"`
	KBytes    float64 `json:"kbytes"` // that all sent
	rollbacks uint64
	waits     uint64
	bytes     uint64
}

// moment adds a second to the series.
func (m *match) moment() {
	now := Moment{Second: m.net.Now().Seconds()}
	for _, s := range m.seats {
		c := s.counts()
		now.rollbacks += c.copy.Returns
		now.waits += c.peer.Waits
		for _, n := range c.lines {
			now.bytes += n.withHeaders()
		}
	}
	if n := len(m.series); n > 0 {
		last := &m.series[n-1]
		now.Rollbacks, now.Waits = now.rollbacks-last.rollbacks, now.waits-last.waits
		now.KBytes = float64(now.bytes-last.bytes) / 1000
	}
	m.series = append(m.series, now)
}

// row sums up what was measured of all seats.
func (m *match) row(name string) Row {
	seconds := (m.net.Now() - m.since).Seconds()
	r := Row{Style: name, Depth: m.style.Depth, By: map[string]float64{}, Compared: m.count}
	var own, others, settled times
	var all tally
	var d counts
	var spent time.Duration
	lines := 0
	for _, s := range m.seats {
		now := s.counts()
		s.waited(m.net.Now()) // it may wait still
		own, others = append(own, s.own...), append(others, s.others...)
		settled = append(settled, s.settled...)
		all.ahead += s.ahead
		all.asked += s.asked
		all.still += s.still
		all.stills += s.stills
		all.shown += s.shown
		all.guesses += s.guesses
		all.wrong += s.wrong
		all.longest = max(all.longest, s.longest)
		spent += s.spent - s.thought
		d.copy = lab.Sum(d.copy, lab.Less(now.copy, s.before.copy))
		d.sent = lab.Sum(d.sent, lab.Less(now.sent, s.before.sent))
		r.Deepest = max(r.Deepest, now.copy.Deepest)
		r.Delay = max(r.Delay, s.Delay())
		for to, n := range now.lines {
			x := lab.Less(n, s.before.lines[to])
			r.BytesMost = max(r.BytesMost, float64(x.withHeaders())/seconds)
			all.sent = lab.Sum(all.sent, x)
			lines++
		}
	}
	n := float64(len(m.seats)) * seconds
	r.OwnTicks = lab.Per(all.ahead, all.asked)
	r.Own, r.Others, r.Settled = own.spread(), others.spread(), settled.spread()
	r.Shown, r.Waits = float64(all.shown)/n, float64(all.stills)/n
	r.Still = all.still.Seconds() / n
	r.Longest = lab.Millis(all.longest)
	r.Rollbacks, r.Again = float64(d.copy.Returns)/n, lab.Per(d.copy.Again, d.copy.Shown)
	r.Wrong = lab.Per(all.wrong, all.guesses)
	r.Bytes = float64(all.sent.withHeaders()) / seconds / float64(max(lines, 1))
	r.Datagrams = float64(all.sent.Datagrams) / seconds / float64(max(lines, 1))
	for i, sent := range d.sent.Sent {
		if sent > 0 {
			r.By[conn.Purpose(i).String()] = float64(sent) / seconds / float64(max(lines, 1))
		}
	}
	r.By["IP and UDP"] = r.Datagrams * headers
	if m.hub != nil {
		m.hub.row(&r, seconds, len(m.seats))
	} else { // what is no connection's is asks and answers of package paths
		r.By["paths"] = (float64(all.sent.Bytes) - float64(d.sent.Total())) / seconds /
			float64(max(lines, 1))
	}
	r.Tick = 1000 * lab.Millis(spent) / float64(max(all.shown, 1))
	return r
}

// Check is an error if worlds differed that should be the same.
func (r *Result) Check() error {
	var wrong []error
	for i := range r.Rows {
		if x := &r.Rows[i]; x.Different > 0 || x.Compared.Compared == 0 {
			wrong = append(wrong, fmt.Errorf("%s, seed %d: of %d settled worlds, %d differ",
				x.Style, r.Seed, x.Compared.Compared, x.Different))
		}
	}
	if r.Again != nil && r.Again.Wrong != "" {
		wrong = append(wrong, errors.New(r.Again.Wrong))
	}
	if r.Join != nil && r.Join.Different > 0 {
		wrong = append(wrong, fmt.Errorf("seed %d: %d settled worlds differ", r.Seed,
			r.Join.Different))
	}
	return errors.Join(wrong...)
}

// Missed is an error that lists what should be reached and was not.
func (r *Result) Missed() error { return lab.Missed(r.Targets) }
