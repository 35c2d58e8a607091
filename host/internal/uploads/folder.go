//go:build !js

// Package uploads keeps what players send to a server in one piece: each in a file of its own, in a
// folder that does not grow without bounds. The files are named by the kind, the client and what is
// in them, so that the same is kept once.
package uploads

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/coeval-dev/coeval/topology/server"

	"github.com/spf13/pflag"
)

// Options are where and how much.
type Options struct {
	// Dir is the folder, or nothing: then nothing is kept.
	Dir string
	// MostMB is how many megabytes the folder may have.
	MostMB int
}

// Flags adds those of a command that serves.
func (o *Options) Flags(f *pflag.FlagSet) {
	f.StringVar(&o.Dir, "uploads", "",
		"folder for what players send in one piece, such as replays, where the game has such")
	f.IntVar(&o.MostMB, "uploads-most", 1024, "with --uploads, most megabytes in that folder")
}

// A Folder keeps uploads. Nil keeps none.
type Folder struct {
	dir  string
	most int64
	log  *slog.Logger

	mu   sync.Mutex
	size int64
	todo chan job
	done sync.WaitGroup
}

type job struct {
	name string
	data []byte
}

// waiting is how many uploads may wait for the disk.
const waiting = 16

// Open opens the folder, or gives nil where there is to be none.
func Open(o Options, log *slog.Logger) (*Folder, error) {
	if o.Dir == "" {
		return nil, nil
	}
	if o.MostMB < 1 {
		return nil, fmt.Errorf("--uploads-most is %d: it must be above 0", o.MostMB)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("--uploads: %w", err)
	}
	list, err := os.ReadDir(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("--uploads: %w", err)
	}
	f := &Folder{dir: o.Dir, most: int64(o.MostMB) << 20, log: log, todo: make(chan job, waiting)}
	for _, e := range list {
		if i, err := e.Info(); err == nil && i.Mode().IsRegular() {
			f.size += i.Size()
		}
	}
	f.done.Go(func() {
		for j := range f.todo {
			f.write(j)
		}
	})
	return f, nil
}

var (
	errFull = errors.New("the server has no more room for it")
	errBusy = errors.New("the server is busy writing; try again")
)

// Keep is for server.Rules.Uploaded: it has the data written, by another goroutine.
func (f *Folder) Keep(u server.Upload) error {
	sum := sha256.Sum256(u.Data)
	j := job{fmt.Sprintf("%s-%d-%x", plain(u.Name), u.Seat.Client, sum[:8]), u.Data}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size+int64(len(j.data)) > f.most {
		return errFull
	}
	select {
	case f.todo <- j:
		f.size += int64(len(j.data))
		return nil
	default:
		return errBusy
	}
}

// Hook is Keep for a folder, and nil for none.
func (f *Folder) Hook() func(server.Upload) error {
	if f == nil {
		return nil
	}
	return f.Keep
}

// write writes a file under another name first, so that each that has its name is complete.
func (f *Folder) write(j job) {
	path := filepath.Join(f.dir, j.name)
	_, err := os.Stat(path)
	there := err == nil
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.WriteFile(path+".part", j.data, 0o600); err == nil {
			err = os.Rename(path+".part", path)
		}
		if err != nil {
			_ = os.Remove(path + ".part") // it is of no use
		}
	}
	if err != nil {
		f.log.Error("what a player sent could not be kept", "file", path, "error", err)
	}
	if there || err != nil {
		f.mu.Lock()
		f.size -= int64(len(j.data))
		f.mu.Unlock()
	}
}

// plain is a name that every file system takes.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '_'
	}, name)
}

// Close waits until everything is written. Nothing may be kept any more.
func (f *Folder) Close() {
	if f == nil {
		return
	}
	close(f.todo)
	f.done.Wait()
}
