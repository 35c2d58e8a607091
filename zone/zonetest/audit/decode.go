package audit

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// Errors of bytes that are not what the format says.
var (
	errShort = errors.New("audit: bytes end too early")
	errSum   = errors.New("audit: the sum is wrong")
	errForm  = errors.New("audit: not of the form that is written down")
)

// cursor walks over bytes; its methods panic with an error, which open catches.
type cursor struct{ rest []byte }

func (c *cursor) u8() uint8 {
	if len(c.rest) == 0 {
		panic(errShort)
	}
	v := c.rest[0]
	c.rest = c.rest[1:]
	return v
}

// num reads seven bits at a time, the lowest first, and the highest bit says that more follow.
func (c *cursor) num() (v uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := c.u8()
		v |= uint64(b&127) << shift
		if b < 128 {
			return v
		}
	}
	panic(errForm)
}

func (c *cursor) zone() uint32 { return uint32(c.num()) }

func (c *cursor) u64() uint64 {
	return binary.BigEndian.Uint64(c.take(8))
}

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.rest)) {
		panic(errShort)
	}
	v := c.rest[:n]
	c.rest = c.rest[n:]
	return v
}

func (c *cursor) blob() []byte { return c.take(c.num()) }

// open checks the sum at the end of bytes, and hands what is before it to a function.
func open(data []byte, read func(c *cursor)) (err error) {
	if len(data) < 4 {
		return errShort
	}
	body, sum := data[:len(data)-4], binary.BigEndian.Uint32(data[len(data)-4:])
	if crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) != sum {
		return errSum
	}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(error)
			if !ok || e != errShort && e != errForm {
				panic(r)
			}
			err = e
		}
	}()
	c := &cursor{body}
	if c.u8() != 1 {
		return errForm
	}
	read(c)
	return nil
}

// Item is an entity or an action on its way from one zone to another.
type Item struct {
	From, To     uint32
	Number       uint64
	Acts         bool
	More         bool // the next one is taken in the same tick
	Aside        bool
	Entity, Tick uint64
	Hops         uint8
	OFrom, OTo   uint32 // the stream that an action was first put into
	ONumber      uint64
	Data         []byte
}

func (c *cursor) item(from, to uint32, number uint64) Item {
	i := Item{From: from, To: to, Number: number, OFrom: from, OTo: to, ONumber: number}
	kind := c.u8()
	i.More = kind >= 128
	switch kind % 128 {
	case 1:
	case 2:
		i.Acts = true
	default:
		panic(errForm)
	}
	i.Entity, i.Tick = c.num(), c.num()
	if i.Acts {
		if i.Hops = c.u8(); i.Hops > 0 {
			i.OFrom, i.OTo, i.ONumber = c.zone(), c.zone(), c.num()
		}
	}
	i.Data = c.blob()
	return i
}

// Ghost is what a zone was shown of another.
type Ghost struct {
	From        uint32
	Epoch       uint64
	Tick, Since uint64
	Data        []byte
}

// Frame is one tick of a zone.
type Frame struct {
	Tick     uint64
	Commands [][]byte
	Ghosts   []Ghost
	Taken    []Item
	Closed   []uint32
	// Back says that what was set aside first is executed.
	Back bool
	// Of these only From and Number are known: actions that wait for what they are on, that have
	// waited until now, and that are on what is nowhere.
	Held, Met, Gone []Item
	Out             []Item
	FirstEvent      uint64
	Events          [][]byte
	Hashed          bool
	Hash            uint64
}

// Record is one of a journal.
type Record struct {
	Fence         bool
	Epoch, Server uint64
	Frames        []Frame
}

// ReadRecord takes a record of a zone apart.
func ReadRecord(zone uint32, data []byte) (r Record, err error) {
	err = open(data, func(c *cursor) {
		kind := c.u8()
		r.Epoch, r.Server = c.num(), c.num()
		if kind == 0 {
			r.Fence = true
			return
		}
		tick, n := c.num(), c.num()
		for i := range n {
			r.Frames = append(r.Frames, c.frame(zone, tick+i))
		}
		if len(c.rest) != 0 {
			panic(errForm)
		}
	})
	return r, err
}

func (c *cursor) frame(zone uint32, tick uint64) Frame {
	flags := c.u8()
	f := Frame{Tick: tick, Hashed: flags&1 != 0, Back: flags&2 != 0}
	for range c.num() {
		f.Commands = append(f.Commands, c.blob())
	}
	for range c.num() {
		f.Ghosts = append(f.Ghosts, Ghost{c.zone(), c.num(), c.num(), c.num(), c.blob()})
	}
	for range c.num() {
		from, number, aside := c.zone(), c.num(), c.u8()
		i := c.item(from, zone, number)
		i.Aside = aside == 1
		f.Taken = append(f.Taken, i)
	}
	for range c.num() {
		f.Closed = append(f.Closed, c.zone())
	}
	out := &cursor{c.blob()}
	f.Held, f.Met, f.Gone = out.names(), out.names(), out.names()
	for range out.num() {
		to, number := out.zone(), out.num()
		f.Out = append(f.Out, out.item(zone, to, number))
	}
	f.FirstEvent = out.num()
	for range out.num() {
		f.Events = append(f.Events, out.blob())
	}
	if f.Hashed {
		f.Hash = c.u64()
	}
	return f
}

func (c *cursor) names() (list []Item) {
	for range c.num() {
		list = append(list, Item{From: c.zone(), Number: c.num()})
	}
	return list
}

// Snapshot is a zone as it was after a tick.
type Snapshot struct {
	Sequence uint64
	Zone     uint32
	Tick     uint64
	Events   uint64
	Waiting  []Item // that are not known to be taken by the zones that they are for
	Aside    []Item
	Held     []Item // actions that wait for what they are on
	Hash     uint64
	Body     []byte
}

// ReadSnapshot takes a snapshot apart.
func ReadSnapshot(data []byte) (s Snapshot, err error) {
	err = open(data, func(c *cursor) {
		s.Sequence = c.u64()
		s.Zone, s.Tick, s.Events = c.zone(), c.num(), c.num()
		for range c.num() {
			peer := c.zone()
			_, _, _ = c.num(), c.num(), c.num()
			first, n := c.num(), c.num()
			for i := range n {
				s.Waiting = append(s.Waiting, c.item(s.Zone, peer, first+i))
			}
		}
		for range c.num() {
			_, _ = c.num(), c.zone()
		}
		for range c.num() {
			i := Item{Aside: true, From: c.zone(), Number: c.num(), Entity: c.num()}
			i.Acts, i.Tick, i.Data = c.u8() == 1, c.num(), c.blob()
			s.Aside = append(s.Aside, i)
		}
		for range c.num() {
			from, number, _ := c.zone(), c.num(), c.num()
			s.Held = append(s.Held, c.item(from, s.Zone, number))
		}
		s.Hash = c.u64()
		s.Body = c.rest
	})
	return s, err
}
