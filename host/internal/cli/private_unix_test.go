//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/coeval-dev/coeval/conn/token"
)

// TestKeyOfRoot: a key as systemd hands it out is read, and no other that a group can read.
func TestKeyOfRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root makes files that are root's")
	}
	name := filepath.Join(t.TempDir(), "key")
	if err := WriteKey(name, token.Key{1}); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		mode     os.FileMode
		uid, gid int
		ok       bool
	}{
		{0o600, 0, 0, true}, {0o440, 0, 0, true}, {0o640, 0, 0, false}, {0o444, 0, 0, false},
		{0o440, 0, 64123, false}, {0o440, 64123, 0, false}, {0o400, 64123, 64123, true},
	} {
		if err := os.Chown(name, x.uid, x.gid); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, x.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadKey(name); (err == nil) != x.ok {
			t.Errorf("%04o %d:%d: %v", x.mode, x.uid, x.gid, err)
		}
	}
}
