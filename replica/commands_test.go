package replica

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/world"
)

// Commands arrive as they were sent, with their ticks, wherever the server's
// clock is; if there is no room for all, the newest are there.
func TestCommandsComeBack(t *testing.T) {
	p, err := NewProtocol(testGame, Options{})
	if err != nil {
		t.Fatal(err)
	}
	slots := testGame.Commands().Slots
	w, r := NewCommandWriter(p), NewCommandReader(p)
	rapid.Check(t, func(t *rapid.T) {
		now := world.Tick(rapid.Uint64Range(0, 1<<40).Draw(t, "now"))
		h := CommandHeader{Tick: now + world.Tick(rapid.IntRange(0, 30000).Draw(t, "ahead"))}
		if rapid.Bool().Draw(t, "seen") {
			h.Seen = true
			h.SeenTick = h.Tick - world.Tick(rapid.IntRange(0, min(4095, int(h.Tick))).Draw(t,
				"behind"))
			h.SeenPart = uint8(rapid.IntRange(0, 15).Draw(t, "part"))
		}
		var images [][]int32
		image := make([]int32, len(slots))
		for range rapid.IntRange(0, 40).Draw(t, "commands") {
			for i, s := range slots {
				if rapid.IntRange(0, 3).Draw(t, "change") == 0 || len(images) == 0 {
					image[i] = rapid.Int32Range(s.Min, s.Max).Draw(t, "value")
				}
			}
			images = append(images, slices.Clone(image))
		}
		room := rapid.IntRange(30, 400).Draw(t, "room")
		m, err := w.Append(nil, h, images, room)
		if err != nil || len(m) > room {
			t.Fatalf("%d bytes: %v", len(m), err)
		}
		var got [][]int32
		var ticks []world.Tick
		back, err := r.Read(m, now, func(tick world.Tick, image []int32) {
			got, ticks = append(got, slices.Clone(image)), append(ticks, tick)
		})
		if err != nil || back != h {
			t.Fatalf("%+v came back as %+v: %v", h, back, err)
		}
		if len(images) > 0 && len(got) == 0 {
			t.Fatal("none of them came")
		}
		if len(got) < min(len(images), MaxCommands) && len(m)+60 < room {
			t.Fatalf("%d of %d in %d of %d bytes", len(got), len(images), len(m), room)
		}
		sent := images[len(images)-len(got):]
		for i := range got {
			if !slices.Equal(got[i], sent[i]) || ticks[i] != h.Tick-world.Tick(len(got)-1-i) {
				t.Fatalf("command %d of tick %d: %v, and was %v", i, ticks[i], got[i], sent[i])
			}
		}
	})
}

func BenchmarkCommands(b *testing.B) {
	p, err := NewProtocol(testGame, Options{})
	if err != nil {
		b.Fatal(err)
	}
	w, r := NewCommandWriter(p), NewCommandReader(p)
	image := slices.Clone(p.start(int32(p.commands)))
	next := slices.Clone(image)
	next[0] += 3
	list := [][]int32{image, image, next}
	var m []byte
	b.ReportAllocs()
	for range b.N {
		m, err = w.Append(m[:0], CommandHeader{Tick: 5000}, list, 200)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Read(m, 5000, func(world.Tick, []int32) {}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(m)), "bytes")
}
