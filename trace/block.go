package trace

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/coeval-dev/coeval/world"
)

// magic is how every trace begins. Its number changes with the format. The first one, which is
// still read, had no inputs beside joins, leaves and commands. The third is that of traces with
// attachments; it is the second otherwise.
const (
	magic         = "coeval trace 2\n"
	firstMagic    = "coeval trace 1\n"
	attachedMagic = "coeval trace 3\n"
)

// What a block holds.
const (
	blockHeader   = 'H'
	blockState    = 'S'
	blockInputs   = 'I'
	blockAttached = 'A'
	blockEnd      = 'E'
)

// longest is the longest payload of each kind of block.
var longest = map[byte]uint64{
	blockHeader:   4 << 20,
	blockInputs:   160 << 20, // no more than what the largest tick can take; see worst
	blockState:    maxState + 64,
	blockAttached: maxAttached,
	blockEnd:      64,
}

// A block is a kind, the length of its payload, the payload, and a checksum. The checksum goes on
// from that of the block before, so that a block that is missing or in another's place is found
// like one that is damaged.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crcOf(s string) uint32 { return crc32.Checksum([]byte(s), castagnoli) }

// ErrNotTrace says that a file is no trace at all, or one of another version of the format. Use
// errors.Is.
var ErrNotTrace = errors.New("not a trace")

// ErrDamaged says that a trace is not what its writer wrote from some point on. What comes before
// that point is good. Use errors.Is, and errors.As with *DamageError for where.
var ErrDamaged = errors.New("trace is damaged")

// ErrCut says that a trace has no end: the file was cut, or its writer was stopped or has not
// finished yet. All that was read is good. Use errors.Is.
var ErrCut = errors.New("trace is cut off")

// incomplete says that an error is one of the trace, and not of what it is read from.
func incomplete(err error) bool { return errors.Is(err, ErrDamaged) || errors.Is(err, ErrCut) }

// A DamageError says where a trace stops to be readable.
type DamageError struct {
	Offset int64      // of the first byte of the block that cannot be used
	Tick   world.Tick // the last tick that can be
	Err    error      // wraps ErrDamaged or ErrCut
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("trace: %v at byte %d; it is good up to tick %d", e.Err, e.Offset, e.Tick)
}

// Unwrap lets errors.Is find the cause.
func (e *DamageError) Unwrap() error { return e.Err }

// A blockWriter frames payloads. The error of the writer below stays.
type blockWriter struct {
	out  io.Writer
	crc  uint32
	size int64
	buf  []byte
	err  error
}

func (b *blockWriter) start(magic string) {
	b.crc = crcOf(magic)
	b.write([]byte(magic))
}

// put writes one block, given in parts, in one piece: a program that is killed leaves whole blocks
// or the beginning of one.
func (b *blockWriter) put(kind byte, parts ...[]byte) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	b.buf = append(b.buf[:0], kind)
	b.buf = binary.AppendUvarint(b.buf, uint64(n))
	for _, p := range parts {
		b.buf = append(b.buf, p...)
	}
	b.crc = crc32.Update(b.crc, castagnoli, b.buf)
	b.buf = binary.LittleEndian.AppendUint32(b.buf, b.crc)
	b.write(b.buf)
}

func (b *blockWriter) write(p []byte) {
	if b.err != nil {
		return
	}
	n, err := b.out.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	b.size += int64(n)
	if err != nil {
		b.err = fmt.Errorf("trace: cannot be written any further: %w", err)
	}
}

// A blockReader takes blocks off a stream.
type blockReader struct {
	in    io.Reader
	buf   *bufio.Reader
	at    int64 // of the next block
	crc   uint32
	data  []byte // of the block
	frame []byte
}

func (b *blockReader) reset(in io.Reader, at int64, crc uint32) {
	b.in, b.at, b.crc = in, at, crc
	if b.buf == nil {
		b.buf = bufio.NewReader(in)
	} else {
		b.buf.Reset(in)
	}
}

// next reads a block, and gives io.EOF only where a block might begin. Its payload is good until
// the next call.
func (b *blockReader) next() (kind byte, payload []byte, err error) {
	kind, err = b.buf.ReadByte()
	if err != nil {
		return 0, nil, err
	}
	limit := longest[kind]
	if limit == 0 {
		return 0, nil, fmt.Errorf("%w: there is no block of kind %#02x", ErrDamaged, kind)
	}
	b.frame = append(b.frame[:0], kind)
	n, err := b.length()
	if err != nil {
		return 0, nil, err
	}
	if n > limit {
		return 0, nil, fmt.Errorf("%w: a block of %d bytes", ErrDamaged, n)
	}
	if err := b.fill(int(n) + 4); err != nil {
		return 0, nil, err
	}
	payload = b.data[:n]
	crc := crc32.Update(crc32.Update(b.crc, castagnoli, b.frame), castagnoli, payload)
	if crc != binary.LittleEndian.Uint32(b.data[n:]) {
		return 0, nil, fmt.Errorf("%w: the checksum of a block of %d bytes is wrong", ErrDamaged, n)
	}
	b.crc = crc
	b.at += int64(len(b.frame)) + int64(len(b.data))
	return kind, payload, nil
}

func (b *blockReader) length() (uint64, error) {
	for range binary.MaxVarintLen64 {
		c, err := b.buf.ReadByte()
		if err != nil {
			return 0, missing(err)
		}
		b.frame = append(b.frame, c)
		if c < 0x80 {
			n, k := binary.Uvarint(b.frame[1:])
			if k <= 0 || k > 1 && c == 0 { // every length has one form
				break
			}
			return n, nil
		}
	}
	return 0, fmt.Errorf("%w: a block without a length", ErrDamaged)
}

// fill reads so many bytes. It takes memory as bytes arrive, not as a length says that they would.
func (b *blockReader) fill(n int) error {
	b.data = b.data[:0]
	for len(b.data) < n {
		have := len(b.data)
		step := min(n-have, max(have, 1<<12))
		for cap(b.data) < have+step {
			b.data = append(b.data[:cap(b.data)], 0)
		}
		b.data = b.data[:have+step]
		if _, err := io.ReadFull(b.buf, b.data[have:]); err != nil {
			return missing(err)
		}
	}
	return nil
}

// missing is the error for a block that is not whole.
func missing(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: in the middle of a block", ErrCut)
	}
	return err
}
