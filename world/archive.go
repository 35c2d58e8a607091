package world

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/bits"
)

// An archive is the bytes of a saved world. Each of its methods writes a value, or reads it, so
// that one function says what a part of a saved world is made of. Writing changes nothing in the
// world, which others may be reading. The first error stays; after it
// every value that is read is zero.
type archive struct {
	data    []byte // what was written, and room for more; or all that there is to read
	reading bool
	at      int   // how far it has been read or written
	memory  int64 // that what is read may still take
	err     error
}

func (a *archive) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

func (a *archive) fault() error {
	if errors.Is(a.err, ErrMemory) {
		return fmt.Errorf("world: saved world of %d bytes %w", len(a.data), a.err)
	}
	return fmt.Errorf("world: saved world is %w at byte %d of %d: %w", ErrDamaged, a.at,
		len(a.data), a.err)
}

// charge takes memory from what is allowed.
func (a *archive) charge(n int64) {
	if !a.reading {
		return
	}
	if a.memory -= n; a.memory < 0 {
		a.fail(ErrMemory)
	}
}

var errShort = errors.New("it ends too early")

// bytes reads n bytes.
func (a *archive) bytes(n int) []byte {
	if a.err != nil || n < 0 || n > len(a.data)-a.at {
		a.fail(errShort)
		return nil
	}
	b := a.data[a.at : a.at+n]
	a.at += n
	return b
}

// room makes room for n bytes more to be written.
func (a *archive) room(n int) {
	if len(a.data)-a.at < n {
		a.data = append(a.data[:a.at], make([]byte, n)...)
		a.data = a.data[:cap(a.data)]
	}
}

// write writes a number, seven bits to a byte, the lowest first.
func (a *archive) write(u uint64) {
	a.room(binary.MaxVarintLen64)
	a.at += binary.PutUvarint(a.data[a.at:], u)
}

// fixed is a number that is as likely large as small.
func fixed[T ~uint64](a *archive, v *T) {
	if !a.reading {
		a.room(8)
		binary.LittleEndian.PutUint64(a.data[a.at:], uint64(*v))
		a.at += 8
		return
	}
	*v = 0
	if b := a.bytes(8); b != nil {
		*v = T(binary.LittleEndian.Uint64(b))
	}
}

// uvarint is a number that is mostly small.
func uvarint[T bits.Whole](a *archive, v *T) {
	if !a.reading {
		a.write(uint64(*v))
		return
	}
	u, n := uint64(0), 0
	if a.err == nil {
		u, n = binary.Uvarint(a.data[a.at:])
	}
	if n <= 0 {
		a.fail(errShort)
		u, n = 0, 0
	}
	a.at += n
	*v = T(u)
}

// varint is uvarint for numbers with a sign.
func (a *archive) varint(v *int64) {
	if u := uint64(*v<<1) ^ uint64(*v>>63); a.reading {
		uvarint(a, &u)
		*v = int64(u>>1) ^ -int64(u&1)
	} else {
		uvarint(a, &u)
	}
}

// below is a number that must be less than n.
func below[T bits.Whole](a *archive, v *T, n uint64) {
	if !a.reading {
		a.write(uint64(*v))
		return
	}
	var u uint64
	if uvarint(a, &u); u >= n {
		a.fail(fmt.Errorf("%d is not below %d", u, n))
		u = 0
	}
	*v = T(u)
}

// count is how many of something follow that take at least so many bytes each.
func (a *archive) count(n int, limit uint64, size int) int {
	below(a, &n, limit+1)
	if a.reading && n > (len(a.data)-a.at)/size {
		a.fail(errShort)
		return 0
	}
	return n
}

func (a *archive) text(v *string) {
	n := a.count(len(*v), 1<<32-1, 1)
	if !a.reading {
		a.room(n)
		a.at += copy(a.data[a.at:], *v)
		return
	}
	*v = string(a.bytes(n))
}

// image is each number as its distance from what stands for nothing.
func (a *archive) image(image []int32, l *bits.Layout) []int32 {
	if !a.reading {
		a.writeImage(image, l.Absent())
		return image
	}
	schema := l.Schema()
	for i := range image {
		s := &schema.Slots[i]
		var v int64
		a.varint(&v)
		if v += int64(s.Absent); v < int64(s.Min) || v > int64(s.Max) {
			a.fail(fmt.Errorf("%s.%s: %d is not in %d..%d", schema.Name, s.Name, v, s.Min, s.Max))
			return image
		}
		image[i] = int32(v)
	}
	return image
}

// writeImage is most of what saving does, and goes over the numbers without asking which way.
func (a *archive) writeImage(image, absent []int32) {
	a.room(binary.MaxVarintLen64 * len(image))
	data, at := a.data, a.at
	for i, v := range image[:len(absent)] {
		d := int64(v) - int64(absent[i])
		at = putUvarint(data, at, uint64(d<<1)^uint64(d>>63))
	}
	a.at = at
}

// putUvarint writes a number where there is room for it, and returns where the next one goes.
func putUvarint(data []byte, at int, u uint64) int {
	for ; u >= 0x80; at++ {
		data[at] = byte(u) | 0x80
		u >>= 7
	}
	data[at] = byte(u)
	return at + 1
}

// value is a command or event, by its image.
func (a *archive) value(w *World, l *bits.Layout, v bits.Syncer) {
	image := a.image(w.packed(l, v), l)
	if a.reading && a.err == nil {
		a.fail(l.Unpack(&w.sync, v, image))
	}
}
