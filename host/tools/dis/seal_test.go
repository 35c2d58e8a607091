package dis

import (
	"bytes"
	"testing"
	"time"
)

// Only who has the key is heard, only now, and never in its own voice or an old one.
func TestSeal(t *testing.T) {
	key := bytes.Repeat([]byte{7}, 32)
	make := func(key []byte) *sealer {
		s, _, err := newSealer(key)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, b, stranger := make(key), make(key), make(bytes.Repeat([]byte{8}, 32))
	now := time.Unix(1e9, 0)
	text := []byte("hello")
	first := append([]byte(nil), a.seal(now, text)...)
	if got, ok := b.open(now.Add(time.Second), first); !ok || !bytes.Equal(got, text) {
		t.Fatalf("%q, %v", got, ok)
	}
	changed := append([]byte(nil), first...)
	changed[len(changed)-1]++
	newer := make(key)
	if _, ok := b.open(now, newer.seal(now, text)); !ok {
		t.Error("a new session is not heard")
	}
	for name, packet := range map[string][]byte{
		"nothing": nil, "changed": changed, "a stranger": stranger.seal(now, text),
		"itself": b.seal(now, text), "an old session": first,
		"an old packet": newer.seal(now.Add(-time.Minute), text)} {
		if got, ok := b.open(now, packet); ok {
			t.Errorf("%s: %q", name, got)
		}
	}
	if b.broken != 6 {
		t.Errorf("%d were counted", b.broken)
	}
}
