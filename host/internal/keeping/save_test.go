//go:build !js

package keeping

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/keep/keeptest"
	"github.com/coeval-dev/coeval/world"
)

// TestSaveAll: an operator's save ends when the whole world is safe, whether it is handed over or
// waits for the next tick, and says so if the disk does not take it.
func TestSaveAll(t *testing.T) {
	d := keeptest.New(1)
	m := begin(t, Options{Dir: "disk", disk: d, Flush: Flush{Never: true}, Every: time.Hour})
	m.play(20)
	tries := 0
	handed := func(context.Context) (world.Tick, bool, error) {
		if tries++; tries%2 == 1 {
			return 0, false, nil // something else is being written
		}
		return m.world.Tick(), m.k.Save(m.world, m.seats), nil
	}
	wanted := func(context.Context) (world.Tick, bool, error) {
		at := m.world.Tick()
		m.k.Want()
		m.play(2) // as a mirror does
		return at, true, nil
	}
	for i, hand := range []func(context.Context) (world.Tick, bool, error){handed, wanted} {
		before := m.world.Tick()
		chapters := m.k.Numbers().Chapters
		got, err := m.k.SaveAll(t.Context(), hand)
		if n := m.k.Numbers(); err != nil || got < before || n.Durable < uint64(got) ||
			n.Chapters == chapters {
			t.Errorf("%d: tick %d of %d, %v, %v", i, got, before, n, err)
		}
	}
	if tries < 2 {
		t.Error("a world that was not handed over is taken for written")
	}
	gone := errors.New("gone")
	if _, err := m.k.SaveAll(t.Context(), func(context.Context) (world.Tick, bool, error) {
		return 0, false, gone
	}); !errors.Is(err, gone) {
		t.Errorf("a server that has ended: %v", err)
	}
	d.Faults.Before = func(op string) error {
		if op == "create" || op == "write" {
			return keeptest.ErrFull
		}
		return nil
	}
	if _, err := m.k.SaveAll(t.Context(), func(context.Context) (world.Tick, bool, error) {
		return m.world.Tick(), m.k.Save(m.world, m.seats), nil
	}); err == nil || !strings.Contains(err.Error(), "the disk fails") {
		t.Errorf("a full disk: %v", err)
	}
	_ = m.k.Close(nil) // which says that not all is there
}
