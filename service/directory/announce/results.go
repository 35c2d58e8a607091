package announce

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/coeval-dev/coeval/service/directory"
)

// results are those that the directory has not acknowledged yet. It counts each once, so they are
// said again until it does.
type results struct {
	mu      sync.Mutex
	waiting []directory.Result
	wake    chan struct{}
}

// mostResults is how many may wait. If the directory is away for longer, the oldest are lost.
const mostResults = 256

// Report has a result be reported, while Run runs. It waits for nothing. The caller
// names the match; what else is the entry's is filled in.
func (a *Announcer) Report(r directory.Result) {
	if a == nil {
		return
	}
	a.results.mu.Lock()
	defer a.results.mu.Unlock()
	if len(a.results.waiting) == mostResults {
		a.results.waiting = a.results.waiting[1:]
		a.opt.Log.Warn("a result is lost: the directory is away for too long")
	}
	a.results.waiting = append(a.results.waiting, r)
	select {
	case a.results.wake <- struct{}{}:
	default:
	}
}

// report reports what waits, the oldest first, until something goes wrong.
func (a *Announcer) report(ctx context.Context, place string) error {
	for {
		a.results.mu.Lock()
		if len(a.results.waiting) == 0 {
			a.results.mu.Unlock()
			return nil
		}
		r := a.results.waiting[0]
		a.results.mu.Unlock()
		r.Lease, r.Seq, r.Place = a.is.Lease, a.next(), place
		var counted directory.Counted
		err := a.post(ctx, "entries/"+a.is.ID+"/results", &r, &counted)
		if err != nil && !hopeless(err) {
			a.opt.Log.Debug("a result waits", "match", r.Match, "error", err)
			var e *directory.Error
			if errors.As(err, &e) && (e.Code == "unknown" || e.Code == "lease") {
				a.is.Lease = "" // it registers anew before it tries again
			}
			return err
		}
		if err != nil {
			a.opt.Log.Warn("the directory does not count a result", "match", r.Match, "error", err)
		} else {
			a.opt.Log.Info("a result was reported", "match", r.Match, "players",
				len(r.Players)-counted.LeftOut, "left_out", counted.LeftOut)
		}
		a.results.mu.Lock()
		// Unless it was lost meanwhile.
		if len(a.results.waiting) > 0 && a.results.waiting[0].Match == r.Match {
			a.results.waiting = a.results.waiting[1:]
		}
		a.results.mu.Unlock()
	}
}

// hopeless says whether an answer will be the same next time.
func hopeless(err error) bool {
	var e *directory.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge:
		return true
	case http.StatusNotFound:
		return e.Code != "unknown"
	}
	return e.Code == "board"
}
