package bits

import (
	"encoding/binary"
	"iter"
	"net/netip"
)

// A Cursor goes over a message of whole bytes and reads or writes each of its fields, so that one
// function describes a message both ways and the two cannot differ:
//
//	func (m *greeting) fields(c *bits.Cursor) {
//		c.U32(&m.version)
//		c.Text16(&m.name, 64)
//	}
//
// Numbers are big-endian. After the first field that is missing or wrong a reading cursor reads
// nothing more and [Cursor.OK] is false; what it was given to fill stays as it was. It never reads
// beyond its bytes, and allocates only for what has arrived. A writing cursor changes nothing but
// its own bytes, so that several may write the same message at once.
//
// A Cursor is for the messages of protocols. What a game sends goes through [Sync], in fewer bits.
type Cursor struct {
	b       []byte // reading: what is left; writing: what there is
	reading bool
	bad     bool
}

// CursorTo makes a cursor that appends to b.
func CursorTo(b []byte) Cursor { return Cursor{b: b} }

// CursorOver makes a cursor that reads b.
func CursorOver(b []byte) Cursor { return Cursor{b: b, reading: true} }

// Reading says which way the cursor goes.
func (c *Cursor) Reading() bool { return c.reading }

// Fail says that a field is not what it may be.
func (c *Cursor) Fail() { c.bad = true }

// Check fails unless what it is told is true.
func (c *Cursor) Check(ok bool) { c.bad = c.bad || !ok }

// OK says whether all so far was there and right.
func (c *Cursor) OK() bool { return !c.bad }

// Done says whether all was there and right, and nothing is left to read.
func (c *Cursor) Done() bool { return !c.bad && (!c.reading || len(c.b) == 0) }

// Data is what was written, or what is left to read.
func (c *Cursor) Data() []byte { return c.b }

// take gives the next n bytes of what is read, or nil.
func (c *Cursor) take(n int) []byte {
	if c.bad || n < 0 || len(c.b) < n {
		c.bad = true
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

// U8 is one byte.
func (c *Cursor) U8(v *uint8) {
	if !c.reading {
		c.b = append(c.b, *v)
	} else if b := c.take(1); b != nil {
		*v = b[0]
	}
}

// U16 is two bytes.
func (c *Cursor) U16(v *uint16) {
	if !c.reading {
		c.b = binary.BigEndian.AppendUint16(c.b, *v)
	} else if b := c.take(2); b != nil {
		*v = binary.BigEndian.Uint16(b)
	}
}

// U24 is three bytes, of which a writer's v has no more.
func (c *Cursor) U24(v *uint32) {
	if !c.reading {
		c.b = append(c.b, byte(*v>>16), byte(*v>>8), byte(*v))
	} else if b := c.take(3); b != nil {
		*v = uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
	}
}

// U32 is four bytes.
func (c *Cursor) U32(v *uint32) {
	if !c.reading {
		c.b = binary.BigEndian.AppendUint32(c.b, *v)
	} else if b := c.take(4); b != nil {
		*v = binary.BigEndian.Uint32(b)
	}
}

// U64 is eight bytes.
func (c *Cursor) U64(v *uint64) {
	if !c.reading {
		c.b = binary.BigEndian.AppendUint64(c.b, *v)
	} else if b := c.take(8); b != nil {
		*v = binary.BigEndian.Uint64(b)
	}
}

// Uvarint is a number of at most most, in one to ten bytes: seven bits in each, the low ones first.
func (c *Cursor) Uvarint(v *uint64, most uint64) {
	if !c.reading {
		c.b = binary.AppendUvarint(c.b, *v)
		return
	}
	u, n := binary.Uvarint(c.b)
	if c.bad || n <= 0 || u > most {
		c.bad = true
		return
	}
	c.b = c.b[n:]
	*v = u
}

// Number is Uvarint for a number of any type.
func Number[T ~uint8 | ~uint16 | ~uint32 | ~uint64](c *Cursor, v *T, most uint64) {
	u := uint64(*v)
	if c.Uvarint(&u, most); c.reading {
		*v = T(u)
	}
}

// Bool is one byte, 0 or 1.
func (c *Cursor) Bool(v *bool) {
	var b byte
	if *v {
		b = 1
	}
	if c.U8(&b); b > 1 {
		c.bad = true
	} else if c.reading && !c.bad {
		*v = b == 1
	}
}

// Raw is len(v) bytes.
func (c *Cursor) Raw(v []byte) {
	if !c.reading {
		c.b = append(c.b, v...)
	} else if b := c.take(len(v)); b != nil {
		copy(v, b)
	}
}

// Bytes is n bytes. When it reads, v points into what the cursor was given.
func (c *Cursor) Bytes(v *[]byte, n int) {
	if !c.reading {
		c.b = append(c.b, (*v)[:n]...)
	} else if b := c.take(n); b != nil {
		*v = b
	}
}

// Rest is all that follows. When it reads, v points into what the cursor was given.
func (c *Cursor) Rest(v *[]byte) {
	n := len(*v)
	if c.reading {
		n = len(c.b)
	}
	c.Bytes(v, n)
}

// Text8 is a text of at most most bytes behind its length in one byte.
func (c *Cursor) Text8(v *string, most int) {
	n := uint8(len(*v))
	c.U8(&n)
	c.text(v, int(n), most)
}

// Text16 is a text of at most most bytes behind its length in two bytes.
func (c *Cursor) Text16(v *string, most int) {
	n := uint16(len(*v))
	c.U16(&n)
	c.text(v, int(n), most)
}

func (c *Cursor) text(v *string, n, most int) {
	switch {
	case n > most:
		c.bad = true
	case !c.reading:
		c.b = append(c.b, *v...)
	default:
		if b := c.take(n); b != nil {
			*v = string(b)
		}
	}
}

// Addr is an address and its port: the family in one byte, 4 or 6, then 4 or 16 bytes, and two.
// An address has one form: one of IPv4 is never written as one of IPv6, and zones are not sent.
func (c *Cursor) Addr(v *netip.AddrPort) {
	a, port := v.Addr().Unmap().WithZone(""), v.Port()
	b, family := a.As16(), byte(6)
	from := 0
	if a.Is4() {
		family = 4
	}
	if c.U8(&family); family == 4 {
		from = 12
	} else if family != 6 {
		c.bad = true
	}
	c.Raw(b[from:])
	c.U16(&port)
	if !c.reading || c.bad {
		return
	}
	if a, _ = netip.AddrFromSlice(b[from:]); a.Is4In6() {
		c.bad = true
		return
	}
	*v = netip.AddrPortFrom(a, port)
}

// AddrOrNone is an address as [Cursor.Addr] has it, or the byte 0 where there is none.
func (c *Cursor) AddrOrNone(v *netip.AddrPort) {
	none := !v.IsValid()
	if c.reading {
		none = len(c.b) > 0 && c.b[0] == 0
	}
	if !none {
		c.Addr(v)
		return
	}
	family := uint8(0)
	c.U8(&family)
	*v = netip.AddrPort{}
}

// List8 goes over a list of at most most entries behind their number in one byte. When it reads,
// the list is made anew in the memory that it has.
//
//	for m := range bits.List8(c, &roster.members, 64) {
//		c.U16(&m.id)
//	}
func List8[T any](c *Cursor, list *[]T, most int) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		n := uint8(len(*list))
		c.U8(&n)
		each(c, list, int(n), most, yield)
	}
}

// List16 is [List8] with the number in two bytes.
func List16[T any](c *Cursor, list *[]T, most int) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		n := uint16(len(*list))
		c.U16(&n)
		each(c, list, int(n), most, yield)
	}
}

func each[T any](c *Cursor, list *[]T, n, most int, yield func(*T) bool) {
	if c.Check(n <= most); c.reading {
		*list = (*list)[:0]
	}
	for i := 0; i < n && !c.bad; i++ {
		if c.reading {
			var none T
			*list = append(*list, none)
		}
		if !yield(&(*list)[i]) {
			return
		}
	}
}
