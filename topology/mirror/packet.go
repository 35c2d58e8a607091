package mirror

import (
	"errors"
	"math"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// What mirrors tell each other, each packet one message of package crimp:
//
//	flags 1: those of the header's five bools, the first in the lowest bit
//	promise     uvarint: nothing is stamped at or before this tick in this packet or a later one
//	lag         uvarint: promise less the tick up to which the sender holds everything of everybody
//	count       uvarint: commands that the sender stamped before this packet
//	if clock: group time uvarint (µs), raw clock 4, echoed member 2, echoed raw clock 4, held uvarint (µs)
//	if hash:  promise less a settled tick uvarint, hash of the world then 8
//	if disk:  epoch uvarint, 0, or promise less the tick that the sender's disk has and 1, uvarint
//	items to the end, each: kind 1, and what codec.item says
//
// docs/protocol.md has all of it.

// A header is what stands before the items of a packet.
type header struct {
	clock   bool // clocks follow
	hash    bool // the hash of a settled world follows
	waiting bool // the sender has not been started: it stamps nothing yet
	unsure  bool // the sender does not know the time
	disk    bool // what the sender's disk has follows

	promise, have world.Tick
	count         uint32

	group       time.Duration
	raw         uint32
	echoed      member.ID
	echoRaw     uint32
	held        time.Duration
	settledTick world.Tick
	settledHash uint64
	kept        keptSaid
}

// itemKind says what an item is.
type itemKind byte

const (
	itemGive    itemKind = iota + 1 // a player's command
	itemClaim                       // a mirror wants a player for a client
	itemRelease                     // a mirror's client has left
	itemAssign                      // the überserver gives a player to a mirror
	itemDeny                        // the überserver has no player for a client
	itemStart                       // the überserver lets a mirror stamp
	itemWhere                       // where clients find the sender
	itemChat                        // a line
	itemRuling                      // what the judge decided; package timeline
	itemTell                        // an input of another kind
	itemPart                        // the first bytes of a ruling or telling that follows
	itemResign                      // a former überserver decides nothing more
	itemEvent                       // what strictly happened, as the überserver says
	_                               // not used any more
	itemHalt                        // the game is to be given to another group; see halt.go
	itemPause                       // the world is to stand still, or to go on; see pause.go
	itemLevel                       // another level is to begin; see level.go
	itemKinds
)

// What an assignment does to the player in the world.
const (
	assignMove  byte = iota // nothing: it is there
	assignJoin              // it comes in
	assignLeave             // it leaves; its number is free afterwards
	assigns
)

// An item is one thing that a mirror tells the others. Each kind uses some of the fields.
type item struct {
	kind   itemKind
	player world.Player // give, release, assign, chat
	// give, assign, start, tell, resign, halt, pause, level: later than the packet's promise
	tick   world.Tick
	image  []int32     // give
	sight  world.Sight // give: what the player was shown, if that is said
	shown  bool        // give: it is
	told   world.Told  // tell
	client uint64      // claim, release, assign, deny; level: which
	member member.ID   // assign, deny, start: to whom
	// assign, start, halt, pause, level: the roster under which the sender is überserver; resign:
	// of the next
	epoch uint32
	what  byte // assign, halt, pause, level
	// where: how many play there; halt: for how many milliseconds; pause, level: how many the
	// sender knows, or how many bytes there are, or how far it is
	load  uint32
	shift time.Duration  // pause: for how long the world has stood still in all
	room  uint32         // where: how many should at most, or 0; level: where a piece begins
	why   wire.Journey   // claim; assign: its reason alone
	alone []world.Player // chat: for whom it is, if not for everyone
	addr  netip.AddrPort // where: for clients
	peer  netip.AddrPort // where: for mirrors
	name  string         // claim, assign, where, chat
	text  string         // chat; halt: where players are sent; pause: why; level: what is wrong
	data  []byte         // ruling, tell, part, event, level
	seq   uint32         // of the sender's stamped items up to this one; it is not sent
}

// stamped says whether the item counts among the commands of its mirror's timeline.
func (it *item) stamped() bool {
	return it.kind == itemGive || it.kind == itemTell ||
		it.kind == itemAssign && it.what != assignMove
}

// halt is what an item says of a halt.
func (it *item) halt(c *bits.Cursor, promise world.Tick) {
	c.U8(&it.what)
	c.Check(it.what > 0 && it.what < haltKinds)
	if it.decides() {
		after(c, promise, &it.tick)
		c.U32(&it.epoch)
	}
	if it.what == haltCedeAsk {
		tick(c, &it.tick)
	}
	if it.what == haltAsk || it.what == haltAt {
		atMost(c, &it.load, 1<<20)
	}
	if it.what == haltCedeAsk || it.what == haltCede {
		text(c, &it.text, maxServers)
	}
}

// decides says whether an item of a halt, a pause or a level is the überserver's.
func (it *item) decides() bool {
	switch it.kind {
	case itemHalt:
		return it.what == haltAt || it.what == haltOn || it.what == haltCede
	case itemPause:
		return it.what == pauseAt || it.what == resumeFrom
	case itemLevel:
		return it.what == levelAt
	}
	return false
}

const (
	maxName = 64
	maxText = 512
)

// errPacket is all that a decoder says about a packet that makes no sense.
var errPacket = errors.New("mirror: malformed packet of another mirror")

// A codec reads and writes packets of one game.
type codec struct {
	in      *world.Inputs
	rewinds bool // commands may say what was shown with them
	sync    bits.Sync
	writer  bits.Writer
	reader  bits.Reader
	buf     []byte
	image   []int32
	free    []*packet // for parse to use again
}

// maxCommand bounds the bytes of a command.
const maxCommand = 1 << 10

func newCodec(g *world.Game) *codec {
	c := &codec{in: g.NewInputs(), buf: make([]byte, maxCommand), rewinds: g.Rewinds() > 0}
	if s := g.Commands(); s != nil {
		c.image = make([]int32, len(s.Slots))
	}
	return c
}

// flags are the bools of the header in the order of their bits.
func (h *header) flags() [5]*bool {
	return [5]*bool{&h.clock, &h.hash, &h.waiting, &h.unsure, &h.disk}
}

// fields reads or writes the header.
func (h *header) fields(c *bits.Cursor) {
	var flags byte
	for i, on := range h.flags() {
		if *on {
			flags |= 1 << i
		}
	}
	c.U8(&flags)
	c.Check(flags < 1<<len(h.flags()))
	for i, on := range h.flags() {
		*on = flags>>i&1 != 0
	}
	tick(c, &h.promise)
	before(c, h.promise, &h.have)
	bits.Number(c, &h.count, math.MaxUint32)
	if h.clock {
		micros(c, &h.group)
		c.U32(&h.raw)
		c.U16((*uint16)(&h.echoed))
		c.U32(&h.echoRaw)
		micros(c, &h.held)
	}
	if h.hash {
		before(c, h.promise, &h.settledTick)
		c.U64(&h.settledHash)
	}
	if h.disk {
		h.kept.fields(c, h.promise)
	}
}

// append writes the header.
func (h *header) append(b []byte) []byte {
	c := bits.CursorTo(b)
	h.fields(&c)
	return c.Data()
}

// item reads or writes one. Ticks are distances from the packet's promise. What an item that was
// read points to is good until the next.
func (k *codec) item(c *bits.Cursor, promise world.Tick, it *item) {
	c.U8((*uint8)(&it.kind))
	switch it.kind {
	case itemGive:
		player(c, &it.player)
		after(c, promise, &it.tick)
		if k.rewinds {
			if c.Bool(&it.shown); it.shown {
				sight(c, &it.sight)
			}
		}
		k.command(c, &it.image)
	case itemTell:
		after(c, promise, &it.tick)
		told(c, &it.told)
		blob(c, &it.data, maxTold)
	case itemPart:
		blob(c, &it.data, maxTold)
	case itemClaim:
		c.U64(&it.client)
		why(c, &it.why.Why)
		c.U16(&it.why.Trip)
		c.U16(&it.why.From)
		text(c, &it.name, maxName)
	case itemRelease:
		c.U64(&it.client)
		player(c, &it.player)
	case itemAssign:
		player(c, &it.player)
		after(c, promise, &it.tick)
		c.U64(&it.client)
		c.U16((*uint16)(&it.member))
		c.U32(&it.epoch)
		c.U8(&it.what)
		why(c, &it.why.Why)
		text(c, &it.name, maxName)
		c.Check(it.what < assigns)
	case itemDeny:
		c.U64(&it.client)
		c.U16((*uint16)(&it.member))
	case itemStart:
		after(c, promise, &it.tick)
		c.U16((*uint16)(&it.member))
		c.U32(&it.epoch)
	case itemResign:
		after(c, promise, &it.tick)
		c.U32(&it.epoch)
	case itemWhere:
		address(c, &it.addr)
		address(c, &it.peer)
		atMost(c, &it.load, 1<<20)
		atMost(c, &it.room, 1<<20)
		text(c, &it.name, maxName)
	case itemChat:
		atMost(c, &it.player, math.MaxUint16)
		text(c, &it.name, maxName)
		text(c, &it.text, maxText)
		list(c, &it.alone, func(p *world.Player) { player(c, p) })
		c.Check(len(it.alone) <= wire.MaxTo)
	case itemHalt:
		it.halt(c, promise)
	case itemPause:
		it.pause(c, promise)
	case itemLevel:
		it.level(c, promise)
	case itemRuling:
		blob(c, &it.data, math.MaxInt)
	case itemEvent:
		blob(c, &it.data, maxTold)
	default:
		c.Fail()
	}
}

// append writes an item.
func (k *codec) append(b []byte, promise world.Tick, it *item) ([]byte, error) {
	c := bits.CursorTo(b)
	if k.item(&c, promise, it); !c.OK() {
		return b, errPacket
	}
	return c.Data(), nil
}

// A packet is what came from another mirror.
type packet struct {
	header
	void   bool   // the header makes no sense: nothing counts
	err    error  // the header or an item makes no sense: the items before that count
	items  []item // they point into data and images
	data   []byte
	images []int32
}

// parse reads a packet, once for all who ask about it. Give it back with done.
func (k *codec) parse(data []byte) *packet {
	p := &packet{}
	if n := len(k.free); n > 0 {
		p, k.free = k.free[n-1], k.free[:n-1]
	}
	*p = packet{items: p.items[:0], data: append(p.data[:0], data...), images: p.images[:0]}
	c := bits.CursorOver(p.data)
	p.header.fields(&c)
	p.void = !c.OK()
	seq := p.count
	for c.OK() && len(c.Data()) > 0 {
		var it item
		if k.item(&c, p.promise, &it); !c.OK() {
			break
		}
		if it.stamped() {
			seq++
		}
		it.seq = seq
		it.image = keepImage(&p.images, it.image)
		p.items = append(p.items, it)
	}
	if !c.OK() {
		p.err = errPacket
	}
	return p
}

// keepImage gives a copy of an image that stands in a buffer.
func keepImage(buf *[]int32, image []int32) []int32 {
	n := len(*buf)
	*buf = append(*buf, image...)
	return (*buf)[n:len(*buf):len(*buf)]
}

// done gives a packet back.
func (k *codec) done(p *packet) { k.free = append(k.free, p) }

// anyone stands for whoever gave a command while it is read or written.
const anyone world.Player = 1

// command is one in the bits that its Sync method gives it, filled up to whole bytes.
func (k *codec) command(c *bits.Cursor, image *[]int32) {
	k.in.Reset()
	if c.Reading() {
		k.reader.Reset(c.Data())
		if !c.OK() || len(k.image) == 0 ||
			k.in.GiveFrom(anyone, &k.reader) != nil || !k.in.Image(anyone, k.image) {
			c.Fail()
			return
		}
		*image = k.image
		var skipped []byte
		c.Bytes(&skipped, (k.reader.Len()+7)/8)
		return
	}
	if k.in.GiveImage(anyone, *image) != nil {
		c.Fail()
		return
	}
	k.writer.Reset(k.buf)
	k.sync.StartWrite(&k.writer)
	k.in.Command(anyone).Sync(&k.sync)
	c.Check(k.sync.Err() == nil && k.writer.Err() == nil)
	c.Raw(k.writer.Bytes())
}
