package keep

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// Options say how a folder is written. The zero value is good for most.
type Options struct {
	// Build is that of the program, which each chapter names.
	Build trace.Build
	// History is for how long chapters stay after those that are needed, to go back to: below zero
	// for ever. It counts by Snapshot.At.
	History time.Duration
	// Lose lets go of what a version before played after its last whole world; see ErrUnfinished.
	Lose bool
	// Fresh makes a new world of a level, from which states that another version did not have get
	// their values. Default: one without a level.
	Fresh func(game.Level) (*world.World, error)
}

// A Folder is a disk on which one game is kept. It belongs to one goroutine at a time, and to one
// program: whoever makes it sees to that.
//
// There is at most one journal under way: the newest chapter, to which frames are added. An error
// of the disk ends it, as nobody knows then what the disk holds. All frames up to that one which
// Sync has confirmed are safe, and only Begin begins another.
type Folder struct {
	disk    Disk
	game    *world.Game
	opt     Options
	next    uint64   // the number of the next chapter
	good    []uint64 // chapters that were read back whole, oldest first; at most two
	journal journal
	counts  Counts

	began   map[uint64]time.Time // when chapters began, as far as that is known
	foreign uint64               // the last chapter of another version of the game, or 0
	stale   bool                 // the identity is that of another version
}

// journal is the chapter under way.
type journal struct {
	file    File // nil if there is none
	name    string
	writer  *trace.Writer
	out     *bytes.Buffer // what the writer has made and the disk was not given
	tick    world.Tick    // the last frame's
	durable world.Tick    // the last that a crash cannot take
	err     error         // why there is none, or none any more
	seats   []byte
}

// Counts are what a folder was used for so far.
type Counts struct {
	Chapters, Frames, Syncs uint64
	Bytes                   uint64 // written
	ChapterBytes            int    // of the last chapter's world, as it was written
}

// errNone is that nothing was begun yet.
var errNone = errors.New("keep: no chapter of this world was begun")

// Open opens a folder for a game, and has an empty one be its folder from now on. A folder that
// cannot be used is left as it is; see Look.
func Open(d Disk, g *world.Game, o Options) (*Folder, error) {
	kept, err := Look(d, g)
	if err != nil {
		return nil, err
	}
	f := &Folder{disk: d, game: g, opt: o, journal: journal{err: errNone}}
	if !kept {
		if err := Install(d, identityName, identity(g)); err != nil {
			return nil, fmt.Errorf("keep: cannot write there: %w", err)
		}
	}
	text, err := readAll(d, identityName, mostIdentity)
	if err == nil {
		err = declare(d, g)
	}
	if err == nil {
		f.stale = !bytes.Equal(text, identity(g))
		err = f.look()
	}
	if err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	list, err := f.chapters()
	if err != nil {
		return nil, err
	}
	f.next = 1
	if len(list) > 0 {
		f.next = list[len(list)-1] + 1
	}
	return f, nil
}

// Peek opens a folder to be read alone, also while another program has it: Recover and its like can
// be called, and nothing is written.
func Peek(d Disk, g *world.Game, o Options) (*Folder, error) {
	kept, err := Look(d, g)
	if err != nil {
		return nil, err
	}
	if !kept {
		return nil, fmt.Errorf("keep: %w", ErrNone)
	}
	return &Folder{disk: d, game: g, opt: o, journal: journal{err: errPeek}}, nil
}

// errPeek is that a folder was opened by Peek.
var errPeek = errors.New("keep: the folder was opened to be read alone")

// chapters lists all that there are, oldest first.
func (f *Folder) chapters() ([]uint64, error) {
	names, err := f.disk.List()
	if err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	var list []uint64
	for _, name := range names {
		if n, ok := chapterNumber(name); ok {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, nil
}

// A Snapshot is a whole game between two ticks.
type Snapshot struct {
	World *world.World
	Level game.Level
	Seats []Seat
	// Stay is which of the worlds that were in the folder this one goes on with, where there may be
	// several: a mirror that came into a group anew has another. Zero is for one that is alone.
	Stay uint64
	// Base is how many ticks its group of mirrors had when the world of this level began, which
	// counts its own from 0. It is zero for the first level, and for a game that is alone.
	Base world.Tick
	// At is when it was, for whoever wants to go back to a moment. It decides nothing.
	At time.Time
}

// Begin begins a chapter. When it returns without an error all of the snapshot is durable and was
// read back, the next Frame is that of the tick after it, and chapters before the last two are
// removed. After an error, frames are added to the chapter before, if Err is nil.
func (f *Folder) Begin(s *Snapshot) error {
	if f.journal.err == errPeek {
		return errPeek
	}
	attached, err := appendStart(nil, s)
	if err != nil {
		return err
	}
	j := journal{out: new(bytes.Buffer), tick: s.World.Tick(), durable: s.World.Tick()}
	j.writer, err = trace.NewWriter(j.out, s.World, trace.Options{
		Build: f.opt.Build, Note: note(s), HashEvery: -1, StateEvery: -1,
		Attach: attached,
	})
	if err != nil {
		return err
	}
	n := f.next
	f.next++
	j.name = chapterName(n)
	size := j.out.Len()
	if err := writeWhole(f.disk, j.name+unfinished, j.out.Bytes()); err != nil {
		_ = f.disk.Remove(j.name + unfinished) // it is room that others need; if not now, later
		return fmt.Errorf("keep: %s: %w", j.name, err)
	}
	j.out.Reset()
	if err := f.install(&j, s.World.Hash()); err != nil {
		// Under its name the chapter may be found after a crash. It would be believed rather than
		// what was added to the one before, so nothing may be.
		f.fail(err)
		return err
	}
	f.end()
	f.journal = j
	f.good = append(f.good, n)
	f.began[n] = s.At
	f.adopt()
	f.counts.Chapters++
	f.counts.Bytes += uint64(size)
	f.counts.ChapterBytes = size
	f.sweep()
	return nil
}

// install gives a chapter its name and reads it back.
func (f *Folder) install(j *journal, hash uint64) (err error) {
	err = f.disk.Rename(j.name+unfinished, j.name)
	if err == nil {
		err = f.disk.Sync()
	}
	if err == nil {
		err = f.verify(j.name, j.tick, hash)
	}
	if err == nil {
		j.file, err = f.disk.Append(j.name)
	}
	if err != nil {
		return fmt.Errorf("keep: %s: %w", j.name, err)
	}
	return nil
}

// verify reads a chapter's beginning as a recovery would.
func (f *Folder) verify(name string, tick world.Tick, hash uint64) error {
	c, err := f.open(name)
	if err != nil {
		return err
	}
	defer c.close()
	if c.world.Tick() != tick || c.world.Hash() != hash {
		return fmt.Errorf("%w: what was read back is not what was written", ErrDamaged)
	}
	return nil
}

// sweep removes what is not needed any more. What cannot be removed is tried again next time.
func (f *Folder) sweep() {
	if len(f.good) < 2 {
		return
	}
	f.good = f.good[len(f.good)-2:]
	names, err := f.disk.List()
	if err != nil {
		return
	}
	for _, name := range names {
		base, left := strings.CutSuffix(name, unfinished)
		if n, ok := chapterNumber(base); ok && (left || n < f.good[0] && !f.retained(n)) {
			_ = f.disk.Remove(name)
			delete(f.began, n)
		}
	}
}

// A Frame is what went into one tick.
type Frame struct {
	Tick   world.Tick
	Inputs *world.Inputs
	// Hash is that of the world after it, if Hashed.
	Hash   uint64
	Hashed bool
	// Seats are those that have changed.
	Seats []Seat
}

// ErrGap says that a frame does not follow the one before, so that the journal cannot go on. Use
// errors.Is.
var ErrGap = errors.New("ticks are missing in the journal")

// Frame adds a tick to the chapter under way. It is in memory until Write or Sync.
func (f *Folder) Frame(fr *Frame) error {
	j := &f.journal
	if j.err != nil {
		return j.err
	}
	if fr.Tick != j.tick+1 {
		return f.fail(fmt.Errorf("keep: %s: %w: tick %d after %d", j.name, ErrGap, fr.Tick, j.tick))
	}
	var err error
	if len(fr.Seats) > 0 {
		if j.seats, err = appendChanges(j.seats[:0], fr.Seats); err == nil {
			err = j.writer.Attach(j.seats)
		}
	}
	if err == nil {
		err = j.writer.Frame(fr.Tick, fr.Inputs, fr.Hash, fr.Hashed)
	}
	if err == nil {
		err = j.writer.Flush()
	}
	if err != nil {
		return f.fail(fmt.Errorf("keep: %s: tick %d: %w", j.name, fr.Tick, err))
	}
	j.tick = fr.Tick
	f.counts.Frames++
	return nil
}

// Write gives the disk all frames so far. They survive the program, but not yet the machine.
func (f *Folder) Write() error {
	j := &f.journal
	if j.err != nil || j.out.Len() == 0 {
		return j.err
	}
	n, err := j.file.Write(j.out.Bytes())
	f.counts.Bytes += uint64(n)
	if err != nil {
		return f.fail(fmt.Errorf("keep: %s: %w", j.name, err))
	}
	j.out.Reset()
	return nil
}

// Sync makes all frames so far durable.
func (f *Folder) Sync() error {
	if err := f.Write(); err != nil {
		return err
	}
	j := &f.journal
	if j.durable == j.tick {
		return nil
	}
	if err := j.file.Sync(); err != nil {
		return f.fail(fmt.Errorf("keep: %s: %w", j.name, err))
	}
	f.counts.Syncs++
	j.durable = j.tick
	return nil
}

// Durable is the last tick that a crash cannot take.
func (f *Folder) Durable() world.Tick { return f.journal.durable }

// Tick is the last tick that was added.
func (f *Folder) Tick() world.Tick { return f.journal.tick }

// Err says why frames cannot be added until the next Begin, or is nil.
func (f *Folder) Err() error { return f.journal.err }

// Counts says what was written so far.
func (f *Folder) Counts() Counts { return f.counts }

// fail ends the journal. What is durable stays so.
func (f *Folder) fail(err error) error {
	j := &f.journal
	if j.err == nil {
		j.err = err
		_ = j.file.Close() // what it holds is as it is
		j.file = nil
	}
	return err
}

// Abandon ends the journal, as what comes next has nothing to do with it: another world has begun.
func (f *Folder) Abandon() { f.fail(errNone) }

// end finishes the chapter under way, as far as the disk lets it: the one after it has begun.
func (f *Folder) end() {
	j := &f.journal
	if j.err != nil {
		return
	}
	_ = j.writer.Close()
	if f.Write() == nil {
		_ = j.file.Sync()
		_ = j.file.Close()
	}
}

// Close makes durable what was added, says in the chapter that it ends there, and closes it.
func (f *Folder) Close() error {
	j := &f.journal
	if j.err != nil {
		return j.err
	}
	err := j.writer.Close()
	if err == nil {
		err = f.Write()
	}
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		return f.fail(fmt.Errorf("keep: %s: %w", j.name, err))
	}
	j.durable = j.tick
	err = j.file.Close()
	j.file, j.err = nil, errors.New("keep: the folder is closed")
	return err
}
