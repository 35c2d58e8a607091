package draw

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

// A library is what the lists of a surface refer to. It only grows, so a screen that keeps up reads
// what was added.
type library struct {
	ids   map[string]uint16
	made  map[string]bool // pictures and samples
	bytes []byte
	err   error
}

// Library is what the lists refer to: names, pictures and sounds. It only grows. A list that is
// kept for later is kept together with it.
func (s *Surface) Library() []byte { return s.library.bytes }

var errFrame = errors.New("a frame has more than 4 MB of calls; the rest of it was left out")

// Err says what could not be drawn because it was too much, or nil.
func (s *Surface) Err() error {
	if s.library.err == nil && s.full {
		return errFrame
	}
	return s.library.err
}

// name gives the number of a name.
func (l *library) name(name string) (uint16, bool) {
	if id, ok := l.ids[name]; ok {
		return id, true
	}
	if len(l.ids) > 0xffff || len(name) > MaxText || !utf8.ValidString(name) ||
		!l.fits(5+len(name)) {
		return 0, false
	}
	if l.ids == nil {
		l.ids, l.made = map[string]uint16{}, map[string]bool{}
	}
	id := uint16(len(l.ids))
	l.ids[name] = id
	l.bytes = append(l.bytes, byte(OpName))
	l.bytes = binary.LittleEndian.AppendUint16(l.bytes, id)
	l.bytes = binary.LittleEndian.AppendUint16(l.bytes, uint16(len(name)))
	l.bytes = append(l.bytes, name...)
	return id, true
}

// fits says whether so many bytes more may be kept.
func (l *library) fits(n int) bool {
	if len(l.bytes)+n > MaxLibrary && l.err == nil {
		l.err = fmt.Errorf("what was drawn and heard so far takes more than %d MB to keep; "+
			"pictures and names are for what is used again", MaxLibrary>>20)
	}
	return l.err == nil
}

// Picture makes an image of calls, the first time it is asked for: of so many units, from its top
// left, and of so many pixels a unit. What takes many calls and stays as it is, such as the ground,
// is drawn as a picture once and as an Image in each frame.
func (s *Surface) Picture(name string, width, height, density float64, draw func(*Surface)) {
	id, ok := s.library.name(name)
	if !ok || s.library.made[name] || s.depth > 0 || !finite(width, height, density) ||
		!(width > 0 && height > 0 && density > 0) || width*density > MaxSide ||
		height*density > MaxSide {
		return
	}
	s.library.made[name] = true
	begin, full := len(s.list), s.full
	s.depth++
	draw(s)
	s.depth--
	made := s.list[begin:]
	if !s.full && s.library.fits(19+len(made)) {
		l := &s.library
		l.bytes = append(l.bytes, byte(OpPicture))
		l.bytes = binary.LittleEndian.AppendUint16(l.bytes, id)
		for _, x := range [...]float64{width, height, density} {
			l.bytes = appendFloat(l.bytes, x)
		}
		l.bytes = binary.LittleEndian.AppendUint32(l.bytes, uint32(len(made)))
		l.bytes = append(l.bytes, made...)
	}
	s.list, s.full = s.list[:begin], full
}

// MaxSide is how many pixels a picture may be wide, or high.
const MaxSide = 4096

// Samples makes a sound of one channel, the first time it is asked for.
func (s *Surface) Samples(name string, rate int, make func() []float32) {
	id, ok := s.library.name(name)
	if !ok || s.library.made[name] || rate < 1000 || rate > 192000 {
		return
	}
	l := &s.library
	l.made[name] = true
	samples := make()
	if !l.fits(11 + 2*len(samples)) {
		return
	}
	l.bytes = append(l.bytes, byte(OpSamples))
	l.bytes = binary.LittleEndian.AppendUint16(l.bytes, id)
	l.bytes = binary.LittleEndian.AppendUint32(l.bytes, uint32(rate))
	l.bytes = binary.LittleEndian.AppendUint32(l.bytes, uint32(len(samples)))
	for _, x := range samples {
		l.bytes = binary.LittleEndian.AppendUint16(l.bytes, uint16(int16(max(-1, min(1, x))*32767)))
	}
}
