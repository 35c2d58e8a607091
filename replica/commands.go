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
	agoBits         = 16
	driftBits       = 5 // of by how much what is shown lags differently than one command before
	claimBits       = 2 // of how many claims, less one

	chanceShows  = 32768 // the first command says how long ago what it shows of others was
	chanceSteady = 40000 // the next one shows them as long ago as the one before
	chanceDrifts = 60000 // or about so
	chanceClaims = 700   // the player saw something hit
)

// header is the tick of the newest command, and how many there are.
func header(w wire, newest, now world.Tick, count int) (world.Tick, int) {
	newest = nearTick(w.bits(uint32(newest)&(1<<commandTickBits-1), commandTickBits),
		commandTickBits, now)
	if w.bits(uint32(min(count, 1)), 1) == 0 {
		return newest, 0
	}
	return newest, int(w.bits(uint32(count-1), commandBits)) + 1
}

// sight is what the client showed when it made a command, of which the one before is known. Of
// what a sight has, the base is the server's own knowledge.
func (p *Protocol) sight(w wire, first bool, before *world.Sight, s *world.Sight) {
	s.Ago = p.ago(w, first, before.Ago, s.Ago)
	if !w.flag(s.Claimed > 0, chanceClaims) {
		s.Claimed = 0
		return
	}
	s.Claimed = uint8(w.bits(uint32(s.Claimed-1), claimBits)) + 1
	for i := range s.Claims[:s.Claimed] {
		c := &s.Claims[i]
		p.id(w, &c.Target)
		for k, v := range c.Place {
			n := w.number(uint32(v)<<1 ^ uint32(v>>31))
			c.Place[k] = int32(n>>1) ^ -int32(n&1)
		}
	}
}

// ago is how long ago what is shown of others was: mostly as long as with the command before.
func (p *Protocol) ago(w wire, first bool, before, ago uint16) uint16 {
	if first {
		if w.flag(ago != 0, chanceShows) {
			return uint16(w.bits(uint32(ago), agoBits))
		}
		return 0
	}
	if w.flag(ago == before, chanceSteady) {
		return before
	}
	const half = 1 << (driftBits - 1)
	drift := int(ago) - int(before) + half
	if w.flag(drift >= 0 && drift < 2*half, chanceDrifts) {
		return uint16(max(int(before)+int(w.bits(uint32(drift), driftBits))-half, 0))
	}
	return uint16(w.bits(uint32(ago), agoBits))
}

// A CommandWriter makes the messages by which a client sends its commands: the
// newest, and some before it in case they were lost. It allocates nothing once it has warmed up.
type CommandWriter struct {
	p    *Protocol
	enc  *codec.Encoder
	hist codec.History
	buf  []byte

	sights [2]world.Sight
}

// NewCommandWriter makes a writer for a game that has commands.
func NewCommandWriter(p *Protocol) *CommandWriter {
	return &CommandWriter{p: p, enc: codec.NewEncoder(p.model)}
}

// Append writes a message of the given commands, oldest first, of which the last is for the tick
// given, and what the client showed when it made each; without sights it showed others as they
// are. If they do not fit into max bytes, the oldest are left out.
func (w *CommandWriter) Append(dst []byte, newest world.Tick, images [][]int32,
	sights []world.Sight, max int) ([]byte, error) {
	if w.p.commands < 0 {
		return dst, fmt.Errorf("replica: the game %s has no commands", w.p.game.Name())
	}
	if sights != nil && len(sights) != len(images) {
		return dst, fmt.Errorf("replica: %d commands with %d sights", len(images), len(sights))
	}
	if over := len(images) - MaxCommands; over > 0 {
		images = images[over:]
		if sights != nil {
			sights = sights[over:]
		}
	}
	if cap(w.buf) < max {
		w.buf = make([]byte, max)
	}
	for ; ; images = images[1:] {
		if w.write(newest, images, sights, max) {
			data, err := w.enc.Finish()
			return append(dst, data...), err
		}
		if len(images) == 0 {
			return dst, fmt.Errorf("replica: a command does not fit into %d bytes", max)
		}
		if sights != nil {
			sights = sights[1:]
		}
	}
}

func (w *CommandWriter) write(newest world.Tick, images [][]int32, sights []world.Sight,
	max int) bool {
	enc := w.enc
	enc.Begin(w.buf[:max])
	header(wire{enc: enc}, newest, newest, len(images))
	c := &w.p.classes[w.p.commands]
	before := w.p.start(int32(w.p.commands))
	w.sights = [2]world.Sight{}
	for i, image := range images {
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
		now, last := &w.sights[i&1], &w.sights[1-i&1]
		*now = world.Sight{}
		if sights != nil {
			*now = sights[i]
		}
		w.p.sight(wire{enc: enc}, i == 0, last, now)
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
	sight [2]world.Sight

	newest world.Tick
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
// first, with what the client says it showed. The image and the sight are good during the call
// only. It gives the tick of the newest command. After an error no more are given, but some may
// have been.
func (r *CommandReader) Read(data []byte, now world.Tick,
	each func(t world.Tick, image []int32, s *world.Sight)) (newest world.Tick, err error) {
	if r.p.commands < 0 {
		return 0, fmt.Errorf("%w: the game has no commands", ErrMessage)
	}
	dec := r.dec
	dec.Begin(data)
	newest, n := header(wire{dec: dec}, 0, now, 0)
	r.newest = newest
	if err := dec.Err(); err != nil {
		return newest, fmt.Errorf("%w: %w", ErrMessage, err)
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
					return newest, fmt.Errorf("%w: %w", ErrMessage, err)
				}
			}
		}
		s := &r.sight[i&1]
		*s = world.Sight{}
		r.p.sight(wire{dec: dec}, i == 0, &r.sight[1-i&1], s)
		if err := dec.Err(); err != nil {
			return newest, fmt.Errorf("%w: %w", ErrMessage, err)
		}
		each(newest-world.Tick(n-1-i), image, s)
		before = image
	}
	if err := dec.Finish(); err != nil {
		return newest, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	return newest, nil
}

// Newest is the tick of the newest command of the message that was read last, or is being read.
func (r *CommandReader) Newest() world.Tick { return r.newest }

// nearTick completes a tick of which the lowest bits are known.
func nearTick(low uint32, n uint, to world.Tick) world.Tick {
	d := int64(int32(near(low, n, uint32(to)) - uint32(to)))
	return world.Tick(max(int64(to)+d, 0))
}
