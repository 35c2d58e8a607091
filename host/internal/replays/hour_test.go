package replays

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/world"
)

// An hour of the arena with 16 bots, or without COEVAL_SOAK a minute of it: how large the file is,
// and how long it takes to come to any tick, before and after it was looked through. The figures
// are printed; the size is the bound that is held.
func TestHour(t *testing.T) {
	ticks := world.Tick(3600)
	if os.Getenv("COEVAL_SOAK") != "" {
		ticks = 216_000
	}
	file := record(t, arena.Title, 16, ticks)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	hour := float64(info.Size()) * 216_000 / float64(ticks)
	t.Logf("%d ticks of 16 bots: %d bytes, which is %.2f MB an hour", ticks, info.Size(), hour/1e6)
	if hour > 4e6 {
		t.Errorf("an hour takes %.2f MB, more than 4", hour/1e6)
	}
	opened := time.Now()
	p := serve(t, file)
	t.Logf("opened after %v", time.Since(opened).Round(time.Millisecond))
	slowest := func(when string) {
		most := time.Duration(0)
		for i := range world.Tick(20) {
			at := (i*7919*13 + 17) % ticks
			begun := time.Now()
			p.get(fmt.Sprintf("/frame?view=a&w=800&h=450&at=%d", at), 200)
			most = max(most, time.Since(begun))
		}
		t.Logf("%s, the slowest of 20 jumps took %v", when, most.Round(time.Millisecond))
	}
	slowest("while it is looked through")
	begun := time.Now()
	f := p.films().Films[0]
	t.Logf("looked through after another %v; %d key frames of %d bytes", time.Since(begun).Round(
		10*time.Millisecond), f.Keys, f.KeySize)
	slowest("afterwards")
}
