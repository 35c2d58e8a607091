package bits

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"unsafe"
)

// A step is one field that a Sync met, noted to compare the path of reading with that of writing.
type step struct {
	offset uintptr
	kind   Kind
	lo, hi int32
	aux    uint64
}

// traceStep notes a field and lets the caller go on as plain writing or reading until it sets the
// mode back to the one returned.
func (s *Sync) traceStep(p unsafe.Pointer, kind Kind, lo, hi int32, aux uint64) mode {
	offset := uintptr(p) - uintptr(s.base)
	if offset >= s.size {
		offset = apart
	}
	s.trace = append(s.trace, step{offset, kind, lo, hi, aux})
	m := s.mode
	s.mode = writing
	if m == tracingRead {
		s.mode = reading
	}
	return m
}

// Check tries whether values can be written and read. Each is written, then read into a new value
// and into one that last held another of them, since a branch that depends on what was there before
// is the usual mistake. Reading must meet the same fields as writing and end where it ended, and
// what was read must write the same bits and make the same image. The error names the type and the
// field.
//
// NewLayout does this with values that it makes up; a game's tests should with the game's own.
func (l *Layout) Check(values ...Syncer) error {
	data := make([][]byte, len(values))
	paths := make([][]step, len(values))
	s := new(Sync)
	for i, v := range values {
		if reflect.TypeOf(v) != l.pointer {
			return l.notFor(v)
		}
		var err error
		if data[i], err = l.write(s, v); err != nil {
			return named(err, l.schema.Name)
		}
		paths[i] = slices.Clone(s.trace)
	}
	for i := range values {
		fresh := l.fresh()
		if err := l.checkRead(s, fresh, data[i], paths[i]); err != nil {
			return err
		}
		if i == 0 {
			continue
		}
		used := l.fresh()
		if err := l.checkRead(s, used, data[i-1], paths[i-1]); err != nil {
			return err
		}
		if err := l.checkRead(s, used, data[i], paths[i]); err != nil {
			return err
		}
		if err := l.checkImage(s, fresh, used); err != nil {
			return err
		}
	}
	return nil
}

func (l *Layout) fresh() Syncer { return reflect.New(l.pointer.Elem()).Interface().(Syncer) }

// write gives the bits of v, and leaves the path in s.trace.
func (l *Layout) write(s *Sync, v Syncer) ([]byte, error) {
	for size := 4096; ; size *= 4 {
		w := NewWriter(make([]byte, size))
		l.tracing(s, tracingWrite, v)
		s.w = w
		v.Sync(s)
		err := s.Err()
		if !errors.Is(err, ErrFull) || size > 1<<26 {
			return w.Bytes(), err
		}
	}
}

func (l *Layout) tracing(s *Sync, m mode, v Syncer) {
	s.start(m)
	s.layout = l
	s.base, s.size = address(v), l.root.size
	s.trace = s.trace[:0]
}

// checkRead reads into v, and looks whether that went as writing did.
func (l *Layout) checkRead(s *Sync, v Syncer, data []byte, path []step) error {
	l.tracing(s, tracingRead, v)
	r := NewReader(data)
	s.r = r
	v.Sync(s)
	if err := l.samePath(path, s.trace); err != nil {
		return err
	}
	if err := s.Err(); err != nil {
		return named(err, l.schema.Name)
	}
	if err := r.Finish(); err != nil {
		return l.strays("", "reading does not end where writing did")
	}
	again, err := l.write(s, v)
	if err != nil {
		return err
	}
	if err := l.samePath(path, s.trace); err != nil {
		return err
	}
	if !slices.Equal(data, again) {
		return l.strays("", "what was read and written again differs from what was written first; "+
			"does the Sync method change fields that it has synced?")
	}
	return l.checkImage(s, v, l.fresh())
}

// checkImage looks whether the image of v, unpacked into into, is the image of that.
func (l *Layout) checkImage(s *Sync, v, into Syncer) error {
	a, b := make([]int32, l.Len()), make([]int32, l.Len())
	if err := l.Pack(s, v, a); err != nil {
		return err
	}
	if err := l.schema.Check(a); err != nil {
		return err
	}
	if err := l.Unpack(s, into, a); err != nil {
		return err
	}
	if err := l.Pack(s, into, b); err != nil {
		return err
	}
	for i := range a {
		if a[i] != b[i] {
			return l.strays(l.schema.Slots[i].Name,
				"unpacking an image and packing it again gives "+strconv.Itoa(int(b[i]))+
					" instead of "+strconv.Itoa(int(a[i]))+
					"; does the Sync method change fields that it has synced?")
		}
	}
	return nil
}

// samePath compares the fields met in writing and in reading.
func (l *Layout) samePath(wrote, read []step) error {
	for i := range max(len(wrote), len(read)) {
		switch {
		case i >= len(read):
			return l.differs(wrote[i], "is written, but reading has ended")
		case i >= len(wrote):
			return l.differs(read[i], "is read, but writing has ended")
		case wrote[i] != read[i]:
			return l.differs(wrote[i], "is written where reading expects "+
				l.root.fieldName(read[i].offset)+" ("+read[i].kind.String()+")"+
				"; branches must depend only on fields synced before them")
		}
	}
	return nil
}

func (l *Layout) differs(st step, detail string) error {
	return l.strays(l.root.fieldName(st.offset), st.kind.String()+" "+detail)
}

func (l *Layout) strays(field, detail string) error {
	return &FieldError{Type: l.schema.Name, Field: field, Err: ErrPath, Detail: detail}
}
