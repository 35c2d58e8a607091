//go:build !js

package keeping

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/coeval-dev/coeval/keep"
)

// A folder is a disk of package keep on the machine's own file system. Only its owner can read
// what is in it, since worlds hold secrets.
type folder struct{ dir string }

// Disk is a folder of this machine, which may be read while another program has it.
func Disk(dir string) keep.Disk { return folder{dir} }

// Take has a folder be this program's alone until what it gives is closed or the program ends.
func Take(dir string) (io.Closer, error) { return folder{dir}.take() }

func (d folder) at(name string) string { return filepath.Join(d.dir, name) }

func (d folder) List() ([]string, error) {
	list, err := os.ReadDir(d.dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(list))
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names, nil
}

func (d folder) Open(name string) (io.ReadCloser, error) { return os.Open(d.at(name)) }

func (d folder) Create(name string) (keep.File, error) {
	return os.OpenFile(d.at(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

func (d folder) Append(name string) (keep.File, error) {
	return os.OpenFile(d.at(name), os.O_WRONLY|os.O_APPEND, 0)
}

func (d folder) Rename(from, to string) error { return os.Rename(d.at(from), d.at(to)) }
func (d folder) Remove(name string) error     { return os.Remove(d.at(name)) }

// Sync makes the names in the folder durable. Windows does that by itself, and has no call for it.
func (d folder) Sync() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(d.dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// take has the folder be this program's alone until the file is closed or the program ends.
func (d folder) take() (*os.File, error) {
	f, err := os.OpenFile(d.at(keep.LockName), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("this program may not write into %s: %w", d.dir, err)
	}
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("another program keeps its game in %s: stop it, or name another "+
			"folder (%w)", d.dir, err)
	}
	return f, nil
}
