package raw

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/codec"
)

// A Writer is what encoders that know nothing of chances have in common: all of codec.PacketEncoder
// but Put.
type Writer struct {
	W    bits.Writer
	Fail error // an image that cannot be packed
	mark bits.Mark
}

// Begin starts a packet.
func (w *Writer) Begin(buf []byte) {
	w.W.Reset(buf)
	w.Fail = nil
}

// Refer does nothing: no entity is predicted from another.
func (w *Writer) Refer(int, *codec.History, []int32) {}

// Bits adds the lowest n bits of v.
func (w *Writer) Bits(v uint32, n uint) { w.W.WriteBits(uint64(v)&(1<<n-1), int(n)) }

// Flag takes a bit, whatever the chance.
func (w *Writer) Flag(bit bool, _ uint32) { w.W.WriteBool(bit) }

// Full reports whether more was added than fits.
func (w *Writer) Full() bool { return w.W.Err() != nil }

// Mark remembers the present place.
func (w *Writer) Mark() { w.mark = w.W.Mark() }

// Rewind takes back what was added since Mark.
func (w *Writer) Rewind() { w.W.Rewind(w.mark) }

// Spent is how many bits have been added.
func (w *Writer) Spent() float64 { return float64(w.W.Len()) }

// Finish ends the packet.
func (w *Writer) Finish() ([]byte, error) {
	if w.Fail != nil {
		return nil, w.Fail
	}
	return w.W.Bytes(), w.W.Err()
}

// A Reader is the same of decoders: all of codec.PacketDecoder but Get.
type Reader struct{ R bits.Reader }

// Begin starts to read a packet.
func (r *Reader) Begin(packet []byte) { r.R.Reset(packet) }

// Refer does nothing.
func (r *Reader) Refer(int, *codec.History, []int32) {}

// Bits reads n bits.
func (r *Reader) Bits(n uint) uint32 { return uint32(r.R.ReadBits(int(n))) }

// Flag reads a bit.
func (r *Reader) Flag(uint32) bool { return r.R.ReadBool() }

// Err reports what was wrong with the packet so far.
func (r *Reader) Err() error { return r.R.Err() }

// Finish checks that the packet was read to its end.
func (r *Reader) Finish() error { return r.R.Finish() }
