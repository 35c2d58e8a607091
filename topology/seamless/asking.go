package seamless

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// asking is what servers ask of each other for their players: to join, to leave, and to bring
// commands to where a player is. What is asked is said again until it is answered; commands are
// not.
type asking struct {
	requests []*request
	joins    map[uint64]zone.ServerID         // which other server has asked to let somebody in
	leaves   map[world.Player][]zone.ServerID // which have said that somebody leaves
	where    map[world.Player]zone.ID         // where players are, as far as is known here
	buf      []byte
	image    []byte
	intent   []byte
}

// request is something that this server has asked.
type request struct {
	nonce uint64       // of one who joins
	who   world.Player // who leaves, if that is not Nobody
	at    time.Duration
	tries int
	then  func(world.Player)
	over  bool
}

// What one server says to another; the first byte of a message says which.
const (
	saysZones = iota
	saysJoin
	saysJoined
	saysLeave
	saysLeft
	saysCommand
	saysWhere
	saysIntents  // as saysCommand, several commands of a player for ticks
	saysToHome   // a command for home
	saysSeated   // home has given a client a player
	saysUnseated // or has taken it away
	saysWatch    // what a gateway wants to see
	saysFeed     // what a zone shows to a gateway
	saysSeen     // how far a gateway has it
	saysChat     // what somebody says at a gateway
)

const (
	askAgain    = 100 * time.Millisecond
	commandHops = 16 // how often a command is brought on to where its player went
	maxAskers   = 1 << 12
	// staysThere, in place of a number of hops, is of commands for a player who is about to come.
	staysThere = 255
)

func (a *asking) open() {
	a.joins, a.leaves = map[uint64]zone.ServerID{}, map[world.Player][]zone.ServerID{}
	a.where = map[world.Player]zone.ID{}
}

// wrap makes a message of what zones say.
func (a *asking) wrap(data []byte) []byte {
	a.buf = append(append(a.buf[:0], saysZones), data...)
	return a.buf
}

// ask begins to ask.
func (n *node) ask(r *request) {
	r.at = n.now
	n.asking.requests = append(n.asking.requests, r)
}

func (a *asking) deadline() time.Duration {
	d := time.Duration(1<<63 - 1)
	for _, r := range a.requests {
		d = min(d, r.at)
	}
	return d
}

// tend says again what was not answered.
func (a *asking) tend(n *node) {
	for _, r := range a.requests {
		if !r.over && n.now >= r.at {
			r.at = n.now + askAgain
			a.say(n, r)
		}
	}
	a.requests = slices.DeleteFunc(a.requests, func(r *request) bool { return r.over })
}

func (a *asking) say(n *node, r *request) {
	home := n.head.Plan.Home
	r.tries++
	owner, ok := n.owner(home, r.tries%2 == 1)
	switch {
	case !ok:
	case owner == n.opt.Self:
		if r.who != world.Nobody {
			_ = n.zones.Command(home, putUint([]byte{commandLeave}, uint64(r.who)))
		} else {
			_ = n.zones.Command(home, putFixed([]byte{commandJoin}, r.nonce))
		}
	case r.who != world.Nobody:
		n.lines.send(owner, false, putUint([]byte{saysLeave}, uint64(r.who)))
	default:
		n.lines.send(owner, false, putFixed([]byte{saysJoin}, r.nonce))
	}
}

// joined has heard that somebody was let in.
func (a *asking) joined(n *node, nonce uint64, who world.Player) {
	for _, r := range a.requests {
		if r.who == world.Nobody && r.nonce == nonce && !r.over {
			r.over = true
			delete(a.where, who)
			r.then(who)
		}
	}
	if to, ok := a.joins[nonce]; ok {
		delete(a.joins, nonce)
		n.lines.send(to, false, putUint(putFixed([]byte{saysJoined}, nonce), uint64(who)))
	}
}

// left has heard that a player has left.
func (a *asking) left(n *node, who world.Player) {
	delete(a.where, who)
	for _, r := range a.requests {
		if r.who == who && !r.over {
			r.over = true
			r.then(who)
		}
	}
	for _, to := range a.leaves[who] {
		n.lines.send(to, false, putUint([]byte{saysLeft}, uint64(who)))
	}
	delete(a.leaves, who)
}

// take takes a message of another server.
func (n *node) take(from zone.ServerID, data []byte) {
	r := reader{b: data}
	a, home := &n.asking, n.head.Plan.Home
	switch r.byte() {
	case saysZones:
		if !r.bad {
			n.zones.Receive(n.now, from, r.b)
		}
		return
	case saysJoin:
		nonce := r.fixed()
		if r.done() && len(a.joins) < maxAskers {
			a.joins[nonce] = from
			_ = n.zones.Command(home, putFixed([]byte{commandJoin}, nonce))
		}
	case saysLeave:
		who := world.Player(r.below(1 << 16))
		if r.done() && who != world.Nobody {
			if list := a.leaves[who]; !slices.Contains(list, from) {
				a.leaves[who] = append(list, from)
			}
			_ = n.zones.Command(home, putUint([]byte{commandLeave}, uint64(who)))
		}
	case saysJoined:
		nonce := r.fixed()
		who := world.Player(r.below(1 << 16))
		if r.done() {
			a.joined(n, nonce, who)
		}
	case saysLeft:
		who := world.Player(r.below(1 << 16))
		if r.done() {
			a.left(n, who)
		}
	case saysToHome:
		if len(r.b) > 0 && r.b[0] >= commandSeat && r.b[0] <= commandRenew {
			_ = n.zones.Command(home, r.b)
		} else {
			r.fail()
		}
	case saysWatch:
		n.feeds.watched(n.now, from, &r)
	case saysSeen:
		n.feeds.seen(n.now, from, &r)
	case saysFeed, saysSeated, saysUnseated, saysChat:
		if n.gate != nil {
			n.gate.take(from, data[0], &r)
		}
	case saysCommand, saysIntents:
		origin, hops := zone.ServerID(r.fixed()), int(r.byte())
		to, who := zone.ID(r.below(1<<32)), world.Player(r.below(1<<16))
		if command := r.rest(); !r.bad {
			n.bring(brought{origin, hops, to, who, command, data[0] == saysIntents})
		}
	case saysWhere:
		who, to := world.Player(r.below(1<<16)), zone.ID(r.below(1<<32))
		if r.done() {
			a.where[who] = to
		}
	default:
		r.fail()
	}
	if r.bad {
		n.meter.strange++
	}
}

// brought is a command on its way to where its player is.
type brought struct {
	origin  zone.ServerID
	hops    int
	to      zone.ID
	who     world.Player
	command []byte
	intents bool // the command is several, for ticks
}

// command brings what a player of this server commands to where the player is.
func (n *node) command(who world.Player, image []int32) {
	to, ok := n.asking.where[who]
	if !ok {
		to = n.head.Plan.Home
	}
	n.asking.image = writeCommand(n.asking.image[:0], who, image)
	n.bring(brought{origin: n.opt.Self, to: to, who: who, command: n.asking.image})
}

// bring gives a command to the zone where its player is, by following from one to the next where
// the player went. It need not arrive: a player says the next one soon.
func (n *node) bring(c brought) {
	if c.hops == staysThere {
		if b := n.body(c.to); b != nil {
			n.deliver(b, &c)
		} else {
			n.carry(&c)
		}
		return
	}
	asked := c.to
	for ; c.hops < commandHops; c.hops++ {
		b := n.body(c.to)
		if b == nil {
			n.carry(&c)
			return
		}
		at, ok := b.finds(c.who)
		switch {
		case ok && at == c.to:
			n.deliver(b, &c)
			if c.to != asked || c.hops > 0 {
				n.tellWhere(&c)
			}
			return
		case ok:
			c.to = at
		case c.to != n.head.Plan.Home:
			c.to = n.head.Plan.Home
		default:
			return // nobody plays by that number
		}
	}
	delete(n.asking.where, c.who)
}

// deliver gives a command to the zone that it is for. Of those for ticks, what was given before is
// left out.
func (n *node) deliver(b *body, c *brought) {
	if !c.intents {
		_ = n.zones.Command(c.to, c.command)
		return
	}
	r, a := reader{b: c.command}, &n.asking
	for len(r.b) > 0 && !r.bad {
		data := r.bytes()
		tick, ok := binary.Uvarint(data)
		if r.bad || ok <= 0 || !n.given.first(c.to, c.who, world.Tick(tick)) {
			continue
		}
		// Those before the newest are said again, as a rule.
		if world.Tick(tick) <= b.w.Tick() && len(r.b) == 0 && c.hops == 0 {
			n.feeds.late[c.origin]++
		}
		a.intent = append(putUint(append(a.intent[:0], commandAt), uint64(c.who)), data...)
		_ = n.zones.Command(c.to, a.intent)
	}
}

// given are the ticks for which commands of players were given to zones, as they come several
// times.
type given map[givenTo]*givenTicks

type givenTo struct {
	zone zone.ID
	who  world.Player
}

// givenTicks are the newest tick, and which of those before it.
type givenTicks struct {
	newest world.Tick
	mask   uint64
}

// first says whether a command comes for the first time, as far as is known.
func (g given) first(z zone.ID, who world.Player, t world.Tick) bool {
	x := g[givenTo{z, who}]
	if x == nil {
		if len(g) >= maxGiven {
			clear(g) // zones take what comes again for what it is
		}
		x = &givenTicks{newest: t}
		g[givenTo{z, who}] = x
	}
	if t > x.newest {
		if by := t - x.newest; by < 64 {
			x.mask <<= by
		} else {
			x.mask = 0
		}
		x.newest = t
	}
	back := x.newest - t
	if back >= 64 || x.mask>>back&1 != 0 {
		return false
	}
	x.mask |= 1 << back
	return true
}

const maxGiven = 1 << 14

// carry sends a command to the server that has its zone.
func (n *node) carry(c *brought) {
	owner, ok := n.owner(c.to, false)
	if !ok || owner == n.opt.Self {
		return
	}
	a := &n.asking
	kind := byte(saysCommand)
	if c.intents {
		kind = saysIntents
	}
	a.buf = putFixed(append(a.buf[:0], kind), uint64(c.origin))
	a.buf = append(a.buf, byte(min(c.hops+1, staysThere)))
	a.buf = putUint(putUint(a.buf, uint64(c.to)), uint64(c.who))
	a.buf = append(a.buf, c.command...)
	n.lines.send(owner, true, a.buf)
}

// tellWhere has the server from which a command came know where its player is.
func (n *node) tellWhere(c *brought) {
	if c.origin == n.opt.Self {
		n.asking.where[c.who] = c.to
		return
	}
	msg := putUint(putUint([]byte{saysWhere}, uint64(c.who)), uint64(c.to))
	n.lines.send(c.origin, true, msg)
}
