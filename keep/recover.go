package keep

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/coeval-dev/coeval/convert"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// Kept is a game as a folder has it.
type Kept struct {
	Snapshot
	// Chapter is the file that it comes from, From the tick with which that begins, and Compared
	// how many hashes on the way to the last tick were those that were recorded.
	Chapter  string
	From     world.Tick
	Compared int
	// Converted is what was changed if another version of the game has written it, or nil, and Lost
	// how many ticks after it that version played, which this one cannot compute.
	Converted *convert.Report
	Lost      world.Tick
	// Problems are what could not be used: chapters that are damaged, and ticks after one at which
	// this program computes something else than was played. That the last chapter was cut off by
	// a crash is none.
	Problems []error
}

// Recover computes the game that was kept, up to the last frame that is whole, or gives nil if
// there is none yet. If the newest chapter cannot be used it is the one before. An error is one of
// the disk, or that no chapter can be used. Nothing is changed.
func (f *Folder) Recover() (*Kept, error) { return f.recoverOf(0) }

// RecoverStay is Recover for a world of which it is known which it must be: chapters of others are
// passed over.
func (f *Folder) RecoverStay(stay uint64) (*Kept, error) { return f.recoverOf(stay) }

func (f *Folder) recoverOf(stay uint64) (*Kept, error) {
	list, err := f.chapters()
	if err != nil {
		return nil, err
	}
	var problems []error
	passed := 0
	for _, n := range slices.Backward(list) {
		k, err := f.recover(chapterName(n), stay)
		if errors.Is(err, errOtherStay) {
			passed++
			continue
		}
		if err == nil {
			k.Problems = append(problems, k.Problems...)
			f.good = []uint64{n}
			return k, nil
		}
		if !unusable(err) {
			return nil, err
		}
		problems = append(problems, err)
	}
	if len(list) == passed {
		return nil, nil
	}
	return nil, fmt.Errorf("keep: none of the %d chapters can be used; put a copy of the folder "+
		"in its place, or name another to begin anew: %w", len(list), errors.Join(problems...))
}

// unusable says that an error is one of what was read, and not of the disk.
func unusable(err error) bool {
	return errors.Is(err, ErrDamaged) || errors.Is(err, fs.ErrNotExist)
}

// A ChapterError says what is wrong with a chapter, and from which tick on.
type ChapterError struct {
	File string
	Tick world.Tick // the last that can be used
	Err  error
}

func (e *ChapterError) Error() string {
	return fmt.Sprintf("keep: %s: after tick %d: %v", e.File, e.Tick, e.Err)
}

// Unwrap lets errors.Is find the cause.
func (e *ChapterError) Unwrap() error { return e.Err }

// ErrDiffers says that this program computes something else than what was kept: the game's rules
// are not those of the program that kept it. Use errors.Is.
var ErrDiffers = errors.New("this program computes something else than was kept")

// recover computes what one chapter holds. Where the program computes something else than was
// played, it stops at the last tick that is known to be the same.
func (f *Folder) recover(name string, stay uint64) (*Kept, error) {
	if stay != 0 {
		if err := f.isOf(name, stay); err != nil {
			return nil, err
		}
	}
	k, err := f.replay(name, 0, false)
	var wrong *ChapterError
	if !errors.As(err, &wrong) || !errors.Is(err, ErrDiffers) {
		return k, err
	}
	if k, err = f.replay(name, wrong.Tick, true); err != nil {
		return nil, err
	}
	k.Problems = append(k.Problems, wrong)
	return k, nil
}

// errOtherStay is that a chapter is of another world than is looked for.
var errOtherStay = errors.New("of another stay")

// isOf says whether a chapter is of a stay.
func (f *Folder) isOf(name string, stay uint64) error {
	c, err := f.open(name)
	if err != nil {
		return err
	}
	defer c.close()
	if c.start.Stay != stay {
		return errOtherStay
	}
	return nil
}

// replay computes a chapter, to its end or a tick.
func (f *Folder) replay(name string, until world.Tick, bounded bool) (*Kept, error) {
	c, err := f.open(name)
	if err != nil {
		return nil, err
	}
	defer c.close()
	good := c.world.Tick()
	k := &Kept{Chapter: name, From: good, Compared: 1}
	if c.report != nil {
		err := c.skip(f, k)
		k.Snapshot = Snapshot{World: c.world, Level: c.start.Level, Base: c.start.Base,
			Seats: c.seats.list()}
		return k, err
	}
	for !bounded || c.world.Tick() < until {
		rec, err := c.next()
		if err != nil {
			if c.over(err) {
				break
			}
			return nil, fmt.Errorf("keep: %s: %w", name, err)
		}
		if rec.HashBits == 64 {
			if rec.Hash != c.world.Hash() {
				return nil, &ChapterError{name, good, fmt.Errorf(
					"%w: the hash of tick %d is %016x here and was %016x; the chapter was written "+
						"by %s", ErrDiffers, rec.Tick, c.world.Hash(), rec.Hash,
					c.reader.Header().Build)}
			}
			good = rec.Tick
			k.Compared++
		}
	}
	if c.fault != nil {
		return nil, &ChapterError{name, good, c.fault}
	}
	k.Snapshot = c.start
	k.World, k.Seats = c.world, c.seats.list()
	return k, nil
}

// A chapter is one that is being read.
type chapter struct {
	file   io.Closer
	reader *trace.Reader
	world  *world.World
	in     *world.Inputs
	start  Snapshot // but for its world
	seats  seated
	fault  error           // of the game, which ends it
	report *convert.Report // of how it was converted, if another version has written it
}

func (c *chapter) close() { _ = c.file.Close() }

// worlds bounds what a folder's own files may take when they are read.
const worlds = 256 << 20

// open reads a chapter's beginning.
func (f *Folder) open(name string) (*chapter, error) {
	file, err := f.disk.Open(name)
	if err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	c := &chapter{file: file, in: f.game.NewInputs(), seats: seated{}}
	if err := c.begin(f); err != nil {
		c.close()
		if errors.Is(err, errRead) || refused(err) {
			return nil, fmt.Errorf("keep: %s: %w", name, err)
		}
		return nil, &ChapterError{name, 0, fmt.Errorf("%w: %w", ErrDamaged, err)}
	}
	return c, nil
}

// errRead says that a file could not be read, whatever it holds.
var errRead = errors.New("cannot be read")

// A marked reader marks errors of the disk, so that they are not taken for damage.
type marked struct{ in io.Reader }

func (m marked) Read(p []byte) (int, error) {
	n, err := m.in.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", errRead, err)
	}
	return n, err
}

func (c *chapter) begin(f *Folder) (err error) {
	limits := trace.Limits{States: worlds}
	if c.reader, err = trace.OpenWithin(marked{c.file.(io.Reader)}, limits); err != nil {
		return err
	}
	h := c.reader.Header()
	other := h.Game == f.game.Name() && h.Declarations != f.game.Hash()
	if err := h.Fits(f.game); err != nil && !other {
		return err
	}
	rec, err := c.reader.Next()
	if err != nil {
		return err
	}
	if c.start, err = parseStart(rec.Attached); err != nil {
		return fmt.Errorf("its level: %w", err)
	}
	c.seats.change(c.start.Seats)
	data, err := rec.State()
	if err != nil {
		return err
	}
	if other {
		return c.convert(f, rec, data)
	}
	if c.world, err = f.game.Load(data); err != nil {
		return err
	}
	if c.world.Tick() != rec.Tick || c.world.Hash() != rec.Hash {
		return fmt.Errorf("the world of tick %d is not what its block says", rec.Tick)
	}
	return nil
}

// errPanic is that the game panics in a tick in which it did not when it was played.
var errPanic = fmt.Errorf("%w: it panics", ErrDiffers)

// next computes the next tick.
func (c *chapter) next() (*trace.Record, error) {
	rec, err := c.reader.Next()
	if err != nil {
		return nil, err
	}
	if rec.IsState() {
		return nil, fmt.Errorf("%w: a second world", trace.ErrDamaged)
	}
	var seats []Seat
	if rec.Attached != nil {
		if seats, err = parseChanges(rec.Attached); err != nil {
			return nil, fmt.Errorf("%w: the seats of tick %d: %w", trace.ErrDamaged, rec.Tick, err)
		}
	}
	if err := rec.Inputs(c.in); err != nil {
		return nil, fmt.Errorf("%w: %w", trace.ErrDamaged, err)
	}
	var p *world.Panic
	if errors.As(c.world.Host().TryStep(c.in), &p) {
		c.fault = fmt.Errorf("%w: %w", errPanic, p)
		return nil, c.fault
	}
	c.seats.change(seats)
	return rec, nil
}

// over says that an error is the end of what can be read, and not one of the disk.
func (c *chapter) over(err error) bool {
	return err == io.EOF || errors.Is(err, trace.ErrCut) || errors.Is(err, trace.ErrDamaged) ||
		c.fault != nil
}

// Replay computes one chapter, to the last frame that is whole, for whoever wants to know whether
// this program computes what was played.
func (f *Folder) Replay(chapter string) (*Kept, error) { return f.replay(chapter, 0, false) }
