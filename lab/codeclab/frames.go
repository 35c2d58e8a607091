package codeclab

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/coeval-dev/coeval/codec"
)

// ReadFrames reads a recording of this layout: little-endian 32-bit integers by frame, entity and
// field, as they are or compressed by zstd. Errors say what is wrong and where; put the file's name
// in front.
func (l *Layout) ReadFrames(from io.Reader) (*codec.Recording, error) {
	in, done, err := decompress(from)
	if err != nil {
		return nil, err
	}
	defer done()
	r := &codec.Recording{
		Schema: l.Schema, Classes: l.Classes, Rate: l.Rate, BaseAge: l.BaseAge, Skip: l.Skip,
		Refer: l.Refer}
	values := 0
	for _, c := range l.Classes {
		values += len(l.Schema.Classes[c].Fields)
	}
	row := make([]byte, values*4)
	for {
		n, err := io.ReadFull(in, row)
		if err == io.EOF {
			break
		}
		if err == io.ErrUnexpectedEOF && !in.failed() {
			return nil, fmt.Errorf(
				"it ends %d bytes into frame %d; %d entities make frames of %d bytes. It was "+
					"cut, or is of another schema",
				n, len(r.Frames), len(l.Classes), len(row))
		}
		if err != nil {
			return nil, fmt.Errorf("after %d whole frames: %w", len(r.Frames), in.explain(err))
		}
		frame := make([]int32, values)
		for i := range frame {
			frame[i] = int32(binary.LittleEndian.Uint32(row[i*4:]))
		}
		if err := l.check(frame, len(r.Frames)); err != nil {
			return nil, err
		}
		r.Frames = append(r.Frames, frame)
	}
	if least := max(l.Skip, 1) + 1; len(r.Frames) < least {
		return nil, fmt.Errorf("it has %d frames; with skip %d it needs at least %d", len(r.Frames),
			l.Skip, least)
	}
	r.Image(0, 0) // works out where images lie, so that recordings can be shared afterwards
	return r, nil
}

// check finds the first value that its field cannot hold.
func (l *Layout) check(frame []int32, number int) error {
	i := 0
	for e, c := range l.Classes {
		fields := l.Schema.Classes[c].Fields
		for j := range fields {
			f := &fields[j]
			if v := frame[i]; v < f.Min || v > f.Max {
				return fmt.Errorf(
					"frame %d, entity %d (%s), field %s: %d is not between %d and %d; the file "+
						"is of another schema, or damaged",
					number, e, l.Schema.Classes[c].Name, f.Name, v, f.Min, f.Max)
			}
			i++
		}
	}
	return nil
}

// source is a reader that remembers whether the trouble came from below, since io.ReadFull makes
// the same error of a file that was cut inside its compression and of one that merely ends early.
type source struct {
	io.Reader
	zstd bool
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

func (s *source) failed() bool { return s.err != nil }

func (s *source) explain(err error) error {
	switch {
	case !s.zstd:
		return err
	case errors.Is(s.err, io.ErrUnexpectedEOF):
		return errors.New("the zstd stream is cut off")
	case errors.Is(s.err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf(
			"the zstd stream looks back further than %d MiB; compress it without --long",
			maxWindow>>20)
	default:
		return fmt.Errorf("the zstd stream is damaged: %w", err)
	}
}

// maxWindow is how far back a zstd stream may refer, and so how much memory it takes; zstd itself
// has the same limit.
const maxWindow = 128 << 20

// decompress looks at the first bytes and takes off the compression, if there is one.
func decompress(from io.Reader) (s *source, done func(), err error) {
	in := bufio.NewReaderSize(from, 1<<16)
	magic, err := in.Peek(4)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	if !bytes.Equal(magic, []byte{0x28, 0xB5, 0x2F, 0xFD}) {
		return &source{Reader: in}, func() {}, nil
	}
	// One worker is plenty: the values are looked at one by one.
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, fmt.Errorf("the zstd stream is damaged: %w", err)
	}
	return &source{Reader: z, zstd: true}, z.Close, nil
}
