package peerlab

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/seed"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// A hub is a relay on the network of a match, which gathers commands into rows.
type hub struct {
	server *relay.Server
	line   *line
	key    token.Key
	random *seed.Reader

	before  map[netip.AddrPort]sentTo // when measuring began
	counted relay.Stats
}

// relayStep is how often a relay looks for what has come, as that of {program} relay does.
const relayStep = 2 * time.Millisecond

// open puts a relay on the network.
func (m *match) open() {
	h := &hub{random: seed.New(m.secret("relay"))}
	h.line = &line{Endpoint: m.net.Endpoint("relay")}
	h.line.SetInbox(1 << 12)
	h.random.Read(h.key[:])
	o := relay.Options{Links: []link.Link{h.line}, Keys: []token.Key{h.key},
		Conn: conn.Options{Wall: session.Wall}}
	h.random.Read(o.Conn.Seed[:])
	var err error
	if h.server, err = relay.New(o); err != nil {
		m.fail(err)
		return
	}
	m.hub = h
	h.line.Every(relayStep, func() { m.fail(h.server.Tick(m.net.Now())) })
}

// admit is a token by which a machine connects with the relay.
func (h *hub) admit(i int) (token.Token, error) {
	return token.Issue(h.key, token.Grant{Protocol: relay.Protocol, Client: uint64(i + 1),
		Expires: session.Wall + 1_000_000}, h.random)
}

// follow makes a machine that plays by the relay's rows. The first creates the match.
func (m *match) follow(s *seat, i int, o *peers.Options) (machine, error) {
	h := m.hub
	m.net.Connect(s.end, h.line.Endpoint, m.o.Conditions)
	t, err := h.admit(i)
	if err != nil {
		return nil, err
	}
	r := peers.RelayedOptions{
		Game: o.Game, Link: o.Link, Seed: o.Seed, Identity: o.Identity, Secret: o.Secret,
		Name: o.Name, Wall: o.Wall, Token: t, Servers: []netip.AddrPort{h.line.PublicAddr()},
		Packets: o.Packets, Wait: m.o.Wait, Input: o.Input, After: o.After, News: o.News,
		Style: o.Style,
	}
	if i < m.o.Players { // to who comes late it is sent
		r.World = func(*peers.Match) (*world.World, error) { return m.world() }
	}
	if i == 0 {
		r.Create = &m.founds
	} else if first, ok := m.seats[0].machine.(*peers.Relayed); ok {
		m.until(5*time.Second, "the relay tells a code",
			func() bool { return first.Code() != relay.Code{} })
		r.Code = first.Code()
	}
	if m.err != nil {
		return nil, m.err
	}
	return peers.NewRelayed(r)
}

// AtRelay is what a relay sent, and what it did without.
type AtRelay struct {
	Style string `json:"-" head:"style"`
	// Out and In are all of it, in bytes a second with all headers; Down is what goes to one
	// player, and DownMost to the one with the most.
	Out      float64 `json:"out_bytes_per_second" head:"out, B/s" as:"%.0f"`
	In       float64 `json:"in_bytes_per_second" head:"in, B/s" as:"%.0f"`
	Down     float64 `json:"down_bytes_per_second" head:"down to each" as:"%.0f"`
	DownMost float64 `json:"down_bytes_per_second_most" head:"most" as:"%.0f"`
	// Late is the share of rows that waited in vain, and Repeated of commands that had not come
	// when their row was closed.
	Late     float64 `json:"rows_late" head:"rows late" as:"%.2f %%"`
	Repeated float64 `json:"repeated" head:"commands repeated" as:"%.2f %%"`
}

func (h *hub) begin() {
	h.before, h.counted = h.line.counts(), h.server.Stats()
}

// row sums up what the relay did since measuring began.
func (h *hub) row(r *Row, seconds float64, players int) {
	a := &AtRelay{Style: r.Style, In: r.Bytes * float64(players)}
	var all sentTo
	for to, n := range h.line.counts() {
		x := lab.Less(n, h.before[to])
		a.DownMost = max(a.DownMost, float64(x.withHeaders())/seconds)
		all = lab.Sum(all, x)
	}
	a.Out = float64(all.withHeaders()) / seconds
	a.Down = a.Out / float64(max(players, 1))
	now := h.server.Stats()
	rows := now.Rows - h.counted.Rows
	a.Late = lab.Per(now.Late-h.counted.Late, rows)
	a.Repeated = lab.Per(now.Repeated-h.counted.Repeated, rows*uint64(players))
	r.Relay = a
}

// What a relay of eight players may take at 60 packets a second, with all headers.
const (
	relayOut = 45_000
	relayIn  = 30_000
)

// budget is what of it should be reached.
func (a *AtRelay) budget(r *Result, add func(string, float64, string, bool)) {
	if r.Players != 8 || r.Packets != 60 {
		return
	}
	add(fmt.Sprintf("%s: bytes a second out of the relay", a.Style), a.Out, "at most 45000",
		a.Out <= relayOut)
	add(fmt.Sprintf("%s: bytes a second into the relay", a.Style), a.In, "at most 30000",
		a.In <= relayIn)
}
