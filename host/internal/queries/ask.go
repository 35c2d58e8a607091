//go:build !js

package queries

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/query"
)

// ErrSilent says that nobody answers.
var ErrSilent = errors.New("nobody answers: check that it is the UDP address of a server's " +
	"--listen, that one runs there with --queries, and that UDP gets through")

// An Asking is a socket that asks one server.
type Asking struct {
	link  link.Link
	to    netip.AddrPort
	begun time.Time
	batch []link.Datagram
}

// Dial opens a socket to ask a server.
func Dial(ctx context.Context, address string) (*Asking, error) {
	to, err := udp.Resolve(ctx, address)
	if err != nil {
		return nil, err
	}
	at := "0.0.0.0:0"
	if to.Addr().Is6() {
		at = "[::]:0"
	}
	l, err := udp.Listen(at, udp.Options{Stamps: true})
	if err != nil {
		return nil, err
	}
	return &Asking{link: l, to: to, begun: time.Now(), batch: make([]link.Datagram, 16)}, nil
}

// Close closes the socket.
func (a *Asking) Close() error { return a.link.Close() }

// A machine asks: a query.Asker or a query.Prober.
type machine interface {
	Flush(now time.Duration, out []link.Datagram) []link.Datagram
	Receive(now time.Duration, batch []link.Datagram)
	Done() bool
}

// drive has a machine ask all that it wants to know.
func (a *Asking) drive(ctx context.Context, m machine, due func() time.Duration) error {
	stop := context.AfterFunc(ctx, a.link.Wake)
	defer stop()
	for !m.Done() {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		now := time.Since(a.begun)
		if _, err := link.SendAll(a.link, m.Flush(now, nil)); err != nil {
			return err
		}
		if _, err := a.link.Wait(max(due()-now, 0)); err != nil {
			return err
		}
		n, err := a.link.Receive(a.batch)
		if err != nil {
			return err
		}
		m.Receive(time.Since(a.begun), a.batch[:n])
	}
	return nil
}

// Ask asks one thing, and says what a status means that is none to go on with.
func (a *Asking) Ask(
	ctx context.Context, q query.Query, patience time.Duration,
) (query.Answer, time.Duration, error) {
	var seed [32]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return query.Answer{}, 0, err
	}
	m := query.NewAsker(time.Since(a.begun), a.to, q, seed, patience)
	if err := a.drive(ctx, m, m.Deadline); err != nil {
		return query.Answer{}, 0, err
	}
	x, took, ok := m.Answer()
	if !ok {
		return x, took, fmt.Errorf("%v: %w", a.to, ErrSilent)
	}
	return x, took, meaning(x.Status, &q)
}

// meaning is what a status says to people, or nil.
func meaning(s query.Status, q *query.Query) error {
	switch s {
	case query.OK:
		return nil
	case query.Off:
		return fmt.Errorf("the server's operator has turned %q off", q.Kind)
	case query.Unknown:
		return fmt.Errorf("the game has no query %q: info lists those that it has", q.Text)
	case query.Busy:
		return errors.New("too many have written to the server: try again in ten seconds")
	}
	return fmt.Errorf("the server says %q, which makes no sense here", s)
}

// Who asks who plays, in as many queries as that takes.
func (a *Asking) Who(ctx context.Context, patience time.Duration) (who Who, err error) {
	who.Players = []query.Player{}
	q := query.Query{Kind: query.AskWho}
	for {
		x, _, err := a.Ask(ctx, q, patience)
		if err != nil {
			return who, err
		}
		w, ok := query.ParseWho(x.Body)
		if !ok {
			return who, errNoSense
		}
		who.Total = int(w.Total)
		who.Players = append(who.Players, w.Players...)
		if len(w.Players) == 0 || len(who.Players) >= who.Total {
			return who, nil
		}
		q.First, q.Cookie = uint16(len(who.Players)), x.Cookie
	}
}

var errNoSense = errors.New("the server's answer makes no sense: it may be of another version")

// Ping measures the way to the server.
func (a *Asking) Ping(ctx context.Context, o query.ProbeOptions) (query.Round, error) {
	if _, err := rand.Read(o.Seed[:]); err != nil {
		return query.Round{}, err
	}
	m := query.NewProber(o)
	m.Add(time.Since(a.begun), a.to)
	due := func() time.Duration { d, _ := m.Deadline(); return d }
	if err := a.drive(ctx, m, due); err != nil {
		return query.Round{}, err
	}
	r := m.At(0, time.Since(a.begun)).Round
	if r.Answered == 0 {
		return r, fmt.Errorf("%v: %w", a.to, ErrSilent)
	}
	return r, nil
}
