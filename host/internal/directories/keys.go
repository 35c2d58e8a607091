//go:build !js

package directories

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/host/internal/cli"
)

// keyFile is a file with one key or several, the newest first, one a line. It is read again when it
// has changed, so that keys rotate without a restart.
type keyFile struct {
	name string
	log  *slog.Logger

	mu     sync.Mutex
	looked time.Time
	is     os.FileInfo
	keys   []token.Key
}

// How many keys a file may have, and how often it is looked at.
const (
	mostKeys = 16
	lookAt   = time.Second
)

// openKeys reads the file for the first time.
func openKeys(name string, log *slog.Logger) (*keyFile, error) {
	k := &keyFile{name: name, log: log}
	info, err := os.Stat(name)
	if err == nil {
		k.keys, err = readKeys(name)
	}
	k.is, k.looked = info, time.Now()
	return k, err
}

// readKeys reads all keys of a file that only its owner can get at.
func readKeys(name string) (out []token.Key, err error) {
	text, err := cli.ReadSecret(name)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		k, err := token.ParseKey(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, k)
	}
	if len(out) == 0 || len(out) > mostKeys {
		return nil, errors.New(name + " has no keys, or more than 16: give one a line, the " +
			"newest first")
	}
	return out, nil
}

// Keys are those that count now. A file that cannot be read leaves those that did.
func (k *keyFile) Keys() []token.Key {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.looked) < lookAt {
		return k.keys
	}
	k.looked = time.Now()
	info, err := os.Stat(k.name)
	if err == nil && k.is != nil && info.ModTime().Equal(k.is.ModTime()) &&
		info.Size() == k.is.Size() && os.SameFile(info, k.is) {
		return k.keys
	}
	keys, e := readKeys(k.name)
	if err = errors.Join(err, e); err != nil {
		k.log.Error("the keys cannot be read again, those before count", "error", err)
		return k.keys
	}
	k.keys, k.is = keys, info
	k.log.Info("keys were read again", "keys", len(keys))
	return k.keys
}
