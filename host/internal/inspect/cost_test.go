package inspect_test

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/host/internal/inspect"
	"github.com/coeval-dev/coeval/host/internal/serve"
)

// What it takes of the goroutine that drives the game that one page is open, on the tab that asks
// for most: with a thousand bots in a soak, and else with some. The share is printed, and held to
// 2 % of one core in the soak.
func TestCost(t *testing.T) {
	bots, length := 20, 2*time.Second
	soak := os.Getenv("COEVAL_SOAK") != ""
	if soak {
		bots, length = 1000, 20*time.Second
	}
	r := run(t, bots, serve.Options{})
	var st inspect.State
	r.wait("nearly all bots play", func() bool {
		time.Sleep(100 * time.Millisecond)
		r.json("state", &st)
		return st.Players >= bots*95/100
	})
	measure := func(ask ...string) (share, cpu float64) {
		var from, to inspect.State
		r.json("state", &from)
		for end := time.Now().Add(length); time.Now().Before(end); {
			for _, path := range ask {
				r.get(inspect.Path+path, "")
			}
			time.Sleep(time.Second)
		}
		r.json("state", &to)
		d := to.Seconds - from.Seconds
		return (to.Looking.Seconds - from.Looking.Seconds) / d,
			(to.Process.CPU - from.Process.CPU) / d
	}
	_, alone := measure()
	a, err := r.client.Get(r.url + inspect.Path + "events")
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, a.Body) // until it is closed
	}()
	share, watched := measure("people", "world")
	_ = a.Body.Close()
	<-read
	t.Logf("%d players: one who watches takes %.2f %% of the time of the game's goroutine; the "+
		"program had %.2f processors without and %.2f with, bots included", st.Players, 100*share,
		alone, watched)
	if soak && share > 0.02 {
		t.Errorf("it takes %.2f %%, more than 2", 100*share)
	}
}
