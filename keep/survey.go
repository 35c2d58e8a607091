package keep

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// This file is what can be told of a folder by reading alone: without its game, and while another
// program writes into it.

// ErrNone says that nothing is kept in a folder. Use errors.Is.
var ErrNone = errors.New("no game is kept there")

// A Survey is what a folder holds.
type Survey struct {
	Game         string
	Declarations uint64
	// Group says that it is the folder of a mirror, which remembers its group.
	Group    bool
	Chapters []Chapter // oldest first
}

// A Chapter is what the file of one holds, as far as that can be told without computing it.
type Chapter struct {
	Label
	Level string
	Stay  uint64
	// Last is the last tick that is whole, Whole how many bytes of the file that takes, and Seats
	// who sat where then.
	Last  world.Tick
	Whole int64
	Seats []Seat
	// Bytes are all of the file, and Ended that the chapter itself says that it ends there.
	Bytes int64
	Ended bool
	// Cut says that the file ends in the middle of a tick, as a crash leaves it or one that is
	// being written. Damage is anything else that is wrong; a chapter without a beginning has Whole
	// 0.
	Cut    bool
	Damage error
}

// NewSurvey reads what a folder holds, and changes nothing. A chapter that is removed meanwhile is
// left out.
func NewSurvey(d Disk) (*Survey, error) {
	s := &Survey{}
	if err := s.look(d); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Survey) look(d Disk) error {
	names, err := d.List()
	if errors.Is(err, fs.ErrNotExist) || err == nil && !slices.Contains(names, identityName) {
		return fmt.Errorf("keep: %w: it has no file %q; name the folder that --keep named, or a "+
			"backup of it", ErrNone, identityName)
	}
	if err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	text, err := readAll(d, identityName, mostIdentity)
	if err == nil {
		s.Game, s.Declarations, err = parseIdentity(text)
	}
	if err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	s.Group = slices.Contains(names, groupName)
	for _, name := range names {
		n, ok := chapterNumber(name)
		if !ok {
			continue
		}
		c, err := readChapter(d, n, always)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		s.Chapters = append(s.Chapters, *c)
	}
	slices.SortFunc(s.Chapters, func(a, b Chapter) int { return int(int64(a.Number - b.Number)) })
	return nil
}

// always is a tick after all.
const always = ^world.Tick(0)

// readChapter reads a chapter up to a tick.
func readChapter(d Disk, n uint64, until world.Tick) (*Chapter, error) {
	name := chapterName(n)
	file, err := d.Open(name)
	if err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	defer file.Close()
	c := &Chapter{Label: Label{Number: n, Name: name}}
	in := &counted{in: marked{file}}
	err = c.read(in, until)
	if err == nil || !errors.Is(err, errRead) {
		if errors.Is(err, trace.ErrCut) {
			c.Cut = true
		} else {
			c.Damage = err
		}
		_, err = io.Copy(io.Discard, in)
	}
	if err != nil {
		return nil, fmt.Errorf("keep: %s: %w", name, err)
	}
	c.Bytes = in.n
	return c, nil
}

// A counted reader counts what was read.
type counted struct {
	in io.Reader
	n  int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	return n, err
}

// read goes through the file. What is wrong with it is the error.
func (c *Chapter) read(in io.Reader, until world.Tick) error {
	r, err := trace.OpenWithin(in, trace.Limits{States: worlds})
	if err != nil {
		return err
	}
	c.Label = labelOf(c.Number, c.Name, r.Header())
	rec, err := r.Next()
	if err != nil {
		return err
	}
	start, err := parseStart(rec.Attached)
	if err != nil {
		return fmt.Errorf("its level: %w", err)
	}
	if _, err := rec.State(); err != nil {
		return err
	}
	c.Stay, c.Level, c.Last, c.Whole = start.Stay, start.Level.Name, rec.Tick, r.Counts().Bytes
	seats := seated{}
	seats.change(start.Seats)
	var changed []Seat
	for err == nil && c.Last < until {
		if rec, err = r.Next(); err != nil {
			break
		}
		if rec.IsState() {
			err = fmt.Errorf("%w: a second world", trace.ErrDamaged)
			break
		}
		if rec.Attached != nil {
			if changed, err = parseChanges(rec.Attached); err != nil {
				break
			}
			seats.change(changed)
		}
		c.Last, c.Whole = rec.Tick, r.Counts().Bytes
	}
	c.Seats = seats.list()
	if err == io.EOF {
		c.Ended, c.Whole, err = true, r.Counts().Bytes, nil
	}
	return err
}

// at is the tick of a moment in a chapter that began before it, if it was so long.
func (c *Chapter) at(m Moment) (tick world.Tick, ok bool) {
	if m.At.IsZero() {
		return m.Tick, c.Tick <= m.Tick
	}
	if c.Label.At.IsZero() || m.At.Before(c.Label.At) {
		return 0, false
	}
	since := m.At.Sub(c.Label.At)
	rate := time.Duration(c.Rate)
	return c.Tick + world.Tick(since/time.Second*rate+since%time.Second*rate/time.Second), true
}

// Named says whether a file of a folder is part of what is kept, rather than of the program that
// has the folder.
func Named(name string) bool {
	_, chapter := chapterNumber(name)
	var hash uint64
	_, err := fmt.Sscanf(name, declaredStart+"%x", &hash)
	return chapter || name == identityName || name == KeyName || name == usedName ||
		err == nil && name == declaredName(hash)
}
