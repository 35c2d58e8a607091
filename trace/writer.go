package trace

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/coeval-dev/coeval/world"
)

// Options say how a run is recorded. The zero value is good for most.
type Options struct {
	// Build is that of the program: BuildOf(debug.ReadBuildInfo()). A trace without it cannot say
	// which rules it was recorded with.
	Build Build
	// Note is put into the header: the server's name, the time, whatever helps to find the trace
	// again.
	Note string
	// HashEvery is after how many ticks 8 bits of the world's hash are recorded; the whole hash
	// goes in once a second. Default: 1, so that a replay that comes apart is found at the tick
	// where it does. A large world may want more, as hashing it takes time. Below 0, no hashes are
	// recorded.
	HashEvery int
	// StateEvery is after how many ticks the whole world is recorded, for tools to begin there.
	// Default: those of a minute. Below 0, only the first state is.
	StateEvery int
	// Attach is something of the program's own that belongs to the first state; see Writer.Attach.
	// Default: nothing, and Attach must not be called.
	Attach []byte
}

// A Writer records a run. It keeps about a second in memory; once a second it writes a block, in
// one piece. It belongs to one goroutine at a time.
type Writer struct {
	blocks  blockWriter
	game    *world.Game // nil if records come from another trace
	opt     Options
	slots   int
	rate    int
	history *history
	coder   coder
	packer  packer

	tick     world.Tick // the last one recorded
	closed   bool
	attaches bool   // it may have attachments
	last     uint64 // the hash at tick, as far as known
	bits     int
	since    int // ticks since the last state
	recorded int

	first   world.Tick // of the block under way
	ticks   int
	numbers int
	buf     []byte
	head    []byte
	record  Record
}

// NewWriter begins to record a run that starts from a world as it is now, between two ticks; mostly
// a new one. The state goes into the trace, with all that was set up before, and so does the
// world's Secret: give no one a trace of a match that still goes on.
func NewWriter(out io.Writer, w *world.World, o Options) (*Writer, error) {
	if w.Host().Settings().Partial {
		return nil, errors.New(
			"trace: a client's partial world is not what its own inputs make of it; record on " +
				"the machine that runs the whole world")
	}
	o.HashEvery = cmp.Or(o.HashEvery, 1)
	o.StateEvery = cmp.Or(o.StateEvery, 60*w.Game().Rate())
	t, err := newWriter(out, headerOf(w, o.Build, o.Note), o.Attach != nil)
	if err != nil {
		return nil, err
	}
	t.game, t.opt = w.Game(), o
	t.opt.Attach = nil
	if t.attaches {
		if err := t.Attach(o.Attach); err != nil {
			return nil, err
		}
	}
	return t, t.State(w)
}

// newWriter begins a trace that is not of a run of this program.
func newWriter(out io.Writer, h Header, attaches bool) (*Writer, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	t := &Writer{
		blocks: blockWriter{out: out}, rate: h.Rate, history: newHistory(&h, maxNumbers),
		buf: make([]byte, 1<<14), attaches: attaches}
	t.slots = len(t.history.schema.Slots)
	if attaches {
		t.blocks.start(attachedMagic)
	} else {
		t.blocks.start(magic)
	}
	t.blocks.put(blockHeader, h.append(nil))
	return t, t.blocks.err
}

// ErrOrder says that ticks were not recorded one after the other. Use errors.Is.
var ErrOrder = errors.New("ticks are out of order")

// Tick records what came into a tick, and what came of it: call it after each Step, with the same
// inputs. No inputs are nil. Ticks follow one another; a machine that goes back and computes ticks
// again records each once it is final.
func (t *Writer) Tick(in *world.Inputs, w *world.World) error {
	if err := t.ready(w); err != nil {
		return err
	}
	if w.Tick() != t.tick+1 {
		return fmt.Errorf(
			"trace: %w: tick %d after %d; record each once, when it is final, and call State "+
				"where a run jumps ahead", ErrOrder, w.Tick(), t.tick)
	}
	var hash uint64
	hashed := false
	whole := t.ticks+1 >= t.rate // this tick ends a block
	if e := t.opt.HashEvery; e > 0 && (whole || uint64(w.Tick())%uint64(e) == 0) {
		hash, hashed = w.Hash(), true
	}
	if err := t.add(in, w.Tick(), hash, hashed); err != nil {
		return err
	}
	if e := t.opt.StateEvery; e > 0 && t.since >= e {
		return t.state(w, false)
	}
	return t.blocks.err
}

// Frame records what came into the tick after the last, where the world itself is elsewhere: with
// its hash, if that is known. What was recorded since the last Flush is one block; who flushes
// after each Frame has a journal, of which a crash takes nothing that was flushed before.
func (t *Writer) Frame(tick world.Tick, in *world.Inputs, hash uint64, hashed bool) error {
	switch {
	case t.closed:
		return errClosed
	case tick != t.tick+1:
		return fmt.Errorf("trace: %w: tick %d after %d", ErrOrder, tick, t.tick)
	case t.blocks.err != nil:
		return t.blocks.err
	}
	return t.add(in, tick, hash, hashed)
}

// add puts a tick into the block under way.
func (t *Writer) add(in *world.Inputs, tick world.Tick, hash uint64, hashed bool) error {
	r := &t.record
	r.Tick = tick
	if err := r.set(in, t.slots); err != nil {
		return err
	}
	r.Hash, r.HashBits = 0, 0
	if hashed {
		r.Hash, r.HashBits = hash, 64
	}
	return t.put(r)
}

var errClosed = errors.New("trace: the trace is closed")

// Fatal records what came into the tick after the last, in which the game panicked: so there is no
// world after it, and the trace ends. A replay panics where the run did.
func (t *Writer) Fatal(in *world.Inputs) error {
	if t.closed {
		return errClosed
	}
	r := &t.record
	r.Tick, r.Hash, r.HashBits = t.tick+1, 0, 0
	if err := r.set(in, t.slots); err != nil {
		return err
	}
	if err := t.put(r); err != nil {
		return err
	}
	return t.Flush()
}

// State records the whole world as it is now. It is for when something other than inputs changed
// it, such as entities that came from another server, or when the run jumped ahead: a replay goes
// on from here. It need not be called otherwise; states that came of the inputs are recorded by
// Tick.
func (t *Writer) State(w *world.World) error {
	if err := t.ready(w); err != nil {
		return err
	}
	if w.Tick() < t.tick {
		return fmt.Errorf("trace: %w: a state of tick %d after tick %d; begin another trace",
			ErrOrder, w.Tick(), t.tick)
	}
	return t.state(w, true)
}

func (t *Writer) ready(w *world.World) error {
	switch {
	case t.closed:
		return errClosed
	case t.game != w.Game():
		return fmt.Errorf("trace: the world is of another game than the trace, %q", w.Game().Name())
	}
	return t.blocks.err
}

func (t *Writer) state(w *world.World, given bool) error {
	t.packer.plain = w.Host().Save(t.packer.plain[:0])
	return t.putState(w.Tick(), w.Hash(), t.packer.plain, given)
}

// putState ends a chapter and begins the next with a saved world.
func (t *Writer) putState(tick world.Tick, hash uint64, saved []byte, given bool) error {
	if err := t.Flush(); err != nil {
		return err
	}
	head, body, err := t.packer.pack(tick, hash, saved, given, t.blocks.size)
	if err != nil {
		return err
	}
	t.blocks.put(blockState, head, body)
	t.history.reset()
	t.tick, t.since = tick, 0
	t.last, t.bits = hash, 64
	return t.blocks.err
}

// put adds a tick to the block under way.
func (t *Writer) put(r *Record) error {
	if err := t.history.fits(r); err != nil {
		return err
	}
	worst := t.history.worst(r)
	if t.ticks > 0 && t.coder.enc.Room() < worst {
		if err := t.Flush(); err != nil {
			return err
		}
	}
	if t.ticks == 0 {
		for len(t.buf) < worst {
			t.buf = make([]byte, 2*worst)
		}
		t.first, t.numbers = r.Tick, 0
		t.coder.enc.Reset(t.buf)
	}
	t.history.tick(&t.coder, r)
	t.tick, t.last, t.bits = r.Tick, r.Hash, r.HashBits
	t.ticks++
	t.since++
	t.recorded++
	t.numbers += r.size()
	if t.ticks >= min(t.rate, maxTicks) || t.numbers >= fullBlock {
		return t.Flush()
	}
	return t.blocks.err
}

// Flush writes what is still in memory. A trace is written once a second by itself; to do so more
// often makes it larger.
func (t *Writer) Flush() error {
	if t.ticks == 0 || t.blocks.err != nil {
		return t.blocks.err
	}
	body, err := t.coder.enc.Finish()
	if t.coder.bad {
		err = errors.New("its inputs are not in order")
	}
	if err != nil {
		t.blocks.err = fmt.Errorf("trace: tick %d cannot be written: %w", t.tick, err)
		return t.blocks.err
	}
	t.head = binary.AppendUvarint(t.head[:0], uint64(t.first))
	t.head = binary.AppendUvarint(t.head, uint64(t.ticks))
	t.head = t.appendHash(t.head)
	t.blocks.put(blockInputs, t.head, body)
	t.ticks = 0
	return t.blocks.err
}

// appendHash adds the whole hash of the last tick, if it is known.
func (t *Writer) appendHash(b []byte) []byte {
	if t.bits < 64 {
		return append(b, 0)
	}
	return binary.LittleEndian.AppendUint64(append(b, 1), t.last)
}

// Close writes what is left, and that this is the end. It does not close the writer below.
func (t *Writer) Close() error {
	if t.closed {
		return t.blocks.err
	}
	err := t.Flush()
	t.closed = true
	if err != nil {
		return err
	}
	t.head = binary.AppendUvarint(t.head[:0], uint64(t.tick))
	t.blocks.put(blockEnd, t.appendHash(t.head))
	return t.blocks.err
}

// Recorded is how many ticks have been recorded so far.
func (t *Writer) Recorded() int { return t.recorded }

// Size is how many bytes have been written so far.
func (t *Writer) Size() int64 { return t.blocks.size }

// WriteRun records a run that is over: the ticks that follow from a world, which it steps, and from
// what went into each. If the game panics, that tick is the last of the trace, and the panic is
// returned: so a server that kept the last seconds in memory can show how its game came to fail.
func WriteRun(out io.Writer, w *world.World, inputs []*world.Inputs, o Options) (*world.Panic,
	error) {
	t, err := NewWriter(out, w, o)
	if err != nil {
		return nil, err
	}
	var panicked *world.Panic
	for _, in := range inputs {
		if errors.As(w.Host().TryStep(in), &panicked) {
			err = t.Fatal(in)
		} else { // what else the game did wrong, a replay finds again
			err = t.Tick(in, w)
		}
		if err != nil || panicked != nil {
			break
		}
	}
	return panicked, errors.Join(err, t.Close())
}
