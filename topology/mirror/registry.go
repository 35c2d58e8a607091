package mirror

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// A registry knows which mirror speaks for which player at which tick. It is the same on all
// mirrors, since it is made of the überserver's assignments alone, in the order in which they were
// given. A command counts if its mirror was assigned the player from a tick that is not after it.
//
// An assignment may come later than commands that hang on it, and after others for the same tick;
// so whether a command counts must not depend on what may still come. Therefore a mirror from which
// a player is taken may speak for it a little longer: by how much is overlap. Where two have
// spoken, the timeline decides, everywhere alike.
type registry struct {
	overlap world.Tick
	players map[world.Player]*holding
	clients map[uint64]*holding
	version uint64 // it grows when anything changes
}

// A holding is one player, with all who spoke for it.
type holding struct {
	player world.Player
	client uint64
	name   string
	terms  []term // by rising tick
	left   world.Tick
}

// A term is from when on a mirror speaks for a player.
type term struct {
	from   world.Tick
	mirror member.ID
}

func newRegistry(overlap world.Tick) *registry {
	return &registry{
		overlap: overlap, players: map[world.Player]*holding{}, clients: map[uint64]*holding{},
		version: 1}
}

// owner is who speaks for the player now.
func (h *holding) owner() member.ID { return h.terms[len(h.terms)-1].mirror }

// apply takes an assignment. It says false to one that makes no sense, as all mirrors do.
func (r *registry) apply(it *item) bool {
	h := r.players[it.player]
	plays := h != nil && h.left == 0 && h.client == it.client
	switch it.what {
	case assignJoin:
		if h != nil || r.clients[it.client] != nil {
			return false
		}
		h = &holding{
			player: it.player, client: it.client, name: it.name, terms: []term{
				{it.tick, it.member}}}
		r.players[h.player], r.clients[h.client] = h, h
	case assignMove:
		if !plays || h.terms[len(h.terms)-1].from > it.tick {
			return false
		}
		h.terms = append(h.terms, term{it.tick, it.member})
		if it.name != "" {
			h.name = it.name
		}
	case assignLeave:
		if !plays {
			return false
		}
		h.left = it.tick
		delete(r.clients, h.client)
	}
	r.version++
	return true
}

// speaks says whether a mirror speaks for a player at a tick.
func (r *registry) speaks(m member.ID, p world.Player, t world.Tick) bool {
	h := r.players[p]
	if h == nil || h.left != 0 && t >= h.left {
		return false
	}
	for i := len(h.terms) - 1; i >= 0; i-- {
		if h.terms[i].mirror == m && h.terms[i].from <= t {
			return i == len(h.terms)-1 || t <= h.terms[i+1].from+r.overlap
		}
	}
	return false
}

// prune forgets what is settled: numbers of those who left are free again, and terms that are over
// are dropped.
func (r *registry) prune(settled world.Tick) {
	for p, h := range r.players {
		if h.left != 0 && h.left+r.overlap < settled {
			delete(r.players, p)
			r.version++
			continue
		}
		for len(h.terms) > 1 && h.terms[1].from+r.overlap < settled {
			h.terms = h.terms[1:]
		}
	}
}

// free is the lowest number that nobody has, or Nobody.
func (r *registry) free(most int) world.Player {
	for i := 1; i <= most; i++ {
		if r.players[world.Player(i)] == nil {
			return world.Player(i)
		}
	}
	return world.Nobody
}

// list gives all holdings in order of player.
func (r *registry) list() []*holding {
	return slices.SortedFunc(maps.Values(r.players),
		func(a, b *holding) int { return cmp.Compare(a.player, b.player) })
}

// fields reads or writes the registry, for a newcomer.
func (r *registry) fields(c *bits.Cursor) {
	table(c, r.players, func(p *world.Player, v **holding) {
		if c.Reading() {
			*v = &holding{}
		}
		h := *v
		player(c, &h.player)
		c.U64(&h.client)
		tick(c, &h.left)
		text(c, &h.name, maxName)
		list(c, &h.terms, func(t *term) {
			tick(c, &t.from)
			c.U16((*uint16)(&t.mirror))
		})
		c.Check(len(h.terms) > 0 && len(h.terms) <= math.MaxUint16)
		if c.Reading() {
			c.Check(r.players[h.player] == nil)
			*p = h.player
		}
		if h.left == 0 {
			r.clients[h.client] = h
		}
	})
}
