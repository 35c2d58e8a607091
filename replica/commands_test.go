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
		newest := now + world.Tick(rapid.IntRange(0, 30000).Draw(t, "ahead"))
		var sights []world.Sight
		var images [][]int32
		image := make([]int32, len(slots))
		for range rapid.IntRange(0, 40).Draw(t, "commands") {
			for i, s := range slots {
				if rapid.IntRange(0, 3).Draw(t, "change") == 0 || len(images) == 0 {
					image[i] = rapid.Int32Range(s.Min, s.Max).Draw(t, "value")
				}
			}
			images = append(images, slices.Clone(image))
			sights = append(sights, drawSight(t, sights))
		}
		room := rapid.IntRange(100, 400).Draw(t, "room")
		m, err := w.Append(nil, newest, images, sights, room)
		if err != nil || len(m) > room {
			t.Fatalf("%d bytes: %v", len(m), err)
		}
		var got [][]int32
		var ticks []world.Tick
		var shown []world.Sight
		back, err := r.Read(m, now, func(tick world.Tick, image []int32, s *world.Sight) {
			got, ticks = append(got, slices.Clone(image)), append(ticks, tick)
			shown = append(shown, *s)
		})
		if err != nil || back != newest {
			t.Fatalf("%d came back as %d: %v", newest, back, err)
		}
		if !slices.Equal(shown, sights[len(sights)-len(shown):]) {
			t.Fatalf("shown %+v, and was %+v", shown, sights)
		}
		if len(images) > 0 && len(got) == 0 {
			t.Fatal("none of them came")
		}
		if len(got) < min(len(images), MaxCommands) && len(m)+100 < room {
			t.Fatalf("%d of %d in %d of %d bytes", len(got), len(images), len(m), room)
		}
		sent := images[len(images)-len(got):]
		for i := range got {
			if !slices.Equal(got[i], sent[i]) || ticks[i] != newest-world.Tick(len(got)-1-i) {
				t.Fatalf("command %d of tick %d: %v, and was %v", i, ticks[i], got[i], sent[i])
			}
		}
	})
}

// drawSight is what a client may have shown after what it showed before.
func drawSight(t *rapid.T, before []world.Sight) (s world.Sight) {
	switch rapid.IntRange(0, 3).Draw(t, "lag") {
	case 0:
		s.Ago = rapid.Uint16().Draw(t, "ago")
	case 1:
		if len(before) > 0 {
			s.Ago = before[len(before)-1].Ago
		}
	case 2:
		if len(before) > 0 {
			last := int(before[len(before)-1].Ago)
			s.Ago = uint16(min(max(last+rapid.IntRange(-20, 20).Draw(t, "drift"), 0), 1<<16-1))
		}
	}
	for range max(0, rapid.IntRange(-8, world.MaxClaims).Draw(t, "claims")) {
		c := world.Claim{Target: world.MakeID(0, rapid.IntRange(0, 3).Draw(t, "allocator"),
			rapid.IntRange(0, 1000).Draw(t, "index"), rapid.IntRange(1, 90).Draw(t, "generation"))}
		for k := range c.Place {
			c.Place[k] = rapid.Int32().Draw(t, "place")
		}
		s.Add(c)
	}
	return s
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
	sights := []world.Sight{{Ago: 320}, {Ago: 320}, {Ago: 321}}
	var m []byte
	b.ReportAllocs()
	for range b.N {
		m, err = w.Append(m[:0], 5000, list, sights, 200)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Read(m, 5000, func(world.Tick, []int32, *world.Sight) {}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(m)), "bytes")
}
