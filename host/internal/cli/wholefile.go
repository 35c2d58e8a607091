package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// A WholeFile is a file that appears only once all of it is written; until then, and if anything
// goes wrong, whatever was there before stays. What is no ordinary file, such as /dev/stdout, is
// written to as it is.
type WholeFile struct {
	name   string
	part   *os.File // what is written to; nil when all is done
	path   string   // of part, where it is to take the place of target
	target string
}

// CreateWhole makes sure that a file can be written, and leaves the one that is there alone.
func CreateWhole(name string) (*WholeFile, error) { return createWhole(name, 0o666) }

// CreatePrivate is CreateWhole for a file that only its owner is to read, whoever could read the
// one that was there.
func CreatePrivate(name string) (*WholeFile, error) { return createWhole(name, 0o600) }

func createWhole(name string, mode fs.FileMode) (*WholeFile, error) {
	f := &WholeFile{name: name, target: name}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a folder; name the file to write", name)
	case err == nil && !info.Mode().IsRegular():
		if f.part, err = os.OpenFile(name, os.O_WRONLY, 0); err != nil {
			return nil, f.Explain(err)
		}
		return f, nil
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		f.target = real // the file is replaced, not the link to it
	}
	f.path = fmt.Sprintf("%s.%d.part", f.target, os.Getpid())
	part, openErr := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if openErr != nil {
		return nil, f.Explain(openErr)
	}
	f.part = part
	if err == nil && runtime.GOOS != "windows" { // who may read it stays as it was, at most
		perm := info.Mode().Perm()
		if mode&0o077 == 0 {
			perm &= 0o700
		}
		if err := part.Chmod(perm); err != nil {
			f.Abandon()
			return nil, f.Explain(err)
		}
	}
	return f, nil
}

// Commit writes the file and puts it in its place.
func (f *WholeFile) Commit(data []byte) error {
	defer f.Abandon()
	_, err := f.part.Write(data)
	if err == nil && f.path != "" {
		err = f.part.Sync() // a disk may say only now that it is full
	}
	err = errors.Join(err, f.part.Close())
	if err == nil && f.path != "" {
		err = os.Rename(f.path, f.target)
	}
	if err == nil {
		f.part = nil
	}
	return f.Explain(err)
}

// Abandon takes away what was not committed.
func (f *WholeFile) Abandon() {
	if f.part == nil {
		return
	}
	f.part.Close()
	if f.path != "" {
		os.Remove(f.path)
	}
	f.part = nil
}

// Write adds to the file, for what is written piece by piece; Commit(nil) then puts it in its
// place.
func (f *WholeFile) Write(b []byte) (int, error) { return f.part.Write(b) }

// Name is what the file was asked for as.
func (f *WholeFile) Name() string { return f.name }

// Path is where it stands until it is committed, for who wants to read what was written.
func (f *WholeFile) Path() string { return f.part.Name() }

// Explain names the file as it was asked for.
func (f *WholeFile) Explain(err error) error {
	if err == nil {
		return nil
	}
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		err = p.Err
	case errors.As(err, &l):
		err = l.Err
	}
	return fmt.Errorf("%s cannot be written: %w", f.name, err)
}
