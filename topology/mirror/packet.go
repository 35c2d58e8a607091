package mirror

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"time"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// What mirrors tell each other, each packet one message of package crimp:
//
//	flags 1
//	promise     uvarint: nothing is stamped at or before this tick in this packet or a later one
//	lag         uvarint: promise less the tick up to which the sender holds everything of everybody
//	count       uvarint: commands that the sender stamped before this packet
//	if flagClock: group time uvarint (µs), raw clock 4, echoed member 2, echoed raw clock 4, held uvarint (µs)
//	if flagHash:  promise less a settled tick uvarint, hash of the world then 8
//	items to the end, each: kind 1, and what item.fields says
//
// docs/protocol.md has all of it.

const (
	flagClock   = 1 << iota // clocks follow
	flagHash                // the hash of a settled world follows
	flagWaiting             // the sender has not been started: it stamps nothing yet
	flagUnsure              // the sender does not know the time
	flagsKnown  = 1<<iota - 1
)

// A packet is what stands before the items.
type packet struct {
	waiting       bool
	promise, have world.Tick
	count         uint32

	clock       bool
	unsure      bool // of the time
	group       time.Duration
	raw         uint32
	echoed      member.ID
	echoRaw     uint32
	held        time.Duration
	hash        bool
	settledTick world.Tick
	settledHash uint64
}

// itemKind says what an item is.
type itemKind byte

const (
	itemGive    itemKind = iota + 1 // a player's command
	itemClaim                       // a mirror wants a player for a client
	itemRelease                     // a mirror's client has left
	itemAssign                      // the überserver gives a player to a mirror
	itemDeny                        // the überserver has no place for a client
	itemStart                       // the überserver lets a mirror stamp
	itemPlace                       // where clients find the sender
	itemChat                        // a line
	itemRuling                      // what the judge decided; package timeline
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
	player world.Player   // give, release, assign, chat
	tick   world.Tick     // give, assign, start: always later than the packet's promise
	image  []int32        // give
	client uint64         // claim, release, assign, deny
	member member.ID      // assign, deny, start: to whom
	epoch  uint32         // assign, start: the roster under which the sender is überserver
	what   byte           // assign
	load   uint32         // place: how many play there
	addr   netip.AddrPort // place: for clients
	peer   netip.AddrPort // place: for mirrors
	name   string         // claim, assign, place, chat
	text   string         // chat
	data   []byte         // ruling
}

// stamped says whether the item counts among the commands of its mirror's timeline.
func (it *item) stamped() bool {
	return it.kind == itemGive || it.kind == itemAssign && it.what != assignMove
}

const (
	maxName = 64
	maxText = 512
)

// errPacket is all that a decoder says about a packet that makes no sense.
var errPacket = errors.New("mirror: malformed packet of another mirror")

// A codec reads and writes packets of one game.
type codec struct {
	game   *world.Game
	slots  int
	in     *world.Inputs
	sync   bits.Sync
	writer bits.Writer
	reader bits.Reader
	buf    []byte
	image  []int32
}

// maxCommand bounds the bytes of a command.
const maxCommand = 1 << 10

func newCodec(g *world.Game) *codec {
	c := &codec{game: g, in: g.NewInputs(), buf: make([]byte, maxCommand)}
	if s := g.Commands(); s != nil {
		c.slots = len(s.Slots)
		c.image = make([]int32, c.slots)
	}
	return c
}

// append writes what stands before the items.
func (p *packet) append(b []byte) []byte {
	var flags byte
	if p.clock {
		flags |= flagClock
	}
	if p.hash {
		flags |= flagHash
	}
	if p.waiting {
		flags |= flagWaiting
	}
	if p.unsure {
		flags |= flagUnsure
	}
	b = append(b, flags)
	b = binary.AppendUvarint(b, uint64(p.promise))
	b = binary.AppendUvarint(b, uint64(p.promise-p.have))
	b = binary.AppendUvarint(b, uint64(p.count))
	if p.clock {
		b = binary.AppendUvarint(b, uint64(p.group/time.Microsecond))
		b = binary.BigEndian.AppendUint32(b, p.raw)
		b = binary.BigEndian.AppendUint16(b, uint16(p.echoed))
		b = binary.BigEndian.AppendUint32(b, p.echoRaw)
		b = binary.AppendUvarint(b, uint64(p.held/time.Microsecond))
	}
	if p.hash {
		b = binary.AppendUvarint(b, uint64(p.promise-p.settledTick))
		b = binary.BigEndian.AppendUint64(b, p.settledHash)
	}
	return b
}

// parse reads what stands before the items, and gives the rest.
func (p *packet) parse(b []byte) ([]byte, error) {
	*p = packet{}
	s := scanner{b: b}
	flags := s.byte()
	p.clock, p.hash, p.waiting = flags&flagClock != 0, flags&flagHash != 0, flags&flagWaiting != 0
	p.unsure = flags&flagUnsure != 0
	p.promise = s.tick()
	lag := s.tick()
	p.have = p.promise - lag
	count := s.uvarint()
	p.count = uint32(count)
	if flags&^flagsKnown != 0 || lag > p.promise || count > 1<<32-1 {
		return nil, errPacket
	}
	if p.clock {
		p.group = s.micros()
		p.raw = s.u32()
		p.echoed = member.ID(s.u16())
		p.echoRaw = s.u32()
		p.held = s.micros()
	}
	if p.hash {
		back := s.tick()
		if back > p.promise {
			return nil, errPacket
		}
		p.settledTick = p.promise - back
		p.settledHash = s.u64()
	}
	if s.bad {
		return nil, errPacket
	}
	return s.b, nil
}

// append writes an item. Ticks are written as distances from the packet's promise.
func (c *codec) append(b []byte, promise world.Tick, it *item) ([]byte, error) {
	b = append(b, byte(it.kind))
	switch it.kind {
	case itemGive:
		b = binary.AppendUvarint(b, uint64(it.player))
		b = binary.AppendUvarint(b, uint64(it.tick-promise-1))
		return c.appendImage(b, it.image)
	case itemClaim:
		b = binary.BigEndian.AppendUint64(b, it.client)
		b = appendText(b, it.name, maxName)
	case itemRelease:
		b = binary.BigEndian.AppendUint64(b, it.client)
		b = binary.AppendUvarint(b, uint64(it.player))
	case itemAssign:
		b = binary.AppendUvarint(b, uint64(it.player))
		b = binary.AppendUvarint(b, uint64(it.tick-promise-1))
		b = binary.BigEndian.AppendUint64(b, it.client)
		b = binary.BigEndian.AppendUint16(b, uint16(it.member))
		b = binary.BigEndian.AppendUint32(b, it.epoch)
		b = append(b, it.what)
		b = appendText(b, it.name, maxName)
	case itemDeny:
		b = binary.BigEndian.AppendUint64(b, it.client)
		b = binary.BigEndian.AppendUint16(b, uint16(it.member))
	case itemStart:
		b = binary.AppendUvarint(b, uint64(it.tick-promise-1))
		b = binary.BigEndian.AppendUint16(b, uint16(it.member))
		b = binary.BigEndian.AppendUint32(b, it.epoch)
	case itemPlace:
		for _, addr := range []netip.AddrPort{it.addr, it.peer} {
			a, _ := addr.MarshalBinary() // it cannot fail
			b = append(append(b, byte(len(a))), a...)
		}
		b = binary.AppendUvarint(b, uint64(it.load))
		b = appendText(b, it.name, maxName)
	case itemChat:
		b = binary.AppendUvarint(b, uint64(it.player))
		b = appendText(b, it.name, maxName)
		b = appendText(b, it.text, maxText)
	case itemRuling:
		b = binary.AppendUvarint(b, uint64(len(it.data)))
		b = append(b, it.data...)
	}
	return b, nil
}

// anyone stands for whoever gave a command while it is read or written.
const anyone world.Player = 1

// appendImage writes a command in the bits that its Sync method gives it.
func (c *codec) appendImage(b []byte, image []int32) ([]byte, error) {
	c.in.Reset()
	if err := c.in.GiveImage(anyone, image); err != nil {
		return b, err
	}
	c.writer.Reset(c.buf)
	c.sync.StartWrite(&c.writer)
	c.in.Command(anyone).Sync(&c.sync)
	if err := c.sync.Err(); err != nil {
		return b, err
	}
	if err := c.writer.Err(); err != nil {
		return b, err
	}
	return append(b, c.writer.Bytes()...), nil
}

// next reads an item, and gives the rest. What it points to is good until the next call.
func (c *codec) next(b []byte, promise world.Tick, it *item) ([]byte, error) {
	s := scanner{b: b}
	*it = item{kind: itemKind(s.byte())}
	switch it.kind {
	case itemGive:
		it.player = s.player()
		it.tick = s.after(promise)
		if s.bad || c.slots == 0 {
			return nil, errPacket
		}
		c.in.Reset()
		c.reader.Reset(s.b)
		if c.in.GiveFrom(anyone, &c.reader) != nil || !c.in.Image(anyone, c.image) {
			return nil, errPacket
		}
		it.image = c.image
		s.take((c.reader.Len() + 7) / 8)
	case itemClaim:
		it.client = s.u64()
		it.name = s.text(maxName)
	case itemRelease:
		it.client = s.u64()
		it.player = s.player()
	case itemAssign:
		it.player = s.player()
		it.tick = s.after(promise)
		it.client = s.u64()
		it.member = member.ID(s.u16())
		it.epoch = s.u32()
		it.what = s.byte()
		it.name = s.text(maxName)
		s.bad = s.bad || it.what >= assigns
	case itemDeny:
		it.client = s.u64()
		it.member = member.ID(s.u16())
	case itemStart:
		it.tick = s.after(promise)
		it.member = member.ID(s.u16())
		it.epoch = s.u32()
	case itemPlace:
		s.bad = s.bad || it.addr.UnmarshalBinary(s.take(int(s.byte()))) != nil
		s.bad = s.bad || it.peer.UnmarshalBinary(s.take(int(s.byte()))) != nil
		n := s.uvarint()
		it.load = uint32(min(n, 1<<20))
		it.name = s.text(maxName)
	case itemChat:
		it.player = world.Player(min(s.uvarint(), 1<<16-1))
		it.name = s.text(maxName)
		it.text = s.text(maxText)
	case itemRuling:
		n := s.uvarint()
		if n > uint64(len(s.b)) {
			return nil, errPacket
		}
		it.data = s.take(int(n))
	default:
		return nil, errPacket
	}
	if s.bad {
		return nil, errPacket
	}
	return s.b, nil
}

func appendText(b []byte, s string, most int) []byte {
	for len(s) > most { // cut between two characters
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// A scanner reads fields one after the other, and remembers if one was missing.
type scanner struct {
	b   []byte
	bad bool
}

func (s *scanner) take(n int) []byte {
	if s.bad || n < 0 || len(s.b) < n {
		s.bad = true
		return nil
	}
	p := s.b[:n]
	s.b = s.b[n:]
	return p
}

func (s *scanner) byte() byte {
	if p := s.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (s *scanner) u16() uint16 {
	if p := s.take(2); p != nil {
		return binary.BigEndian.Uint16(p)
	}
	return 0
}

func (s *scanner) u32() uint32 {
	if p := s.take(4); p != nil {
		return binary.BigEndian.Uint32(p)
	}
	return 0
}

func (s *scanner) u64() uint64 {
	if p := s.take(8); p != nil {
		return binary.BigEndian.Uint64(p)
	}
	return 0
}

func (s *scanner) uvarint() uint64 {
	v, n := binary.Uvarint(s.b)
	if s.bad || n <= 0 {
		s.bad = true
		return 0
	}
	s.b = s.b[n:]
	return v
}

// maxTick keeps ticks from overflowing when something is added to them: it is a hundred thousand years.
const maxTick = 1 << 56

func (s *scanner) tick() world.Tick {
	v := s.uvarint()
	s.bad = s.bad || v > maxTick
	return world.Tick(v)
}

// after is a tick later than the promise.
func (s *scanner) after(promise world.Tick) world.Tick { return promise + 1 + s.tick() }

// micros is a time of at most a century.
func (s *scanner) micros() time.Duration {
	v := s.uvarint()
	s.bad = s.bad || v > 1<<52
	return time.Duration(v) * time.Microsecond
}

// player is one that is not Nobody.
func (s *scanner) player() world.Player {
	v := s.uvarint()
	s.bad = s.bad || v == 0 || v > 1<<16-1
	return world.Player(v)
}

func (s *scanner) text(most int) string {
	n := s.uvarint()
	if n > uint64(most) {
		s.bad = true
		return ""
	}
	p := s.take(int(n))
	s.bad = s.bad || !utf8.Valid(p)
	return string(p)
}
