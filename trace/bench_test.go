package trace

import (
	"bytes"
	"io"
	"testing"

	"github.com/coeval-dev/coeval/world"
)

// BenchmarkTick is what recording adds to a tick of 16 people; -states also saves the whole world
// every second rather than every minute.
func BenchmarkTick(b *testing.B) {
	for name, o := range map[string]Options{
		"inputs": {HashEvery: -1, StateEvery: -1}, "hashes": {StateEvery: -1}, "states": {
			StateEvery: 60}} {
		b.Run(name, func(b *testing.B) {
			w, err := shooter.New(world.Settings{Seed: 7})
			if err != nil {
				b.Fatal(err)
			}
			people, in := newPeople(3, 16), shooter.NewInputs()
			tw, err := NewWriter(io.Discard, w, o)
			if err != nil {
				b.Fatal(err)
			}
			step := func() {
				people.act(w.Tick()+1, in)
				if err := w.Host().Step(in); err != nil {
					b.Fatal(err)
				}
			}
			for range 1200 { // to have seen everything once
				step()
				if err := tw.Tick(in, w); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				step()
				b.StartTimer()
				if err := tw.Tick(in, w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNext is what reading a tick of 16 people costs.
func BenchmarkNext(b *testing.B) {
	data, _ := play{ticks: 3000, inputs: newPeople(3, 16).act}.record(b, shooter)
	in := bytes.NewReader(data)
	r, err := Open(in)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Next(); err == io.EOF {
			b.StopTimer()
			in.Reset(data)
			if r, err = Open(in); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		} else if err != nil {
			b.Fatal(err)
		}
	}
}
