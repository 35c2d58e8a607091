//go:build !js

package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
)

// A hub is a relay on the mesh of a demo, in a region of its own: peers play by its rows, and reach
// each other over it alone.
type hub struct {
	server *relay.Server
	key    token.Key
	wall   int64
}

// hubRegion is the relay's region.
const hubRegion = mostSeats

func hubAddress() netip.AddrPort { return seatAddress(hubRegion) }

// openHub puts a relay on a mesh.
func openHub(m *mesh) (*hub, error) {
	h := &hub{wall: time.Now().Unix()}
	_, _ = rand.Read(h.key[:]) // it never fails
	o := relay.Options{Links: []link.Link{m.open(hubAddress(), hubRegion)},
		Keys: []token.Key{h.key}, Conn: conn.Options{Wall: h.wall}}
	_, _ = rand.Read(o.Conn.Seed[:])
	var err error
	h.server, err = relay.New(o)
	return h, err
}

// run runs the relay until the context ends.
func (h *hub) run(ctx context.Context) {
	_ = h.server.Run(ctx) // its peers find out
	_ = h.server.Close()
}

// admit gives a token by which a peer connects.
func (h *hub) admit() (token.Token, error) {
	return token.Issue(h.key, token.Grant{Protocol: relay.Protocol, Client: cli.Draw() | 1,
		Expires: h.wall + 365*24*3600}, rand.Reader)
}

// relayed makes a peer that plays by the relay's rows. The seat's lock is held.
func (s *seat) relayed(o *peers.Options) (*peers.Relayed, error) {
	p := s.party
	t, err := p.hub.admit()
	if err != nil {
		return nil, err
	}
	r := peers.RelayedOptions{
		Game: o.Game, Link: o.Link, Seed: o.Seed, Identity: o.Identity, Secret: o.Secret,
		Name: o.Name, Wall: o.Wall, Token: t, Servers: []netip.AddrPort{hubAddress()},
		Renew: p.hub.admit, Timeout: 5 * time.Second, Create: o.Match, World: o.World,
		Watch: o.Watch, Input: o.Input, After: o.After, News: o.News, Style: o.Style,
		Wait: p.set.Wait, Packets: p.set.Packets,
	}
	if o.Match == nil {
		r.Code, r.Back = p.codeOf(), s.back
	}
	return peers.NewRelayed(r)
}

// codeOf is by what peers join the match at the relay.
func (p *party) codeOf() relay.Code {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.code
}

// welcomed notes what the relay has told a peer. It is called by the goroutine that drives it.
func (s *seat) welcomed(made *peers.Relayed) {
	s.mu.Lock()
	s.back = made.Back()
	s.mu.Unlock()
	p := s.party
	p.mu.Lock()
	defer p.mu.Unlock()
	p.code = made.Code()
}

// awaitCode waits until who founds a match has been told its code.
func (p *party) awaitCode() error {
	for range 500 {
		if p.codeOf() != (relay.Code{}) {
			return nil
		}
		select {
		case <-p.ending.Done():
			return p.ending.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return errors.New("the relay tells no code")
}
