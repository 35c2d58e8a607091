package gateway

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/service/dis"
)

// far is an entity of the other side.
type far struct {
	id        dis.ID
	number    uint64
	reference []byte
	last      []byte // what was told here last
	quiet     bool
	beat      time.Duration // when it is told again
}

// missing is a packet that did not come.
type missing struct {
	seq   uint32
	at    time.Duration // when it is asked for
	tries int
}

// incoming is what comes over the line.
type incoming struct {
	session uint32
	begun   bool
	top     uint32 // the next number that is expected
	got     [window]uint32
	gaps    []missing
	slots   []*far // by their number on the line
	ids     map[dis.ID]*far
	heard   time.Duration
	asked   map[uint64]time.Duration
	beats   uint64
}

const (
	window   = 1024 // packets that are told apart from doubles
	maxGaps  = 64
	askAgain = 250 * time.Millisecond
	maxTries = 8
)

func (in *incoming) start() {
	*in = incoming{ids: map[dis.ID]*far{}, asked: map[uint64]time.Duration{}}
}

var errNonsense = errors.New("gateway: nonsense on the line")

// FromLine takes in a packet of the other gateway, and says whether it is one that had not come
// before. It must have come from there: who can be believed is for the owner of the socket to say.
func (g *Gateway) FromLine(now time.Duration, clock dis.Stamp, packet []byte) (fresh bool) {
	in := &g.in
	r := bits.NewReader(packet)
	if r.ReadBits(8) != magic {
		g.Counters.Refused++
		return false
	}
	session, seq := uint32(r.ReadBits(32)), uint32(r.ReadBits(32))
	there := dis.Stamp(r.ReadBits(32))
	if r.Err() != nil {
		g.Counters.Refused++
		return false
	}
	if !in.begun || session != in.session {
		in.start() // it has begun anew, and so do we
		in.begun, in.session, in.top = true, session, seq
		for i := range in.got {
			in.got[i] = ^uint32(i) // none of these numbers is in its place
		}
	}
	if !in.number(now, seq) {
		return false
	}
	in.heard = now
	g.Counters.Came++
	if err := g.items(now, clock, there, r); err != nil {
		g.Counters.Refused++
	}
	g.flushDue(now, clock)
	return true
}

// number notes the number of a packet, and says whether it is new.
func (in *incoming) number(now time.Duration, seq uint32) bool {
	ahead := int32(seq - in.top)
	if ahead < -window {
		return false // so old that nobody knows
	}
	if in.got[seq%window] == seq {
		return false
	}
	in.got[seq%window] = seq
	if ahead < 0 {
		for i, m := range in.gaps {
			if m.seq == seq {
				in.gaps = append(in.gaps[:i], in.gaps[i+1:]...)
				break
			}
		}
		return true
	}
	for n := max(in.top, seq-min(uint32(ahead), maxGaps)); n != seq; n++ {
		if len(in.gaps) < maxGaps {
			in.gaps = append(in.gaps, missing{seq: n, at: now + askAgain/5})
		}
	}
	in.top = seq + 1
	return true
}

// items reads what a packet holds.
func (g *Gateway) items(now time.Duration, clock, there dis.Stamp, r *bits.Reader) error {
	var before []byte
	for {
		kind := r.ReadBits(itemBits)
		if r.Err() != nil {
			return r.Err()
		}
		switch kind {
		case itemEnd:
			return nil
		case itemRaw:
			b, err := readPDU(r)
			if err != nil {
				return err
			}
			g.tellRaw(now, b)
		case itemReference, itemDifference:
			b, err := g.readState(now, clock, there, r, kind == itemReference, before)
			if err != nil {
				return err
			}
			before = b
		case itemGone:
			index := r.ReadUvarint()
			id := dis.ID{Site: uint16(r.ReadBits(16)), Application: uint16(r.ReadBits(16)),
				Number: uint16(r.ReadBits(16))}
			if f := g.in.at(index); f != nil && f.id == id && r.Err() == nil {
				g.in.drop(index, f)
			}
		case itemHeld:
			index, number := r.ReadUvarint(), r.ReadBits(numberBits)
			if f := g.in.at(index); r.Err() == nil && index < maxSlots &&
				(f == nil || f.number != number) {
				g.ask(now, clock, index)
			}
		case itemMissing:
			seq := uint32(r.ReadBits(32))
			if age := g.out.seq - seq; r.Err() == nil && age > 0 && age < ring {
				g.Counters.Answered++
				g.out.add(g, now, clock, item{kind: itemAgain, seq: seq}, again(&g.out, seq))
			} else {
				g.Counters.Unanswered++
			}
		case itemLacking:
			g.out.lacking(g, now, clock, r.ReadUvarint())
		case itemAgain:
			if err := g.readAgain(now, r); err != nil {
				return err
			}
		}
	}
}

func readPDU(r *bits.Reader) ([]byte, error) {
	n := r.ReadUvarint()
	if n > dis.MaxPDU || int(n)*8 > r.Left() {
		return nil, errNonsense
	}
	b := make([]byte, n)
	r.ReadBytes(b)
	if h, err := dis.ReadHeader(b); err != nil || int(h.Length) != len(b) {
		return nil, errNonsense
	}
	return b, r.Err()
}

// tellRaw tells a PDU here unless it speaks for a simulator of this side.
func (g *Gateway) tellRaw(now time.Duration, b []byte) {
	var r dis.Reader
	if _, err := r.Read(b); err != nil {
		g.Counters.Refused++
		return
	}
	if g.ours(now, speaker(b)) {
		g.Counters.Claimed++
		return
	}
	g.tell(b)
}

// ours says whether an entity is one of this side.
func (g *Gateway) ours(now time.Duration, id dis.ID) bool {
	o := &g.o.Exercise
	return (o.Site != 0 || o.Application != 0) && id.From(o.Site, o.Application) ||
		!g.sims.is(now, id, true)
}

func (g *Gateway) tell(b []byte) {
	g.ToExercise = append(g.ToExercise, b)
	g.Counters.Told++
}

// readState reads an Entity State PDU in either form. It gives nil where it cannot be made out.
func (g *Gateway) readState(
	now time.Duration, clock, there dis.Stamp, r *bits.Reader, whole bool, before []byte,
) ([]byte, error) {
	index, number, quiet := r.ReadUvarint(), r.ReadBits(numberBits), r.ReadBool()
	if r.Err() != nil || index >= maxSlots {
		return nil, errNonsense
	}
	f := g.in.at(index)
	if !whole {
		var reference []byte
		if f != nil && f.number == number {
			reference = f.reference
		}
		b := readDifference(r, there, reference)
		switch {
		case r.Err() != nil:
			return nil, r.Err()
		case b == nil:
			g.ask(now, clock, index)
			return nil, nil
		}
		return b, g.hear(now, f, b, quiet)
	}
	var b []byte
	var err error
	if r.ReadBool() {
		if b = readDifference(r, there, before); r.Err() != nil {
			return nil, r.Err()
		}
		if b == nil {
			g.ask(now, clock, index)
			return nil, nil
		}
	} else if b, err = readPDU(r); err != nil {
		return nil, err
	}
	return b, g.reference(now, index, number, quiet, b)
}

// reference takes in a whole Entity State PDU, from which others will be differences.
func (g *Gateway) reference(
	now time.Duration, index, number uint64, quiet bool, b []byte,
) error {
	var p dis.EntityState
	if err := p.Read(b); err != nil {
		return err
	}
	delete(g.in.asked, index)
	f := g.in.at(index)
	if f == nil || f.id != p.ID {
		if f != nil {
			g.in.drop(index, f)
		}
		if g.ours(now, p.ID) {
			g.Counters.Claimed++
			return nil
		}
		if old := g.in.ids[p.ID]; old != nil { // it has another number now
			for i, o := range g.in.slots {
				if o == old {
					g.in.drop(uint64(i), old)
				}
			}
		}
		f = &far{id: p.ID}
		for uint64(len(g.in.slots)) <= index {
			g.in.slots = append(g.in.slots, nil)
		}
		g.in.slots[index], g.in.ids[p.ID] = f, f
	}
	f.number, f.reference = number, b
	return g.hear(now, f, b, quiet)
}

// hear tells what an entity of the other side said, and when it is to be told again.
func (g *Gateway) hear(now time.Duration, f *far, b []byte, quiet bool) error {
	var p dis.EntityState
	if err := p.Read(b); err != nil || p.ID != f.id {
		return errNonsense
	}
	if !g.sims.is(now, f.id, true) {
		g.Counters.Claimed++
		return nil
	}
	f.last, f.quiet = b, quiet
	f.beat = now + g.o.Beats.Next(true, uint64(f.id.Number), g.in.beats)
	g.in.beats++
	g.tell(b)
	return nil
}

// at is what has a number on the line, or nil.
func (in *incoming) at(index uint64) *far {
	if index >= uint64(len(in.slots)) {
		return nil
	}
	return in.slots[index]
}

func (in *incoming) drop(index uint64, f *far) {
	in.slots[index] = nil
	delete(in.ids, f.id)
}

// tick asks for what is missing, tells of what is quiescent, and forgets the other side if it is
// silent.
func (in *incoming) tick(g *Gateway, now time.Duration, clock dis.Stamp) {
	if !in.begun {
		return
	}
	kept := in.gaps[:0]
	for _, m := range in.gaps {
		if now >= m.at {
			if m.tries == maxTries {
				continue
			}
			m.tries, m.at = m.tries+1, now+askAgain
			g.Counters.Asked++
			g.out.add(g, now, clock, item{kind: itemMissing, seq: m.seq}, 8)
		}
		kept = append(kept, m)
	}
	in.gaps = kept
	if now-in.heard >= g.o.Dead {
		in.start() // it comes back with whole PDUs, as we ask for references
		return
	}
	for _, f := range in.slots {
		if f == nil || !f.quiet || now < f.beat {
			continue
		}
		if !g.sims.is(now, f.id, true) {
			continue // it has come to this side meanwhile
		}
		b := append([]byte(nil), f.last...)
		absolute := binary.BigEndian.Uint32(b[4:])&1 != 0
		stamp := clock &^ 1
		if absolute {
			stamp |= 1
		}
		binary.BigEndian.PutUint32(b[4:], uint32(stamp))
		f.beat = now + g.o.Beats.Next(true, uint64(f.id.Number), in.beats)
		in.beats++
		g.Counters.Kept++
		g.tell(b)
	}
}
