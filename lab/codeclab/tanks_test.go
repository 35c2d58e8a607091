package codeclab_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/lab/codeclab"
)

// tanksSchema is a small game: one carrier, tanks that drive and now and then turn, and crates that
// mostly stand still.
const tanksSchema = `{
 "name": "tanks", "entities": 40, "rate_hz": 20, "base_age": 3, "skip": 5,
 "fields": [
  { "name": "x", "min": 0, "max": 65535 },
  { "name": "y", "min": 0, "max": 65535 },
  { "name": "vx", "min": -512, "max": 511 },
  { "name": "vy", "min": -512, "max": 511 },
  { "name": "turret", "min": 0, "max": 1023 },
  { "name": "health", "min": 0, "max": 100 }
 ],
 "classes": [
  { "name": "crate", "first": 20, "count": 20 },
  { "name": "carrier", "first": 7, "count": 1 },
  { "name": "tank", "first": 8, "count": 12 },
  { "name": "scout", "first": 0, "count": 7 }
 ],
 "hints": { "position": ["x", "y"], "velocity": ["vx", "vy"], "angles": ["turret"], "reference_entity": 7, "units": "none" }
}`

// tanksFrames plays the game.
func tanksFrames(frames int) []byte {
	const entities, fields = 40, 6
	state := make([]int32, entities*fields)
	var out []byte
	for n := range frames {
		for e := range entities {
			s := state[e*fields:]
			r := det.At(1, uint64(e), uint64(n))
			if n == 0 {
				s[0], s[1], s[5] = int32(r.IntN(65536)), int32(r.IntN(65536)), 100
			}
			if n == 0 || r.Chance(0.1) {
				s[2], s[3] = int32(r.IntN(200))-100, int32(r.IntN(200))-100
			}
			if e < 20 || r.Chance(0.02) {
				s[0], s[1] = min(max(s[0]+s[2], 0), 65535), min(max(s[1]+s[3], 0), 65535)
				s[4] = (s[4] + int32(r.IntN(5))) & 1023
			}
			if r.Chance(0.02) {
				s[5] = int32(r.IntN(101))
			}
		}
		for _, v := range state {
			out = binary.LittleEndian.AppendUint32(out, uint32(v))
		}
	}
	return out
}

func compressed(tb testing.TB, data []byte) []byte {
	tb.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return z.EncodeAll(data, nil)
}

func tanks(tb testing.TB, frames int) *codeclab.Workload {
	tb.Helper()
	l, err := codeclab.ParseSchema([]byte(tanksSchema))
	if err != nil {
		tb.Fatal(err)
	}
	r, err := l.ReadFrames(bytes.NewReader(tanksFrames(frames)))
	if err != nil {
		tb.Fatal(err)
	}
	return &codeclab.Workload{Name: "tanks", Recording: r}
}

func contenders(tb testing.TB, s *codec.Schema) []codeclab.Contender {
	tb.Helper()
	c, err := codeclab.Contenders(nil, codeclab.BundledTables(s))
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
