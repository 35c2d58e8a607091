package recording

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// pieces is how many there are of what is kept: the more, the less is kept beyond what was asked.
const pieces = 5

// A ring keeps the last of a match only. It writes pieces, each a trace of its own, and removes
// those that are older than that. At the end they are joined to one:
//
//	match-piece-7.trace  match-piece-8.trace ...  ──>  match.trace
//
// What a level ends with that was played before goes to match-before.trace, so there are never more
// than two files and a few pieces.
type ring struct {
	last  time.Duration
	note  string
	ticks world.Tick // that a piece has
	files []string
	count int
}

// NewLast makes a recording of the last part of a match.
func NewLast(r *Recording, last time.Duration) *Recording {
	if r != nil && last > 0 {
		r.ring = &ring{last: last}
	}
	return r
}

// variant is a name with something before its ending.
func variant(name, with string) string {
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + with + ext
}

// left are the pieces that there are already.
func left(name string) (list []string, err error) {
	all, err := os.ReadDir(filepath.Dir(name))
	begin := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)) + "-piece-"
	for _, e := range all {
		if strings.HasPrefix(e.Name(), begin) {
			list = append(list, filepath.Join(filepath.Dir(name), e.Name()))
		}
	}
	return list, err
}

// beginRing starts the first piece of a level.
func (r *Recording) beginRing(w *world.World, note string) {
	g := r.ring
	if r.levels == 1 {
		for _, name := range []string{r.name, variant(r.name, "-before")} {
			if _, err := os.Stat(name); err == nil {
				r.fail(fmt.Errorf("%s is already there; name another file to record to, or "+
					"remove it", name))
				return
			}
		}
		left, err := left(r.name)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%s is left of a program that was stopped, or that runs: join its "+
				"pieces with trace join, or remove them, or name another file", left[0])
		}
		if r.fail(err); err != nil {
			return
		}
	}
	g.note = note
	g.ticks = max(1, world.Tick(g.last.Seconds()*float64(w.Game().Rate())/(pieces-1)))
	r.piece(w)
}

// piece starts another piece with the world as it is now, and lets the oldest go.
func (r *Recording) piece(w *world.World) {
	g := r.ring
	r.fail(r.endPiece())
	if r.err != nil {
		return
	}
	g.count++
	name := variant(r.name, fmt.Sprintf("-piece-%d", g.count))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		r.fail(err)
		return
	}
	g.files = append(g.files, name)
	r.file = f
	r.trace, err = trace.NewWriter(f, w, trace.Options{Build: Build(), Note: g.note})
	r.fail(err)
	for len(g.files) > pieces {
		r.fail(os.Remove(g.files[0]))
		g.files = g.files[1:]
	}
}

// turned starts the next piece when one is full.
func (r *Recording) turned(w *world.World) {
	if r.ring != nil && r.Begun() && r.trace.Recorded() >= int(r.ring.ticks) {
		r.piece(w)
	}
}

// endPiece ends the piece under way.
func (r *Recording) endPiece() (err error) {
	if r.trace != nil {
		err = r.trace.Close()
	}
	if r.file != nil {
		err = errors.Join(err, r.file.Close())
	}
	r.file, r.trace = nil, nil
	return err
}

// endRing joins what there is of a level to one file; that of the level before it is the other.
func (r *Recording) endRing() {
	g := r.ring
	r.fail(r.endPiece())
	if len(g.files) == 0 {
		return
	}
	if _, err := os.Stat(r.name); err == nil {
		r.fail(os.Rename(r.name, variant(r.name, "-before")))
	}
	if err := JoinFiles(r.name, g.files); err != nil {
		r.fail(fmt.Errorf("the pieces %s could not be joined, and stay: %w",
			strings.Join(g.files, ", "), err))
		return
	}
	for _, name := range g.files {
		r.fail(os.Remove(name))
	}
	g.files = nil
}

// JoinFiles makes one trace of several that follow one another. The file must not be there yet;
// only its owner can read it.
func JoinFiles(name string, list []string) (err error) {
	var readers []*trace.Reader
	for _, piece := range list {
		f, err := os.Open(piece)
		if err != nil {
			return err
		}
		defer f.Close()
		r, err := trace.Open(f)
		if err != nil {
			return fmt.Errorf("%s: %w", piece, err)
		}
		readers = append(readers, r)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is already there; name another file, or remove it", name)
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	err = trace.Join(out, readers...)
	if err = errors.Join(err, out.Flush(), f.Close()); err != nil {
		_ = os.Remove(name) // it is not whole
	}
	return err
}
