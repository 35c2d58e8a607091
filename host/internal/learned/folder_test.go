//go:build !js

package learned

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/codec"
)

func schema(name string) *codec.Schema {
	return &codec.Schema{Name: "test", Classes: []codec.Class{{Name: name,
		Fields: []codec.Field{{Name: "x", Max: 100}}}}}
}

func tables(t *testing.T, s *codec.Schema) []byte {
	t.Helper()
	m, err := codec.Default(s)
	if err != nil {
		t.Fatal(err)
	}
	data, err := m.Compact()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFolderKeepsWhatFits(t *testing.T) {
	f, err := Open(filepath.Join(t.TempDir(), "a", "b"), func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := tables(t, schema("ours")), tables(t, schema("theirs"))
	for _, data := range [][]byte{ours, theirs} {
		f.Keep(sha256.Sum256(data), data)
	}
	if !bytes.Equal(f.Load(sha256.Sum256(theirs)), theirs) {
		t.Error("what was kept is not there")
	}
	if f.Load([32]byte{1}) != nil {
		t.Error("there is what was never kept")
	}
	known := f.Known(schema("ours"))
	if len(known) != 1 || !bytes.Equal(known[0], ours) {
		t.Errorf("%d sets of tables are known for one game", len(known))
	}
	var none *Folder
	none.Keep([32]byte{}, ours)
	if none.Load([32]byte{}) != nil || none.Known(schema("ours")) != nil {
		t.Error("no folder keeps something")
	}
}

func TestFolderIsBounded(t *testing.T) {
	dir := t.TempDir()
	f, err := Open(dir, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	f.Keep([32]byte{255}, make([]byte, mostBytes+1))
	for i := range mostFiles + 10 {
		f.Keep([32]byte{byte(i), 7}, []byte{byte(i)})
		at := time.Unix(1_700_000_000+int64(i), 0)
		if err := os.Chtimes(f.path([32]byte{byte(i), 7}), at, at); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != mostFiles {
		t.Errorf("%d files, %v", len(files), err)
	}
	if f.Load([32]byte{mostFiles + 9, 7}) == nil || f.Load([32]byte{0, 7}) != nil {
		t.Error("the latest are not those that stay")
	}
}
