package seamless

import (
	"maps"
	"slices"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// players are what a zone knows of those who play, beside what the world does: whose entities are
// here, and where those went that were here. A player who joins does so at home; what commands and
// departures follow are the trails from there.
type players struct {
	trails map[world.Player]*trail
	// owned is how many entities each player has here after this tick, and bodied of those that
	// the player moves about in. moved are those of whom something left.
	owned, bodied []int32
	moved         []world.Player

	// Of home alone: who joined at whose asking lately, so that to ask twice is to ask once, and
	// who has left lately, whose number is not given to another yet.
	joined []joining
	left   map[world.Player]world.Tick
}

// trail is where the entities of a player went that were here.
type trail struct {
	to   []zone.ID // all of them, in order of number
	body zone.ID   // the last to which what the player moves about in went
}

// joining is a player who was let in, and by what number that was asked.
type joining struct {
	nonce  uint64
	player world.Player
}

const (
	// joinsKept is for how many it is known by what number they asked.
	joinsKept = 1024
	// fallow is for how many ticks a player's number is not given to another.
	fallow = 600
)

func newPlayers() players {
	return players{trails: map[world.Player]*trail{}, left: map[world.Player]world.Tick{}}
}

// begin counts anew.
func (p *players) begin() {
	clear(p.owned)
	clear(p.bodied)
	p.moved = p.moved[:0]
}

// owns counts an entity of a player.
func (p *players) owns(who world.Player, body bool) {
	if n := int(who) + 1 - len(p.owned); n > 0 {
		p.owned = append(p.owned, make([]int32, n)...)
		p.bodied = append(p.bodied, make([]int32, n)...)
	}
	p.owned[who]++
	if body {
		p.bodied[who]++
	}
}

// follow notes that an entity of a player went to another zone.
func (p *players) follow(who world.Player, to zone.ID, body bool) {
	t := p.trails[who]
	if t == nil {
		t = &trail{}
		p.trails[who] = t
	}
	if i, ok := slices.BinarySearch(t.to, to); !ok {
		t.to = slices.Insert(t.to, i, to)
	}
	if body || t.body == 0 {
		t.body = to
	}
	p.moved = append(p.moved, who)
}

// here says whether what a player moves about in is here.
func (p *players) here(who world.Player) bool {
	return int(who) < len(p.bodied) && p.bodied[who] > 0
}

// finds says where a player is to be found, as far as this zone knows: here, where a body went, or
// nowhere.
func (b *body) finds(who world.Player) (zone.ID, bool) {
	if b.players.here(who) {
		return b.self, true
	}
	if t := b.players.trails[who]; t != nil && t.body != 0 {
		return t.body, true
	}
	if b.home() && b.w.Present(who) {
		return b.self, true
	}
	return 0, false
}

// unseat has those be present here no more who have nothing here, but at home, where all are.
func (b *body) unseat() {
	b.census.players = 0
	for who := range b.w.Players {
		if b.players.here(who) {
			b.census.players++
		}
	}
	if b.home() {
		return
	}
	for _, who := range b.players.moved {
		if int(who) >= len(b.players.owned) || b.players.owned[who] == 0 {
			b.w.Host().Unseat(who)
		}
	}
}

// Commands for a zone.
const (
	commandPlayer = iota // what a player commands
	commandJoin          // somebody wants to play
	commandLeave         // a player leaves
	commandPlan          // the borders are to move
	commandAt            // what a player commands at a tick; see ahead
	commandSeat          // a client of a gateway wants to play; see seats
	commandUnseat        // a gateway gives up a client's seat
	commandRenew         // whom a gateway has
)

// Events of a zone.
const (
	eventGame     = iota // of the game
	eventJoined          // somebody plays from now on
	eventLeft            // a player has left
	eventSeated          // a client of a gateway is a player
	eventUnseated        // or is not any more
)

// command takes what is given to the zone for this tick.
func (b *body) command(data []byte) {
	r := reader{b: data}
	switch r.byte() {
	case commandPlayer:
		b.commanded(&r)
	case commandJoin, commandLeave, commandSeat, commandUnseat:
		if b.out.asked++; b.out.asked <= maxAsked { // the others ask again
			b.asked(data[0], &r)
		}
	case commandPlan:
		b.plans(&r)
	case commandRenew:
		b.renewed(&r)
	case commandAt: // taken before all else
	default:
		b.faults.strange++
	}
}

// asked lets somebody in or out.
func (b *body) asked(kind byte, r *reader) {
	switch kind {
	case commandSeat:
		b.seated(r)
		return
	case commandUnseat:
		b.unseated(r)
		return
	}
	if kind == commandJoin {
		nonce := r.fixed()
		if r.done() && b.home() {
			b.join(nonce)
			return
		}
	} else if who := world.Player(r.below(1 << 16)); r.done() && who != world.Nobody && b.home() {
		b.left(who)
		b.out.out.Event(putUint([]byte{eventLeft}, uint64(who)))
		return
	}
	b.faults.strange++
}

// writeCommand writes what a player commands, as an image.
func writeCommand(dst []byte, who world.Player, image []int32) []byte {
	dst = putUint(append(dst, commandPlayer), uint64(who))
	for _, v := range image {
		dst = putInt(dst, int64(v))
	}
	return dst
}

func (b *body) commanded(r *reader) {
	schema := b.game.Commands()
	who := world.Player(r.below(1 << 16))
	if schema == nil {
		b.faults.strange++
		return
	}
	image := b.shows.room(len(schema.Slots))
	for i := range image {
		v := r.int()
		if v != int64(int32(v)) {
			r.fail()
		}
		image[i] = int32(v)
	}
	if !r.done() || b.in.GiveImage(who, image) != nil {
		b.faults.strange++
	}
}

// join lets somebody in, under the lowest number that is free.
func (b *body) join(nonce uint64) {
	p := &b.players
	i := slices.IndexFunc(p.joined, func(j joining) bool { return j.nonce == nonce })
	if i < 0 {
		who, ok := b.number()
		if !ok {
			b.told(nonce, world.Nobody)
			return
		}
		if len(p.joined) >= joinsKept {
			p.joined = slices.Delete(p.joined, 0, 1)
		}
		p.joined = append(p.joined, joining{nonce, who})
		i = len(p.joined) - 1
		b.in.Join(who)
	}
	b.told(nonce, p.joined[i].player)
}

func (b *body) told(nonce uint64, who world.Player) {
	b.out.out.Event(putUint(putFixed([]byte{eventJoined}, nonce), uint64(who)))
}

// number finds a number for a player.
func (b *body) number() (world.Player, bool) {
	now := b.w.Tick()
	maps.DeleteFunc(b.players.left, func(_ world.Player, at world.Tick) bool {
		return now-at > fallow
	})
	for who := world.Player(1); int(who) <= b.most; who++ {
		_, fallow := b.players.left[who]
		if !b.w.Present(who) && !fallow && !slices.Contains(b.in.Joins(), who) {
			return who, true
		}
	}
	return world.Nobody, false
}

// left has a player leave here, and wherever something went that was here and the player's. That
// goes the same way, so it comes after it.
func (b *body) left(who world.Player) {
	p := &b.players
	if b.w.Present(who) {
		b.in.Leave(who)
	}
	if b.home() {
		p.left[who] = b.w.Tick()
		p.joined = slices.DeleteFunc(p.joined, func(j joining) bool { return j.player == who })
		b.vacate(who)
	}
	t := p.trails[who]
	if t == nil {
		return
	}
	delete(p.trails, who)
	for _, to := range t.to {
		b.out.tell(to, controlLeft, putUint(nil, uint64(who)))
	}
}
