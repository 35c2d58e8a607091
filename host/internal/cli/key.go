package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

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

// ReadKey reads what WriteKey wrote.
func ReadKey(name string) (token.Key, error) {
	text, err := os.ReadFile(name)
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
