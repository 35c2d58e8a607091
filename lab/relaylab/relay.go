// Package relaylab measures what it costs a relay to serve many matches, and how many bytes one
// takes.
//
//	host/tools/bench   {program} bench relay
//	lab/relaylab       the measurement        <- here
//	topology/relay     what is measured
//
// Members play over this machine's loopback, encryption on; the relay runs on one processor in a
// process of its own. Bytes are counted in virtual time, over a simulated network.
package relaylab

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/lab"
)

// Options say what Run measures. Only Command has no default.
type Options struct {
	Loads   []string
	Players int
	Rate    int
	Window  time.Duration
	Pace    float64
	Limit   bool
	Bytes   bool
	// Profile, if not empty, is a file for a CPU profile of the relay.
	Profile string
	// Command makes a process that calls Work with its own standard input and output, in the role
	// given. The processes end when Run does, and when this one dies.
	Command  func(role string) *exec.Cmd
	Progress lab.Progress

	loads []load
}

// load is how many matches there are, and packets a second to each member.
type load struct{ matches, send int }

// Bounds of the options.
const (
	mostMembers = 8000
	mostRate    = 240
)

var defaultLoads = []string{"350x60", "1000x20"}

// List describes the options.
func (o *Options) List() []*lab.Option {
	return []*lab.Option{
		lab.Words(&o.Loads, "load", defaultLoads, nil,
			"how many matches there are at a time, and packets a second: `MATCHESxPACKETS,...`"),
		lab.Number(&o.Players, "players", 4, 1, 16, "players of each match"),
		lab.Number(&o.Rate, "rate", 60, 1, mostRate, "rows a second"),
		lab.Span(&o.Window, "seconds", time.Second, 5*time.Second, 100*time.Millisecond, time.Hour,
			"how long each measurement lasts"),
		lab.Number(&o.Pace, "pace", 1, leastPace, 1,
			"how fast time goes at most; it goes slower where this machine cannot play all"),
		lab.Switch(&o.Limit, "limit",
			"go on with a quarter more matches, until the relay does not hold them"),
		lab.Switch(&o.Bytes, "bytes", "only count the bytes of a match of eight, in virtual time"),
	}
}

// Check replaces zeros by defaults, and says what is wrong with the rest.
func (o *Options) Check() error {
	if err := lab.Fill(o.List()); err != nil {
		return err
	}
	o.loads = nil
	most := 0
	for _, text := range o.Loads {
		a, b, ok := strings.Cut(text, "x")
		matches, err1 := strconv.Atoi(a)
		send, err2 := strconv.Atoi(b)
		if !ok || err1 != nil || err2 != nil || matches < 1 || send < 1 {
			return fmt.Errorf("--load: %q is no load, want one such as 350x60", text)
		}
		if members := matches * o.Players; members > mostMembers {
			return fmt.Errorf("--load: %s has %d members, at most %d", text, members, mostMembers)
		}
		if send > o.Rate {
			return fmt.Errorf("--load: %s has more packets a second than the %d rows", text, o.Rate)
		}
		o.loads = append(o.loads, load{matches, send})
		most = max(most, matches*o.Players)
	}
	if o.Bytes {
		return nil
	}
	if o.Command == nil {
		return errors.New("no way to start processes, set Options.Command")
	}
	return lab.CheckDescriptors(most)
}

// Results are those of several loads, and the bytes of a match.
type Results struct {
	Loads []Result
	Bytes []Bytes
}

// Result is what one load costs the relay.
type Result struct {
	Matches int     `json:"matches" head:"matches"`
	Players int     `json:"players" head:"of"`
	Rate    int     `json:"rate" head:"rows/s"`
	Send    int     `json:"send_rate" head:"packets/s"`
	Pace    float64 `json:"pace" head:"pace" as:"%.2f"`
	// Share is the part of one core that the relay took, and Most how many matches fit into one
	// core by it.
	Share float64 `json:"share_of_core" head:"share of a core" as:"%.2f"`
	Most  int     `json:"most_by_share" head:"fit a core"`
	// PerPacket is the relay's processor time for each packet that came and each that went.
	PerPacket float64 `json:"us_per_packet" head:"µs a packet" as:"%.2f"`
	Allocs    float64 `json:"allocs_per_row" head:"allocs /row" as:"%.3f"`
	// Rows is the share of the rows that should have been closed in the time, Late of those the
	// share that was closed while the relay had more than four milliseconds of its own work behind
	// it, and Repeated the share of seats whose item had not come.
	Rows     float64 `json:"rows" head:"rows" as:"%.3f"`
	Late     float64 `json:"rows_late" head:"late" as:"%.4f"`
	Repeated float64 `json:"repeated" head:"repeated" as:"%.4f"`
	Held     bool    `json:"held" head:"held"`
}

// Lines are the results.
func (r Results) Lines() []any { return append(lab.Lines(r.Loads), lab.Lines(r.Bytes)...) }

// Check is an error if what was measured is not what was meant to be.
func (r Results) Check() error { return nil }

// Report is a table.
func (r Results) Report(p *lab.Report) {
	if len(r.Loads) > 0 {
		p.Say("a relay on one core, over loopback, encrypted; members in another process")
		p.Table(r.Loads,
			"Matches, Players, Rate, Send | Pace, Share, Most, PerPacket, Allocs, Rows, "+
				"Late, Repeated, Held")
		p.Say("the most matches held, by packets a second: %s", r.most())
	}
	p.Say("bytes a second of one match, with the headers of IP and UDP, in virtual time")
	p.Table(r.Bytes, "Players, Send, Network | Out, In, Down, Up, Message, Repeat")
}

// most says how many matches were held at most.
func (r Results) most() string {
	best := map[int]int{}
	var order []int
	for _, x := range r.Loads {
		if _, ok := best[x.Send]; !ok {
			order = append(order, x.Send)
		}
		if best[x.Send] = max(best[x.Send], 0); x.Held {
			best[x.Send] = max(best[x.Send], x.Matches)
		}
	}
	var words []string
	for _, send := range order {
		words = append(words, fmt.Sprintf("%d at %d", best[send], send))
	}
	return strings.Join(words, ", ")
}

// Run measures.
func Run(ctx context.Context, o Options) (out Results, err error) {
	if err := o.Check(); err != nil {
		return out, err
	}
	if !o.Bytes {
		if out.Loads, err = o.measure(ctx); err != nil {
			return out, lab.Blame(ctx, err)
		}
	}
	o.Progress.Tell(0.95, "bytes")
	out.Bytes, err = countBytes(o.Rate)
	return out, err
}

// measure plays one load after the other.
func (o *Options) measure(ctx context.Context) (all []Result, err error) {
	for i, l := range o.loads {
		for {
			o.Progress.Tell(float64(i)/float64(len(o.loads)+1),
				fmt.Sprintf("%d matches at %d packets a second", l.matches, l.send))
			r, err := o.slower(ctx, l)
			if err != nil && (len(all) == 0 || !o.Limit || ctx.Err() != nil) {
				return nil, err
			}
			if err != nil {
				break // the members are too many for this machine
			}
			all = append(all, r)
			l.matches = l.matches * 5 / 4
			if !o.Limit || !r.Held || l.matches*o.Players > mostMembers {
				break
			}
		}
	}
	return all, nil
}

// slower plays one load, slower and slower until the members keep up.
func (o *Options) slower(ctx context.Context, l load) (r Result, err error) {
	for pace := o.Pace; ; pace /= 2 {
		r, err = o.play(ctx, l, pace)
		kept := err == nil && r.Rows > leastRows && r.Repeated < mostRepeated
		if kept || ctx.Err() != nil || pace/2 < leastPace || err == nil && r.Share > 1 {
			return r, err
		}
	}
}

const (
	leastPace    = 0.05
	leastRows    = 0.98
	mostRepeated = 0.01
	mostLate     = 0.01
)

// play measures one load at one pace.
func (o *Options) play(ctx context.Context, l load, pace float64) (r Result, err error) {
	pair, err := lab.Start(ctx, o.Command, roleRelay, roleMembers)
	if err != nil {
		return r, err
	}
	defer pair.Stop()
	s := spec{Matches: l.matches, Players: o.Players, Rate: o.Rate, Send: l.send, Pace: pace}
	s.Profile = o.Profile
	if err := pair.Meet(&s, &s.Meeting, protocol, l.matches*o.Players); err != nil {
		return r, err
	}
	var relay relaySample
	var members membersSample
	order := lab.Order{Do: lab.Measure, Window: o.Window}
	if err := pair.Both(order, &relay, &members); err != nil {
		return r, err
	}
	r = Result{Matches: l.matches, Players: o.Players, Rate: o.Rate, Send: l.send, Pace: pace}
	seconds := relay.Wall.Seconds()
	r.Share = relay.Used.CPU.Seconds() / seconds
	if r.Share > 0 {
		r.Most = int(float64(l.matches) / r.Share)
	}
	packets := float64(relay.Received + relay.Sent)
	r.PerPacket = relay.Used.CPU.Seconds() * 1e6 / max(packets, 1)
	rows := float64(relay.Rows)
	r.Allocs = float64(relay.Used.Allocs) / max(rows, 1)
	r.Rows = rows / (seconds * float64(o.Rate*l.matches))
	r.Late = float64(relay.Late) / max(rows, 1)
	r.Repeated = float64(relay.Repeated) / max(rows*float64(o.Players), 1)
	r.Held = r.Share <= 1 && r.Rows > leastRows && r.Late < mostLate && r.Repeated < mostRepeated
	return r, pair.Close()
}
