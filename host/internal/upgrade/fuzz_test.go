//go:build !js

package upgrade

import (
	"bytes"
	"testing"
)

// FuzzRead: whatever comes is read as messages or refused, and what is read is written the same.
func FuzzRead(f *testing.F) {
	for _, m := range []struct {
		kind kind
		text string
	}{
		{kindHello, `{"version":1,"game":"pong","within":1000000000}`},
		{kindTrial, `{"tick":7,"level":{"Name":"a"},"seats":[{"Client":1,"Player":1}],` +
			`"handed":[{"role":"udp","address":":1"}]}`},
		{kindNo, "no"}, {kindGoing, ""}, {kindWorld, "world"},
	} {
		b, err := frame(m.kind, []byte(m.text))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{byte(kindWorld), 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bytes.NewReader(data)
		for {
			k, b, err := read(in)
			if err != nil {
				return
			}
			again, err := frame(k, b)
			if err != nil || !bytes.Contains(data, again) {
				t.Fatalf("%v: %v", k, err)
			}
			switch k {
			case kindHello:
				if h, err := parseHello(b); err == nil && (h.Within < LeastWithin ||
					h.Within > MostWithin) {
					t.Fatalf("%+v", h)
				}
			case kindTrial, kindFinal:
				if m, err := parseMoment(b); err == nil && len(m.Handed) >= mostHanded {
					t.Fatalf("%+v", m)
				}
			}
		}
	})
}
