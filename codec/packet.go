package codec

import "github.com/coeval-dev/coeval/entropy"

// Encoder fills packets with entities, one packet after another. Each packet
// can be decoded alone: it depends on the model, on the histories of the
// entities in it, and on nothing else. An Encoder belongs to one goroutine;
// the model may be shared.
type Encoder struct {
	c   coder
	enc entropy.Encoder

	mark   entropy.Mark
	before uint8 // factBefore at the mark
}

// Start is the image that an entity of a class is a difference from where the receiver is not known
// to hold any: give it to History.Add as the only one. It must not be changed.
func (m *Model) Start(class int) []int32 { return m.classes[class].defaults }

// NewEncoder returns an encoder for packets under a model.
func NewEncoder(m *Model) *Encoder {
	e := new(Encoder)
	e.c.model = m
	e.c.enc = &e.enc
	return e
}

// Use goes on by another model of the same schema, for packets that the receiver decodes by it. It
// is for between Begin and the first entity.
func (e *Encoder) Use(m *Model) { e.c.model = m }

// Begin starts a packet that may take all of buf.
func (e *Encoder) Begin(buf []byte) {
	e.enc.Reset(buf)
	e.c.ref = reference{}
	e.c.facts[factBefore] = 0
}

// Put adds an entity: whether it differs from its base and, if so, how. It
// reports false, and leaves the packet as it was, if the packet is full.
func (e *Encoder) Put(class int, h *History, now []int32) bool {
	m := &e.c.model.classes[class]
	tight := e.enc.Room() < m.most // otherwise it fits whatever it is: nothing is to be taken back
	before, mark := e.c.facts[factBefore], entropy.Mark{}
	if tight {
		mark = e.enc.Mark()
	}
	if e.c.change(m, h, !same(now, h.Images[0])) {
		e.c.entity(m, h, now)
	}
	e.stop()
	if tight && !e.enc.Fits() {
		e.enc.Rewind(mark)
		e.c.facts[factBefore] = before
		return false
	}
	return true
}

// stop ends what Note began.
func (e *Encoder) stop() {
	if t := e.c.tape; t != nil {
		t.changed = e.c.facts[factBefore] & 1
		e.c.tape = nil
	}
}

// Refer makes the entity put last the reference of those put after it, in
// classes that have one. Its history and image must not change before the packet is finished.
func (e *Encoder) Refer(class int, h *History, now []int32) {
	e.c.ref.set(&e.c.model.classes[class], h, now)
}

// Bits adds the lowest n bits of v, at most 32: what goes along with entities.
func (e *Encoder) Bits(v uint32, n uint) { e.enc.EncodeBits(uint64(v), n) }

// Flag adds a bit that is expected to be set with a chance of one in 1<<16. It
// costs what it surprises by.
func (e *Encoder) Flag(bit bool, one uint32) { e.enc.EncodeChance(bit, one) }

// Full reports whether more was added by Bits and Flag than fits.
func (e *Encoder) Full() bool { return !e.enc.Fits() }

// Mark remembers the present place for Rewind.
func (e *Encoder) Mark() { e.mark, e.before = e.enc.Mark(), e.c.facts[factBefore] }

// Rewind takes back all that was added since Mark.
func (e *Encoder) Rewind() {
	e.enc.Rewind(e.mark)
	e.c.facts[factBefore] = e.before
}

// Spent is how many bits have been added so far.
func (e *Encoder) Spent() float64 { return e.enc.Bits() }

// Finish ends the packet and returns it.
func (e *Encoder) Finish() ([]byte, error) { return e.enc.Finish() }

// Decoder reads the packets of an Encoder.
type Decoder struct {
	c   coder
	dec entropy.Decoder
}

// NewDecoder returns a decoder for packets under a model.
func NewDecoder(m *Model) *Decoder {
	d := new(Decoder)
	d.c.model = m
	d.c.dec = &d.dec
	return d
}

// Use goes on by another model of the same schema, by which the packet was made. It is for between
// Begin and the first entity.
func (d *Decoder) Use(m *Model) { d.c.model = m }

// Begin starts to read a packet.
func (d *Decoder) Begin(packet []byte) {
	d.dec.Reset(packet)
	d.c.ref = reference{}
	d.c.facts[factBefore] = 0
}

// Get reads the next entity into now, and reports whether it changed. An
// entity that did not is a copy of its base.
func (d *Decoder) Get(class int, h *History, now []int32) (bool, error) {
	m := &d.c.model.classes[class]
	changed := d.c.change(m, h, false)
	if changed {
		d.c.entity(m, h, now)
	} else {
		copy(now, h.Images[0])
	}
	return changed, d.dec.Err()
}

// Refer makes an entity the reference of those read after it.
func (d *Decoder) Refer(class int, h *History, now []int32) {
	d.c.ref.set(&d.c.model.classes[class], h, now)
}

// Bits reads n bits, at most 32, that Encoder.Bits added.
func (d *Decoder) Bits(n uint) uint32 { return uint32(d.dec.DecodeBits(n)) }

// Flag reads a bit that Encoder.Flag added, given the same chance.
func (d *Decoder) Flag(one uint32) bool { return d.dec.DecodeChance(one) }

// Err reports what was wrong with the packet so far.
func (d *Decoder) Err() error { return d.dec.Err() }

// Finish checks that the packet ended where its last entity did.
func (d *Decoder) Finish() error { return d.dec.Finish() }
