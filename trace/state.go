package trace

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/coeval-dev/coeval/world"
)

// maxState is the largest world, as World.Save makes it, that a trace can hold.
const maxState = 256 << 20

// How the bytes of a state are kept.
const (
	statePlain = iota
	stateZstd
)

// A state is a whole world in a trace: who takes it for a seed needs nothing before it.
type state struct {
	given  bool
	method byte
	size   int    // unpacked
	packed []byte // the block's own
	packer *packer
}

// A packer makes states small and large again, in memory that it keeps.
type packer struct {
	enc   *zstd.Encoder
	dec   *zstd.Decoder
	plain []byte
	head  []byte
	out   []byte
	total int64 // of what was packed
}

// encoder makes one that works when it is called, and starts no goroutines.
func (p *packer) encoder() (err error) {
	if p.enc == nil {
		p.enc, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1),
			zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false))
		if err != nil {
			return fmt.Errorf("trace: %w", err)
		}
	}
	return nil
}

// decoder makes one likewise.
func (p *packer) decoder() (err error) {
	if p.dec == nil {
		p.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return fmt.Errorf("trace: %w", err)
		}
	}
	return nil
}

// pack gives the two parts of a state's payload, of a world that was saved, for a file of some size
// so far.
func (p *packer) pack(t world.Tick, hash uint64, plain []byte, given bool, size int64) (head,
	body []byte, err error) {
	if len(plain) > maxState {
		return nil, nil,
			fmt.Errorf("trace: the world takes %d bytes; at most %d can be recorded", len(plain),
				maxState)
	}
	if err := p.encoder(); err != nil {
		return nil, nil, err
	}
	p.out = p.enc.EncodeAll(plain, p.out[:0])
	p.total += int64(len(plain))
	p.pad((p.total-stateRoom)/stateRatio + 1 - size)
	method, body := byte(stateZstd), p.out
	if len(body) >= len(plain) {
		method, body = statePlain, plain
	}
	p.head = binary.AppendUvarint(p.head[:0], uint64(t))
	p.head = binary.LittleEndian.AppendUint64(p.head, hash)
	p.head = append(p.head, flag(given, 1), method)
	p.head = binary.AppendUvarint(p.head, uint64(len(plain)))
	return p.head, body, nil
}

// pad makes what was packed at least so long, by a frame that every reader of zstd skips. A reader
// unpacks no more than a file's size allows.
func (p *packer) pad(size int64) {
	const head = 8
	more := size - int64(len(p.out))
	if more <= 0 {
		return
	}
	more = max(more, head) - head
	p.out = binary.LittleEndian.AppendUint32(p.out, 0x184d2a50)
	p.out = binary.LittleEndian.AppendUint32(p.out, uint32(more))
	p.out = append(p.out, make([]byte, more)...)
}

// parseState takes a state's payload apart, without unpacking it.
func parseState(payload []byte, p *packer) (t world.Tick, hash uint64, s *state, err error) {
	r := &parser{data: payload}
	t, hash = world.Tick(r.uvarint()), r.fixed()
	s = &state{packer: p}
	flags := r.byte()
	s.given, s.method = flags&1 != 0, r.byte()
	size := r.below(maxState + 1)
	s.packed = r.data
	switch {
	case r.err != nil:
		return 0, 0, nil, r.err
	case flags > 1 || s.method > stateZstd:
		return 0, 0, nil, errors.New("a state of an unknown kind")
	case s.method == statePlain && size != uint64(len(s.packed)):
		return 0, 0, nil, fmt.Errorf("a state of %d bytes does not fit in %d", size, len(s.packed))
	}
	s.size = int(size)
	return t, hash, s, nil
}

func (s *state) unpack() ([]byte, error) {
	if s.method == statePlain {
		return s.packed, nil
	}
	p := s.packer
	if err := p.decoder(); err != nil {
		return nil, err
	}
	if cap(p.plain) < s.size {
		p.plain = make([]byte, 0, s.size)
	}
	var err error
	// Not one byte more than the block says, whatever the packed bytes want.
	p.plain, err = p.dec.DecodeAll(s.packed, p.plain[:0:s.size])
	if err == nil && len(p.plain) != s.size {
		err = fmt.Errorf("%d bytes in place of %d", len(p.plain), s.size)
	}
	if err != nil {
		return nil, fmt.Errorf("trace: a state cannot be unpacked: %w: %w", ErrDamaged, err)
	}
	return p.plain, nil
}
