//go:build !js

package peer

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/topology/relay"
)

// A seat is what a program that has crashed needs to return to its body: where a relay keeps that,
// the secret that the relay gave it. Without one the others know it again by its identity, and all
// it needs to know is that it was in.
type seat struct {
	Relay  string    `json:"relay"`
	Game   string    `json:"game"`
	Code   string    `json:"code"`
	Secret string    `json:"secret"`
	Since  time.Time `json:"since"`
}

// seats are those that were not left in good order. They are in a file beside the identity, which
// is locked, so that one program at a time has them.
type seats struct {
	name string // of the file; none if nothing is kept
	list []seat
}

const (
	mostSeats = 8
	// seatLife is after which a seat is of no use: no relay keeps one for so long, but a match may
	// last.
	seatLife     = 7 * 24 * time.Hour
	mostSeatFile = 64 << 10
	seatsVersion = 1
)

// seatsFile is the file's form.
type seatsFile struct {
	Version int    `json:"version"`
	Seats   []seat `json:"seats"`
}

// seats reads those of an identity. What makes no sense is none.
func (id *identity) seats(now time.Time) *seats {
	s := &seats{}
	if id.file == nil {
		return s
	}
	s.name = id.file.Name() + ".seats"
	f, err := os.Open(s.name)
	if err != nil {
		return s
	}
	defer f.Close()
	var file seatsFile
	b, err := io.ReadAll(io.LimitReader(f, mostSeatFile))
	if err != nil || json.Unmarshal(b, &file) != nil || file.Version != seatsVersion {
		return s
	}
	for _, x := range file.Seats {
		if age := now.Sub(x.Since); age > -seatLife && age < seatLife && len(s.list) < mostSeats {
			s.list = append(s.list, x)
		}
	}
	return s
}

// secret is by what this program returns to a match, or zero.
func (s *seats) secret(relayAt string, code relay.Code) (secret [relay.SecretSize]byte) {
	for _, x := range s.list {
		b, err := hex.DecodeString(x.Secret)
		c, wrong := parseShortCode(x.Code)
		if err == nil && wrong == nil && x.Relay == relayAt && c.code == code &&
			len(b) == len(secret) {
			copy(secret[:], b)
		}
	}
	return secret
}

// has says whether this program was in a match, and has not left it.
func (s *seats) has(relayAt, code string) bool {
	return slices.ContainsFunc(s.list, func(x seat) bool {
		return x.Relay == relayAt && x.Code == code
	})
}

// left is the seat of a game at a relay that was left last without a word, not long ago, or nil.
func (s *seats) left(relayAt, game string, now time.Time) *seat {
	for i := len(s.list) - 1; i >= 0; i-- {
		x := &s.list[i]
		if x.Relay == relayAt && x.Game == game && now.Sub(x.Since) < 24*time.Hour {
			return x
		}
	}
	return nil
}

// keep adds a seat, in place of what was known of the same match.
func (s *seats) keep(x seat) error {
	s.forget(x.Relay, x.Code)
	if s.list = append(s.list, x); len(s.list) > mostSeats {
		s.list = s.list[len(s.list)-mostSeats:]
	}
	return s.write()
}

// drop forgets a seat, since it is of no use any more.
func (s *seats) drop(relayAt, code string) {
	if s.forget(relayAt, code) {
		_ = s.write() // one of no use does no harm
	}
}

func (s *seats) forget(relayAt, code string) bool {
	had := len(s.list)
	s.list = slices.DeleteFunc(s.list, func(x seat) bool {
		return x.Relay == relayAt && x.Code == code
	})
	return len(s.list) < had
}

// write writes the file at once or not at all, for its owner only, and removes it if there is
// nothing to keep.
func (s *seats) write() (err error) {
	if s.name == "" {
		return nil
	}
	if len(s.list) == 0 {
		if err := os.Remove(s.name); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	b, err := json.Marshal(seatsFile{seatsVersion, s.list})
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(s.name), filepath.Base(s.name)+".*") // its owner's only
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\n", b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), s.name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
