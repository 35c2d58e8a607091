package server

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A crowd is a server with one honest player, and others who say whatever they are told to: by
// connections of package conn without the client that belongs to them.
type crowd struct {
	t      *testing.T
	server *Server
	air    map[netip.AddrPort]*wireless
	link   *wireless
	honest *client.Client
	others [4]*liar
	now    time.Duration
	seed   byte
}

type liar struct {
	conn *conn.Client
	link *wireless
	dead bool // sends nothing any more
}

func newCrowd(t *testing.T) *crowd {
	c := &crowd{t: t, air: map[netip.AddrPort]*wireless{}}
	c.link = newWireless(c.air)
	var err error
	// Few seats, so that all of them are wanted.
	c.server, err = New(Options{Title: yardTitle(2, 2, 60), Links: []link.Link{c.link}, Players: 3,
		Spectators: 2, Workers: 1, KeepSeat: 3 * time.Second, Flight: -1,
		Limits: Limits{Greeting: time.Second, Loading: 2 * time.Second},
		Conn:   conn.Options{Timeout: 2 * time.Second, Seed: [32]byte{1}, Wall: wall},
		Level:  Level{Name: "fuzz", Data: []byte("a level with data")},
		Rules:  Rules{Pause: func(*Seat, bool) error { return nil }}})
	must(t, err)
	c.honest, err = client.New(client.Options{Title: yardTitle(2, 2, 60), Style: predict.None,
		Link: newWireless(c.air), Token: c.token(1), Servers: []netip.AddrPort{c.link.addr},
		Conn: conn.Options{Seed: [32]byte{2}}})
	must(t, err)
	for range 60 {
		c.tick()
	}
	if c.honest.Phase() != client.Playing {
		t.Fatalf("the honest player is %v", c.honest.Phase())
	}
	return c
}

func (c *crowd) token(id uint64) token.Token {
	tok, err := c.server.Token(id, nil, time.Hour)
	must(c.t, err)
	return tok
}

// come connects one of the others, as one of few persons, or ends what they had.
func (c *crowd) come(i int, person byte) {
	if l := c.others[i]; l != nil {
		if x := l.conn.Conn(); x != nil && person%2 == 0 {
			x.Close(conn.ReasonLeft, "")
			return
		}
	}
	c.seed++
	l := newWireless(c.air)
	o := conn.Options{Protocol: token.ProtocolID(yard.Name()), Version: wire.Version,
		Channels: wire.Channels(), Seed: sha256.Sum256([]byte{c.seed})}
	x, err := conn.NewClient(conn.ClientOptions{Options: o, Token: c.token(uint64(2 + person%5)),
		Servers: []netip.AddrPort{c.link.addr}})
	must(c.t, err)
	c.others[i] = &liar{conn: x, link: l}
}

// tick lets everyone have their turn.
func (c *crowd) tick() {
	c.now += yard.TickLength()
	batch := make([]link.Datagram, 64)
	for _, l := range c.others {
		if l == nil || l.dead {
			continue
		}
		n, _ := l.link.Receive(batch)
		l.conn.Receive(c.now, batch[:n])
		l.conn.Events()
		_, _ = l.link.Send(l.conn.Flush(c.now, nil))
	}
	if v := c.honest.Frame(c.now, wander); v.Err != nil {
		c.t.Fatalf("the honest player ended: %v", v.Err)
	}
	must(c.t, c.server.Tick(c.now))
	if err := c.server.wrong(); err != nil {
		c.t.Fatal(err)
	}
}

// wrong says what does not fit together in a server's books.
func (s *Server) wrong() error {
	watching, playing := 0, 0
	for id, seat := range s.seats {
		switch {
		case seat.Client != id:
			return fmt.Errorf("seat %d is in the books as %d", seat.Client, id)
		case seat.peer != nil && (seat.peer.seat != seat || s.peers[seat.peer.conn] != seat.peer):
			return fmt.Errorf("seat %d has a peer that is not there", id)
		case seat.Spectator():
			watching++
		case s.players[seat.Player] != seat:
			return fmt.Errorf("player %d is not in the books", seat.Player)
		default:
			playing++
		}
	}
	for i, seat := range s.players {
		if seat != nil && (int(seat.Player) != i || s.seats[seat.Client] != seat) {
			return fmt.Errorf("player %d has a seat that is not in the books", i)
		}
	}
	shownAt := make([]int, len(s.phases))
	for _, p := range s.order {
		if (p.sender != nil) != (p.state == shown) {
			return fmt.Errorf("a peer in state %d has a sender: %v", p.state, p.sender != nil)
		}
		if p.sender != nil {
			shownAt[p.phase]++
		}
		if p.seat != nil && p.seat.peer != p {
			return errors.New("a peer has the seat of another")
		}
	}
	switch {
	case watching != s.watching || watching > s.opt.Spectators || playing > s.opt.Players:
		return fmt.Errorf("%d watch and %d play, of %d who are counted", watching, playing,
			s.watching)
	case fmt.Sprint(shownAt) != fmt.Sprint(s.phases):
		return fmt.Errorf("%v are shown the world, and %v are counted", shownAt, s.phases)
	case len(s.order) != len(s.peers):
		return fmt.Errorf("%d peers in order, %d in all", len(s.order), len(s.peers))
	case len(s.claims) > s.opt.Players:
		return fmt.Errorf("%d claims", len(s.claims))
	}
	return nil
}

// FuzzRequests: clients with valid connections say any valid messages in any order, come, go, fall
// silent and come back as somebody else. The server's books stay right at every tick, and the
// honest player plays on.
func FuzzRequests(f *testing.F) {
	f.Add([]byte{0, 0, 1, 9, 0, 16, 1, 0, 2, 0, 17, 2, 1})
	f.Add([]byte{0, 1, 1, 1, 0, 3, 9, 9, 1, 0, 1, 1, 1, 1, 3, 1, 0, 4, 5, 9, 200})
	f.Add([]byte{3, 0, 9, 30, 19, 0, 9, 30, 35, 0, 9, 9, 2, 4, 9, 9})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 120 {
			return
		}
		c := newCrowd(t)
		defer c.server.Close()
		next := func() byte {
			if len(script) == 0 {
				return 0
			}
			b := script[0]
			script = script[1:]
			return b
		}
		for ticks := 0; len(script) > 0 && ticks < 300; {
			op := next()
			i := int(op >> 4 & 3)
			l := c.others[i]
			switch op & 15 {
			case 0:
				c.come(i, next())
			case 1:
				if l != nil {
					l.dead = !l.dead
				}
			case 2, 3:
				n := int(next() % 64)
				ticks += n
				for range n {
					c.tick()
				}
			case 4:
				if seat := c.server.Seat(uint64(2 + next()%5)); seat != nil {
					c.server.Kick(seat, "enough")
				}
			case 5:
				must(t, c.server.Change(Level{Name: "next", Seed: uint64(next())}))
			case 6:
				c.server.SetPaused(false, "")
			default:
				c.say(l, op&15, next)
			}
			c.tick()
			ticks++
		}
		c.server.SetPaused(false, "")
		at := c.server.World().Tick()
		for range 30 {
			c.tick()
		}
		if c.server.World().Tick() != at+30 || c.server.Seat(1) == nil || c.server.Seat(1).Away() {
			t.Fatal("the honest player does not play on")
		}
	})
}

// say has someone send a message, made of what comes next.
func (c *crowd) say(l *liar, kind byte, next func() byte) {
	if l == nil || l.conn.Conn() == nil {
		return
	}
	m := wire.Message{Kind: wire.Kind(kind), Version: c.server.protocol.Hash(),
		Player: world.Player(next() % 5), On: next()%2 == 0, Epoch: uint32(next() % 4),
		Name: string(make([]byte, next()%4)), Text: "so it is"}
	switch next() % 4 {
	case 0:
		m.Kind = wire.Hello
	case 1:
		m.Kind = wire.Kind(1 + next()%byte(wire.Servers))
	case 2:
		m.Kind, m.Epoch = wire.Ready, 1
	}
	switch next() % 8 {
	case 0:
		_ = l.conn.Conn().Send(wire.StateChannel, []byte{byte(m.Epoch), next(), next()})
	case 1:
		_ = l.conn.Conn().Send(wire.CommandChannel, []byte{byte(m.Epoch), next(), next(), next()})
	default:
		_ = l.conn.Conn().Send(wire.ControlChannel, m.Append(nil))
	}
}
