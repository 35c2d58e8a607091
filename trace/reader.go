package trace

import (
	"errors"
	"fmt"
	"io"

	"github.com/coeval-dev/coeval/world"
)

// A Reader reads a trace, record by record, in memory that does not grow with its length. It
// belongs to one goroutine at a time.
type Reader struct {
	blocks  blockReader
	header  Header
	history *history
	coder   coder
	packer  packer
	record  Record
	base    int64 // where in the source the trace begins, if that can seek
	limits  Limits

	tick    world.Tick
	started bool
	left    int // ticks in the block under way
	numbers int // of the commands in it so far
	whole   bool
	hash    uint64 // the whole hash at the end of the block, if whole
	start   int64  // of the block under way
	counts  Counts
	// the bytes of all states so far, unpacked
	unpacked int64
	err      error

	attaches bool   // the trace may have attachments
	waits    bool   // there is one that belongs to the next record
	attached []byte // which it is
}

// Counts are what a Reader has come by so far.
type Counts struct {
	Bytes       int64 // of the file, up to the end of the block that was read last
	Blocks      int
	Ticks       int
	States      int
	StateBytes  int64 // what the states take of Bytes
	Commands    int
	Hashes      int
	Joins       int
	Leaves      int
	Told        int // inputs of other kinds
	MostPlayers int // the most who were there, or commanded, at once
}

// Open begins to read a trace. What is no trace is refused; what is damaged further on can be read
// up to there. It takes memory in proportion to the trace; see Limits.
func Open(in io.Reader) (*Reader, error) { return OpenWithin(in, Limits{}) }

// OpenWithin is Open with limits of the caller's own.
func OpenWithin(in io.Reader, l Limits) (*Reader, error) {
	r := &Reader{limits: l.fill()}
	if s, ok := in.(io.Seeker); ok {
		if at, err := s.Seek(0, io.SeekCurrent); err == nil {
			r.base = at
		}
	}
	head := make([]byte, len(magic)) // those of all versions have one length
	if n, err := io.ReadFull(in, head); err != nil && !errors.Is(err, io.EOF) &&
		!errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("trace: %w", err)
	} else if n < len(head) && n > 0 && (string(head[:n]) == magic[:n] ||
		string(head[:n]) == firstMagic[:n] || string(head[:n]) == attachedMagic[:n]) {
		return nil, &DamageError{Err: fmt.Errorf("%w: before its header", ErrCut)}
	}
	r.attaches = string(head) == attachedMagic
	if string(head) != magic && string(head) != firstMagic && !r.attaches {
		if string(head[:len(magic)-2]) == magic[:len(magic)-2] {
			return nil, fmt.Errorf(
				"trace: %w that this program can read: it says %q, and one from %q to %q is "+
					"needed; use a program of its version", ErrNotTrace, head, firstMagic,
				attachedMagic)
		}
		return nil, fmt.Errorf("trace: %w: it does not begin like one", ErrNotTrace)
	}
	r.blocks.reset(in, int64(len(head)), crcOf(string(head)))
	kind, payload, err := r.next()
	if err == io.EOF {
		err = fmt.Errorf("%w: before its header", ErrCut)
	}
	if err == nil && kind != blockHeader {
		err = fmt.Errorf("%w: there is no header", ErrDamaged)
	}
	if err == nil {
		if r.header, err = parseHeader(payload, string(head) == firstMagic); err != nil {
			err = fmt.Errorf("%w: its header: %w", ErrDamaged, err)
		}
	}
	if err != nil {
		return nil, r.damage(err)
	}
	r.tick = r.header.First
	r.history = newHistory(&r.header, r.limits.Numbers)
	r.coder.reading = true
	r.record.slots = len(r.history.schema.Slots)
	return r, nil
}

// Header says what the trace is a recording of.
func (r *Reader) Header() *Header { return &r.header }

// Counts says what was read so far.
func (r *Reader) Counts() Counts { return r.counts }

// Tick is the tick of the last record.
func (r *Reader) Tick() world.Tick { return r.tick }

// Next gives the next record; it is good until the call after. At the end of the trace the error is
// io.EOF. Where the trace is damaged or cut it is a *DamageError, and stays so; the records before
// it are good.
func (r *Reader) Next() (*Record, error) {
	if r.err != nil {
		return nil, r.err
	}
	rec, err := r.advance()
	if err != nil {
		if err != io.EOF {
			err = r.damage(err)
		}
		r.err = err
		return nil, err
	}
	return rec, nil
}

// damage says where an error is. Errors of the source below stay as they are.
func (r *Reader) damage(err error) error {
	if !incomplete(err) {
		return fmt.Errorf("trace: %w", err)
	}
	return &DamageError{Offset: r.start, Tick: r.tick, Err: err}
}

// next reads a block.
func (r *Reader) next() (byte, []byte, error) {
	r.start = r.blocks.at
	kind, payload, err := r.blocks.next()
	if err == nil {
		r.counts.Blocks++
		r.counts.Bytes = r.blocks.at
	}
	return kind, payload, err
}

func (r *Reader) advance() (*Record, error) {
	for r.left == 0 {
		kind, payload, err := r.next()
		switch {
		case err == io.EOF:
			return nil, fmt.Errorf("%w: it has no end, so its writer was stopped or is still at it",
				ErrCut)
		case err != nil:
			return nil, err
		case kind == blockState:
			return r.state(payload)
		case kind == blockEnd:
			return nil, r.end(payload)
		case kind == blockAttached:
			if err := r.attach(payload); err != nil {
				return nil, err
			}
			continue
		case kind != blockInputs:
			return nil, fmt.Errorf("%w: a second header", ErrDamaged)
		}
		if err := r.inputs(payload); err != nil {
			return nil, err
		}
	}
	return r.step()
}

func (r *Reader) state(payload []byte) (*Record, error) {
	tick, hash, s, err := parseState(payload, &r.packer)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	case !r.started && (tick != r.header.First || !s.given):
		return nil, fmt.Errorf("%w: it begins with a state of tick %d rather than %d", ErrDamaged,
			tick, r.header.First)
	case tick < r.tick || !s.given && tick != r.tick:
		return nil, fmt.Errorf("%w: a state of tick %d after tick %d", ErrDamaged, tick, r.tick)
	}
	if err := r.unpack(s); err != nil {
		return nil, err
	}
	r.started, r.tick = true, tick
	r.history.reset()
	r.counts.States++
	r.counts.StateBytes += r.blocks.at - r.start
	rec := r.empty()
	rec.state, rec.Hash, rec.HashBits = s, hash, 64
	r.give(rec)
	return rec, nil
}

// empty clears the record, for the tick that the reader is at.
func (r *Reader) empty() *Record {
	rec := &r.record
	*rec = Record{
		Tick: r.tick, Joins: rec.Joins[:0], Leaves: rec.Leaves[:0], Players: rec.Players[:0],
		Sights: rec.Sights[:0], Tellings: rec.Tellings[:0], images: rec.images[:0],
		slots: rec.slots}
	return rec
}

// inputs begins a block of ticks.
func (r *Reader) inputs(payload []byte) error {
	p := &parser{data: payload}
	first, n := world.Tick(p.uvarint()), p.below(maxTicks+1)
	r.whole, r.hash = p.hash()
	switch {
	case p.err != nil:
		return fmt.Errorf("%w: %w", ErrDamaged, p.err)
	case !r.started:
		return fmt.Errorf("%w: ticks before the first state", ErrDamaged)
	case n == 0 || first != r.tick+1:
		return fmt.Errorf("%w: %d ticks from %d on after tick %d", ErrDamaged, n, first, r.tick)
	}
	r.left, r.numbers = int(n), 0
	r.coder.dec.Reset(p.data)
	return nil
}

// hash reads what appendHash writes.
func (r *parser) hash() (known bool, hash uint64) {
	switch r.byte() {
	case 0:
		return false, 0
	case 1:
		return true, r.fixed()
	}
	if r.err == nil {
		r.err = errors.New("a hash of an unknown kind")
	}
	return false, 0
}

// step decodes one tick.
func (r *Reader) step() (*Record, error) {
	if r.limits.Ticks > 0 && r.counts.Ticks >= r.limits.Ticks {
		return nil, fmt.Errorf("%w: it has more than %d ticks", ErrLimit, r.limits.Ticks)
	}
	rec := r.empty()
	rec.Tick++
	if r.numbers >= fullBlock {
		r.coder.bad = true // a Writer ends a block there
	} else {
		r.history.tick(&r.coder, rec)
		r.numbers += rec.size()
	}
	if r.left--; r.left == 0 {
		if !r.coder.bad && r.coder.dec.Finish() != nil {
			r.coder.bad = true
		}
		if r.whole {
			if !sameHash(rec.Hash, rec.HashBits, r.hash, 64) {
				r.coder.bad = true
			}
			rec.Hash, rec.HashBits = r.hash, 64
		}
	}
	if r.coder.failed() {
		// The checksum was right, so the block is as it was written: by something else than a
		// Writer.
		return nil, fmt.Errorf("%w: a block of inputs makes no sense", ErrDamaged)
	}
	r.give(rec)
	r.tick = rec.Tick
	r.counts.Ticks++
	r.counts.Commands += len(rec.Players)
	r.counts.Joins += len(rec.Joins)
	r.counts.Leaves += len(rec.Leaves)
	r.counts.Told += len(rec.Tellings)
	r.counts.MostPlayers = max(r.counts.MostPlayers, len(r.history.seats))
	if rec.HashBits > 0 {
		r.counts.Hashes++
	}
	return rec, nil
}

// end sees that the end is the end.
func (r *Reader) end(payload []byte) error {
	p := &parser{data: payload}
	tick := world.Tick(p.uvarint())
	p.hash()
	if err := p.end(); err != nil {
		return fmt.Errorf("%w: its end: %w", ErrDamaged, err)
	}
	if tick != r.tick || !r.started {
		return fmt.Errorf("%w: its end is of tick %d, after tick %d", ErrDamaged, tick, r.tick)
	}
	r.start = r.blocks.at
	if _, err := r.blocks.buf.ReadByte(); err == nil {
		return fmt.Errorf("%w: something follows its end", ErrDamaged)
	} else if err != io.EOF {
		return err
	}
	return io.EOF
}

// SkipTo goes forward to the last state at or before a tick, so that a replay need not begin at the
// beginning; the next record is that state. Call it before the first Next. It works where the
// source can seek, and elsewhere does nothing. What is skipped is checked for damage all the same,
// and not counted.
func (r *Reader) SkipTo(t world.Tick) error {
	source, ok := r.blocks.in.(io.ReadSeeker)
	if !ok || r.err != nil || r.started {
		return nil
	}
	counts := r.counts
	at, crc, tick := r.blocks.at, r.blocks.crc, r.tick // of the best place so far
	here, sum := at, crc
	for follows := false; ; {
		if !follows { // an attachment belongs to what follows it
			here, sum = r.blocks.at, r.blocks.crc
		}
		kind, payload, err := r.next()
		if err != nil || kind == blockEnd {
			break // whoever reads up to here will be told
		}
		if follows = kind == blockAttached; kind != blockState {
			continue
		}
		found, _, _, err := parseState(payload, &r.packer)
		if err != nil || found > t {
			break
		}
		at, crc, tick = here, sum, found
		r.started = tick > r.header.First
	}
	r.counts, r.tick = counts, tick
	if _, err := source.Seek(r.base+at, io.SeekStart); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	r.blocks.reset(source, at, crc)
	return nil
}
