package codeclab

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/lab/workloads"
)

// maxBaseAge keeps the base of every frame within the window of frames that a receiver keeps.
const maxBaseAge = window / 4

// A Workload is a recording to measure strategies on.
type Workload struct {
	Name      string
	Recording *codec.Recording
}

// Bundled opens one of the workloads that come with the program; workloads.Names lists them.
func Bundled(name string) (*Workload, error) {
	l, err := bundledLayout(name)
	if err != nil {
		return nil, err
	}
	frames, err := workloads.Files.Open(name + ".zst")
	if err != nil {
		return nil, err
	}
	defer frames.Close()
	r, err := l.ReadFrames(frames)
	if err != nil {
		return nil, fmt.Errorf("%s.zst: %w", name, err)
	}
	return &Workload{name, r}, nil
}

func bundledLayout(name string) (*Layout, error) {
	schema, err := workloads.Files.ReadFile(name + ".json")
	if err != nil {
		return nil, fmt.Errorf("there is no workload %q; there are %q", name, workloads.Names())
	}
	l, err := ParseSchema(schema)
	if err != nil {
		return nil, fmt.Errorf("%s.json: %w", name, err)
	}
	return l, nil
}

// Open reads a workload from a schema file and a file of frames.
func Open(schema, frames string) (*Workload, error) {
	l, err := OpenSchema(schema)
	if err != nil {
		return nil, err
	}
	r, err := l.OpenFrames(frames)
	if err != nil {
		return nil, err
	}
	return &Workload{l.Schema.Name, r}, nil
}

// OpenSchema reads a schema file.
func OpenSchema(name string) (*Layout, error) {
	data, err := readFile(name, maxSchemaFile)
	if err != nil {
		return nil, err
	}
	l, err := ParseSchema(data)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return l, nil
}

// OpenFrames reads a file of frames.
func (l *Layout) OpenFrames(name string) (*codec.Recording, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fileError(name, err)
	}
	defer f.Close()
	r, err := l.ReadFrames(f)
	if err != nil {
		return nil, fmt.Errorf("frames %s: %w", name, err)
	}
	return r, nil
}

// Files that are read whole are refused beyond these sizes, which no real one comes near.
const (
	maxSchemaFile = 1 << 20
	maxTablesFile = 1 << 26
)

func readFile(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fileError(name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, fileError(name, err)
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("%s: the file is larger than %d bytes; it is not what it should be",
			name, most)
	}
	return b, nil
}

// fileError names the file once, and says plainly what people get wrong most.
func fileError(name string, err error) error {
	var p *fs.PathError
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such file", name)
	}
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}
