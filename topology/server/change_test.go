package server

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/world"
)

// slowTitle has levels whose plan takes until it is let go; one of them has none.
func slowTitle(planning, plan chan struct{}) *game.Title {
	t := yardTitle(2, 2, 60)
	plain := yardTitle(2, 2, 60)
	t.Sight = game.Sight{Views: func(w *world.World, l Level,
		_ []interest.Description) (game.Views, error) {
		if l.Name == "slow" || l.Name == "none" {
			planning <- struct{}{}
			<-plan
		}
		if l.Name == "none" {
			return nil, errors.New("no plan can be made")
		}
		return plain.NewViews(w, l)
	}}
	return t
}

// TestPlansBesideTicks: while the plan of a new level is worked out the server ticks on, as often
// as anyone waits for; then the level begins. A level without a plan is told of, and the old one
// goes on.
func TestPlansBesideTicks(t *testing.T) {
	planning, plan := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	ticks := sync.NewCond(&mu)
	n, failed, begun := 0, 0, ""
	tell := func(f func()) {
		mu.Lock()
		defer mu.Unlock()
		f()
		ticks.Broadcast()
	}
	s, err := New(Options{Title: slowTitle(planning, plan), Players: 2, Workers: 1,
		Links:  []link.Link{newWireless(map[netip.AddrPort]*wireless{})},
		Ticked: func(Times) { tell(func() { n++ }) },
		News: func(m News) {
			switch m.Kind {
			case LevelBegun:
				tell(func() { begun = m.Text })
			case GameError:
				tell(func() { failed++ })
			}
		}})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { must(t, s.Run(ctx)) })
	wait := func(until func() bool) {
		mu.Lock()
		defer mu.Unlock()
		for !until() {
			ticks.Wait()
		}
	}
	wait(func() bool { return n > 0 })
	for _, level := range []string{"none", "slow"} {
		must(t, s.Do(t.Context(), func() { err = s.Change(Level{Name: level}) }))
		must(t, err)
		<-planning
		mu.Lock()
		before := n
		mu.Unlock()
		wait(func() bool { return n > before+10 })
		must(t, s.Do(t.Context(), func() {
			if s.Level().Name == level {
				t.Errorf("%s was begun without a plan", level)
			}
		}))
		plan <- struct{}{}
		if level == "none" {
			wait(func() bool { return failed == 1 })
		} else {
			wait(func() bool { return begun == level })
		}
	}
	must(t, s.Do(t.Context(), func() {
		if s.Level().Name != "slow" {
			t.Errorf("the level is %q", s.Level().Name)
		}
	}))
	stop()
	running.Wait()
	must(t, s.Close())
}
