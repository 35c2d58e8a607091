package codec

// A Tape holds the decisions by which an entity was coded. The same entity,
// with the same history, goes into another packet by Replay: what is left of
// the work is the range coder's. A server with many clients has many that
// hold the same of an entity.
//
// The zero Tape is ready for use. It belongs to one goroutine at a time.
type Tape struct {
	ops     []decisionOp
	changed uint8 // whether the entity differs from its base
}

// decisionOp is one step of the range coder.
type decisionOp struct {
	cum, freq uint16
	tail      uint32
	form      uint8
	n         uint8 // bits of tail
}

const (
	formFreq     = iota // a symbol
	formFreqBits        // a symbol, and raw bits behind it in one step
	formBits            // raw bits
)

// Note lets the next Put write down what it does. The tape is emptied first.
func (e *Encoder) Note(t *Tape) {
	if t.ops == nil {
		t.ops = make([]decisionOp, 0, 24)
	}
	t.ops = t.ops[:0]
	e.c.tape = t
}

// Context is what an entity's coding depends on besides its history: what came
// before it in the packet. A tape that was recorded in one context must not be replayed in another.
func (e *Encoder) Context() uint8 { return e.c.facts[factBefore] }

// Replay adds an entity as it was recorded. It must be of the same class and
// have the same history and image, and the packet must be in the same Context.
// Like Put it reports false if the packet is full.
func (e *Encoder) Replay(t *Tape) bool {
	enc := &e.enc
	mark, tight := enc.Mark(), enc.Room() < len(t.ops)*6
	for i := range t.ops {
		o := &t.ops[i]
		switch o.form {
		case formFreq:
			enc.EncodeFreq(uint32(o.cum), uint32(o.freq), tableBits)
		case formFreqBits:
			enc.EncodeFreqBits(uint32(o.cum), uint32(o.freq), tableBits, o.tail, uint(o.n))
		default:
			enc.EncodeBits(uint64(o.tail), uint(o.n))
		}
	}
	if tight && !enc.Fits() {
		enc.Rewind(mark)
		return false
	}
	e.c.facts[factBefore] = e.c.facts[factBefore]<<1&2 | t.changed
	return true
}

// note writes a step down.
func (t *Tape) note(form uint8, cum, freq, tail uint32, n uint) {
	t.ops = append(t.ops, decisionOp{uint16(cum), uint16(freq), tail, form, uint8(n)})
}
