//go:build !js

package directories

import (
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
)

// TestKeysRotate: a running directory takes up what its operator writes into the file of keys, and
// keeps those that it has while the file is none.
func TestKeysRotate(t *testing.T) {
	name := filepath.Join(t.TempDir(), "keys")
	write := func(lines ...string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	draw := func() (token.Key, string) {
		k, err := token.NewKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k, k.Text()
	}
	old, oldText := draw()
	fresh, freshText := draw()
	write(oldText)
	k, err := openKeys(name, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	look := func() []token.Key { // as if a second had passed
		k.mu.Lock()
		k.looked = time.Time{}
		k.mu.Unlock()
		return k.Keys()
	}
	if got := look(); len(got) != 1 || got[0] != old {
		t.Errorf("%d keys", len(got))
	}
	write("# the new one first", freshText, oldText)
	if got := look(); len(got) != 2 || got[0] != fresh || got[1] != old {
		t.Errorf("after a new one: %d keys", len(got))
	}
	for _, wrong := range []string{"", "not a key", strings.Repeat(oldText+"\n", 17)} {
		write(wrong)
		if got := look(); len(got) != 2 || got[0] != fresh {
			t.Errorf("with a file that is none: %d keys", len(got))
		}
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if got := look(); len(got) != 2 {
		t.Errorf("without the file: %d keys", len(got))
	}
	write(freshText)
	if got := look(); len(got) != 1 || got[0] != fresh {
		t.Errorf("without the old one: %d keys", len(got))
	}
}
