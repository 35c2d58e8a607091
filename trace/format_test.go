package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/coeval-dev/coeval/world"
)

// TestFormat pins what inputs look like in a trace, as both sides of the format are one function
// and a change of it would go unnoticed. A trace must stay readable: who changes the format changes
// the number in its magic, docs/trace.md, and this.
func TestFormat(t *testing.T) {
	people := newPeople(5, 4)
	data, _ := play{
		ticks: 500, options: Options{HashEvery: -1, StateEvery: 200},
		inputs: func(tick world.Tick, in *world.Inputs) {
			people.act(tick, in)
			switch tick % 97 {
			case 50:
				in.Leave(world.Player(1 + tick%3))
			case 60:
				in.Join(world.Player(1 + tick%3))
				in.Join(900)
				if err := world.Give(in, 900,
					run{Gold: -7 << 40, Say: "zap", Slot: 199}); err != nil {
					t.Error(err)
				}
			}
		}}.record(t, shooter)
	sum, size := sha256.New(), 0
	blocks := unframe(data)
	for len(blocks) > 0 {
		n := int(blocks[1]) | int(blocks[2])<<8
		if blocks[0] == blockInputs || blocks[0] == blockEnd {
			sum.Write(blocks[:3+n])
			size += 3 + n
		}
		blocks = blocks[3+n:]
	}
	const want = "333fd6f91e7505d0"
	if got := hex.EncodeToString(sum.Sum(nil)[:8]); got != want {
		t.Errorf("the inputs take %d bytes with hash %s, not %s", size, got, want)
	}
}
