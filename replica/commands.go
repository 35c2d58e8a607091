package replica

import (
	"fmt"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// MaxCommands is how many commands one message may carry.
const MaxCommands = 32

const (
	commandTickBits = 16
	commandBits     = 5 // of the count
	seenBits        = 12
	partBits        = 4
)

// CommandHeader is what a client says along with its commands.
type CommandHeader struct {
	// Tick is what the newest command is for.
	Tick world.Tick
	// Seen says that the client shows others as they were at SeenTick and SeenPart sixteenths of
	// the way to the next tick: what the server goes back to for hits, where others are
	// interpolated rather than predicted.
	Seen     bool
	SeenTick world.Tick
	SeenPart uint8
}

// fields are the header and how many commands follow it.
func (h *CommandHeader) fields(w wire, now world.Tick, count int) int {
	h.Tick = nearTick(w.bits(uint32(h.Tick)&(1<<commandTickBits-1), commandTickBits),
		commandTickBits, now)
	if h.Seen = w.flag(h.Seen, 1<<15); h.Seen {
		h.SeenTick = h.Tick - world.Tick(w.bits(uint32(h.Tick-h.SeenTick)&(1<<seenBits-1),
			seenBits))
		h.SeenPart = uint8(w.bits(uint32(h.SeenPart)&(1<<partBits-1), partBits))
	}
	if w.bits(uint32(min(count, 1)), 1) == 0 {
		return 0
	}
	return int(w.bits(uint32(count-1), commandBits)) + 1
}

// A CommandWriter makes the messages by which a client sends its commands: the
// newest, and some before it in case they were lost. It allocates nothing once it has warmed up.
type CommandWriter struct {
	p    *Protocol
	enc  *codec.Encoder
	hist codec.History
	buf  []byte
}

// NewCommandWriter makes a writer for a game that has commands.
func NewCommandWriter(p *Protocol) *CommandWriter {
	return &CommandWriter{p: p, enc: codec.NewEncoder(p.model)}
}

// Append writes a message of the given commands, oldest first, of which the
// last is for h.Tick. If they do not fit into max bytes, the oldest are left out.
func (w *CommandWriter) Append(dst []byte, h CommandHeader, images [][]int32, max int) ([]byte,
	error) {
	if w.p.commands < 0 {
		return dst, fmt.Errorf("replica: the game %s has no commands", w.p.game.Name())
	}
	if len(images) > MaxCommands {
		images = images[len(images)-MaxCommands:]
	}
	if cap(w.buf) < max {
		w.buf = make([]byte, max)
	}
	for ; ; images = images[1:] {
		if w.write(h, images, max) {
			data, err := w.enc.Finish()
			return append(dst, data...), err
		}
		if len(images) == 0 {
			return dst, fmt.Errorf("replica: a command does not fit into %d bytes", max)
		}
	}
}

func (w *CommandWriter) write(h CommandHeader, images [][]int32, max int) bool {
	enc := w.enc
	enc.Begin(w.buf[:max])
	h.fields(wire{enc: enc}, h.Tick, len(images))
	c := &w.p.classes[w.p.commands]
	before := w.p.start(int32(w.p.commands))
	for _, image := range images {
		for _, part := range c.parts {
			w.hist.Reset()
			if c.fields > 0 {
				w.hist.Add(before[part.from:part.to], 1)
				if !enc.Put(part.class, &w.hist, image[part.from:part.to]) {
					return false
				}
			}
		}
		before = image
	}
	return !enc.Full()
}

// A CommandReader reads what a CommandWriter wrote, on a server. The bytes may
// come from anyone.
type CommandReader struct {
	p     *Protocol
	dec   *codec.Decoder
	hist  codec.History
	image [2][]int32
}

// NewCommandReader makes a reader.
func NewCommandReader(p *Protocol) *CommandReader {
	r := &CommandReader{p: p, dec: codec.NewDecoder(p.model)}
	if p.commands >= 0 {
		n := p.classes[p.commands].fields
		r.image = [2][]int32{make([]int32, n), make([]int32, n)}
	}
	return r
}

// Read reads a message, given about which tick it is now, and calls each for every command, oldest
// first. The image is good during the call only. After an error no more are given, but some may
// have been.
func (r *CommandReader) Read(data []byte, now world.Tick,
	each func(t world.Tick, image []int32)) (h CommandHeader, err error) {
	if r.p.commands < 0 {
		return h, fmt.Errorf("%w: the game has no commands", ErrMessage)
	}
	dec := r.dec
	dec.Begin(data)
	n := h.fields(wire{dec: dec}, now, 0)
	if err := dec.Err(); err != nil {
		return h, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	c := &r.p.classes[r.p.commands]
	before := r.p.start(int32(r.p.commands))
	for i := range n {
		image := r.image[i&1]
		for _, part := range c.parts {
			r.hist.Reset()
			if c.fields > 0 {
				r.hist.Add(before[part.from:part.to], 1)
				if _, err := dec.Get(part.class, &r.hist, image[part.from:part.to]); err != nil {
					return h, fmt.Errorf("%w: %w", ErrMessage, err)
				}
			}
		}
		each(h.Tick-world.Tick(n-1-i), image)
		before = image
	}
	if err := dec.Finish(); err != nil {
		return h, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	return h, nil
}

// nearTick completes a tick of which the lowest bits are known.
func nearTick(low uint32, n uint, to world.Tick) world.Tick {
	d := int64(int32(near(low, n, uint32(to)) - uint32(to)))
	return world.Tick(max(int64(to)+d, 0))
}
