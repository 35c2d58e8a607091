package federation

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const saveEnding = ".save"

// checkDir makes the folder for saves, if there is to be one.
func (s *Server) checkDir() error {
	if s.opt.Dir == "" {
		return nil
	}
	if err := os.MkdirAll(s.opt.Dir, 0o700); err != nil {
		return fmt.Errorf("saves: %w", err)
	}
	return nil
}

// prefix is how the files of a federation's saves begin. Names may have any sign in them.
func prefix(name string) string { return hex.EncodeToString([]byte(name)) + "-" }

// store writes a save beside, flushes it, and renames it.
func (s *Server) store(name, label string, data []byte) error {
	if s.opt.Dir == "" {
		return nil
	}
	path := filepath.Join(s.opt.Dir, prefix(name)+hex.EncodeToString([]byte(label))+saveEnding)
	f, err := os.CreateTemp(s.opt.Dir, "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// load has what was saved of a federation be there to restore. A save of another model is left
// where it is.
func (s *Server) load(e *execution) error {
	if s.opt.Dir == "" {
		return nil
	}
	files, err := os.ReadDir(s.opt.Dir)
	if err != nil {
		return fmt.Errorf("saves: %w", err)
	}
	for _, f := range files {
		rest, ok := strings.CutPrefix(f.Name(), prefix(e.name))
		code, ending := strings.CutSuffix(rest, saveEnding)
		label, err := hex.DecodeString(code)
		if !ok || !ending || err != nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join(s.opt.Dir, f.Name()))
		if err == nil {
			err = e.x.LoadSave(string(label), data)
		}
		if err != nil {
			s.opt.Log.Warn("a save is not used", "federation", e.name, "save", string(label),
				"error", err)
		}
	}
	return nil
}
