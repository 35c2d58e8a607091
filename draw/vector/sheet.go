package vector

import (
	"errors"
	"fmt"
	"image"
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/draw"
)

// A Sheet is all that the frames of a page are made of. Its zero value needs a size.
type Sheet struct {
	// Width and Height are the size of a frame, in pixels of the page.
	Width, Height float64
	// Prefix begins the names of what other pieces refer to, for a page with several sheets.
	Prefix string
	// Images gives the file with a name, or nil; see raster.Files.
	Images func(name string) image.Image
	// Most is how many bytes all pieces may have. Default: 64 MB.
	Most int

	pieces []string
	index  map[string]int
	defs   map[string]string // names of definitions, by what they are
	order  []string          // the definitions
	size   int
}

// A Frame is one picture: the numbers of its pieces, in the order in which they are drawn.
type Frame []int

// ErrFull says that frames have more in them than a sheet may keep.
var ErrFull = errors.New("these frames are too much for one page")

const usualMost = 64 << 20

// Pieces are what frames are made of, by their numbers. Some only open or close a group, so a frame
// is its pieces one after the other.
func (s *Sheet) Pieces() []string { return s.pieces }

// Defs is what pieces refer to: it stands once in a page, before any of its frames.
func (s *Sheet) Defs() string {
	return `<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>` +
		strings.Join(s.order, "") + `</defs></svg>`
}

// Inner is a frame without the element around it.
func (s *Sheet) Inner(f Frame) string {
	var b strings.Builder
	for _, i := range f {
		if i >= 0 && i < len(s.pieces) {
			b.WriteString(s.pieces[i])
		}
	}
	return b.String()
}

// SVG is a frame as an element. What it refers to is in Defs.
func (s *Sheet) SVG(f Frame) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s">%s</svg>`,
		number(s.Width, 2), number(s.Height, 2), s.Inner(f))
}

// piece is the number of a piece, which is kept once.
func (s *Sheet) piece(text string) (int, error) {
	if i, ok := s.index[text]; ok {
		return i, nil
	}
	if err := s.grow(len(text)); err != nil {
		return 0, err
	}
	if s.index == nil {
		s.index = map[string]int{}
	}
	i := len(s.pieces)
	s.pieces = append(s.pieces, text)
	s.index[text] = i
	return i, nil
}

// define is the name of a definition, which is kept once: make is given the name.
func (s *Sheet) define(what string, make func(name string) string) (string, error) {
	if name, ok := s.defs[what]; ok {
		return name, nil
	}
	if s.defs == nil {
		s.defs = map[string]string{}
	}
	name := s.Prefix + "d" + strconv.Itoa(len(s.defs))
	text := make(name)
	if err := s.grow(len(what) + len(text)); err != nil {
		return "", err
	}
	s.defs[what] = name
	s.order = append(s.order, text)
	return name, nil
}

func (s *Sheet) grow(n int) error {
	most := s.Most
	if most == 0 {
		most = usualMost
	}
	if s.size += n; s.size > most {
		return fmt.Errorf("%w: more than %d bytes", ErrFull, most)
	}
	return nil
}

// Screen is for the frames of one surface, whose library it reads.
func (s *Sheet) Screen() *Screen { return &Screen{sheet: s, defs: map[uint16]string{}} }

// A Screen makes frames of the lists of one surface.
type Screen struct {
	sheet   *Sheet
	read    int               // bytes of the library
	names   map[uint16]string // of images
	defs    map[uint16]string // what shows them, once they were drawn
	missing []string
}

// Missing are the names of images that were drawn and are not there.
func (c *Screen) Missing() []string { return c.missing }

// Frame makes one of a list. The library is that of the list's surface, and only grows from one
// frame to the next. Where a list makes no sense, the frame has what came before that.
func (c *Screen) Frame(library, list []byte) (Frame, error) {
	if err := c.library(library); err != nil {
		return nil, err
	}
	s := c.sheet
	p := &pen{screen: c, width: s.Width, height: s.Height, fine: 1,
		emit: func(f Frame, text string) (Frame, error) {
			i, err := s.piece(text)
			return append(f, i), err
		}}
	// Before the first camera, units are those of an overlay of this size.
	var begun draw.Surface
	begun.Begin(s.Width, s.Height)
	camera := begun.LastCamera()
	p.lens = camera.Lens(s.Width, s.Height)
	err := p.draw(list)
	if errors.Is(err, ErrFull) {
		return nil, err // a part of it would not be well-formed
	}
	return p.frame, err
}

// library reads what was added.
func (c *Screen) library(library []byte) error {
	if len(library) < c.read {
		return errors.New("a library became shorter: a Screen is for the lists of one surface")
	}
	if c.names == nil {
		c.names = map[uint16]string{}
	}
	var r draw.Reader
	r.Read(library[c.read:])
	for call := range r.Calls() {
		switch call.Op {
		case draw.OpName:
			c.names[call.ID] = string(call.Bytes)
		case draw.OpPicture:
			if err := c.picture(call); err != nil {
				return err
			}
		}
	}
	c.read = len(library)
	return r.Err()
}

// number writes one with so many digits after the point at most.
func number(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}
