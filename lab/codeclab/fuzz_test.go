package codeclab_test

import (
	"bytes"
	"testing"

	"github.com/coeval-dev/coeval/lab/codeclab"
)

// FuzzSchema holds that whatever passes as a schema can be used: every entity has a class and every
// class is valid.
func FuzzSchema(f *testing.F) {
	f.Add([]byte(tanksSchema))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := codeclab.ParseSchema(data)
		if err != nil {
			return
		}
		if err := l.Schema.Validate(); err != nil {
			t.Fatal(err)
		}
		if len(l.Classes) == 0 || l.Refer >= len(l.Classes) {
			t.Fatalf("%d entities, reference %d", len(l.Classes), l.Refer)
		}
		for e, c := range l.Classes {
			if c < 0 || c >= len(l.Schema.Classes) {
				t.Fatalf("entity %d is of class %d", e, c)
			}
		}
	})
}

// FuzzFrames holds that whatever passes as a recording has only whole frames and values within
// their ranges.
func FuzzFrames(f *testing.F) {
	const schema = `{ "name": "dots", "entities": 2, "rate_hz": 10, "base_age": 1, "skip": 0,
		"fields": [ { "name": "x", "min": -3, "max": 300 }, { "name": "on", "min": 0, "max": 1 } ],
		"classes": [ { "name": "dot", "first": 0, "count": 2 } ] }`
	l, err := codeclab.ParseSchema([]byte(schema))
	if err != nil {
		f.Fatal(err)
	}
	plain := make([]byte, 64)
	plain[20], plain[32] = 1, 9
	f.Add(plain)
	f.Add(compressed(f, plain))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := l.ReadFrames(bytes.NewReader(data))
		if err != nil {
			return
		}
		for n, frame := range r.Frames {
			if len(frame) != 4 {
				t.Fatalf("frame %d has %d values", n, len(frame))
			}
			for i, v := range frame {
				if field := l.Schema.Classes[0].Fields[i%2]; v < field.Min || v > field.Max {
					t.Fatalf("frame %d, value %d: %d", n, i, v)
				}
			}
		}
	})
}
