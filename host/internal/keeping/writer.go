//go:build !js

package keeping

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/keep"
)

// A Flush says when what was played is made durable. In each case every tick is given to the
// operating system at once, which survives the end of the program by any means.
type Flush struct {
	// Never leaves it to the system, and to the whole worlds that are written now and then.
	Never bool
	// Every is how often; zero is after each tick.
	Every time.Duration
}

// ParseFlush reads a Flush: never, tick, or a time.
func ParseFlush(text string) (Flush, error) {
	switch text {
	case "never":
		return Flush{Never: true}, nil
	case "tick":
		return Flush{}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Millisecond || d > time.Hour {
		return Flush{}, cli.Usagef("--flush is %q: it must be never, tick, or a time from 1ms to 1h",
			text)
	}
	return Flush{Every: d}, nil
}

// Parse makes options of what command lines say: --keep, --flush and --keep-every. Without a folder
// nothing is kept.
func Parse(dir, flush string, every time.Duration) (o Options, err error) {
	if dir == "" {
		if flush != "1s" || every != 10*time.Second {
			return o, cli.Usagef("--flush and --keep-every go with --keep")
		}
		return o, nil
	}
	if _, err := time.ParseDuration(dir); err == nil {
		return o, cli.Usagef("--keep is %q, which is a time: it names a folder, and how long seats "+
			"are kept is --keep-seat (for a folder of that name: --keep ./%s)", dir, dir)
	}
	if every < time.Second || every > time.Hour {
		return o, cli.Usagef("--keep-every is %v: it must be from 1s to 1h", every)
	}
	o.Dir, o.Every = dir, every
	o.Flush, err = ParseFlush(flush)
	return o, err
}

// KeepHistory takes --keep-history over.
func (o *Options) KeepHistory(d time.Duration) error {
	if d != 0 && o.Dir == "" {
		return cli.Usagef("--keep-history goes with --keep")
	}
	o.History = d
	return nil
}

// HistoryFlag is what --help says of --keep-history.
const HistoryFlag = "with --keep, how long what was played stays, so that one can go back to it " +
	"({program} keep restore); below 0 for ever (default: some seconds)"

func (f Flush) String() string {
	switch {
	case f.Never:
		return "never"
	case f.Every == 0:
		return "tick"
	}
	return f.Every.String()
}

// A writer is the goroutine that writes.
type writer struct {
	keeper *Keeper
	last   *keep.Snapshot // to end with, or nil
	err    error          // with which it ended
	warned bool           // that a whole world could not be written
	of     safety         // of what the chapter under way is
}

// run writes what is handed over until there is no more.
func (w *writer) run() {
	var group <-chan time.Time
	if every := w.keeper.opt.Flush.Every; every > 0 {
		t := time.NewTicker(every)
		defer t.Stop()
		group = t.C
	}
	for {
		select {
		case it, ok := <-w.keeper.full:
			if !ok {
				w.finish()
				return
			}
			w.take(it)
			w.takeAll()
			w.flush(!w.keeper.opt.Flush.Never && group == nil)
		case <-w.keeper.hurry:
			w.takeAll() // what somebody waits for was handed over before
			w.flush(true)
		case <-group:
			w.flush(true)
		}
	}
}

// takeAll takes what has been handed over by now.
func (w *writer) takeAll() {
	for more := len(w.keeper.full); more > 0; more-- {
		if it, ok := <-w.keeper.full; ok {
			w.take(it)
		}
	}
}

// take adds a tick to the journal, and begins a chapter, as the item says.
func (w *writer) take(it *item) {
	k := w.keeper
	if it.ticked {
		if err := k.folder.Frame(&it.frame); err != nil {
			k.state.missed.Add(1)
			w.fail(err)
		}
	}
	if it.world != nil {
		if it.fresh {
			k.folder.Abandon()
		}
		w.begin(&keep.Snapshot{World: it.world, Level: it.level, Seats: it.seats, Stay: it.stay,
			Base: it.base, At: it.at}, it.number)
		k.copies <- it.world
		it.world = nil
	}
	k.free <- it
}

// begin begins a chapter.
func (w *writer) begin(s *keep.Snapshot, number uint64) {
	k := w.keeper
	began := time.Now()
	if err := k.folder.Begin(s); err != nil {
		w.fail(err)
		return
	}
	w.of = safety{base: s.Base, stay: s.Stay, world: number}
	k.state.chapters.Add(1)
	k.state.chapterNanos.Store(int64(time.Since(began)))
	k.state.broken.Store(false)
	w.note()
	healed := uint64(s.World.Tick()) >= k.state.missedAt.Load() && k.state.risk.Swap(false)
	if healed || w.warned {
		w.warned = false
		k.opt.Log.Info("the game is kept again", "folder", k.opt.Dir, "tick",
			uint64(s.World.Tick()))
	}
}

// flush gives the disk what there is, and has it made durable.
func (w *writer) flush(durable bool) {
	k := w.keeper
	if k.folder.Err() != nil {
		return // it was said
	}
	var err error
	if durable {
		err = k.folder.Sync()
	} else {
		err = k.folder.Write()
	}
	if err != nil {
		w.fail(err)
	}
	w.note()
}

// note makes known how far things are.
func (w *writer) note() {
	k := w.keeper
	k.state.durable.Store(uint64(k.folder.Durable()))
	k.state.bytes.Store(k.folder.Counts().Bytes)
	k.state.mu.Lock()
	k.state.safe = w.of
	k.state.safe.tick = w.of.base + k.folder.Durable()
	k.state.mu.Unlock()
}

// fail says once what is wrong, and what is at risk. The game goes on.
func (w *writer) fail(err error) {
	k := w.keeper
	lost := k.folder.Err() != nil
	k.state.broken.Store(lost)
	if lost && k.state.risk.Swap(true) || !lost && w.warned {
		return // it was said
	}
	k.state.errors.Add(1)
	if !lost {
		w.warned = true
		k.opt.Log.Warn("a whole world could not be written; the journal goes on, and takes longer "+
			"to compute after a crash", "folder", k.opt.Dir, "error", err)
		return
	}
	k.opt.Log.Error("the game is not kept: what is played from now on would be lost in a crash",
		"folder", k.opt.Dir, "durable", uint64(k.folder.Durable()), "error", err)
}

// finish writes the end.
func (w *writer) finish() {
	k := w.keeper
	if w.last != nil {
		w.begin(w.last, k.worlds)
	}
	w.err = k.folder.Close()
	w.note()
}

// String is for people.
func (n Numbers) String() string {
	return fmt.Sprintf("tick %d of %d is durable, %d chapters, %d errors", n.Durable, n.Played,
		n.Chapters, n.Errors)
}
