//go:build !js

package find

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/query"
	"github.com/coeval-dev/coeval/survey"
)

// A pinger does a survey of addresses over a link, by the datagrams of package query.
type pinger struct {
	link link.Link
	now  func() time.Duration
	draw func() uint64 // numbers that nobody guesses

	at      []netip.AddrPort
	survey  *survey.Survey
	sent    map[uint64]survey.Probe
	cookies []query.Cookie
	batch   []link.Datagram
	buf     []byte
}

func newPinger(
	l link.Link, now func() time.Duration, draw func() uint64, at []netip.AddrPort,
	o survey.Options,
) *pinger {
	o.Places = len(at)
	return &pinger{link: l, now: now, draw: draw, at: at, survey: survey.New(o),
		sent: map[uint64]survey.Probe{}, cookies: make([]query.Cookie, len(at)),
		batch: make([]link.Datagram, 64)}
}

// look is how often somebody who watches is shown something new.
const look = 50 * time.Millisecond

// run does the survey. Show is called now and then.
func (p *pinger) run(ctx context.Context, show func()) error {
	for !p.survey.Done(p.now()) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.send(); err != nil {
			return err
		}
		now := p.now()
		wait := min(max(p.survey.Wake(now)-now, 50*time.Microsecond), look)
		if _, err := p.link.Wait(wait); err != nil {
			return err
		}
		if err := p.receive(); err != nil {
			return err
		}
		show()
	}
	return nil
}

// send sends what is due. What cannot be sent is not answered.
func (p *pinger) send() error {
	for {
		x, ok := p.survey.Next(p.now())
		if !ok {
			return nil
		}
		q := query.Query{Kind: query.Ping, Nonce: p.draw(), Cookie: p.cookies[x.Place]}
		p.sent[q.Nonce] = x
		p.buf = q.Append(p.buf[:0], query.Least)
		one := [1]link.Datagram{{Addr: p.at[x.Place], Data: p.buf}}
		if _, err := link.SendAll(p.link, one[:]); err != nil {
			return err
		}
	}
}

// receive takes what came. An answer counts if it comes from where its number was sent, whatever it
// says: a server that does not answer pings says that, and that takes as long.
func (p *pinger) receive() error {
	for {
		n, err := p.link.Receive(p.batch)
		if err != nil {
			return err
		}
		now := p.now()
		for i := range p.batch[:n] {
			d := &p.batch[i]
			a, ok := query.ParseAnswer(d.Data)
			if !ok {
				continue
			}
			from := netip.AddrPortFrom(d.Addr.Addr().Unmap(), d.Addr.Port())
			x, ok := p.sent[a.Nonce]
			if !ok || p.at[x.Place] != from || a.Kind != query.Ping {
				continue
			}
			delete(p.sent, a.Nonce)
			p.cookies[x.Place] = a.Cookie
			p.survey.Answered(x, now-d.Waited, a.Held)
		}
		if n < len(p.batch) {
			return nil
		}
	}
}

// drawn is a number from the system's randomness.
func drawn() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.BigEndian.Uint64(b[:])
}

// bind opens a socket from which the addresses are reached, or those of them that can be.
func bind(at []netip.AddrPort) (link.Link, error) {
	l, err := entry.Bind(udp.Options{}, at...)
	if err != nil {
		return entry.Bind(udp.Options{}) // this machine may have no IPv6
	}
	return l, nil
}

// clock counts from now on.
func clock() func() time.Duration {
	begin := time.Now()
	return func() time.Duration { return time.Since(begin) }
}

// measure surveys all places of all servers. Those that cannot be joined are not chosen from,
// unless none can. Show is called now and then, with how much of it is done.
func measure(ctx context.Context, list []*Server, show func(part float64)) error {
	var places []*Place
	var aside []bool
	able := false
	for _, s := range list {
		for _, p := range s.Places {
			if p.at.IsValid() {
				p.asked = true
				places, aside = append(places, p), append(aside, s.Hindrance != "")
				able = able || s.Hindrance == ""
			}
		}
	}
	if len(places) == 0 {
		return nil
	}
	at := make([]netip.AddrPort, len(places))
	for i, p := range places {
		at[i] = p.at
	}
	l, err := bind(at)
	if err != nil {
		return err
	}
	defer l.Close()
	now := clock()
	p := newPinger(l, now, drawn, at, survey.Options{
		Aside: func(i int) bool { return able && aside[i] }})
	take := func() {
		for i, x := range places {
			x.measured(p.survey.Estimate(i, now()))
		}
		for _, s := range list {
			s.nearest()
		}
	}
	shown := time.Duration(-look)
	err = p.run(ctx, func() {
		if t := now(); t-shown >= look {
			shown = t
			take()
			show(p.survey.Progress(t))
		}
	})
	take()
	return err
}
