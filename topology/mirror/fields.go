package mirror

import (
	"cmp"
	"maps"
	"math"
	"net/netip"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// This file has the fields that messages of mirrors are made of. Each function reads or writes one,
// by the way its cursor goes.

// maxTick keeps ticks from overflowing when something is added to them: it is a hundred thousand
// years.
const maxTick = 1 << 56

// atMost is a number that is taken for most if it is more.
func atMost[T ~uint16 | ~uint32](c *bits.Cursor, v *T, most uint64) {
	u := uint64(*v)
	if c.Uvarint(&u, math.MaxUint64); c.Reading() {
		*v = T(min(u, most))
	}
}

func tick(c *bits.Cursor, t *world.Tick) { bits.Number(c, t, maxTick) }

// after is a tick later than the promise.
func after(c *bits.Cursor, promise world.Tick, t *world.Tick) {
	d := *t - promise - 1
	if tick(c, &d); c.Reading() {
		*t = promise + 1 + d
	}
}

// before is a tick that is not later than the promise.
func before(c *bits.Cursor, promise world.Tick, t *world.Tick) {
	d := promise - *t
	if bits.Number(c, &d, uint64(promise)); c.Reading() {
		*t = promise - d
	}
}

// micros is a time of at most a century.
func micros(c *bits.Cursor, d *time.Duration) {
	us := uint64(*d / time.Microsecond)
	if c.Uvarint(&us, 1<<52); c.Reading() {
		*d = time.Duration(us) * time.Microsecond
	}
}

// player is one that is not Nobody.
func player(c *bits.Cursor, p *world.Player) {
	bits.Number(c, p, math.MaxUint16)
	c.Check(*p != world.Nobody)
}

// maxTold bounds the bytes of an input of another kind than commands.
const maxTold = 1 << 16

// sight is what a player was shown with a command.
func sight(c *bits.Cursor, s *world.Sight) {
	c.U16(&s.Ago)
	c.U16(&s.Base)
	c.U8(&s.Claimed)
	c.Check(s.Claimed <= world.MaxClaims)
	for i := range s.Claims[:min(s.Claimed, world.MaxClaims)] {
		q := &s.Claims[i]
		c.U64((*uint64)(&q.Target))
		for k := range q.Place {
			v := uint32(q.Place[k])
			c.U32(&v)
			q.Place[k] = int32(v)
		}
	}
}

// told is what names an input of another kind than commands.
func told(c *bits.Cursor, t *world.Told) {
	c.U16(&t.Kind)
	c.U64((*uint64)(&t.To.By))
	tick(c, &t.To.Tick)
	c.U16(&t.To.Ordinal)
	c.U32(&t.From)
	c.U32(&t.Seq)
}

// blob is bytes behind how many there are. When it reads, v points into what the cursor was given.
func blob(c *bits.Cursor, v *[]byte, most uint64) {
	n := uint64(len(*v))
	c.Uvarint(&n, most)
	if c.OK() {
		c.Bytes(v, int(n))
	}
}

// why is a reason to come to a mirror.
func why(c *bits.Cursor, w *wire.Why) {
	c.U8((*byte)(w))
	c.Check(*w < wire.Whys)
}

// text is one of at most most bytes; what is longer is cut between two characters.
func text(c *bits.Cursor, s *string, most int) {
	b := []byte(*s)
	for len(b) > most {
		_, n := utf8.DecodeLastRune(b)
		b = b[:len(b)-n]
	}
	if blob(c, &b, uint64(most)); c.Reading() {
		c.Check(utf8.Valid(b))
		*s = string(b)
	}
}

// address is one as netip writes it, behind its length in one byte.
func address(c *bits.Cursor, a *netip.AddrPort) {
	b, _ := a.MarshalBinary() // it cannot fail
	n := byte(len(b))
	if c.U8(&n); c.OK() {
		c.Bytes(&b, int(n))
	}
	if c.Reading() {
		c.Check(a.UnmarshalBinary(b) == nil)
	}
}

// list is as many as there are, each of which f describes.
func list[T any](c *bits.Cursor, v *[]T, f func(*T)) {
	n := uint64(len(*v))
	c.Uvarint(&n, math.MaxUint64)
	items(c, v, n, f)
}

// items are n of a kind.
func items[T any](c *bits.Cursor, v *[]T, n uint64, f func(*T)) {
	for i := uint64(0); i < n && c.OK(); i++ {
		if c.Reading() {
			*v = append(*v, *new(T))
		}
		f(&(*v)[i])
	}
}

// table is as many keys as there are, in their order, each with its value as f describes them.
func table[K cmp.Ordered, V any](c *bits.Cursor, m map[K]V, f func(*K, *V)) {
	keys := slices.Sorted(maps.Keys(m))
	list(c, &keys, func(k *K) {
		v := m[*k]
		if f(k, &v); c.Reading() {
			m[*k] = v
		}
	})
}
