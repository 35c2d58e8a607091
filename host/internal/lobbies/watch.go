//go:build !js

package lobbies

import (
	"context"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/service/directory/ask"
	"github.com/coeval-dev/coeval/service/directory/lobby"
)

// A report is where somebody is, or why that is not known.
type report struct {
	is  lobby.Mine
	err error
}

// A directory that does not tell by itself is asked every pollEvery, and whether it does by now
// every followEvery: something in between may not let events through.
const (
	pollEvery   = 400 * time.Millisecond
	followEvery = 5 * time.Second
)

// watch reports where somebody is, as it happens, until it is stopped.
func watch(ctx context.Context, m *ask.Member) (_ <-chan report, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	reports := make(chan report)
	tell := func(is lobby.Mine, err error) error {
		select {
		case reports <- report{is, err}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	var running sync.WaitGroup
	running.Go(func() {
		var follow time.Time // when that is tried again
		for ctx.Err() == nil {
			if now := time.Now(); !now.Before(follow) {
				told := false
				_ = m.Follow(ctx, func(is lobby.Mine) error {
					told = true
					return tell(is, nil)
				}) // why it ended is seen by asking
				if !told {
					follow = now.Add(followEvery)
				}
			}
			if ctx.Err() != nil || tell(m.Me(ctx)) != nil {
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(pollEvery):
			}
		}
	})
	return reports, func() {
		cancel()
		running.Wait()
	}
}
