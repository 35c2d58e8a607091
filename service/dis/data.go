package dis

import (
	"encoding/binary"
	"fmt"
)

// Datum is one number that is told, by what the exercise agreed it to mean.
type Datum struct{ ID, Value uint32 }

// LongDatum is some bits that are told. They begin at the first bit of Data, which has as many
// bytes as they need.
type LongDatum struct {
	ID, Bits uint32
	Data     []byte
}

// TextDatum is a text as a datum.
func TextDatum(id uint32, text string) LongDatum {
	return LongDatum{ID: id, Bits: uint32(len(text)) * 8, Data: []byte(text)}
}

// Data tells values, often as an answer to a question. One that is Set asks the receiver to take
// them over; it is a kind of its own on the wire.
type Data struct {
	Header
	Request
	Set   bool
	Fixed []Datum
	Long  []LongDatum
}

// Comment is a text or other data for the log, which nobody answers. Its Request has no number.
type Comment struct {
	Header
	Request
	Fixed []Datum
	Long  []LongDatum
}

const (
	dataSize    = 40
	commentSize = 32
	fixedSize   = 8
	longSize    = 8 // before its bits
)

// padded is how many bytes the bits of a datum take: a multiple of eight.
func padded(bits uint32) int { return int((uint64(bits) + 63) / 64 * 8) }

// fit leaves away what does not fit into the largest PDU, and gives the size with the rest.
func fit(size int, fixed []Datum, long []LongDatum) ([]Datum, []LongDatum, int) {
	fixed = fixed[:min(len(fixed), (MaxPDU-size)/fixedSize)]
	size += fixedSize * len(fixed)
	for i := range long {
		next := size + longSize + padded(long[i].Bits)
		if next > MaxPDU || len(long[i].Data) < int((uint64(long[i].Bits)+7)/8) {
			return fixed, long[:i], size
		}
		size = next
	}
	return fixed, long, size
}

func putData(w []byte, fixed []Datum, long []LongDatum) {
	binary.BigEndian.PutUint32(w, uint32(len(fixed)))
	binary.BigEndian.PutUint32(w[4:], uint32(len(long)))
	w = w[8:]
	for _, d := range fixed {
		binary.BigEndian.PutUint32(w, d.ID)
		binary.BigEndian.PutUint32(w[4:], d.Value)
		w = w[fixedSize:]
	}
	for i := range long {
		d := &long[i]
		binary.BigEndian.PutUint32(w, d.ID)
		binary.BigEndian.PutUint32(w[4:], d.Bits)
		n := int((uint64(d.Bits) + 7) / 8)
		copy(w[longSize:], d.Data[:n])
		if rest := d.Bits % 8; rest != 0 {
			w[longSize+n-1] &= 0xFF << (8 - rest) // bits beyond are not part of it
		}
		w = w[longSize+padded(d.Bits):]
	}
}

// readData reads the two lists. The data of long ones are parts of r.
func (h *Header) readData(
	r []byte, before int, fixed []Datum, long []LongDatum,
) ([]Datum, []LongDatum, error) {
	n, m := binary.BigEndian.Uint32(r), binary.BigEndian.Uint32(r[4:])
	r = r[8:]
	if uint64(n)*fixedSize+uint64(m)*longSize > uint64(len(r)) {
		return fixed, long, fmt.Errorf("dis: %v of %d bytes with %d and %d data: %w", h.Kind,
			h.Length, n, m, ErrLength)
	}
	size := before + fixedSize*int(n)
	for ; n > 0; n-- {
		fixed = append(fixed, Datum{binary.BigEndian.Uint32(r), binary.BigEndian.Uint32(r[4:])})
		r = r[fixedSize:]
	}
	for ; m > 0; m-- {
		if len(r) < longSize {
			return fixed, long, h.exactly(size + longSize)
		}
		d := LongDatum{ID: binary.BigEndian.Uint32(r), Bits: binary.BigEndian.Uint32(r[4:])}
		r = r[longSize:]
		room := padded(d.Bits)
		size += longSize + room
		if room > len(r) {
			return fixed, long, h.exactly(size)
		}
		n := int((uint64(d.Bits) + 7) / 8)
		d.Data, r = r[:n:n], r[room:]
		long = append(long, d)
	}
	return fixed, long, h.exactly(size)
}

// Append adds the PDU to b. Data that do not fit into a PDU, and long ones with fewer bytes than
// bits, end the list.
func (p *Data) Append(b []byte) []byte {
	fixed, long, size := fit(dataSize, p.Fixed, p.Long)
	kind := KindData
	if p.Set {
		kind = KindSetData
	}
	b, w := p.begin(b, kind, size)
	putRequest(w[12:], &p.Request)
	binary.BigEndian.PutUint32(w[24:], p.Number)
	putData(w[32:], fixed, long)
	return b
}

// Read sets p to the PDU that b begins with. The data of long ones are parts of b.
func (p *Data) Read(b []byte) error {
	kind := KindData
	p.Set = len(b) > 2 && Kind(b[2]) == KindSetData
	if p.Set {
		kind = KindSetData
	}
	r, err := p.open(b, kind, dataSize)
	if err != nil {
		return err
	}
	p.Request = Request{getID(r[12:]), getID(r[18:]), binary.BigEndian.Uint32(r[24:])}
	p.Fixed, p.Long, err = p.readData(r[32:], dataSize, p.Fixed[:0], p.Long[:0])
	return err
}

// Append adds the PDU to b, with as many data as Data.Append.
func (p *Comment) Append(b []byte) []byte {
	fixed, long, size := fit(commentSize, p.Fixed, p.Long)
	b, w := p.begin(b, KindComment, size)
	putRequest(w[12:], &p.Request)
	putData(w[24:], fixed, long)
	return b
}

// Read sets p to the PDU that b begins with. The data of long ones are parts of b.
func (p *Comment) Read(b []byte) error {
	r, err := p.open(b, KindComment, commentSize)
	if err != nil {
		return err
	}
	p.Request = Request{From: getID(r[12:]), To: getID(r[18:])}
	p.Fixed, p.Long, err = p.readData(r[24:], commentSize, p.Fixed[:0], p.Long[:0])
	return err
}
