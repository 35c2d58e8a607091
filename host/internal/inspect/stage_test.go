package inspect_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/inspect"
	"github.com/coeval-dev/coeval/host/internal/serve"
)

// A profile tells the stages of ticks apart: their names are among its texts.
func TestProfileHasStages(t *testing.T) {
	r := run(t, 6, serve.Options{})
	r.full(6)
	r.wait("a profile with samples of a tick", func() bool {
		code, data := r.get(inspect.Path+"profile?seconds=2", "")
		if code != 200 {
			t.Fatalf("%d %s", code, data)
		}
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		has := func(s string) bool { // as a text of its own in the profile's table: field 6
			return bytes.Contains(text, append([]byte{6<<3 | 2, byte(len(s))}, s...))
		}
		return has("stage") && (has("receive") || has("step") || has("snapshots") || has("send"))
	})
}
