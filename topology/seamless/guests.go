package seamless

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// guests are the clients of a gateway, as far as it has asked home about them.
type guests struct {
	of      map[uint64]*guest
	list    []*guest // in order of client
	told    []Word
	coming  []coming
	going   []coming // those whose body is still shown, until another gateway shows it
	renewAt time.Duration
	buf     []byte
}

// coming is one of whom home has said who they are, and who waits until that is seen here.
type coming struct {
	Word
	until time.Duration
}

// goingTime is for how long somebody is shown the world here who is at another gateway by now.
const goingTime = 5 * time.Second

// comingTime is for how long it is waited for the body of a player at most. One that has just
// joined may have none.
const comingTime = 300 * time.Millisecond

// guest is one client. Asked for says what home was asked, until it has answered.
type guest struct {
	client uint64
	player world.Player
	hops   uint32
	asks   inquiry
	nonce  uint64
	at     time.Duration
	tries  int
}

type inquiry uint8

const (
	asksNothing inquiry = iota
	asksIn
	asksOut
)

// A Word is what a gate has heard about people.
type Word struct {
	Kind   WordKind
	Client uint64
	Player world.Player
	// Said is a line of somebody at another gateway.
	Name, Text string
	Alone      []world.Player
}

// A WordKind says what is told.
type WordKind uint8

const (
	// Seated: Client is Player, here.
	Seated WordKind = iota + 1
	// Full: there is no player for Client.
	Full
	// Moved: Client, who is Player, is at another gateway now.
	Moved
	// Spoken: Player has said Text by Name, to those Alone if there are any.
	Spoken
)

func (q *guests) open() { q.of = map[uint64]*guest{} }

func (q *guests) find(client uint64) (int, bool) {
	return slices.BinarySearchFunc(q.list, client, func(x *guest, c uint64) int {
		switch {
		case x.client < c:
			return -1
		case x.client > c:
			return 1
		}
		return 0
	})
}

// Words gives what was heard since the last call.
func (g *Gate) Words() []Word {
	q := &g.who
	q.coming = slices.DeleteFunc(q.coming, func(c coming) bool {
		x := q.of[c.Client]
		if x == nil || x.player != c.Player {
			return true // gone before it was here
		}
		id, seen := g.sight.bodies[c.Player]
		if !(seen && g.w.Owner(id) == c.Player) && g.n.now < c.until {
			return false
		}
		q.told = append(q.told, c.Word)
		return true
	})
	list := g.who.told
	g.who.told = nil
	return list
}

// Claim asks home for a player for a client: the one that it is, wherever it was before. The answer
// comes by Words.
func (g *Gate) Claim(client uint64) {
	q := &g.who
	x := q.of[client]
	if x == nil {
		x = &guest{client: client}
		i, _ := q.find(client)
		q.of[client], q.list = x, slices.Insert(q.list, i, x)
	}
	var b [8]byte
	g.n.lines.random.Read(b[:])
	x.asks, x.nonce, x.at, x.tries = asksIn, binary.BigEndian.Uint64(b[:]), g.n.now, 0
}

// Release gives up a client's player, unless another gateway has it by now.
func (g *Gate) Release(client uint64) {
	if x := g.who.of[client]; x != nil {
		x.asks, x.at, x.tries = asksOut, g.n.now, 0
		g.watch.expect(x.player, false)
	}
}

// Say lets the players of other gateways hear what one of this one says.
func (g *Gate) Say(who world.Player, name, text string, alone []world.Player) {
	m := putUint([]byte{saysChat}, uint64(who))
	m = putBytes(putBytes(m, []byte(name)), []byte(text))
	for _, p := range alone {
		m = putUint(m, uint64(p))
	}
	for _, l := range g.n.lines.list {
		if l.open() && g.n.directory.isGate(l.id) {
			g.n.lines.send(l.id, false, m)
		}
	}
}

func (g *Gate) spoken(r *reader) {
	w := Word{Kind: Spoken, Player: world.Player(r.below(1 << 16)), Name: string(r.bytes()),
		Text: string(r.bytes())}
	for len(r.b) > 0 && !r.bad {
		w.Alone = append(w.Alone, world.Player(r.below(1<<16)))
	}
	if !r.bad {
		g.who.told = append(g.who.told, w)
	}
}

// tend says again what was not answered.
func (q *guests) tend(g *Gate) {
	for _, x := range q.list {
		if x.asks != asksNothing && g.n.now >= x.at {
			x.at = g.n.now + askAgain
			x.tries++
			q.ask(g, x)
		}
	}
	q.going = slices.DeleteFunc(q.going, func(c coming) bool {
		if g.n.now < c.until {
			return false
		}
		if !slices.ContainsFunc(q.list, func(x *guest) bool { return x.player == c.Player }) {
			g.watch.expect(c.Player, false)
		}
		return true
	})
	if g.n.now < q.renewAt || len(q.list) == 0 {
		return
	}
	q.renewAt = g.n.now + renewEvery*time.Second
	q.buf = putFixed(append(q.buf[:0], commandRenew), uint64(g.n.opt.Self))
	for _, x := range q.list {
		if q.buf = putFixed(q.buf, x.client); len(q.buf) > renewBytes {
			g.n.toHome(q.buf, true)
			q.buf = q.buf[:9]
		}
	}
	g.n.toHome(q.buf, true)
}

const renewBytes = 8 << 10

func (q *guests) ask(g *Gate, x *guest) {
	self := uint64(g.n.opt.Self)
	if x.asks == asksIn {
		q.buf = putFixed(putFixed(append(q.buf[:0], commandSeat), x.client), self)
		q.buf = putFixed(q.buf, x.nonce)
	} else {
		q.buf = putFixed(putFixed(append(q.buf[:0], commandUnseat), x.client), self)
	}
	g.n.toHome(q.buf, x.tries%2 == 1)
}

// toHome brings a command to home.
func (n *node) toHome(command []byte, heard bool) {
	home := n.head.Plan.Home
	owner, ok := n.owner(home, heard)
	switch {
	case !ok:
	case owner == n.opt.Self:
		_ = n.zones.Command(home, command)
	default:
		n.asking.buf = append(append(n.asking.buf[:0], saysToHome), command...)
		n.lines.send(owner, false, n.asking.buf)
	}
}

// seated has heard that a client has a player at a gateway, and tells those whom it concerns.
func (n *node) seated(r *reader) {
	nonce, client, gate := r.fixed(), r.fixed(), zone.ServerID(r.fixed())
	who, hops := world.Player(r.below(1<<16)), uint32(r.below(1<<32))
	was := zone.ServerID(r.fixed())
	if !r.done() {
		return
	}
	m := putFixed(putFixed([]byte{saysSeated}, nonce), client)
	m = putUint(putUint(putFixed(m, uint64(gate)), uint64(who)), uint64(hops))
	for _, to := range [...]zone.ServerID{gate, was} {
		switch {
		case to == 0:
		case to == n.opt.Self:
			if n.gate != nil {
				n.gate.seated(&reader{b: m[1:]})
			}
		default:
			n.lines.send(to, false, m)
		}
	}
}

// unseated has heard that a gateway has given up a client.
func (n *node) unseated(r *reader) {
	client, gate := r.fixed(), zone.ServerID(r.fixed())
	if !r.done() {
		return
	}
	m := putFixed([]byte{saysUnseated}, client)
	if gate != n.opt.Self {
		n.lines.send(gate, false, m)
	} else if n.gate != nil {
		n.gate.unseated(&reader{b: m[1:]})
	}
}

// seated takes home's answer, or its word that another gateway has a client now.
func (g *Gate) seated(r *reader) {
	nonce, client, gate := r.fixed(), r.fixed(), zone.ServerID(r.fixed())
	who, hops := world.Player(r.below(1<<16)), uint32(r.below(1<<32))
	x := g.who.of[client]
	if !r.done() || x == nil || hops < x.hops {
		return
	}
	switch {
	case gate != g.n.opt.Self:
		if x.asks == asksIn {
			return // it is on its way back, and home is about to say so
		}
		g.who.told = append(g.who.told, Word{Kind: Moved, Client: client, Player: x.player})
		g.who.going = append(g.who.going, coming{Word{Player: x.player}, g.n.now + goingTime})
		g.who.forget(x)
	case x.asks != asksIn || nonce != x.nonce:
	case who == world.Nobody:
		g.who.told = append(g.who.told, Word{Kind: Full, Client: client})
		g.who.forget(x)
	default:
		x.asks, x.player, x.hops = asksNothing, who, hops
		g.watch.expect(who, true)
		g.who.coming = append(g.who.coming, coming{
			Word{Kind: Seated, Client: client, Player: who}, g.n.now + comingTime})
	}
}

func (g *Gate) unseated(r *reader) {
	if x := g.who.of[r.fixed()]; x != nil && r.done() && x.asks == asksOut {
		g.who.forget(x)
	}
}

func (q *guests) forget(x *guest) {
	delete(q.of, x.client)
	if i, ok := q.find(x.client); ok {
		q.list = slices.Delete(q.list, i, i+1)
	}
}
