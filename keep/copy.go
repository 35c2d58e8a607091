package keep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// This file is how a kept game is copied, while it is played or up to a moment: of each chapter so
// many bytes as have whole ticks. So a copy is a folder as any other.

// A Part is a file of a copy: so many bytes from its beginning.
type Part struct {
	Name  string
	Bytes int64
}

// A Plan is what a copy is made of.
type Plan struct {
	Parts []Part // the identity is the last
	// Chapter is the newest of the copy, and Last the tick that it ends with.
	Chapter Chapter
}

// Plan chooses what a copy of a folder holds: all chapters up to the newest that can be used, or to
// the last whole tick at or before a moment. With a stay it goes back to no other. Which tokens
// have let someone in is as it is now, so that none does again.
//
// What a mirror remembers of its group is no part of it. A mirror that was given an older memory
// would have forgotten votes, and could give others in their place; so one that starts with a copy
// is a newcomer, or founds a group.
func (s *Survey) Plan(d Disk, to *Moment, stay uint64) (*Plan, error) {
	at, until := s.find(to, stay)
	if at < 0 {
		return nil, fmt.Errorf("keep: %w", s.lacks(to))
	}
	p := &Plan{Chapter: s.Chapters[at]}
	if until < p.Chapter.Last {
		c, err := readChapter(d, p.Chapter.Number, until)
		if err != nil {
			return nil, err
		}
		p.Chapter = *c
	}
	names, err := d.List()
	if err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	// The newest goes first: those before it have ended when their turn comes.
	p.Parts = append(p.Parts, Part{p.Chapter.Name, p.Chapter.Whole})
	for _, c := range slices.Backward(s.Chapters[:at]) {
		if c.Whole > 0 {
			p.Parts = append(p.Parts, Part{c.Name, c.Whole})
		}
	}
	for _, name := range names {
		if _, chapter := chapterNumber(name); Named(name) && !chapter && name != identityName {
			p.Parts = append(p.Parts, Part{name, max(mostDeclared, mostUsedFile+1)})
		}
	}
	p.Parts = append(p.Parts, Part{identityName, mostIdentity})
	for i := range p.Parts {
		part := &p.Parts[i]
		if _, chapter := chapterNumber(part.Name); chapter {
			continue
		}
		text, err := readAll(d, part.Name, part.Bytes)
		if err != nil {
			return nil, fmt.Errorf("keep: %w", err)
		}
		part.Bytes = int64(len(text))
	}
	return p, nil
}

// find is the chapter to go back to, and up to which tick; or -1.
func (s *Survey) find(to *Moment, stay uint64) (at int, until world.Tick) {
	at, until = -1, always
	for i, c := range slices.Backward(s.Chapters) {
		if c.Whole == 0 || stay != 0 && c.Stay != stay {
			continue
		}
		if to == nil {
			return i, always
		}
		tick, ok := c.at(*to)
		if !ok {
			continue
		}
		if at < 0 || to.At.IsZero() && tick <= c.Last {
			at, until = i, tick // of several worlds with that tick, the last that had it
		}
		if !to.At.IsZero() || tick <= c.Last {
			break
		}
	}
	return at, until
}

// lacks says why there is nothing to copy.
func (s *Survey) lacks(to *Moment) error {
	var list []Label
	var damage []error
	for _, c := range s.Chapters {
		if c.Whole > 0 {
			list = append(list, c.Label)
		} else {
			damage = append(damage, fmt.Errorf("%s: %w", c.Name, c.damage()))
		}
	}
	why := ErrDamaged
	if to != nil {
		why = ErrNoMoment
	} else if len(damage) == 0 {
		why = ErrNone
	}
	return fmt.Errorf("%w%s", errors.Join(append([]error{why}, damage...)...), reach(list))
}

// damage is why a chapter is of no use.
func (c *Chapter) damage() error {
	if c.Damage == nil {
		return errors.New("it is cut off before its first world ends")
	}
	return c.Damage
}

// Read opens a part: as many bytes as it has, or an error.
func (p Part) Read(d Disk) (io.ReadCloser, error) {
	f, err := d.Open(p.Name)
	if err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	return struct {
		io.Reader
		io.Closer
	}{&exactly{f, p}, f}, nil
}

// exactly reads so many bytes, and says if there are fewer.
type exactly struct {
	in   io.Reader
	left Part
}

func (e *exactly) Read(p []byte) (int, error) {
	if e.left.Bytes == 0 {
		return 0, io.EOF
	}
	n, err := e.in.Read(p[:min(int64(len(p)), e.left.Bytes)])
	e.left.Bytes -= int64(n)
	if err == io.EOF && e.left.Bytes > 0 {
		err = fmt.Errorf("keep: %s: %w: %d bytes of it are gone", e.left.Name,
			io.ErrUnexpectedEOF, e.left.Bytes)
	}
	return n, err
}

// Copy copies a plan onto an empty disk. It is checked before it has its identity, without which
// nobody takes it for a kept game; check sees it as it will be. After an error what was written is
// removed, as far as the disk lets it.
func (p *Plan) Copy(from, to Disk, check func(Disk) error) (err error) {
	var made []string
	defer func() {
		if err == nil {
			return
		}
		for _, name := range made {
			_ = to.Remove(name) // the error says what is wrong with the disk
		}
	}()
	last := len(p.Parts) - 1
	for _, part := range p.Parts[:last] {
		made = append(made, part.Name)
		if err := part.copy(from, to); err != nil {
			return err
		}
	}
	text, err := readAll(from, identityName, mostIdentity)
	if err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	if err := check(identified{to, text}); err != nil {
		return err
	}
	made = append(made, identityName, identityName+unfinished)
	if err := to.Sync(); err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	if err := Install(to, identityName, text); err != nil {
		return fmt.Errorf("keep: %s: %w", identityName, err)
	}
	return nil
}

// copy copies a part.
func (p Part) copy(from, to Disk) error {
	in, err := p.Read(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.Create(p.Name)
	if err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("keep: %s: %w", p.Name, err)
	}
	return nil
}

// identified is a disk as it is once it has its identity.
type identified struct {
	Disk
	text []byte
}

func (d identified) List() ([]string, error) {
	names, err := d.Disk.List()
	return append(names, identityName), err
}

func (d identified) Open(name string) (io.ReadCloser, error) {
	if name == identityName {
		return io.NopCloser(bytes.NewReader(d.text)), nil
	}
	return d.Disk.Open(name)
}
