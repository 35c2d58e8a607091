// Package transportlab measures what it costs a server to receive a message and send it back,
// against a bare socket.
//
//	host/tools/bench   {program} bench transport
//	lab/transportlab   the measurement             <- here
//	conn, link/udp     what is measured
package transportlab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/lab"
)

// Options say what Run measures. Only Command has no default.
type Options struct {
	Clients, Rate, Size int
	Window              time.Duration
	Rounds              int
	Kinds               []string
	Saturate            bool
	Listen              string
	// Profile, if not empty, is a file for a CPU profile of the server. The label "kind" of its
	// samples tells kinds of traffic apart.
	Profile string
	// Command makes a process that calls Work with its own standard input and output, in the role
	// given. The processes end when Run does, and when this one dies.
	Command  func(role string) *exec.Cmd
	Progress lab.Progress
}

// List describes the options.
func (o *Options) List() []*lab.Option {
	return []*lab.Option{
		lab.Number(&o.Clients, "clients", 256, 1, mostClients, "how many clients there are"),
		lab.Number(&o.Rate, "rate", 60, 1, mostRate,
			"messages a second of each client, and ticks of the server"),
		lab.Number(&o.Size, "size", 100, stampSize, mostSize, "bytes of a message"),
		lab.Span(&o.Window, "seconds", time.Second, 5*time.Second, 100*time.Millisecond, time.Hour,
			"how long each measurement lasts"),
		lab.Number(&o.Rounds, "rounds", 3, 1, 1000, "how often everything is measured"),
		lab.Words(&o.Kinds, "kind", kinds[1:], kinds[1:],
			"only these: "+strings.Join(kinds[1:], ",")),
		lab.Switch(&o.Saturate, "saturate", "the most that one core can do"),
		lab.Text(&o.Listen, "listen", "127.0.0.1:0",
			"loopback `ADDR` and port of the server; port 0 is any that is free"),
	}
}

// Bounds of the options. A message has a stamp that tells it from others, and goes in one packet.
const (
	mostClients = 8192
	mostRate    = 1000
	mostSize    = 1150
)

// Kinds of traffic, each of which numbers its messages by itself.
const (
	kindFloor      = "floor"
	kindUnreliable = "unreliable"
	kindReliable   = "reliable"
)

var kinds = []string{kindFloor, kindUnreliable, kindReliable}

// Results are those of several kinds of messages.
type Results []Result

// Result is what one kind of message costs the server.
type Result struct {
	Kind    string `json:"kind" head:"kind"`
	Clients int    `json:"clients"`
	Rate    int    `json:"rate"`
	Size    int    `json:"size"`
	// PerMessage is the server's CPU time, user and system, in microseconds for each message that
	// came and was sent back; FloorPerMessage the same for a socket that sends back what comes.
	// Both are medians over the rounds, Ratio is their quotient.
	PerMessage      float64 `json:"us_per_message" head:"µs per message" as:"%.2f"`
	FloorPerMessage float64 `json:"floor_us_per_message" head:"floor µs" as:"%.2f"`
	Ratio           float64 `json:"ratio_to_floor" head:"x floor" as:"%.2f"`
	// Allocs, HeaderBytes and Packets are what the server allocated, sent beyond the message
	// itself, and sent at all, for each message.
	Allocs      float64 `json:"allocs_per_message" head:"allocs /message" as:"%.3f"`
	HeaderBytes float64 `json:"header_bytes" head:"header bytes" as:"%.1f"`
	Packets     float64 `json:"packets_per_message" head:"packets /message" as:"%.3f"`
	// Offered is how many messages the clients sent in all rounds, Delivered how many of them came
	// back.
	Offered   uint64 `json:"offered" head:"offered"`
	Delivered uint64 `json:"delivered" head:"delivered"`
	// Rounds and FloorRounds are the microseconds of each round.
	Rounds      []float64 `json:"us_rounds"`
	FloorRounds []float64 `json:"floor_us_rounds"`
	*Saturation           // if the server was given all it could take
}

// Saturation is how much a server can do that never rests.
type Saturation struct {
	// MostPerSecond is how many messages one core sends back in a second of its time, and
	// FloorMostPerSecond how many without a connection.
	MostPerSecond      float64 `json:"most_per_second" head:"most/s one core" as:"%.0f"`
	FloorMostPerSecond float64 `json:"floor_most_per_second" head:"floor most/s" as:"%.0f"`
	// EchoedPerSecond is how many it did send back in a second of the clock, and Busy the share of
	// that second in which it ran. If that is much less than 1, the clients were the slower ones.
	EchoedPerSecond float64 `json:"echoed_per_second" head:"echoed /s" as:"%.0f"`
	Busy            float64 `json:"server_busy" head:"busy" as:"%.2f"`
}

// Lines are the results.
func (r Results) Lines() []any { return lab.Lines(r) }

// Check is an error if what was measured is not what was meant to be.
func (r Results) Check() error { return lab.CheckAll(r) }

// Report is a table.
func (r Results) Report(p *lab.Report) {
	x := &r[0]
	load := fmt.Sprintf("%d messages of %d bytes a second each", x.Rate, x.Size)
	if x.Saturation != nil {
		load = fmt.Sprintf("as many messages of %d bytes as one core can take", x.Size)
	}
	p.Say("%d clients, %s, encrypted; medians of %d rounds", x.Clients, load, len(x.Rounds))
	p.Table([]Result(r),
		"Kind | PerMessage, FloorPerMessage, Ratio, Allocs, HeaderBytes, Packets, Offered, "+
			"Delivered, "+
			"MostPerSecond, FloorMostPerSecond, EchoedPerSecond, Busy")
}

// Check is an error if what was measured is not what was meant to be.
func (r *Result) Check() error {
	switch {
	case r.Kind == kindReliable && r.Delivered != r.Offered:
		return fmt.Errorf("reliable: of %d messages %d came back", r.Offered, r.Delivered)
	case r.Delivered < r.Offered/10*9:
		return fmt.Errorf(
			"%s: of %d messages only %d came back: this machine is too busy, or the load too "+
				"much for it", r.Kind, r.Offered, r.Delivered)
	}
	return nil
}

// Check replaces zeros by defaults, and says what is wrong with the rest.
func (o *Options) Check() error {
	if err := lab.Fill(o.List()); err != nil {
		return err
	}
	if o.Command == nil {
		return errors.New("no way to start processes, set Options.Command")
	}
	a, err := netip.ParseAddrPort(o.Listen)
	if err != nil || !a.Addr().IsLoopback() {
		return fmt.Errorf(
			"the address %q: it must be one of this machine's loopback, like 127.0.0.1:4000",
			o.Listen)
	}
	return lab.CheckDescriptors(o.Clients)
}

// Run measures what echoing messages costs a server, over real sockets on this machine's loopback.
// Server and clients are processes of their own, so that the server's time is its own; each round
// measures the floor as well, which is the same traffic over a bare batched socket.
func Run(ctx context.Context, o Options) (Results, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	pair, err := lab.Start(ctx, o.Command, roleServer, roleClients)
	if err != nil {
		return nil, err
	}
	defer pair.Stop()
	t := transport{Options: o, pair: pair, taken: map[string][]measured{}}
	if err := t.run(); err != nil {
		return nil, lab.Blame(ctx, err)
	}
	var results Results
	for _, kind := range o.Kinds {
		results = append(results, t.result(kind))
	}
	return results, nil
}

const (
	// turnTime is about how long one kind of traffic is measured before it is the turn of the next.
	turnTime       = time.Second
	rehearsal      = time.Second
	rehearsalBurst = 4
)

// transport is one run.
type transport struct {
	Options
	pair  *lab.Pair
	taken map[string][]measured
}

// measured is what one round of one kind gave.
type measured struct {
	serverSample
	crowdSample
}

func (m *measured) perMessage() float64 {
	return float64(m.Used.CPU) / float64(time.Microsecond) / float64(m.Messages)
}

// run rehearses and then measures, round by round.
func (t *transport) run() error {
	if err := t.open(); err != nil {
		return err
	}
	// A rehearsal, with a burst, lets buffers grow to what the worst ticks will need.
	for _, kind := range t.Kinds {
		if _, err := t.measure(lab.Order{Kind: kind, Window: rehearsal,
			Burst: rehearsalBurst}); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	// A busy machine is busier at one time than at another. So all take turns every second or so,
	// and a round is the sum of its turns.
	steps := append([]string{kindFloor}, t.Kinds...)
	turns := max(int((t.Window+turnTime/2)/turnTime), 1)
	all := t.Rounds * turns * len(steps)
	for n := range all {
		round, kind := n/(turns*len(steps)), steps[n%len(steps)]
		t.Progress.Tell(float64(n)/float64(all),
			fmt.Sprintf("%s, round %d of %d", kind, round+1, t.Rounds))
		m, err := t.measure(lab.Order{Kind: kind, Window: t.Window / time.Duration(turns)})
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		if len(t.taken[kind]) == round {
			t.taken[kind] = append(t.taken[kind], measured{})
		}
		r := &t.taken[kind][round]
		r.serverSample, r.crowdSample = lab.Sum(r.serverSample, m.serverSample),
			lab.Sum(r.crowdSample, m.crowdSample)
	}
	return t.pair.Close()
}

// open lets the server open its sockets and the clients connect.
func (t *transport) open() error {
	s := spec{
		Clients: t.Clients, Rate: t.Rate, Size: t.Size, Saturate: t.Saturate, Listen: t.Listen}
	s.Profile = t.Profile
	return t.pair.Meet(&s, &s.Meeting, protocol, t.Clients)
}

// measure takes one turn of one kind. Both sides measure at the same time, each by its own clock.
func (t *transport) measure(o lab.Order) (m measured, err error) {
	o.Do = lab.Measure
	if err := t.pair.Both(o, &m.serverSample, &m.crowdSample); err != nil {
		return m, err
	}
	if m.Messages == 0 {
		return m, errors.New(
			"no message came while the server was measured: this machine is too busy, or the " +
				"time too short")
	}
	return m, nil
}

func (t *transport) result(kind string) Result {
	rounds, floor := t.taken[kind], t.taken[kindFloor]
	r := Result{
		Kind: kind, Clients: t.Clients, Rate: t.Rate, Size: t.Size,
		PerMessage:      medianOf(rounds, (*measured).perMessage),
		FloorPerMessage: medianOf(floor, (*measured).perMessage),
		Allocs: medianOf(rounds,
			func(m *measured) float64 { return float64(m.Used.Allocs) / float64(m.Messages) }),
		HeaderBytes: medianOf(rounds,
			func(m *measured) float64 {
				return float64(m.Bytes)/float64(m.Messages) - float64(t.Size)
			}),
		Packets: medianOf(rounds,
			func(m *measured) float64 { return float64(m.Packets) / float64(m.Messages) }),
	}
	r.Ratio = r.PerMessage / r.FloorPerMessage
	for i := range rounds {
		r.Offered += rounds[i].Offered
		r.Delivered += rounds[i].Delivered
		r.Rounds = append(r.Rounds, rounds[i].perMessage())
		r.FloorRounds = append(r.FloorRounds, floor[i].perMessage())
	}
	if t.Saturate {
		r.Saturation = &Saturation{
			MostPerSecond:      1e6 / r.PerMessage,
			FloorMostPerSecond: 1e6 / r.FloorPerMessage,
			EchoedPerSecond: medianOf(rounds,
				func(m *measured) float64 { return float64(m.Messages) / m.Wall.Seconds() }),
			Busy: medianOf(rounds,
				func(m *measured) float64 { return m.Used.CPU.Seconds() / m.Wall.Seconds() }),
		}
	}
	return r
}

// medianOf is the middle value of a figure over rounds, or the mean of the two in the middle.
func medianOf(rounds []measured, figure func(*measured) float64) float64 {
	values := make([]float64, len(rounds))
	for i := range rounds {
		values[i] = figure(&rounds[i])
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
