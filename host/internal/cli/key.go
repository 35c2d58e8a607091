package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/coeval-dev/coeval/conn/token"
)

// WriteKey writes a key to a file that only its owner can read, and never over another.
func WriteKey(name string, key token.Key) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf(
			"%s exists; tokens of the key in it would stop working, so choose another name or "+
				"remove it first", name)
	}
	if err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	_, err = fmt.Fprintln(f, key.Text())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	return nil
}

// ReadKey reads what WriteKey wrote. Whoever can read a key can let anyone in as anybody, so one
// that others on the machine can get at is refused.
func ReadKey(name string) (token.Key, error) {
	text, err := readPrivate(name)
	if errors.Is(err, fs.ErrNotExist) {
		return token.Key{}, fmt.Errorf(
			"there is no key file %s; make one with: {program} token key --out %s", name, name)
	}
	if err != nil {
		return token.Key{}, fmt.Errorf("read key: %w", err)
	}
	key, err := token.ParseKey(string(text))
	if err != nil {
		return token.Key{}, fmt.Errorf("%s: %w", name, err)
	}
	return key, nil
}

// ReadSecret reads a small file that only its owner can get at.
func ReadSecret(name string) ([]byte, error) { return readPrivate(name) }

// readPrivate reads a small file, and sees that it is its owner's alone.
func readPrivate(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	mode := info.Mode()
	if mode.IsRegular() && mode.Perm()&0o077 != 0 && !onlyRoots(info) &&
		runtime.GOOS != "windows" {
		return nil, fmt.Errorf(
			"others on this machine can get at the key in %s (its mode is %04o); close it with: "+
				"chmod 600 %s", name, mode.Perm(), name)
	}
	return ReadUpTo(f, name, 1<<16)
}
