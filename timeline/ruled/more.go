package ruled

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// This file is what a ruling says beside joins, leaves and commands: what players were shown, and
// inputs of other kinds. Games that have neither have nothing of it in their rulings.

// Bounds of one sight and of the key of something told, in bits; and of how many are told.
const (
	sightBits   = 1 + 16 + 16 + 3 + world.MaxClaims*(64+96)
	toldBits    = 24 + 64 + 80 + 16 + 32 + 32 + 24
	maxTellings = 1 << 10
)

// moreBits is more than it takes.
func (r *Ruling) moreBits() int {
	n := 24
	if r.game.Rewinds() > 0 {
		n += sightBits * len(r.Commands)
	}
	for i := range r.Tellings {
		n += toldBits + 8*len(r.Tellings[i].Data)
	}
	return n
}

// more says that there is any of it.
func (r *Ruling) more() bool { return r.game.Rewinds() > 0 || len(r.game.Inputs()) > 0 }

func (r *Ruling) writeMore(w *bits.Writer) {
	if r.game.Rewinds() > 0 {
		for i := range r.Commands {
			c := &r.Commands[i]
			w.WriteBool(c.Shown)
			if c.Shown {
				writeSight(w, &c.Sight)
			}
		}
	}
	if len(r.game.Inputs()) == 0 {
		return
	}
	w.WriteUvarint(uint64(len(r.Tellings)))
	for i := range r.Tellings {
		t := &r.Tellings[i]
		w.WriteUvarint(uint64(t.Told.Kind))
		w.WriteBits(uint64(t.Told.To.By), 64)
		w.WriteUvarint(uint64(t.Told.To.Tick))
		w.WriteBits(uint64(t.Told.To.Ordinal), 16)
		w.WriteBits(uint64(t.Told.From), 32)
		w.WriteBits(uint64(t.Told.Seq), 32)
		w.WriteUvarint(uint64(len(t.Data)))
		w.WriteBytes(t.Data)
	}
}

// writeSight writes a sight, as readSight reads it.
func writeSight(w *bits.Writer, s *world.Sight) {
	w.WriteBits(uint64(s.Ago), 16)
	w.WriteBits(uint64(s.Base), 16)
	w.WriteBits(uint64(s.Claimed), 3)
	for _, c := range s.Claims[:s.Claimed] {
		w.WriteBits(uint64(c.Target), 64)
		for _, v := range c.Place {
			w.WriteBits(uint64(uint32(v)), 32)
		}
	}
}

func readSight(in *bits.Reader, s *world.Sight) bool {
	s.Ago, s.Base = uint16(in.ReadBits(16)), uint16(in.ReadBits(16))
	if s.Claimed = uint8(in.ReadBits(3)); s.Claimed > world.MaxClaims {
		return false
	}
	for i := range s.Claims[:s.Claimed] {
		c := &s.Claims[i]
		c.Target = world.ID(in.ReadBits(64))
		for k := range c.Place {
			c.Place[k] = int32(uint32(in.ReadBits(32)))
		}
	}
	return in.Err() == nil
}

func (r *Ruling) readMore(in *bits.Reader) bool {
	if r.game.Rewinds() > 0 {
		for i := range r.Commands {
			c := &r.Commands[i]
			if c.Shown = in.ReadBool(); c.Shown && !readSight(in, &c.Sight) {
				return false
			}
		}
	}
	if len(r.game.Inputs()) == 0 {
		return true
	}
	n := in.ReadUvarint()
	if n > maxTellings || n > uint64(in.Left()) {
		return false
	}
	for range n {
		if !r.readTelling(in) {
			return false
		}
	}
	return true
}

func (r *Ruling) readTelling(in *bits.Reader) bool {
	var t Telling
	kind := in.ReadUvarint()
	t.Told.Kind = uint16(kind)
	t.Told.To.By = world.ID(in.ReadBits(64))
	t.Told.To.Tick = world.Tick(in.ReadUvarint())
	t.Told.To.Ordinal = uint16(in.ReadBits(16))
	t.Told.From, t.Told.Seq = uint32(in.ReadBits(32)), uint32(in.ReadBits(32))
	size := in.ReadUvarint()
	if kind >= 1<<16 || size > uint64(in.Left()/8) {
		return false
	}
	t.Data = make([]byte, size)
	in.ReadBytes(t.Data)
	if k := len(r.Tellings); k > 0 && r.Tellings[k-1].Told.Compare(t.Told) >= 0 ||
		r.game.CheckTold(t.Told, t.Data) != nil {
		return false
	}
	r.Tellings = append(r.Tellings, t)
	return true
}
