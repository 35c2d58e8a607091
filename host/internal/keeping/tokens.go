//go:build !js

package keeping

import (
	"sync"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/keep"
)

// This file is how a server does not forget which tokens have let someone in.

// tokens write down which were used. A goroutine of their own does, as newcomers wait for it: what
// has come in while the disk was busy goes together.
type tokens struct {
	keeper *Keeper
	file   *keep.UsedFile
	used   *conn.Used
	wall   int64     // Unix time, which never goes back
	opened time.Time // when it was that
	wake   chan struct{}
	stop   chan struct{}
	over   chan struct{} // closed when nothing is written any more; nil before start
	ending sync.Once

	mu           sync.Mutex
	waiting      []token.Mark
	asked, known uint64
	hold         bool // nothing is to be written once all is
	held         bool // and so it is
}

var _ conn.Journal = (*tokens)(nil)

const (
	// waitingTokens is how many marks may wait for the disk.
	waitingTokens = 1 << 14
	// timeEvery is how often the time is written down.
	timeEvery = 10 * time.Second
)

// newTokens finds which tokens were used. Nothing is written before start.
func (k *Keeper) newTokens(disk keep.Disk) (*tokens, error) {
	found, err := keep.ReadUsed(disk)
	if err != nil {
		return nil, err
	}
	t := &tokens{
		keeper: k, file: keep.NewUsedFile(disk, found), opened: time.Now(),
		wake: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	t.wall = max(t.opened.Unix(), found.At)
	if back := found.At - t.opened.Unix(); back > int64(timeEvery/time.Second) {
		k.opt.Log.Warn("the clock was set back since the game was kept: for tokens it goes on from "+
			"where it was, so tokens of others may count as expired. If it was wrong then and is "+
			"right now, stop the program and remove the file used in the folder",
			"folder", k.opt.Dir, "seconds", back)
	}
	t.used = conn.NewUsed(t)
	t.used.Kept(found.Marks, found.Tokens, found.Tickets)
	return t, nil
}

// start starts the goroutine that writes.
func (t *tokens) start() {
	t.over = make(chan struct{})
	go t.run()
}

// again reads what another program has written since, which writes no more.
func (t *tokens) again(disk keep.Disk) error {
	found, err := keep.ReadUsed(disk)
	if err != nil {
		return err
	}
	t.file = keep.NewUsedFile(disk, found)
	t.used.Kept(found.Marks, found.Tokens, found.Tickets)
	return nil
}

// settle has all that waits be written, and nothing after it until goOn, as the folder is about to
// be another program's. It reports whether that is so; ask again.
func (t *tokens) settle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.hold {
		t.hold = true
		t.nudge()
	}
	return t.held
}

// goOn ends what settle began.
func (t *tokens) goOn() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hold, t.held = false, false
	t.nudge()
}

// inherit takes in which tokens have let someone in elsewhere, and has them be written down.
func (t *tokens) inherit(marks []token.Mark, tokens, tickets int64) {
	t.used.Kept(marks, tokens, tickets)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = append(t.waiting, marks...)
	t.asked += uint64(len(marks))
	t.nudge()
}

// nudge has the goroutine look. The lock is held.
func (t *tokens) nudge() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Used is which tokens have let someone in, and Wall the Unix time by which they expire: for the
// servers whose game this is.
func (k *Keeper) Used() *conn.Used { return k.tokens.used }

// Wall is the Unix time. It is no earlier than any that the program said which had the folder
// before, also if the clock was set back.
func (k *Keeper) Wall() int64 { return k.tokens.now() }

func (t *tokens) now() int64 { return t.wall + int64(time.Since(t.opened)/time.Second) }

// Mark is that of conn.Journal.
func (t *tokens) Mark(m token.Mark) (uint64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) >= waitingTokens {
		return 0, false
	}
	t.waiting = append(t.waiting, m)
	t.asked++
	t.nudge()
	return t.asked, true
}

// Marked is that of conn.Journal.
func (t *tokens) Marked() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known
}

// run writes what waits, and the time.
func (t *tokens) run() {
	defer close(t.over)
	tick := time.NewTicker(timeEvery)
	defer tick.Stop()
	retry := time.NewTimer(0)
	defer retry.Stop()
	failed := false
	for ended := false; !ended; {
		select {
		case <-t.wake:
			if failed {
				continue // it is tried again by the clock
			}
		case <-retry.C:
		case <-tick.C:
		case <-t.stop:
			ended = true
		}
		err := t.write()
		if err != nil {
			retry.Reset(again)
		}
		t.report(failed, err)
		failed = err != nil
	}
	t.file.Close()
}

// write has all that waits be durable.
func (t *tokens) write() error {
	t.mu.Lock()
	marks, held := t.waiting[:len(t.waiting):len(t.waiting)], t.held
	t.mu.Unlock()
	if held {
		return nil
	}
	if err := t.file.Add(t.now(), marks); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known += uint64(len(marks))
	if t.hold && len(t.waiting) == len(marks) {
		t.file.Close() // if this program goes on, it writes all of it anew
		t.held = true
	}
	if t.waiting = t.waiting[len(marks):]; len(t.waiting) == 0 {
		t.waiting = nil
	}
	return nil
}

// report says when things go wrong, and when they do not any more.
func (t *tokens) report(was bool, err error) {
	k := t.keeper
	switch {
	case err != nil && !was:
		k.state.errors.Add(1)
		k.opt.Log.Error("nobody new is let in: the disk does not take which tokens were used. Play "+
			"goes on, and who comes back with a ticket is let in", "folder", k.opt.Dir,
			"error", err)
	case err == nil && was:
		k.opt.Log.Info("which tokens were used is written again", "folder", k.opt.Dir)
	}
}

// close has what waits be written, if the disk does so within a while.
func (t *tokens) close() {
	if t == nil || t.over == nil {
		return
	}
	t.ending.Do(func() { close(t.stop) })
	select {
	case <-t.over:
	case <-time.After(closeTime):
	}
}

// writing says that the disk has not answered yet, so that nobody else may have the folder.
func (t *tokens) writing() bool {
	if t == nil || t.over == nil {
		return false
	}
	select {
	case <-t.over:
		return false
	default:
		return true
	}
}
