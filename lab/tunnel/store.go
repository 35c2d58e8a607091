package tunnel

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// A Store keeps samples from one run of the program to the next, each under all that it depends on.
type Store struct{ dir string }

// NewStore keeps them in a folder, which is made when it is needed. Without a folder it keeps
// nothing.
func NewStore(dir string) *Store { return &Store{dir} }

func (s *Store) path(key string) string {
	sum := sha256.Sum256([]byte(key))
	name := hex.EncodeToString(sum[:16])
	return filepath.Join(s.dir, name[:2], name+".json")
}

// kept is a sample in a file.
type kept struct {
	Version int    `json:"version"`
	Key     string `json:"key"`
	Sample  Sample `json:"sample"`
}

// Load reads what was kept. What cannot be read counts as not there.
func (s *Store) Load(key string) (*Sample, bool) {
	if s.dir == "" {
		return nil, false
	}
	b, err := os.ReadFile(s.path(key))
	if err != nil {
		return nil, false
	}
	var k kept
	if json.Unmarshal(b, &k) != nil || k.Version != Version || k.Key != key {
		return nil, false
	}
	return &k.Sample, true
}

// Save keeps a sample. It is there as a whole or not at all.
func (s *Store) Save(key string, r *Sample) error {
	if s.dir == "" {
		return nil
	}
	b, err := json.Marshal(kept{Version, key, *r})
	if err != nil {
		return err
	}
	return WriteFile(s.path(key), b)
}

// WriteFile writes a file as a whole: under another name first, so that nobody ever finds half of
// it.
func WriteFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".part-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // nothing half-written stays
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
