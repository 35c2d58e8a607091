//go:build !js

package keeps

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/keeping"
	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/membership"
)

// A source is a folder, or a backup in one file, that is read.
type source struct {
	name string
	disk keep.Disk
	file io.Closer // nil of a folder
}

// openSource opens what a command line names.
func openSource(name string) (*source, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s: name the folder that --keep named, or a backup of it",
			name)
	}
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return &source{name: name, disk: keeping.Disk(name)}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	a, err := readArchive(f, info.Size())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return &source{name, a, f}, nil
}

func (s *source) close() {
	if s.file != nil {
		_ = s.file.Close() // it was only read
	}
}

// explain names the source in an error.
func (s *source) explain(err error) error { return fmt.Errorf("%s: %w", s.name, err) }

// tries is how often a folder is looked at anew whose chapters are removed meanwhile.
const tries = 5

// swept says that a chapter was removed while it was read, or a file written anew, so that another
// try may do.
func swept(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, io.ErrUnexpectedEOF)
}

// stay is which world a mirror that starts here would go on with; zero is the newest.
func stay(d keep.Disk) (uint64, error) {
	b, err := keep.Remembered(d)
	if err != nil || b == nil {
		return 0, err
	}
	m, err := membership.ReadMemory(b)
	if err != nil {
		return 0, err
	}
	return m.Stay, nil
}

// load loads a kept game as this program would.
func load(t *game.Title, d keep.Disk) (*keep.Kept, error) {
	f, err := keep.Peek(d, t.Game, keep.Options{Build: recording.Build()})
	if err != nil {
		return nil, err
	}
	of, err := stay(d)
	if err != nil {
		return nil, err
	}
	k, err := f.RecoverStay(of)
	if err == nil && k == nil {
		err = fmt.Errorf("keep: %w: it has no chapters", keep.ErrNone)
	}
	return k, err
}

// title finds the title of a survey among those of the program.
func title(p *cli.Program, s *keep.Survey) (*game.Title, error) {
	t, err := p.Title(s.Game)
	if err != nil {
		return nil, fmt.Errorf("it is of the game %q, which this program does not have: %w; use "+
			"the program that kept it", s.Game, err)
	}
	return t, nil
}
