//go:build !js

package replays

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// A film is one recording, or what would have become of one. Its worlds are looked at by one
// request at a time.
type film struct {
	title *game.Title
	name  string // of its file
	note  string // what this film is, where it is no file

	mu     sync.Mutex
	seeker *trace.Seeker
	marks  marks
	views  views

	origin *film // of a branch
	from   world.Tick
	hashed bool // the marks keep what the hash of each tick is
	gone   bool // nobody asks for it any more
}

// stop ends the survey of a film that was given up.
func (f *film) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone = true
}

// newFilm looks through a recording of the title.
func newFilm(t *game.Title, f *os.File, limits trace.Limits) (*film, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s, err := trace.NewSeeker(t.Game, f, info.Size(), trace.SeekOptions{Limits: limits})
	if err != nil {
		return nil, err
	}
	return &film{title: t, name: filepath.Base(f.Name()), seeker: s}, nil
}

// at has a function look at the world of a tick.
func (f *film) at(t world.Tick, look func(w *world.World) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, err := f.seeker.At(t)
	if err != nil {
		return err
	}
	return look(w)
}

// last is the last tick that there is.
func (f *film) last() world.Tick {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seeker.Last()
}

// survey goes through all of the film once: so that every tick is quick to find, and what happened
// stands on the time line. It ends with the context.
func (f *film) survey(ctx context.Context) {
	var err error
	if f.origin != nil {
		err = f.surveyBranch(ctx)
	} else {
		err = f.surveyTrace(ctx)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.marks.done = true
	if err != nil && ctx.Err() == nil {
		f.marks.wrong = err.Error()
	}
}

func (f *film) surveyTrace(ctx context.Context) error {
	r, err := f.seeker.Open()
	if err != nil {
		return err
	}
	res, err := trace.Replay(f.title.Game, r, trace.ReplayOptions{
		GoOn: true,
		Each: func(w *world.World, rec *trace.Record) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.seeker.Key(w)
			f.marks.tick(f.title, w, rec, f.hashed)
			return ctx.Err()
		}})
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.marks.result(res)
	return nil
}

var errGone = errors.New("it was given up")

// surveyBranch goes through what would have been, a little at a time: it has one reading only.
func (f *film) surveyBranch(ctx context.Context) error {
	for t := f.seeker.First(); t <= f.last() && ctx.Err() == nil; t++ {
		err := f.at(t, func(w *world.World) error {
			if f.gone {
				return errGone
			}
			if w.Tick() == t {
				f.marks.tick(f.title, w, nil, f.hashed)
			}
			return nil
		})
		var p *world.Panic
		if errors.As(err, &p) {
			f.mu.Lock()
			f.marks.result(&trace.Replayed{Panic: p, Last: p.Tick - 1})
			f.mu.Unlock()
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// apart says why two recordings are not of one match, or nothing.
func apart(a, b *film) error {
	x, y := a.seeker.Header(), b.seeker.Header()
	switch {
	case x.Game != y.Game:
		return fmt.Errorf("%s is of game %q and %s of %q: recordings of one match have one game",
			a.name, x.Game, b.name, y.Game)
	case x.Seed != y.Seed:
		return fmt.Errorf("%s and %s are of different matches: their worlds have the seeds %d "+
			"and %d; give recordings that several machines made of one match", a.name, b.name,
			x.Seed, y.Seed)
	case a.seeker.Last() < b.seeker.First() || b.seeker.Last() < a.seeker.First():
		return fmt.Errorf("%s has ticks %d to %d and %s has %d to %d: there is no instant that "+
			"both hold", a.name, a.seeker.First(), a.seeker.Last(), b.name, b.seeker.First(),
			b.seeker.Last())
	}
	return nil
}
