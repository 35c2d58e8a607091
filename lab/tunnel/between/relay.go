package between

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// A hub is a relay, which gathers commands into rows.
type hub struct {
	server *relay.Server
	end    *netsim.Endpoint
	spot   tunnel.Spot
	key    token.Key
}

// relayStep is how often a relay looks for what has come, as that of {program} relay does.
const relayStep = 2 * time.Millisecond

// relayed is an architecture with a relay.
func relayed(name, about string, style peers.Style) tunnel.Architecture {
	a := architecture(name, about, style, peers.Match{})
	a.Start = func(t *tunnel.Trial) (tunnel.Match, error) { return startRelayed(t, style) }
	a.Knobs = func(tunnel.Course) []knob.Knob { return knob.List(peers.Knobs(style, true)) }
	a.Command = "peer host {game} --relay RELAY --style lockstep"
	if style.Depth > 0 {
		a.Command = "peer host {game} --relay RELAY --style rollback"
	}
	return a
}

func startRelayed(t *tunnel.Trial, style peers.Style) (tunnel.Match, error) {
	m := &match{Trial: t, in: t.Subject.Game.NewInputs()}
	var err error
	if m.truth, err = t.World(); err != nil {
		return nil, err
	}
	if err := m.openRelay(); err != nil {
		return nil, err
	}
	set, err := tuned(t, style, true)
	if err != nil {
		return nil, err
	}
	secret := t.Seed32()
	for _, s := range t.Seats {
		p := &seat{Seat: s, match: m}
		s.Screen = p.screen
		name := fmt.Sprint("player ", s.Index+1)
		s.End = t.Endpoint(name, tunnel.OfPlayer)
		t.Net.Connect(s.End, m.relay.end, t.Field.Path(s.Spot, m.relay.spot))
		tok, err := token.Issue(m.relay.key, token.Grant{Protocol: relay.Protocol,
			Client: uint64(s.Index + 1), Expires: session.Wall + 86400}, t.Random)
		if err != nil {
			return nil, err
		}
		o := peers.RelayedOptions{
			Game: t.Subject.Game, Link: s.End, Seed: t.Seed32(), Secret: secret, Name: name,
			Wall: session.Wall, Token: tok, Servers: []netip.AddrPort{m.relay.end.PublicAddr()},
			Input: p.input, After: p.computed, Style: set.Style,
			Wait: set.Wait, Packets: set.Packets,
			World: func(*peers.Match) (*world.World, error) { return t.World() },
		}
		if s.Index == 0 {
			o.Create = &peers.Match{Level: t.Subject.Level, Seed: t.Seed, Seats: t.Players,
				Start: t.Players}
		}
		m.seats = append(m.seats, p)
		s.End.After(session.Offset(t.Subject.Game.TickLength(), s.Index, t.Players),
			func() { p.connect(o) })
	}
	return m, nil
}

// openRelay puts a relay on the network, in the best place.
func (m *match) openRelay() (err error) {
	t := m.Trial
	h := &hub{end: t.Endpoint("relay", tunnel.OfServer), spot: t.Field.Servers(1, t.Players)[0]}
	_, _ = t.Random.Read(h.key[:]) // it never fails
	h.server, err = relay.New(relay.Options{Links: []link.Link{h.end}, Keys: []token.Key{h.key},
		Conn: conn.Options{Wall: session.Wall, Seed: t.Seed32()}})
	if err != nil {
		return err
	}
	m.relay = h
	h.end.Every(relayStep, func() {
		t.Spend(tunnel.OfServer, func() { t.Fail(h.server.Tick(t.Net.Now())) })
	})
	return nil
}

// connect makes the machine: all but the first need the code that the relay gave that one.
func (p *seat) connect(o peers.RelayedOptions) {
	m := p.match
	if o.Create == nil {
		first, ok := m.seats[0].peer.(*peers.Relayed)
		if !ok || first.Code() == (relay.Code{}) {
			p.End.After(10*time.Millisecond, func() { p.connect(o) })
			return
		}
		o.Code = first.Code()
	}
	r, err := peers.NewRelayed(o)
	if err != nil {
		m.Fail(err)
		return
	}
	p.peer = r
	p.poll()
}
