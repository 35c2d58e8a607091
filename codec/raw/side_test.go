package raw_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/codec"
)

// What goes along with entities is read back among them, by every strategy; and what is taken back
// leaves no trace, not even by overflowing.
func TestSideInformation(t *testing.T) {
	all := map[string]func(*codec.Schema) (codec.Strategy, error){
		"coeval": func(s *codec.Schema) (codec.Strategy, error) {
			m, err := codec.Default(s)
			if err != nil {
				return nil, err
			}
			return m.Strategy(), nil
		},
	}
	for name, f := range strategies {
		all[name] = f
	}
	for name, strategy := range all {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := drawSchema(t)
				for i := range s.Classes {
					for j := range s.Classes[i].Fields {
						f := &s.Classes[i].Fields[j]
						f.Min, f.Max = max(f.Min, -1<<20), min(f.Max, 1<<20)
						f.Min = min(f.Min, f.Max)
					}
				}
				st, err := strategy(s)
				if err != nil {
					t.Skip("not a schema for it")
				}
				enc, dec := st.NewEncoder(), st.NewDecoder()
				enc.Begin(make([]byte, rapid.IntRange(40, 1200).Draw(t, "room")))
				var kept []func(t *rapid.T)
				var h codec.History
				put := func() (ok bool, check func(t *rapid.T)) {
					switch rapid.IntRange(0, 2).Draw(t, "what") {
					case 0:
						n := rapid.IntRange(0, 32).Draw(t, "width")
						v := uint32(rapid.Uint64Range(0, 1<<n-1).Draw(t, "v"))
						enc.Bits(v, uint(n))
						return !enc.Full(), func(t *rapid.T) {
							if got := dec.Bits(uint(n)); got != v {
								t.Fatalf("%d bits: %#x came back as %#x: %v", n, v, got, dec.Err())
							}
						}
					case 1:
						one := rapid.Uint32Range(1, 1<<16-1).Draw(t, "one")
						v := rapid.Bool().Draw(t, "flag")
						enc.Flag(v, one)
						return !enc.Full(), func(t *rapid.T) {
							if got := dec.Flag(one); got != v {
								t.Fatalf("flag %v came back as %v: %v", v, got, dec.Err())
							}
						}
					}
					e := drawEntity(t, s)
					if e.history.Len == 0 {
						h.Reset()
						h.Add(slices.Clone(e.now), 1)
						e.history = h
					}
					return enc.Put(e.class, &e.history, e.now), func(t *rapid.T) {
						got := make([]int32, len(e.now))
						if _, err := dec.Get(e.class, &e.history, got); err != nil ||
							!slices.Equal(got, e.now) {
							t.Fatalf("%v came back as %v: %v", e.now, got, err)
						}
					}
				}
				for range rapid.IntRange(1, 30).Draw(t, "groups") {
					enc.Mark()
					spent := enc.Spent()
					var group []func(*rapid.T)
					ok := true
					for range rapid.IntRange(1, 4).Draw(t, "group") {
						fits, check := put()
						ok = ok && fits
						group = append(group, check)
					}
					if ok && rapid.IntRange(0, 3).Draw(t, "keep") > 0 {
						kept = append(kept, group...)
						continue
					}
					enc.Rewind()
					if got := enc.Spent(); got != spent {
						t.Fatalf("%g bits spent before, %g after taking back", spent, got)
					}
				}
				packet, err := enc.Finish()
				if err != nil {
					t.Fatal(err)
				}
				dec.Begin(packet)
				for _, check := range kept {
					check(t)
				}
				if err := dec.Finish(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
