package lab

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
)

// TransportOptions say what Transport measures. Only Command has no default.
type TransportOptions struct {
	// Clients are how many connections there are, Rate how many messages a second each
	// sends and how often a second the server ticks, Size how many bytes a message
	// has. Zeros mean 256, 60 and 100.
	Clients, Rate, Size int
	// Window is how long each measurement lasts, Rounds how often all of them are
	// taken. Zeros mean five seconds and 3.
	Window time.Duration
	Rounds int
	// Kinds are what is measured, of TransportKinds; none means all.
	Kinds []string
	// Saturate lets the server run without pause, to see how much it can do.
	Saturate bool
	// Listen is the server's address, on this machine. Empty means a free port of 127.0.0.1.
	Listen string
	// Profile, if not empty, is a file for a CPU profile of the server. The label "kind" of
	// its samples tells kinds of traffic apart.
	Profile string
	// Command makes a process that calls TransportPart with its own standard input and
	// output, in the role given. The processes end when Transport does, and when the
	// process that called it dies.
	Command func(role string) *exec.Cmd
	// Progress, if set, is told how much is done, from 0 to 1, and what is done next.
	Progress func(done float64, what string)
}

// TransportKinds are the kinds of messages that Transport can measure.
func TransportKinds() []string { return []string{kindUnreliable, kindReliable} }

const (
	kindFloor      = "floor"
	kindUnreliable = "unreliable"
	kindReliable   = "reliable"
)

// TransportResult is what one kind of message costs the server.
type TransportResult struct {
	Kind    string `json:"kind"`
	Clients int    `json:"clients"`
	Rate    int    `json:"rate"`
	Size    int    `json:"size"`
	// PerMessage is the server's CPU time, user and system, in microseconds for each
	// message that came and was sent back; FloorPerMessage the same for a socket that
	// sends back what comes. Both are medians over the rounds, Ratio is their quotient.
	PerMessage      float64 `json:"us_per_message"`
	FloorPerMessage float64 `json:"floor_us_per_message"`
	Ratio           float64 `json:"ratio_to_floor"`
	// Allocs, HeaderBytes and Packets are what the server allocated, sent beyond the
	// message itself, and sent at all, for each message.
	Allocs      float64 `json:"allocs_per_message"`
	HeaderBytes float64 `json:"header_bytes"`
	Packets     float64 `json:"packets_per_message"`
	// Offered is how many messages the clients sent in all rounds, Delivered how many of
	// them came back.
	Offered   uint64 `json:"offered"`
	Delivered uint64 `json:"delivered"`
	// Rounds and FloorRounds are the microseconds of each round.
	Rounds      []float64 `json:"us_rounds"`
	FloorRounds []float64 `json:"floor_us_rounds"`
	// Saturation is there if the server was given all it could take.
	*Saturation
}

// Saturation is how much a server can do that never rests.
type Saturation struct {
	// MostPerSecond is how many messages one core sends back in a second of its time, and
	// FloorMostPerSecond how many without a connection.
	MostPerSecond      float64 `json:"most_per_second"`
	FloorMostPerSecond float64 `json:"floor_most_per_second"`
	// EchoedPerSecond is how many it did send back in a second of the clock, and
	// Busy the share of that second in which it ran. If that is much less
	// than 1, the clients were the slower ones.
	EchoedPerSecond float64 `json:"echoed_per_second"`
	Busy            float64 `json:"server_busy"`
}

// Check returns an error if what was measured is not what was meant to be.
func (r *TransportResult) Check() error {
	switch {
	case r.Kind == kindReliable && r.Delivered != r.Offered:
		return fmt.Errorf("reliable: of %d messages %d came back", r.Offered, r.Delivered)
	case r.Delivered < r.Offered/10*9:
		return fmt.Errorf("%s: of %d messages only %d came back: this machine is too busy, or the load too much for it", r.Kind, r.Offered, r.Delivered)
	}
	return nil
}

// Bounds of the options.
const (
	// MostTransportClients is how many clients Transport can drive.
	MostTransportClients = 8192
	// MostTransportRate is how many times a second they can send.
	MostTransportRate = 1000
	// LeastTransportSize and MostTransportSize bound a message: it has a stamp
	// that tells it from others, and goes in one packet.
	LeastTransportSize = stampSize
	MostTransportSize  = 1150
)

// Fill replaces zeros by defaults, and says what is wrong with the rest.
func (o *TransportOptions) Fill() error {
	for _, d := range []struct {
		v   *int
		def int
	}{{&o.Clients, 256}, {&o.Rate, 60}, {&o.Size, 100}, {&o.Rounds, 3}} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	if o.Window == 0 {
		o.Window = 5 * time.Second
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if len(o.Kinds) == 0 {
		o.Kinds = TransportKinds()
	}
	switch {
	case o.Clients < 1 || o.Clients > MostTransportClients:
		return fmt.Errorf("%d clients: there can be 1 to %d", o.Clients, MostTransportClients)
	case o.Rate < 1 || o.Rate > MostTransportRate:
		return fmt.Errorf("a rate of %d: it can be 1 to %d messages a second", o.Rate, MostTransportRate)
	case o.Size < LeastTransportSize || o.Size > MostTransportSize:
		return fmt.Errorf("messages of %d bytes: they can have %d to %d", o.Size, LeastTransportSize, MostTransportSize)
	case o.Rounds < 1 || o.Rounds > 1000:
		return fmt.Errorf("%d rounds: there can be 1 to 1000", o.Rounds)
	case o.Window < 100*time.Millisecond || o.Window > time.Hour:
		return fmt.Errorf("measuring for %v: it can be a tenth of a second to an hour", o.Window)
	case o.Command == nil:
		return errors.New("no way to start processes, set TransportOptions.Command")
	}
	for _, k := range o.Kinds {
		if !slices.Contains(TransportKinds(), k) {
			return fmt.Errorf("there is no kind of message called %q", k)
		}
	}
	a, err := netip.ParseAddrPort(o.Listen)
	if err != nil || !a.Addr().IsLoopback() {
		return fmt.Errorf("the address %q: it must be one of this machine's loopback, like 127.0.0.1:4000", o.Listen)
	}
	return checkDescriptors(o.Clients)
}

// descriptorsEach is how many file descriptors a client needs: a socket and what wakes its
// owner; descriptorsRest is what a process needs besides.
const (
	descriptorsEach = 2
	descriptorsRest = 64
)

func checkDescriptors(clients int) error {
	need := uint64(clients*descriptorsEach + descriptorsRest)
	if have := mostDescriptors(); have < need {
		return fmt.Errorf("%d clients, each with a socket of its own, need %d open files, and a process may have %d: raise the limit with 'ulimit -n %d', or take fewer clients",
			clients, need, have, need)
	}
	return nil
}

// Transport measures what echoing messages costs a server, over real sockets on this
// machine's loopback. Server and clients are processes of their own, so that the
// server's time is its own; each round measures the floor as well, which is the same
// traffic over a bare batched socket.
func Transport(ctx context.Context, o TransportOptions) ([]TransportResult, error) {
	if err := o.Fill(); err != nil {
		return nil, err
	}
	key, err := token.NewKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	server, err := startPart(ctx, o.Command, roleServer)
	if err != nil {
		return nil, err
	}
	defer server.stop()
	clients, err := startPart(ctx, o.Command, roleClients)
	if err != nil {
		return nil, err
	}
	defer clients.stop()
	t := transport{o: o, key: key, server: server, clients: clients, taken: map[string][]measured{}}
	if err := t.open(); err != nil {
		return nil, either(ctx, err)
	}
	// A rehearsal, with a burst, lets buffers grow to what the worst ticks will need.
	for _, kind := range o.Kinds {
		if _, err := t.measure(order{Kind: kind, Window: rehearsal, Burst: rehearsalBurst}); err != nil {
			return nil, either(ctx, fmt.Errorf("%s: %w", kind, err))
		}
	}
	// A busy machine is busier at one time than at another. So all take turns
	// every second or so, and a round is the sum of its turns.
	steps := append([]string{kindFloor}, o.Kinds...)
	turns := max(int((o.Window+transportTurn/2)/transportTurn), 1)
	all := o.Rounds * turns * len(steps)
	for n := range all {
		round, kind := n/(turns*len(steps)), steps[n%len(steps)]
		if o.Progress != nil {
			o.Progress(float64(n)/float64(all), fmt.Sprintf("%s, round %d of %d", kind, round+1, o.Rounds))
		}
		m, err := t.measure(order{Kind: kind, Window: o.Window / time.Duration(turns)})
		if err != nil {
			return nil, either(ctx, fmt.Errorf("%s: %w", kind, err))
		}
		if len(t.taken[kind]) == round {
			t.taken[kind] = append(t.taken[kind], measured{})
		}
		t.taken[kind][round].add(&m)
	}
	if err := t.close(); err != nil {
		return nil, either(ctx, err)
	}
	var results []TransportResult
	for _, kind := range o.Kinds {
		results = append(results, t.result(kind))
	}
	return results, nil
}

// transportTurn is about how long one kind of traffic is measured before it is the
// turn of the next.
const transportTurn = time.Second

const (
	rehearsal      = time.Second
	rehearsalBurst = 4
)

// either is the error to report: a process that was stopped because we were told to
// stop is not to blame.
func either(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// transport is one run.
type transport struct {
	o       TransportOptions
	key     token.Key
	server  *part
	clients *part
	taken   map[string][]measured
}

// measured is what one round of one kind gave.
type measured struct {
	serverSample
	crowdSample
}

func (m *measured) add(o *measured) {
	m.CPU += o.CPU
	m.Wall += o.Wall
	m.Messages += o.Messages
	m.Packets += o.Packets
	m.Bytes += o.Bytes
	m.Allocs += o.Allocs
	m.Offered += o.Offered
	m.Delivered += o.Delivered
}

func (m *measured) perMessage() float64 {
	return float64(m.CPU) / float64(time.Microsecond) / float64(m.Messages)
}

// open lets the server open its sockets and the clients connect.
func (t *transport) open() error {
	spec := partSpec{Clients: t.o.Clients, Rate: t.o.Rate, Size: t.o.Size, Saturate: t.o.Saturate}
	serve := spec
	serve.Listen, serve.Key, serve.Profile = t.o.Listen, t.key.Text(), t.o.Profile
	var at opened
	if err := t.server.ask(order{Do: doOpen, Spec: &serve}, &at); err != nil {
		return err
	}
	join := spec
	join.Server, join.Floor = at.Server, at.Floor
	grant := token.Grant{Protocol: transportProtocol, Expires: time.Now().Add(10 * time.Minute).Unix(), Servers: []netip.AddrPort{at.Server}}
	for i := range t.o.Clients {
		grant.Client = uint64(i + 1)
		tok, err := token.Issue(t.key, grant, rand.Reader)
		if err != nil {
			return err
		}
		join.Tokens = append(join.Tokens, tok.Text())
	}
	return t.clients.ask(order{Do: doOpen, Spec: &join}, nil)
}

// measure takes one turn of one kind. Both sides measure at the same time, each by
// its own clock.
func (t *transport) measure(o order) (m measured, err error) {
	o.Do = doMeasure
	if err := errors.Join(t.server.tell(o), t.clients.tell(o)); err != nil {
		return m, err
	}
	if err := errors.Join(t.server.hear(&m.serverSample), t.clients.hear(&m.crowdSample)); err != nil {
		return m, err
	}
	if m.Messages == 0 {
		return m, errors.New("no message came while the server was measured: this machine is too busy, or the time too short")
	}
	return m, nil
}

func (t *transport) close() error {
	// The clients leave first, so that nothing is sent to a port that is closed.
	return errors.Join(t.clients.ask(order{Do: doClose}, nil), t.server.ask(order{Do: doClose}, nil))
}

func (t *transport) result(kind string) TransportResult {
	rounds, floor := t.taken[kind], t.taken[kindFloor]
	r := TransportResult{
		Kind: kind, Clients: t.o.Clients, Rate: t.o.Rate, Size: t.o.Size,
		PerMessage:      medianOf(rounds, (*measured).perMessage),
		FloorPerMessage: medianOf(floor, (*measured).perMessage),
		Allocs:          medianOf(rounds, func(m *measured) float64 { return float64(m.Allocs) / float64(m.Messages) }),
		HeaderBytes:     medianOf(rounds, func(m *measured) float64 { return float64(m.Bytes)/float64(m.Messages) - float64(t.o.Size) }),
		Packets:         medianOf(rounds, func(m *measured) float64 { return float64(m.Packets) / float64(m.Messages) }),
	}
	r.Ratio = r.PerMessage / r.FloorPerMessage
	for i := range rounds {
		r.Offered += rounds[i].Offered
		r.Delivered += rounds[i].Delivered
		r.Rounds = append(r.Rounds, rounds[i].perMessage())
		r.FloorRounds = append(r.FloorRounds, floor[i].perMessage())
	}
	if t.o.Saturate {
		r.Saturation = &Saturation{
			MostPerSecond:      1e6 / r.PerMessage,
			FloorMostPerSecond: 1e6 / r.FloorPerMessage,
			EchoedPerSecond:    medianOf(rounds, func(m *measured) float64 { return float64(m.Messages) / m.Wall.Seconds() }),
			Busy:               medianOf(rounds, func(m *measured) float64 { return m.CPU.Seconds() / m.Wall.Seconds() }),
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
