package keep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/convert"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// This file is how a folder that another version of the game has written is gone on with. Beside
// the chapters there is a file for each version that wrote some, with what it declared; by that
// the whole world of a chapter is converted. A journal cannot be: other rules compute something
// else. So the version before should have stopped in good order, which leaves a whole world.

// Errors of folders that another version of the game has written. Use errors.Is. Nothing was
// changed.
var (
	// ErrOtherVersion: the game declares something else now, and what it declared then is not
	// known.
	ErrOtherVersion = errors.New("it was written by another version of the game")
	// ErrUnfinished: the version before did not stop in good order, and what it played since the
	// last whole world would be lost. See Options.Lose.
	ErrUnfinished = errors.New("the version of the game that wrote it did not stop in good order")
)

const (
	declaredStart = "declared-"
	declaredEnd   = ".json"
	mostDeclared  = 16 << 20
)

// declaredName is the file with what a version declared.
func declaredName(hash uint64) string {
	return fmt.Sprintf("%s%016x%s", declaredStart, hash, declaredEnd)
}

// declare writes down what the game declares, once.
func declare(d Disk, g *world.Game) error {
	names, err := d.List()
	if err != nil || slices.Contains(names, declaredName(g.Hash())) {
		return err
	}
	text := g.Declared().Text()
	return Install(d, declaredName(g.Hash()), fmt.Appendf(text, "sum %08x\n", sum(text)))
}

// Declared is what a version of the game declared that has written chapters into a folder.
func Declared(d Disk, hash uint64) (*world.Declared, error) {
	name := declaredName(hash)
	text, err := readAll(d, name, mostDeclared)
	if err != nil {
		return nil, err
	}
	at := bytes.LastIndex(text, []byte("sum "))
	if at < 0 || string(text[at:]) != fmt.Sprintf("sum %08x\n", sum(text[:at])) {
		return nil, fmt.Errorf("%w: the checksum in its file %q is wrong", ErrDamaged, name)
	}
	out, err := world.ParseDeclared(text[:at])
	if err == nil && out.Hash != hash {
		err = fmt.Errorf("%w: its file %q is of another version", ErrDamaged, name)
	}
	return out, err
}

// A Label is what a chapter says of itself in its first bytes.
type Label struct {
	Number       uint64
	Name         string
	Declarations uint64
	Tick         world.Tick // with which it begins
	At           time.Time  // when that was; zero if nobody said
	Build        trace.Build
	Rate         int
}

// Labels lists the chapters that there are, oldest first. Those that cannot be read are left out.
func Labels(d Disk) (out []Label, err error) {
	names, err := d.List()
	if err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	for _, name := range names {
		n, ok := chapterNumber(name)
		if !ok {
			continue
		}
		file, err := d.Open(name)
		if err != nil {
			continue
		}
		if r, err := trace.OpenWithin(file, trace.Limits{States: worlds}); err == nil {
			out = append(out, labelOf(n, name, r.Header()))
		}
		_ = file.Close()
	}
	slices.SortFunc(out, func(a, b Label) int { return int(int64(a.Number - b.Number)) })
	return out, nil
}

func labelOf(n uint64, name string, h *trace.Header) Label {
	return Label{Number: n, Name: name, Declarations: h.Declarations, Tick: h.First,
		At: noted(h.Note), Build: h.Build, Rate: h.Rate}
}

// noteAt stands in a chapter's note before its time.
const noteAt = ", at "

// note is what a chapter says for people, and when it began.
func note(s *Snapshot) string {
	text := "kept, level " + s.Level.Name
	if !s.At.IsZero() {
		text += noteAt + s.At.UTC().Format(time.RFC3339Nano)
	}
	return text
}

func noted(text string) (at time.Time) {
	if i := strings.LastIndex(text, noteAt); i >= 0 {
		at, _ = time.Parse(time.RFC3339Nano, text[i+len(noteAt):]) // or it is of a level's name
	}
	return at
}

// refused says that a chapter is whole, but not for this version of the game.
func refused(err error) bool {
	var list *convert.Error
	return errors.As(err, &list) || errors.Is(err, ErrOtherVersion) || errors.Is(err, ErrUnfinished)
}

// convert makes the chapter's world one of this version of the game.
func (c *chapter) convert(f *Folder, rec *trace.Record, data []byte) error {
	h := c.reader.Header()
	d, err := Declared(f.disk, h.Declarations)
	if err != nil {
		return fmt.Errorf("%w: what it declared (%016x) is not known: %w; serve with that version, "+
			"%s, or name another folder", ErrOtherVersion, h.Declarations, err, h.Build)
	}
	was, err := d.Parse(data)
	if err == nil && (was.Tick != rec.Tick || was.Hash != rec.Hash) {
		err = fmt.Errorf("the world of tick %d is not what its block says", rec.Tick)
	}
	if err != nil {
		return err
	}
	var o convert.Options
	if f.opt.Fresh != nil {
		if o.Fresh, err = f.opt.Fresh(c.start.Level); err != nil {
			return fmt.Errorf("%w: its level %q: %w", ErrOtherVersion, c.start.Level.Name, err)
		}
	}
	c.world, c.report, err = convert.World(f.game, d, data, o)
	return err
}

// skip reads a converted chapter to its end, to see what of it is lost.
func (c *chapter) skip(f *Folder, k *Kept) error {
	last := c.world.Tick()
	for {
		rec, err := c.reader.Next()
		if err != nil {
			if err == io.EOF || c.over(err) {
				break
			}
			return fmt.Errorf("keep: %s: %w", k.Chapter, err)
		}
		last = rec.Tick
	}
	k.Converted, k.Lost = c.report, last-c.world.Tick()
	if k.Lost > 0 && !f.opt.Lose {
		return fmt.Errorf("keep: %s: %w: its last whole world is of tick %d, and ticks up to %d "+
			"were played since, which only that version can compute, %s: start it once more and "+
			"stop it, or accept that these %d ticks are lost", k.Chapter, ErrUnfinished,
			c.world.Tick(), last, c.reader.Header().Build, k.Lost)
	}
	return nil
}

// retained says that an old chapter stays: there is to be history, or it is the last that a version
// before has written, to go back to if something is wrong with this one.
func (f *Folder) retained(n uint64) bool {
	if n == f.foreign || f.opt.History < 0 {
		return true
	}
	at, newest := f.began[n], f.began[f.good[len(f.good)-1]]
	return f.opt.History > 0 && !at.IsZero() && newest.Sub(at) <= f.opt.History
}

// look finds out what is there already.
func (f *Folder) look() error {
	list, err := Labels(f.disk)
	f.began = map[uint64]time.Time{}
	for _, l := range list {
		f.began[l.Number] = l.At
		if l.Declarations != f.game.Hash() {
			f.foreign = l.Number
		}
	}
	return err
}

// adopt has the folder be that of this version, once it has a chapter of it. If that fails it is
// tried again with the next: the chapters say what they are.
func (f *Folder) adopt() {
	if f.stale {
		f.stale = Install(f.disk, identityName, identity(f.game)) != nil
	}
}
