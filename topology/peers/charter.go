package peers

import (
	"fmt"
	"math"
	"net/netip"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// A charter is the body of a decree: who is there, and whose commands count in which ticks. All
// that remain have the same, so all put the same into each tick.
type charter struct {
	next    member.ID  // the number of who comes next; none is used twice
	members []entry    // by rising number
	spans   []span     // by rising beginning
	absent  []absentee // by player
	lapses  []lapse    // in the order in which they were decided
}

// An entry is a member.
type entry struct {
	id     member.ID
	card   card
	addrs  []netip.AddrPort // where it may be reached
	player world.Player     // whom it plays; 0 until it does
	lapses uint8            // how many times it has lapsed, of which the lowest eight bits count
}

// A span is the ticks in which a member commands a player.
type span struct {
	player      world.Player
	member      member.ID
	from, until world.Tick // both count; until is open while it plays
	joins       bool       // the player joins the world in the first tick
}

const open = world.Tick(math.MaxUint64)

// An absentee is a player whom nobody commands, and whose body waits.
type absentee struct {
	player world.Player
	sign   [32]byte
	name   string
	leaves world.Tick // when the body goes
}

const (
	maxAddrs   = 4
	maxMembers = 2 * MaxSeats
	maxSpans   = 8 * MaxSeats
)

func (e *entry) fields(c *bits.Cursor) {
	c.U16((*uint16)(&e.id))
	e.card.fields(c)
	list(c, &e.addrs, maxAddrs, func(a *netip.AddrPort) { c.Addr(a) })
	c.U16((*uint16)(&e.player))
	c.U8(&e.lapses)
}

func (ch *charter) fields(c *bits.Cursor) {
	c.U16((*uint16)(&ch.next))
	list(c, &ch.members, maxMembers, func(e *entry) { e.fields(c) })
	list(c, &ch.spans, maxSpans, func(s *span) {
		c.U16((*uint16)(&s.player))
		c.U16((*uint16)(&s.member))
		tick(c, &s.from)
		tick(c, &s.until)
		c.Bool(&s.joins)
	})
	list(c, &ch.absent, MaxSeats, func(a *absentee) {
		c.U16((*uint16)(&a.player))
		c.Raw(a.sign[:])
		c.Text8(&a.name, maxName)
		tick(c, &a.leaves)
	})
	list(c, &ch.lapses, maxLapses, func(l *lapse) { l.fields(c) })
}

func list[T any](c *bits.Cursor, v *[]T, most int, each func(*T)) {
	n := uint8(len(*v))
	c.U8(&n)
	c.Check(int(n) <= most)
	if c.Reading() {
		*v = nil
		for range n {
			if !c.OK() {
				return
			}
			var x T
			each(&x)
			*v = append(*v, x)
		}
		return
	}
	for i := range *v {
		each(&(*v)[i])
	}
}

func (ch *charter) append(b []byte) []byte {
	c := bits.CursorTo(b)
	ch.fields(&c)
	return c.Data()
}

func readCharter(b []byte) (*charter, error) {
	ch := &charter{}
	c := bits.CursorOver(b)
	ch.fields(&c)
	if !c.Done() {
		return nil, fmt.Errorf("peers: %d bytes are no charter", len(b))
	}
	for i := range ch.members {
		e := &ch.members[i]
		if e.id == 0 || e.id >= ch.next || i > 0 && ch.members[i-1].id >= e.id {
			return nil, fmt.Errorf("peers: member %d out of order", e.id)
		}
	}
	for _, s := range ch.spans {
		if s.from == 0 || s.until < s.from || s.player == world.Nobody || s.member == 0 {
			return nil, fmt.Errorf("peers: player %d from tick %d to %d", s.player, s.from, s.until)
		}
	}
	for _, l := range ch.lapses {
		if l.from == 0 || l.until < l.from || l.until-l.from >= longestLapse || l.member == 0 {
			return nil, fmt.Errorf("peers: member %d lapses from tick %d to %d", l.member, l.from,
				l.until)
		}
	}
	return ch, nil
}

func (ch *charter) find(id member.ID) *entry {
	i, ok := slices.BinarySearchFunc(ch.members, id,
		func(e entry, id member.ID) int { return int(e.id) - int(id) })
	if !ok {
		return nil
	}
	return &ch.members[i]
}

// holder is the member with a key, or nil.
func (ch *charter) holder(sign *[32]byte) *entry {
	for i := range ch.members {
		if ch.members[i].card.sign == *sign {
			return &ch.members[i]
		}
	}
	return nil
}

// playing is how many players are commanded by someone.
func (ch *charter) playing() (n int) {
	for i := range ch.spans {
		if ch.spans[i].until == open {
			n++
		}
	}
	return n
}

// span is the one in which a member plays now, or nil.
func (ch *charter) span(id member.ID) *span {
	for i := range ch.spans {
		if ch.spans[i].member == id && ch.spans[i].until == open {
			return &ch.spans[i]
		}
	}
	return nil
}

// knows says whether somebody is in, or was and is waited for.
func (ch *charter) knows(sign *[32]byte) bool {
	return ch.holder(sign) != nil ||
		slices.ContainsFunc(ch.absent, func(a absentee) bool { return a.sign == *sign })
}

// seat finds a player for a card: the one whose body waits for it, or a free one; zero if all
// seats are taken.
func (ch *charter) seat(sign *[32]byte, seats int) (p world.Player, waits *absentee) {
	for i := range ch.absent {
		if ch.absent[i].sign == *sign {
			return ch.absent[i].player, &ch.absent[i]
		}
	}
	for p := world.Player(1); int(p) <= seats; p++ {
		if !ch.taken(p) {
			return p, nil
		}
	}
	return 0, nil
}

func (ch *charter) taken(p world.Player) bool {
	return slices.ContainsFunc(ch.members, func(e entry) bool { return e.player == p }) ||
		slices.ContainsFunc(ch.absent, func(a absentee) bool { return a.player == p })
}

// close ends the span of a member that is gone, after the last of its commands that anybody holds,
// and takes the member out.
func (ch *charter) close(id member.ID, last, grace world.Tick) {
	e := ch.find(id)
	if e == nil {
		return
	}
	if s := ch.span(id); s != nil && last < s.from {
		// It never said anything in its place, so it was never there; a body that waited goes on
		// waiting.
		if !s.joins {
			ch.absent = append(ch.absent, absentee{player: e.player, sign: e.card.sign,
				name: e.card.name, leaves: s.from + grace})
		}
		ch.spans = slices.DeleteFunc(ch.spans, func(x span) bool { return x == *s })
	} else if s != nil {
		s.until = last
		ch.absent = append(ch.absent, absentee{player: e.player, sign: e.card.sign,
			name: e.card.name, leaves: last + 1 + grace})
	}
	ch.members = slices.DeleteFunc(ch.members, func(x entry) bool { return x.id == id })
}

// keys is how members sign what they say in the council.
type keys struct {
	id    *identity
	match *[32]byte
	epoch uint32
	body  []byte
	of    *charter
}

func (k *keys) charter(d *council.Decree) *charter {
	if k.of == nil || k.epoch != d.Epoch || !slices.Equal(k.body, d.Body) {
		ch, err := readCharter(d.Body)
		if err != nil {
			return nil
		}
		k.epoch, k.body, k.of = d.Epoch, slices.Clone(d.Body), ch
	}
	return k.of
}

func (k *keys) Sign(text []byte) council.Signature {
	return k.id.signs(statement("council", k.match, text))
}

func (k *keys) Verify(d *council.Decree, id member.ID, text []byte, s council.Signature) bool {
	ch := k.charter(d)
	if ch == nil {
		return false
	}
	e := ch.find(id)
	return e != nil && e.card.signed(statement("council", k.match, text), (*[64]byte)(&s))
}

// approve says whether a decree that another proposes may follow: the keys of those who stay are
// not its to change, nor does a newcomer vote at once.
func (k *keys) approve(present, next *council.Decree) bool {
	now, then := k.charter(present), (*charter)(nil)
	if then, _ = readCharter(next.Body); now == nil || then == nil || then.next < now.next {
		return false
	}
	for i := range then.members {
		e := &then.members[i]
		was := now.find(e.id)
		if was != nil && (was.card.sign != e.card.sign || was.card.agree != e.card.agree) ||
			was != nil && e.lapses-was.lapses > 1 || // one at a time
			was == nil && (next.Votes(e.id) || e.id < now.next || now.holder(&e.card.sign) != nil) {
			return false
		}
	}
	return !slices.ContainsFunc(slices.Concat(next.Voters, next.Learners),
		func(id member.ID) bool { return then.find(id) == nil })
}
