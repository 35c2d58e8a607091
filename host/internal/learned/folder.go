//go:build !js

package learned

import (
	"cmp"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/codec"
)

// Bounds of a folder: of each file, and of how many there are.
const (
	mostBytes = 64 << 10
	mostFiles = 64
)

// extension is that of the files of a folder. Their names are hashes.
const extension = ".learned"

// A Folder keeps tables as files. It may be shared by any number of programs. Nil keeps nothing.
type Folder struct {
	dir    string
	failed func(error)

	writing sync.Mutex
}

// Open makes a folder if there is none. What goes wrong later is told to failed: tables that cannot
// be kept cost bandwidth, and nothing else.
func Open(dir string, failed func(error)) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return &Folder{dir: dir, failed: failed}, nil
}

// Dir is the folder where programs of one user keep tables.
func Dir() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "coeval", "learned"), err
}

func (f *Folder) path(hash [32]byte) string {
	return filepath.Join(f.dir, hex.EncodeToString(hash[:16])+extension)
}

// Load gives tables that were kept, or nil.
func (f *Folder) Load(hash [32]byte) []byte {
	if f == nil {
		return nil
	}
	path := f.path(hash)
	data := f.read(path)
	if data != nil {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // it is in use, and so goes last
	}
	return data
}

// read gives a file that is no longer than tables can be.
func (f *Folder) read(path string) []byte {
	file, err := os.Open(path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			f.failed(err)
		}
		return nil
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, mostBytes+1))
	if err != nil || len(data) > mostBytes {
		return nil
	}
	return data
}

// Keep writes tables. The longest unused go if there are too many.
func (f *Folder) Keep(hash [32]byte, data []byte) {
	if f == nil || len(data) > mostBytes {
		return
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := f.write(f.path(hash), data); err != nil {
		f.failed(err)
		return
	}
	files := f.files()
	for _, old := range files[min(len(files), mostFiles):] {
		_ = os.Remove(old) // another program may have done it
	}
}

// write has the file there as a whole or not at all.
func (f *Folder) write(path string, data []byte) error {
	file, err := os.CreateTemp(f.dir, "writing-*")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// files lists the tables, the latest first.
func (f *Folder) files() []string {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		f.failed(err)
	}
	type dated struct {
		path string
		at   time.Time
	}
	var all []dated
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), extension) {
			all = append(all, dated{filepath.Join(f.dir, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b dated) int {
		return cmp.Or(b.at.Compare(a.at), strings.Compare(a.path, b.path))
	})
	paths := make([]string, len(all))
	for i := range all {
		paths[i] = all[i].path
	}
	return paths
}

// Known gives the tables that are for a schema, the latest first, and two at most.
func (f *Folder) Known(s *codec.Schema) (known [][]byte) {
	if f == nil {
		return nil
	}
	for _, path := range f.files() {
		if data := f.read(path); len(known) < 2 && codec.TablesFit(s, data) {
			known = append(known, data)
		}
	}
	return known
}
