package timeline_test

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// Whatever other mirrors send, and whenever, a timeline refuses it or settles the same worlds as
// the oracle. Each eight bytes are a command: kind, tick, mirror, number, player, two bytes of
// image, and how long the way was.
func FuzzSubmit(f *testing.F) {
	f.Add([]byte{1, 1, 1, 1, 1, 0, 0, 0, 0, 3, 1, 2, 1, 0xC1, 0, 20})
	f.Add([]byte{1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 2, 1, 2, 0, 0, 0, 0, 4, 1, 2, 1, 0xC2, 3, 9, 0, 4, 1,
		2, 1, 0x80, 3, 30, 2, 9, 2, 2, 2, 0, 0, 44, 3, 20, 1, 2, 0, 0, 0, 1, 3, 20, 2, 2, 0, 0, 0,
		1})
	f.Add([]byte{9, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255})
	sorts := makers()
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 8*64 {
			return
		}
		start := begin(t)
		for _, m := range sorts {
			const end = 24
			out := &outcome{hashes: map[world.Tick]uint64{}}
			line, err := m.make(start,
				timeline.Options{
					Margins: margins, HashEvery: 4, Ahead: 500 * time.Millisecond,
					Settled: func(w *world.World, _ *world.Inputs) {
						out.hashes[w.Tick()] = w.Hash()
					}}, []member.ID{1, 2})
			if err != nil {
				t.Fatal(err)
			}
			now := time.Duration(0)
			for d := data; len(d) >= 8; d = d[8:] {
				c := timeline.Command{
					Kind: timeline.Kind(d[0]), Tick: world.Tick(d[1]), Origin: member.ID(d[2]),
					Seq: uint32(d[3]), Player: world.Player(d[4])}
				if c.Kind == timeline.Give {
					c.Image = []int32{
						int32(d[5]&3) - 1, int32(d[5]>>2&3) - 1, int32(d[6]), int32(d[5] >> 6 & 1),
						int32(d[5] >> 7)}
					c.Image = c.Image[:min(len(c.Image), 1+int(d[6]))]
				}
				now += time.Duration(d[7]) * time.Millisecond / 4
				if err := line.Advance(now); err != nil {
					t.Fatalf("%s: %v", m.name, err)
				}
				f, err := line.Submit(now, c)
				if err == nil && f != timeline.TooLate && c.Kind != timeline.Promise {
					out.taken = append(out.taken, arrival{at: now, Command: c})
				}
			}
			for range 4 * end {
				now += length
				if err := line.Advance(now); err != nil {
					t.Fatalf("%s: %v", m.name, err)
				}
			}
			settled := min(line.Settled().Tick(), end)
			hashes, _ := oracle(start, out.taken, settled)
			for n := world.Tick(1); n <= settled; n++ {
				if hashes[n] != out.hashes[n] {
					t.Fatalf("%s: tick %d is not what it should be\n%v", m.name, n, out.taken)
				}
			}
		}
	})
}
