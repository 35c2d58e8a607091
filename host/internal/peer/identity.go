//go:build !js

package peer

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// An identity is a secret that this machine keeps, by which the others of a match know its player
// again. While a program uses it, its file is locked, so that two programs on one machine are two
// players.
type identity struct {
	seed [32]byte
	file *os.File // locked
}

// mostIdentities is how many programs of one user may play a game at once.
const mostIdentities = 64

// openIdentity takes the identity in a file, or the first of the user's own that nobody uses, and
// makes it where there is none.
func openIdentity(name, game string) (*identity, error) {
	if name != "" {
		id, err := tryIdentity(name)
		if errors.Is(err, errLocked) {
			err = fmt.Errorf("--identity %s: another program plays with it: end that, or choose "+
				"another file", name)
		}
		return id, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return drawIdentity()
	}
	dir := filepath.Join(cache, "coeval", "peers")
	if os.MkdirAll(dir, 0o700) != nil {
		return drawIdentity()
	}
	for i := range mostIdentities {
		name := filepath.Join(dir, fileName(game))
		if i > 0 {
			name += fmt.Sprint("-", i+1)
		}
		id, err := tryIdentity(name + ".identity")
		if err == nil || !errors.Is(err, errLocked) {
			return id, err
		}
	}
	return drawIdentity()
}

// fileName is the name of a game as a file can have it.
func fileName(game string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-':
			return r
		}
		return '_'
	}, game)
}

// drawIdentity makes one that nobody keeps.
func drawIdentity() (*identity, error) {
	var id identity
	_, err := rand.Read(id.seed[:])
	return &id, err
}

// errLocked says that another program has an identity.
var errLocked = errors.New("the identity is in use")

// tryIdentity takes an identity, and makes it where there is none.
func tryIdentity(name string) (*identity, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the identity: %w", err)
	}
	id := &identity{file: f}
	if err := lock(f); err != nil {
		_ = f.Close()
		return nil, errLocked
	}
	text, err := io.ReadAll(io.LimitReader(f, 256))
	switch b, wrong := hex.DecodeString(strings.TrimSpace(string(text))); {
	case err != nil:
	case len(text) == 0:
		_, _ = rand.Read(id.seed[:]) // it never fails
		if _, err = fmt.Fprintln(f, hex.EncodeToString(id.seed[:])); err == nil {
			err = f.Sync()
		}
	case wrong != nil || len(b) != len(id.seed):
		err = fmt.Errorf("%s is no identity: it has %d bytes that are not 64 digits; remove it, "+
			"or choose another file", name, len(text))
	default:
		copy(id.seed[:], b)
	}
	if err != nil {
		id.close()
		return nil, err
	}
	return id, nil
}

// in is who this is in one match. In another it is somebody else, so that players are not known
// beyond it.
func (id *identity) in(secret *[32]byte) [32]byte {
	return sha256.Sum256(append(append([]byte("coeval peer in "), id.seed[:]...), secret[:]...))
}

func (id *identity) close() {
	if id.file != nil {
		_ = id.file.Close() // which unlocks it
	}
}
