package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// The files of a folder.
const (
	tokensName    = "tokens.json"
	sanctionsName = "sanctions.json"
	auditName     = "audit.jsonl"
	lockName      = "lock"

	// mostFile bounds what is read of a file.
	mostFile = 16 << 20
)

// A Folder is where administration keeps what outlives the program: hashes of tokens, who is banned
// or muted, and what was done. Only its owner can read it. Several programs may use one at the same
// time, such as two servers on a machine, and the command that makes tokens. Any goroutine may call
// its methods.
type Folder struct {
	dir string
	now func() time.Time

	// files is held while files are read and written, which may take long. What a server asks
	// between ticks is in memory, and waits for no disk.
	files     sync.Mutex
	sanctions atomic.Pointer[[]Sanction]
}

// OpenFolder opens a folder, and makes it if it is not there. What is damaged is an error, and
// stays as it is.
func OpenFolder(dir string) (*Folder, error) {
	f := &Folder{dir: dir, now: time.Now}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the folder for administration: %w", err)
	}
	if err := private(dir); err != nil {
		return nil, err
	}
	if _, err := f.readTokens(); err != nil {
		return nil, err
	}
	return f, f.Reload()
}

// hold keeps other goroutines and programs from changing files until what it gives is called.
func (f *Folder) hold() (release func(), err error) {
	f.files.Lock()
	file, err := os.OpenFile(f.at(lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		if err = lock(file); err != nil {
			_ = file.Close() // it is not ours
		}
	}
	if err != nil {
		f.files.Unlock()
		return nil, fmt.Errorf("the folder for administration: %w", err)
	}
	return func() {
		_ = file.Close() // others may
		f.files.Unlock()
	}, nil
}

// Dir is the folder's name.
func (f *Folder) Dir() string { return f.dir }

func (f *Folder) at(name string) string { return filepath.Join(f.dir, name) }

// private sees that others on the machine cannot get at a file or folder.
func private(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		mode := "600"
		if info.IsDir() {
			mode = "700"
		}
		return fmt.Errorf("others on this machine can get at %s (its mode is %04o); close it "+
			"with: chmod %s %s", name, info.Mode().Perm(), mode, name)
	}
	return nil
}

// read reads a file of the folder, or gives nil if it is not there.
func (f *Folder) read(name string) ([]byte, error) {
	file, err := os.Open(f.at(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := private(f.at(name)); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, mostFile+1))
	if err == nil && len(data) > mostFile {
		err = fmt.Errorf("%s has more than %d bytes", f.at(name), mostFile)
	}
	return data, err
}

// write puts a file in the place of the one that was there, whole or not at all.
func (f *Folder) write(name string, v any) (err error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	part, err := os.CreateTemp(f.dir, name+".*.new") // its mode is 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(part.Name())
			err = fmt.Errorf("%s cannot be written: %w", f.at(name), err)
		}
	}()
	_, err = part.Write(append(data, '\n'))
	if err == nil {
		err = part.Sync()
	}
	if err = errors.Join(err, part.Close()); err != nil {
		return err
	}
	if err = os.Rename(part.Name(), f.at(name)); err != nil {
		return err
	}
	return syncFolder(f.dir)
}

// syncFolder makes names in a folder durable, where the system can.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
