package zone

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// frame is one tick of a record: what went in, and what came out of it.
type frame struct {
	tick     Tick
	commands [][]byte
	ghosts   []shown
	taken    []taken
	closed   []ID
	back     bool   // what was set aside first is executed
	outs     []byte // as appendOuts writes it; of a frame that was read
	hashed   bool
	hash     uint64
}

// shown is what another zone showed, with the epoch of its owner.
type shown struct {
	Ghost
	epoch uint64
}

// taken is an item of another zone's stream that a tick takes in.
type taken struct {
	from   ID
	number uint64
	aside  bool // it is not executed, but kept: ticks that execute it fail
	item   *item
}

const (
	wireVersion = 1

	recordFence = 0
	recordTicks = 1

	frameHashed = 1
	frameBack   = 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errDamaged says that bytes are not what was written.
var errDamaged = errors.New("zone: what was kept is damaged, or of another version")

func (f *frame) reset(tick Tick) {
	*f = frame{tick: tick, commands: f.commands[:0], ghosts: f.ghosts[:0], taken: f.taken[:0],
		closed: f.closed[:0]}
}

// append writes a frame for the zone with that number.
func (f *frame) append(b []byte, self ID, outs []byte) []byte {
	var flags byte
	if f.hashed {
		flags |= frameHashed
	}
	if f.back {
		flags |= frameBack
	}
	b = append(b, flags)
	b = appendUint(b, uint64(len(f.commands)))
	for _, c := range f.commands {
		b = appendBytes(b, c)
	}
	b = appendUint(b, uint64(len(f.ghosts)))
	for i := range f.ghosts {
		g := &f.ghosts[i]
		b = appendUint(b, uint64(g.From))
		b = appendUint(b, g.epoch)
		b = appendUint(b, uint64(g.Tick))
		b = appendUint(b, uint64(g.Since))
		b = appendBytes(b, g.Data)
	}
	b = appendUint(b, uint64(len(f.taken)))
	for i := range f.taken {
		t := &f.taken[i]
		var aside byte
		if t.aside {
			aside = 1
		}
		b = appendUint(b, uint64(t.from))
		b = appendUint(b, t.number)
		b = append(b, aside)
		b = t.item.append(b, t.from, self, t.number)
	}
	b = appendUint(b, uint64(len(f.closed)))
	for _, id := range f.closed {
		b = appendUint(b, uint64(id))
	}
	b = appendBytes(b, outs)
	if f.hashed {
		b = binary.BigEndian.AppendUint64(b, f.hash)
	}
	return b
}

// frame reads the next frame of a record; items are put into a list that is used again.
func (r *reader) frame(f *frame, self ID, items *[]item) {
	flags := r.byte()
	if flags > frameHashed|frameBack {
		r.fail()
	}
	f.back = flags&frameBack != 0
	for range r.count(maxCommands) {
		f.commands = append(f.commands, r.bytes(MaxItem))
	}
	for range r.count(MaxPeers) {
		g := shown{Ghost: Ghost{From: r.id()}, epoch: r.uint()}
		g.Tick, g.Since, g.Data = Tick(r.uint()), Tick(r.uint()), r.bytes(MaxShow)
		f.ghosts = append(f.ghosts, g)
	}
	n := r.count(maxTaken)
	*items = make([]item, n)
	for i := range n {
		t := taken{from: r.id(), number: r.uint()}
		aside := r.byte()
		if aside > 1 {
			r.fail()
		}
		t.aside = aside == 1
		(*items)[i] = r.item(t.from, self, t.number)
		t.item = &(*items)[i]
		f.taken = append(f.taken, t)
	}
	for range r.count(maxClosed) {
		f.closed = append(f.closed, r.id())
	}
	f.outs = r.bytes(MaxRecord)
	f.hashed = flags&frameHashed != 0
	if f.hashed {
		f.hash = r.fixed()
	}
}

// recordHead is what stands before the frames of a record.
type recordHead struct {
	kind   byte
	epoch  uint64
	server ServerID
	first  Tick // of frames
	count  int
}

func (h *recordHead) append(b []byte) []byte {
	b = append(b, wireVersion, h.kind)
	b = appendUint(b, h.epoch)
	b = appendUint(b, uint64(h.server))
	if h.kind == recordTicks {
		b = appendUint(b, uint64(h.first))
		b = appendUint(b, uint64(h.count))
	}
	return b
}

func appendSum(b []byte, from int) []byte {
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
}

// checked gives what stands before a sum, if the sum is right.
func checked(b []byte) ([]byte, bool) {
	n := len(b) - 4
	if n < 0 || binary.BigEndian.Uint32(b[n:]) != crc32.Checksum(b[:n], castagnoli) {
		return nil, false
	}
	return b[:n], true
}

// readRecord reads the head of a record and leaves the reader at its frames.
func readRecord(data []byte) (h recordHead, r reader, err error) {
	data, ok := checked(data)
	if !ok || len(data) > MaxRecord {
		return h, r, errDamaged
	}
	r.b = data
	if r.byte() != wireVersion {
		return h, r, errDamaged
	}
	h.kind, h.epoch, h.server = r.byte(), r.uint(), ServerID(r.uint())
	switch h.kind {
	case recordFence:
		if !r.done() {
			r.fail()
		}
	case recordTicks:
		h.first, h.count = Tick(r.uint()), r.count(maxFrames)
		if h.count == 0 || h.first == 0 {
			r.fail()
		}
	default:
		r.fail()
	}
	if r.bad {
		return h, r, errDamaged
	}
	return h, r, nil
}
