//go:build !js

package peer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
)

// A gate is where a relay hands out tokens, over HTTP, and where it is over UDP.
type gate struct {
	base *url.URL
	at   netip.AddrPort
	wall int64

	mu     sync.Mutex
	asking bool
	token  *token.Token // that was asked for
	err    error
}

// openGate finds a relay.
func openGate(ctx context.Context, relay string, wall int64) (*gate, token.Token, error) {
	g := &gate{wall: wall}
	var err error
	if g.base, err = entry.Base(relay, ""); err != nil {
		return nil, token.Token{}, fmt.Errorf("--relay: %w", err)
	}
	a, err := entry.Ask(ctx, g.base)
	if err != nil {
		return nil, token.Token{}, fmt.Errorf("--relay: %w", err)
	}
	if g.at, err = a.Resolve(ctx, g.base); err != nil {
		return nil, token.Token{}, fmt.Errorf("--relay: %w", err)
	}
	t, err := token.ParseText(a.Token)
	if err != nil {
		return nil, token.Token{}, fmt.Errorf("--relay: %w", err)
	}
	return g, t, nil
}

// ask asks for another token, and waits for it.
func (g *gate) ask(ctx context.Context) (token.Token, error) {
	a, err := entry.Ask(ctx, g.base)
	if err != nil {
		return token.Token{}, fmt.Errorf("--relay: %w", err)
	}
	return token.ParseText(a.Token)
}

var errAsking = errors.New("the relay is asked for a token")

// renew gives another token if there is one, and otherwise has the relay asked for it meanwhile.
func (g *gate) renew() (token.Token, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.token; t != nil {
		g.token = nil
		return *t, nil
	}
	if !g.asking {
		g.asking = true
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			t, err := g.ask(ctx)
			g.mu.Lock()
			defer g.mu.Unlock()
			if g.asking, g.err = false, err; err == nil {
				g.token = &t
			}
		}()
	}
	if g.err != nil {
		return token.Token{}, g.err
	}
	return token.Token{}, errAsking
}

// client is what a connection with the relay takes.
func (g *gate) client(t token.Token) (o conn.ClientOptions) {
	o.Servers, o.Token, o.Wall = []netip.AddrPort{g.at}, t, g.wall
	_, _ = rand.Read(o.Seed[:]) // it never fails
	return o
}

// meet makes a match that goes through a relay: by rows, or a mesh whose members meet there. Who
// joins is told by the relay which it is.
func (s *session) meet(l link.Link, locals []netip.AddrPort) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	o := &s.peer
	o.Secret, o.Address = s.short.secret(), netip.AddrPort{}
	o.Identity = s.id.in(&o.Secret)
	g, t, err := openGate(ctx, s.Relay, o.Wall)
	if err != nil {
		return err
	}
	s.relayName = g.base.Host
	if s.mode = relay.Rows; s.Match != nil && s.Mesh {
		s.mode = relay.Mesh
	} else if s.Match == nil {
		if s.mode, err = peers.Find(ctx, o.Game, l, g.client(t), s.short.code); err != nil {
			return s.notFound(err)
		}
		if t, err = g.ask(ctx); err != nil {
			return err
		}
	}
	if s.mode == relay.Rows {
		p, err := peers.NewRelayed(s.relayed(g, t))
		if err != nil {
			return err
		}
		s.match, s.meeting = p, p
		return nil
	}
	c, err := relay.NewClient(g.client(t))
	if err != nil {
		return err
	}
	o.Meeting = &peers.Meeting{Client: c, Addrs: []netip.AddrPort{g.at}, Code: s.short.code,
		Back: s.backTo(), Locals: locals[:min(len(locals), relay.MaxLocals)]}
	p, err := peers.New(*o)
	if err != nil {
		return err
	}
	s.match, s.meeting = p, p
	return nil
}

// notFound says why there is no match to join.
func (s *session) notFound(err error) error {
	var refused *relay.RefusedError
	switch {
	case errors.As(err, &refused):
		if refused.Why == relay.RefusedUnknown {
			s.seats.drop(s.relayName, s.short.String())
		}
		return fmt.Errorf("the match does not let you in: %s", refused.Text)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the relay at %s does not answer over UDP", s.Relay)
	}
	return err
}

// backTo is by what this program returns to the match that it joins, or zero.
func (s *session) backTo() (secret [relay.SecretSize]byte) {
	if s.Match == nil && !s.Watch {
		secret = s.seats.secret(s.relayName, s.short.code)
	}
	return secret
}

// relayed is what plays by rows.
func (s *session) relayed(g *gate, t token.Token) peers.RelayedOptions {
	o := &s.peer
	name := o.Name
	for len(name) > relay.MaxName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return peers.RelayedOptions{
		Game: o.Game, Link: o.Link, Seed: o.Seed, Identity: o.Identity, Secret: o.Secret,
		Name: name, Wall: o.Wall, Token: t, Servers: []netip.AddrPort{g.at}, Renew: g.renew,
		Create: s.Match, World: o.World, Wait: s.Wait, Packets: o.Packets, Code: s.short.code,
		Back:  s.backTo(),
		Watch: o.Watch, Behind: o.Behind, Input: o.Input, After: o.After, News: o.News,
		Style: o.Style,
	}
}

// code waits for the relay to say by what others find the match.
func (s *session) code() (shortCode, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for {
		err := s.match.Do(ctx, func() { s.short.code = s.meeting.Code() })
		if err == nil && s.short.code != (relay.Code{}) {
			return s.short, nil
		}
		select {
		case <-ctx.Done():
			return s.short, errors.New("the relay does not answer")
		case <-time.After(20 * time.Millisecond):
		}
		if err != nil {
			return s.short, err
		}
	}
}
