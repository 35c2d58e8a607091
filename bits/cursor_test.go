package bits_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"

	"github.com/coeval-dev/coeval/bits"
)

// everyField has each kind of field that a cursor knows.
type everyField struct {
	a    uint8
	b    uint16
	c    uint32
	d    uint64
	e    uint64
	f    bool
	raw  [3]byte
	g, h string
	addr netip.AddrPort
	none netip.AddrPort
	some netip.AddrPort
	u24  uint32
	two  []uint16
	one  []uint8
	list []byte
	rest []byte
}

func (m *everyField) fields(c *bits.Cursor) {
	c.U8(&m.a)
	c.U16(&m.b)
	c.U32(&m.c)
	c.U64(&m.d)
	c.Uvarint(&m.e, 1<<40)
	c.Bool(&m.f)
	c.Raw(m.raw[:])
	c.Text8(&m.g, 20)
	c.Text16(&m.h, 300)
	c.Addr(&m.addr)
	c.AddrOrNone(&m.none)
	c.AddrOrNone(&m.some)
	c.U24(&m.u24)
	for v := range bits.List16(c, &m.two, 3) {
		c.U16(v)
	}
	for v := range bits.List8(c, &m.one, 3) {
		c.U8(v)
	}
	n := uint8(len(m.list))
	c.U8(&n)
	c.Bytes(&m.list, int(n))
	c.Rest(&m.rest)
}

func (m *everyField) write() []byte {
	c := bits.CursorTo(nil)
	m.fields(&c)
	return c.Data()
}

func everyFieldFilled(addr string) *everyField {
	return &everyField{
		a: 1, b: 2, c: 3, d: 1 << 60, e: 1 << 40, f: true, raw: [3]byte{7, 8, 9},
		g: "ann", h: "a longer one", addr: netip.MustParseAddrPort(addr),
		some: netip.MustParseAddrPort(addr),
		u24:  1<<24 - 2, two: []uint16{500, 600}, one: []uint8{7}, list: []byte{4, 5}, rest: []byte{
			6},
	}
}

func TestCursorReadsWhatItWrote(t *testing.T) {
	for _, addr := range []string{"10.1.2.3:4", "[2001:db8::1]:65535", "[::ffff:10.1.2.3]:4"} {
		want := everyFieldFilled(addr)
		b := want.write()
		var got everyField
		c := bits.CursorOver(b)
		if got.fields(&c); !c.Done() {
			t.Fatalf("%s: not read to its end", addr)
		}
		want.addr = netip.AddrPortFrom(want.addr.Addr().Unmap(), want.addr.Port())
		want.some = want.addr
		if fmt.Sprint(got) != fmt.Sprint(*want) {
			t.Errorf("wrote %v\nread  %v", *want, got)
		}
		// Each beginning lacks something, and the last field is all that may be shorter.
		for n := range len(b) - 1 {
			if c := bits.CursorOver(b[:n]); true {
				if got.fields(&c); c.OK() {
					t.Errorf("%d bytes of %d were enough", n, len(b))
				}
			}
		}
	}
}

func TestCursorRefuses(t *testing.T) {
	for name, read := range map[string]func(c *bits.Cursor){
		"a flag of 2":                  func(c *bits.Cursor) { v := false; c.Bool(&v) },
		"a number above its most":      func(c *bits.Cursor) { var v uint64; c.Uvarint(&v, 1) },
		"a text above its most":        func(c *bits.Cursor) { var v string; c.Text8(&v, 1) },
		"a family of 2":                func(c *bits.Cursor) { var v netip.AddrPort; c.Addr(&v) },
		"a negative number of bytes":   func(c *bits.Cursor) { var v []byte; c.Bytes(&v, -1) },
		"what the caller finds wrong":  func(c *bits.Cursor) { c.Check(false) },
		"what the caller finds wrong ": func(c *bits.Cursor) { c.Fail() },
	} {
		c := bits.CursorOver([]byte{2, 'h', 'i', 0, 0, 0, 0, 0, 0, 0})
		if read(&c); c.OK() {
			t.Errorf("%s was taken", name)
		}
		left := len(c.Data())
		var v uint8
		if c.U8(&v); v != 0 || len(c.Data()) != left {
			t.Errorf("%s: read on afterwards", name)
		}
	}
}

// FuzzCursor holds that what is read is written again to the same bytes.
func FuzzCursor(f *testing.F) {
	f.Add(everyFieldFilled("10.1.2.3:4").write())
	f.Add(everyFieldFilled("[2001:db8::1]:5").write())
	f.Fuzz(func(t *testing.T, b []byte) {
		var m everyField
		c := bits.CursorOver(b)
		if m.fields(&c); !c.Done() {
			return
		}
		again := m.write()
		var back everyField
		c = bits.CursorOver(again)
		if back.fields(&c); !c.Done() || fmt.Sprint(back) != fmt.Sprint(m) {
			t.Fatalf("%x was read and written as %x", b, again)
		}
		if len(again) == len(b) && !bytes.Equal(again, b) {
			t.Fatalf("%x was read and written as %x", b, again)
		}
	})
}

func BenchmarkCursor(b *testing.B) {
	m := everyFieldFilled("10.1.2.3:4")
	buf := make([]byte, 0, 128)
	b.ReportAllocs()
	for b.Loop() {
		c := bits.CursorTo(buf)
		m.fields(&c)
	}
}
