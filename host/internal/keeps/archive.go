//go:build !js

package keeps

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/keep"
)

// A backup in one file is a tar of the files that a folder has, which can be unpacked by hand.

// archived says that a name is that of such a file.
func archived(name string) bool { return strings.HasSuffix(name, ".tar") }

// An archive is a disk that is read out of a tar.
type archive struct {
	in    io.ReaderAt
	files map[string]stretch
}

// A stretch is where a file stands in an archive.
type stretch struct{ from, bytes int64 }

// mostFiles is how many an archive may have: those of a year of history.
const mostFiles = 4 << 20

var errArchive = errors.New("it is no backup of a kept game")

// readArchive finds the files of an archive. Nothing of them is read yet.
func readArchive(in io.ReaderAt, size int64) (*archive, error) {
	a := &archive{in, map[string]stretch{}}
	section := io.NewSectionReader(in, 0, size)
	for r := tar.NewReader(section); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w, or it is damaged: %w", errArchive, err)
		}
		at, err := section.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		_, twice := a.files[h.Name]
		switch {
		case h.Typeflag != tar.TypeReg || !keep.Named(h.Name) || twice || len(a.files) == mostFiles:
			return nil, fmt.Errorf("%w: it holds %q", errArchive, h.Name)
		case h.Size > size-at:
			return nil, fmt.Errorf("%w, or it is cut off: %q has %d bytes", errArchive, h.Name,
				h.Size)
		}
		a.files[h.Name] = stretch{at, h.Size}
	}
	return a, nil
}

func (a *archive) List() (names []string, err error) {
	for name := range a.files {
		names = append(names, name)
	}
	return names, nil
}

func (a *archive) Open(name string) (io.ReadCloser, error) {
	s, ok := a.files[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return io.NopCloser(io.NewSectionReader(a.in, s.from, s.bytes)), nil
}

// errReadOnly is that an archive is written once.
var errReadOnly = errors.New("a backup is not changed")

func (a *archive) Create(string) (keep.File, error) { return nil, errReadOnly }
func (a *archive) Append(string) (keep.File, error) { return nil, errReadOnly }
func (a *archive) Rename(string, string) error      { return errReadOnly }
func (a *archive) Remove(string) error              { return errReadOnly }
func (a *archive) Sync() error                      { return errReadOnly }

// writeArchive writes a plan into a new file, which has its name once it was checked.
func writeArchive(p *keep.Plan, from keep.Disk, name string, check func(keep.Disk) error) error {
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already: name another file, or remove it first", name)
	}
	file, err := cli.CreatePrivate(name)
	if err != nil {
		return err
	}
	defer file.Abandon()
	w := tar.NewWriter(file)
	for _, part := range p.Parts {
		if err := addPart(w, part, from); err != nil {
			return file.Explain(err)
		}
	}
	if err := w.Close(); err != nil {
		return file.Explain(err)
	}
	in, err := os.Open(file.Path())
	if err != nil {
		return file.Explain(err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return file.Explain(err)
	}
	a, err := readArchive(in, info.Size())
	if err == nil {
		err = check(a)
	}
	if err != nil {
		return fmt.Errorf("%s: what was read back is not what was written: %w", name, err)
	}
	return file.Commit(nil)
}

// addPart adds a file.
func addPart(w *tar.Writer, part keep.Part, from keep.Disk) error {
	in, err := part.Read(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: part.Name, Mode: 0o600,
		Size: part.Bytes, ModTime: time.Now()}); err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return err
}
