package peers

import (
	"net/netip"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/world"
)

// Kinds of messages, beside commands. Those of the first group go between members, the others
// between a guest and whoever has opened to it.
const (
	kindCouncil   = 1 // what councils say to each other
	kindHave      = 2 // up to which tick the receiver's commands have come
	kindWant      = 3 // that commands of a member are missing
	kindItems     = 4 // commands of a member
	kindCandidate = 5 // that somebody wants to play, to whoever leads
	kindReady     = 6 // that a newcomer is connected with all, and keeps up
	kindMark      = 7 // the hash of a world, and a signature under one's own commands
	kindNeed      = 8 // that somebody's world is wrong, and another is needed
	kindHeads     = 9 // who has signed what, as evidence
	kindDiffers   = 10
	kindLeave     = 11 // that somebody goes
	kindVector    = 12 // whom one reaches; see package paths
	kindBlame     = 13 // for whom one waits, to whoever leads

	kindNonce  = 32 // what a guest has to sign
	kindHello  = 33 // who a guest is and what it wants
	kindNo     = 34 // why not, and where else to ask
	kindDecree = 35 // who plays, with proof
	kindBehind = 36 // how far a guest has come
)

func message(kind uint8, fields func(c *bits.Cursor)) []byte {
	c := bits.CursorTo([]byte{kind})
	if fields != nil {
		fields(&c)
	}
	return c.Data()
}

// have says up to which tick the receiver's commands have come.
type have struct{ upTo world.Tick }

func (m *have) fields(c *bits.Cursor) { tick(c, &m.upTo) }

// want says that commands of a member are missing from a tick on.
type want struct {
	member member.ID
	from   world.Tick
}

func (m *want) fields(c *bits.Cursor) {
	c.U16((*uint16)(&m.member))
	tick(c, &m.from)
}

// items are commands of a member for some ticks on end.
type items struct {
	member member.ID
	era    uint8 // of the member's commands, see lapse.go
	from   world.Tick
	items  [][]byte
}

// maxItems is how many go into one message.
const maxItems = 255

func (m *items) fields(c *bits.Cursor) {
	c.U16((*uint16)(&m.member))
	c.U8(&m.era)
	tick(c, &m.from)
	list(c, &m.items, maxItems, func(b *[]byte) { short(c, b) })
}

func short(c *bits.Cursor, b *[]byte) {
	n := uint8(len(*b))
	c.U8(&n)
	if c.OK() {
		c.Bytes(b, int(n))
	}
}

// candidate is somebody who wants to play.
type candidate struct {
	card  card
	addrs []netip.AddrPort
	// returns says that it was a member when it knocked, and so has lost what it had.
	returns bool
}

func (m *candidate) fields(c *bits.Cursor) {
	m.card.fields(c)
	c.Bool(&m.returns)
	list(c, &m.addrs, maxAddrs, func(a *netip.AddrPort) { c.Addr(a) })
}

// mark is what a member says of a settled tick.
type mark struct {
	tick  world.Tick
	hash  uint64
	turns uint64
	sign  [64]byte // under the digest of its own commands up to there
}

func (m *mark) fields(c *bits.Cursor) {
	n := uint64(m.tick)
	c.Uvarint(&n, uint64(open))
	m.tick = world.Tick(n)
	c.U64(&m.hash)
	c.U64(&m.turns)
	signed := m.sign != [64]byte{}
	if c.Bool(&signed); signed {
		c.Raw(m.sign[:])
	}
}

// head is what a member has signed of its own commands.
type head struct {
	member member.ID
	tick   world.Tick
	head   turns.Head
	sign   [64]byte
}

func (m *head) fields(c *bits.Cursor) {
	c.U16((*uint16)(&m.member))
	tick(c, &m.tick)
	c.Raw(m.head[:])
	c.Raw(m.sign[:])
}

// hello is what a guest says.
type hello struct {
	game  string
	rules uint64
	card  card
	addrs []netip.AddrPort
	watch bool
	// member is what a guest takes itself for that only asks whether it still is one.
	member member.ID
	sign   [64]byte
}

func (m *hello) fields(c *bits.Cursor) {
	c.Text8(&m.game, 255)
	c.U64(&m.rules)
	m.card.fields(c)
	list(c, &m.addrs, maxAddrs, func(a *netip.AddrPort) { c.Addr(a) })
	c.Bool(&m.watch)
	c.U16((*uint16)(&m.member))
	c.Raw(m.sign[:])
}

// no is why a guest is not let in, and where else it may ask.
type no struct {
	why   string
	again bool // it may change
	addrs []netip.AddrPort
}

func (m *no) fields(c *bits.Cursor) {
	c.Text16(&m.why, 1024)
	c.Bool(&m.again)
	list(c, &m.addrs, maxAddrs, func(a *netip.AddrPort) { c.Addr(a) })
}

// state is all that a newcomer needs to follow a match: the world at a mark, who plays, and the
// commands since.
type state struct {
	match  Match
	link   []byte // the decree with its proof
	founds bool   // it is the first decree, and has none
	tick   world.Tick
	turns  uint64
	world  []byte
	flows  []flow
}

// flow is the commands of one member from a tick on.
type flow struct {
	member member.ID
	have   world.Tick // up to where they are in the world
	image  []int32
	head   turns.Head
	items  [][]byte
}

const maxState = 64 << 20

func (m *state) fields(c *bits.Cursor) {
	m.match.fields(c)
	blob(c, &m.link, 1<<20)
	c.Bool(&m.founds)
	tick(c, &m.tick)
	c.U64(&m.turns)
	blob(c, &m.world, maxState)
	list(c, &m.flows, maxSpans, func(f *flow) {
		c.U16((*uint16)(&f.member))
		tick(c, &f.have)
		n := uint16(len(f.image))
		c.U16(&n)
		c.Check(n < 4096)
		if c.Reading() && c.OK() {
			f.image = make([]int32, n)
		}
		for i := range f.image {
			v := uint32(f.image[i])
			c.U32(&v)
			f.image[i] = int32(v)
		}
		c.Raw(f.head[:])
		count := uint16(len(f.items))
		c.U16(&count)
		c.Check(count <= turns.Window)
		for i := range int(count) {
			var b []byte
			if !c.Reading() {
				b = f.items[i]
			}
			short(c, &b)
			if c.Reading() && c.OK() {
				f.items = append(f.items, slices.Clone(b))
			}
		}
	})
}
