package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os/exec"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
)

// Roles of the processes that Transport starts.
const (
	roleServer  = "server"
	roleClients = "clients"
)

// order is what a part is told, one JSON object a line.
type order struct {
	Do     string
	Spec   *partSpec     `json:",omitempty"` // with doOpen
	Host   *hostSpec     `json:",omitempty"` // the same, for Server
	Kind   string        `json:",omitempty"` // with doMeasure, as is Window
	Window time.Duration `json:",omitempty"`
	Burst  int           `json:",omitempty"` // messages to begin with, all at once
	Pace   float64       `json:",omitempty"` // with doPace
	From   time.Time     `json:",omitzero"`  // the same: when it begins
}

const (
	doOpen    = "open"    // begin; answered when all is connected
	doMeasure = "measure" // change to a kind of traffic, and measure it; answered when that is done
	doPace    = "pace"    // let time go slower; answered at once
	doClose   = "close"   // end
)

// partSpec is the traffic that both parts are to make.
type partSpec struct {
	Clients, Rate, Size int
	Saturate            bool

	// The server's:
	Listen, Key, Profile string
	// The clients':
	Server, Floor netip.AddrPort
	Tokens        []string
}

// check says what is wrong with the traffic, before anything is made of it.
func (s *partSpec) check(role string) error {
	switch {
	case s == nil, s.Clients < 1, s.Clients > MostTransportClients, s.Rate < 1, s.Rate > MostTransportRate,
		s.Size < LeastTransportSize, s.Size > MostTransportSize:
		return errors.New("an order to open without the traffic to make")
	case role == roleClients && len(s.Tokens) != s.Clients:
		return fmt.Errorf("%d tokens for %d clients", len(s.Tokens), s.Clients)
	}
	return nil
}

// every is the time between two ticks.
func (s *partSpec) every() time.Duration { return time.Second / time.Duration(s.Rate) }

// channelOf is on which channel of a connection messages of a kind go.
func channelOf(kind string) uint8 {
	if kind == kindReliable {
		return channelReliable
	}
	return channelUnreliable
}

// Channels of a connection that says nothing else.
const (
	channelUnreliable = 0
	channelReliable   = 2
)

// transportProtocol is the game that is played.
var transportProtocol = token.ProtocolID("coeval bench transport")

// answer is what a part says to an order.
type answer struct {
	Error  string          `json:",omitempty"`
	Result json.RawMessage `json:",omitempty"`
}

// opened is what the server answers when it is open.
type opened struct{ Server, Floor netip.AddrPort }

// serverSample is what the server measured of itself in a window.
type serverSample struct {
	CPU, Wall                time.Duration
	Messages, Packets, Bytes uint64 // echoed; sent
	Allocs                   uint64
}

// crowdSample is what the clients counted.
type crowdSample struct{ Offered, Delivered uint64 }

// TransportPart is what the processes run that Transport starts: it takes orders on in
// and answers on out, until in ends.
func TransportPart(ctx context.Context, role string, in io.Reader, out io.Writer) error {
	var work func(*desk, *partSpec) error
	switch role {
	case roleServer:
		work = runServer
	case roleClients:
		work = runCrowd
	default:
		return fmt.Errorf("there is no part called %q", role)
	}
	return takeOrders(ctx, in, out, func(d *desk, o *order) error {
		if err := o.Spec.check(role); err != nil {
			return err
		}
		return work(d, o.Spec)
	})
}

// takeOrders does the work of a part, from each order to open on, until in ends.
func takeOrders(ctx context.Context, in io.Reader, out io.Writer, work func(*desk, *order) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// When whoever gives the orders is gone, in ends, and so does the part, whatever it
	// is doing.
	orders := make(chan order)
	go func() {
		defer cancel()
		defer close(orders)
		dec := json.NewDecoder(in)
		for {
			var o order
			if dec.Decode(&o) != nil {
				return
			}
			select {
			case orders <- o:
			case <-ctx.Done():
				return
			}
		}
	}()
	d := &desk{ctx: ctx, orders: orders, out: json.NewEncoder(out)}
	for o := range orders {
		err := fmt.Errorf("order %q while nothing is open", o.Do)
		if o.Do == doOpen {
			err = work(d, &o)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err := d.answer(nil, err); err != nil {
			return err
		}
	}
	return nil
}

// desk is where a part takes orders and answers them.
type desk struct {
	ctx    context.Context
	orders <-chan order
	out    *json.Encoder
}

// next returns an order if there is one. It returns an error when it is time to end.
func (d *desk) next() (o order, ok bool, err error) {
	select {
	case <-d.ctx.Done():
		return o, false, d.ctx.Err()
	case o, ok = <-d.orders:
		return o, ok, nil
	default:
		return o, false, nil
	}
}

func (d *desk) answer(result any, err error) error {
	var a answer
	if err != nil {
		a.Error = err.Error()
	} else if result != nil {
		b, err := json.Marshal(result)
		if err != nil {
			return err
		}
		a.Result = b
	}
	return d.out.Encode(a)
}

// part is a process that Transport has started.
type part struct {
	role   string
	cmd    *exec.Cmd
	in     io.WriteCloser
	dec    *json.Decoder
	stderr bytes.Buffer
	cancel context.CancelFunc
}

func startPart(ctx context.Context, command func(string) *exec.Cmd, role string) (*part, error) {
	p := &part{role: role, cmd: command(role)}
	ownGroup(p.cmd)
	p.cmd.Stderr = &p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.dec = in, json.NewDecoder(out)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the %s: %w", role, err)
	}
	precede(p.cmd.Process.Pid)
	// A reading parent waits for the child's words; ending the child ends the wait.
	stop := context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })
	p.cancel = func() { stop() }
	return p, nil
}

// stop ends the process and waits until it has.
func (p *part) stop() {
	_ = p.in.Close()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	p.cancel()
}

func (p *part) tell(o order) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("telling the %s: %w", p.role, p.died(err))
	}
	return nil
}

func (p *part) hear(result any) error {
	var a answer
	if err := p.dec.Decode(&a); err != nil {
		return fmt.Errorf("hearing from the %s: %w", p.role, p.died(err))
	}
	if a.Error != "" {
		return errors.New(a.Error)
	}
	if result == nil || len(a.Result) == 0 {
		return nil
	}
	return json.Unmarshal(a.Result, result)
}

func (p *part) ask(o order, result any) error {
	if err := p.tell(o); err != nil {
		return err
	}
	return p.hear(result)
}

// died adds what a process wrote to standard error before its end.
func (p *part) died(err error) error {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // after this stderr is complete
	if text := strings.TrimSpace(p.stderr.String()); text != "" {
		return fmt.Errorf("%w: it ended with: %s", err, text)
	}
	return err
}
