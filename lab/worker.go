package lab

import (
	"bytes"
	"context"
	"crypto/rand"
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

// An Order is what a worker is told, one JSON object a line.
type Order struct {
	Do     string
	Spec   json.RawMessage `json:",omitempty"` // with Open: what the worker is to do
	Kind   string          `json:",omitempty"` // with Measure, as is Window
	Window time.Duration   `json:",omitempty"`
	Burst  int             `json:",omitempty"` // messages to begin with, all at once
	Pace   float64         `json:",omitempty"` // with SetPace
	From   time.Time       `json:",omitzero"`  // the same: when it begins
}

// What a worker can be told to do.
const (
	Open    = "open"    // begin; answered when all is connected
	Measure = "measure" // change to a kind of traffic, and measure it; answered when that is done
	SetPace = "pace"    // let time go slower; answered at once
	Close   = "close"   // end
)

// Opened is what a server answers when it is open.
type Opened struct{ Server, Floor netip.AddrPort }

// A Meeting is what server and clients have to know to meet, beside what they are to do.
type Meeting struct {
	// The server's:
	Key, Profile string
	// The clients':
	Opened
	Tokens []string
}

// answer is what a worker says to an order.
type answer struct {
	Error  string          `json:",omitempty"`
	Result json.RawMessage `json:",omitempty"`
}

// Roles are what the workers of an experiment do, by name.
type Roles[S any] map[string]func(*Desk, *S) error

// Work is what the processes run that Start starts: it does the work of a role, from each order to
// open on, until in ends. What the order says is checked first.
func Work[S any](ctx context.Context, role string, roles Roles[S], check func(*S, string) error,
	in io.Reader, out io.Writer) error {
	work := roles[role]
	if work == nil {
		return fmt.Errorf("there is no worker called %q", role)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// When whoever gives the orders is gone, in ends, and so does the worker, whatever it is doing.
	orders := make(chan Order)
	go func() {
		defer cancel()
		defer close(orders)
		dec := json.NewDecoder(in)
		for {
			var o Order
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
	d := &Desk{Context: ctx, orders: orders, out: json.NewEncoder(out)}
	for o := range orders {
		err := fmt.Errorf("order %q while nothing is open", o.Do)
		if o.Do == Open {
			var spec S
			if json.Unmarshal(o.Spec, &spec) != nil {
				err = errors.New("an order to open without what to do")
			} else if err = check(&spec, role); err == nil {
				err = work(d, &spec)
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		if err := d.reply(nil, err); err != nil {
			return err
		}
	}
	return nil
}

// A Desk is where a worker takes orders and answers them.
type Desk struct {
	context.Context
	orders <-chan Order
	out    *json.Encoder
}

// Next returns an order if there is one. It returns an error when it is time to end.
func (d *Desk) Next() (o Order, err error) {
	select {
	case <-d.Done():
		return o, d.Err()
	case o = <-d.orders:
	default:
	}
	return o, nil
}

// Answer says what came of an order.
func (d *Desk) Answer(result any) error { return d.reply(result, nil) }

func (d *Desk) reply(result any, err error) error {
	var a answer
	if err != nil {
		a.Error = err.Error()
	} else if result != nil {
		if a.Result, err = json.Marshal(result); err != nil {
			return err
		}
	}
	return d.out.Encode(a)
}

// A Shift is what a worker does between an order to open and the one to close.
type Shift struct {
	Clock *Clock
	// Turn goes on with the work: a tick, or the turns of some clients.
	Turn func() error
	// Measure changes to a kind of traffic, and sets the Window.
	Measure func(o Order) error
	// Begin is called when the Window opens, and End when it is over, for what was measured.
	Window Window
	Begin  func()
	End    func() any
	// Joined, if it is set, says whether all are connected whom Joining waits for.
	Joining Joining
	Joined  func() bool
	// Close ends it in good order.
	Close func() error
}

// Work takes orders, and has turns in between.
func (d *Desk) Work(s *Shift) error {
	for {
		o, err := d.Next()
		switch {
		case err != nil:
			return err
		case o.Do == Close:
			return s.Close()
		case o.Do == SetPace:
			s.Clock.SetPace(o.Pace, o.From)
			err = d.Answer(nil)
		case o.Do == Measure:
			err = s.Measure(o)
		}
		if s.Window.Opens(s.Clock.Now()) {
			s.Begin()
		}
		if err = errors.Join(err, s.Turn()); err != nil {
			return err
		}
		if s.Window.Closes(s.Clock.Now()) {
			err = d.Answer(s.End())
		}
		if s.Joined != nil {
			ready, late := s.Joining.Done(s.Clock.Now(), s.Joined)
			if err = errors.Join(err, late); ready {
				err = errors.Join(err, d.Answer(nil))
			}
		}
		if err != nil {
			return err
		}
	}
}

// A Worker is another process of an experiment: this program, started again.
type Worker struct {
	role   string
	cmd    *exec.Cmd
	in     io.WriteCloser
	dec    *json.Decoder
	stderr bytes.Buffer
	stop   func() bool
}

func start(ctx context.Context, command func(role string) *exec.Cmd, role string) (*Worker, error) {
	w := &Worker{role: role, cmd: command(role)}
	ownGroup(w.cmd)
	w.cmd.Stderr = &w.stderr
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.in, w.dec = in, json.NewDecoder(out)
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the %s: %w", role, err)
	}
	precede(w.cmd.Process.Pid)
	// A reading parent waits for the child's words; ending the child ends the wait.
	w.stop = context.AfterFunc(ctx, func() { _ = w.cmd.Process.Kill() })
	return w, nil
}

// Foremost starts a process that others on a busy machine keep from its beat as little as the
// system allows, and that Ctrl-C does not end.
func Foremost(cmd *exec.Cmd) error {
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	precede(cmd.Process.Pid)
	return nil
}

// end ends the process and waits until it has.
func (w *Worker) end() {
	_ = w.in.Close()
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
	w.stop()
}

func (w *Worker) tell(o Order) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if _, err := w.in.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("telling the %s: %w", w.role, w.died(err))
	}
	return nil
}

func (w *Worker) hear(result any) error {
	var a answer
	if err := w.dec.Decode(&a); err != nil {
		return fmt.Errorf("hearing from the %s: %w", w.role, w.died(err))
	}
	if a.Error != "" {
		return errors.New(a.Error)
	}
	if result == nil || len(a.Result) == 0 {
		return nil
	}
	return json.Unmarshal(a.Result, result)
}

// Ask gives an order and waits for the answer.
func (w *Worker) Ask(o Order, result any) error {
	if err := w.tell(o); err != nil {
		return err
	}
	return w.hear(result)
}

// Open gives the order to open, with what the worker is to do.
func (w *Worker) Open(spec, result any) error {
	b, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	return w.Ask(Order{Do: Open, Spec: b}, result)
}

// died adds what a process wrote to standard error before its end.
func (w *Worker) died(err error) error {
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait() // after this stderr is complete
	if text := strings.TrimSpace(w.stderr.String()); text != "" {
		return fmt.Errorf("%w: it ended with: %s", err, text)
	}
	return err
}

// A Pair is a server and its clients, each a process of its own, so that each one's time is its
// own.
type Pair struct{ Server, Clients *Worker }

// Start starts both. The command makes a process that calls Work in the role given, with its own
// standard input and output. The processes end with Stop, and when this one dies.
func Start(ctx context.Context, command func(role string) *exec.Cmd, server, clients string) (*Pair,
	error) {
	s, err := start(ctx, command, server)
	if err != nil {
		return nil, err
	}
	c, err := start(ctx, command, clients)
	if err != nil {
		s.end()
		return nil, err
	}
	return &Pair{s, c}, nil
}

// Meet opens both, the server first, and then the clients with tokens for it. The meeting is a
// field of the spec.
func (p *Pair) Meet(spec any, m *Meeting, protocol uint64, clients int) error {
	key, err := token.NewKey(rand.Reader)
	if err != nil {
		return err
	}
	m.Key = key.Text()
	if err := p.Server.Open(spec, &m.Opened); err != nil {
		return err
	}
	m.Key, m.Profile = "", ""
	grant := token.Grant{
		Protocol: protocol, Expires: time.Now().Add(10 * time.Minute).Unix(),
		Servers: []netip.AddrPort{m.Server}}
	for i := range clients {
		grant.Client = uint64(i + 1)
		tok, err := token.Issue(key, grant, rand.Reader)
		if err != nil {
			return err
		}
		m.Tokens = append(m.Tokens, tok.Text())
	}
	return p.Clients.Open(spec, nil)
}

// Both gives the same order to both at the same time, and waits for their answers.
func (p *Pair) Both(o Order, server, clients any) error {
	if err := errors.Join(p.Server.tell(o), p.Clients.tell(o)); err != nil {
		return err
	}
	return errors.Join(p.Server.hear(server), p.Clients.hear(clients))
}

// Close ends the experiment in good order: the clients leave first, so that nothing is sent to a
// port that is closed.
func (p *Pair) Close() error {
	return errors.Join(p.Clients.Ask(Order{Do: Close}, nil), p.Server.Ask(Order{Do: Close}, nil))
}

// Stop ends both processes.
func (p *Pair) Stop() {
	p.Clients.end()
	p.Server.end()
}

// Blame is the error to report: a process that was stopped because we were told to stop is not to
// blame.
func Blame(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
