package trace

import (
	"io"
	"testing"

	"github.com/coeval-dev/coeval/world"
)

// TestSize holds a trace to its price: less than 1 KiB a second for 16 people at 60 Hz, hashes and
// states and all. With -v it says what it is made of.
func TestSize(t *testing.T) {
	const seconds, players = 120, 16
	cost := func(o Options, inputs func(world.Tick, *world.Inputs)) (float64, Counts) {
		data, _ := play{ticks: 60 * seconds, inputs: inputs, options: o}.record(t, shooter)
		r := open(t, data)
		for {
			if _, err := r.Next(); err == io.EOF {
				return float64(len(data)) / seconds, r.Counts()
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	all, c := cost(Options{}, newPeople(3, players).act)
	bare, _ := cost(Options{HashEvery: -1, StateEvery: -1}, newPeople(3, players).act)
	idle, _ := cost(Options{}, func(tick world.Tick, in *world.Inputs) {
		in.Reset()
		for p := world.Player(1); p <= players; p++ {
			if tick == 1 {
				in.Join(p)
			}
			if err := world.Give(in, p, run{X: 1}); err != nil {
				t.Error(err)
			}
		}
	})
	t.Logf("%d people, 60 Hz: %.0f bytes a second, of which states %.0f; without hashes and "+
		"states %.0f, or %.2f bits a command; people who hold a key %.0f bytes a second",
		players, all, float64(c.StateBytes)/seconds, bare, 8*bare*seconds/float64(c.Commands), idle)
	if all >= 1024 {
		t.Errorf("%.0f bytes a second", all)
	}
}
