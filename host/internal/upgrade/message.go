//go:build !js

package upgrade

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/topology/server"
)

// Version is that of what is said. Frames stay as they are in every version, and so does what a
// Hello says of its version, and No.
const Version = 1

// A kind is that of a message.
type kind byte

const (
	kindHello kind = iota + 1
	kindTrial
	kindWorld
	kindReady
	kindFinal
	kindYours
	kindGoing
	kindNo
	kinds
)

var kindNames = [kinds]string{"nothing", "Hello", "Trial", "World", "Ready", "Final", "Yours",
	"Going", "No"}

func (k kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("message %d", byte(k))
}

// most is how long a message may be. A level may have 64 MiB of data, in base64.
var most = [kinds]int{kindHello: 64 << 10, kindTrial: 128 << 20, kindWorld: 256 << 20,
	kindFinal: 128 << 20, kindNo: 64 << 10}

// head is how many bytes come before each message: its kind and its length.
const head = 5

// Hello says who wants to take the place.
type Hello struct {
	Version int    `json:"version"`
	Game    string `json:"game"`
	// Declarations is the hash of what the game declares, in hexadecimal, and Build which program
	// it is, for people.
	Declarations string `json:"declarations"`
	Build        string `json:"build"`
	// Within is for how long the world may stand still.
	Within time.Duration `json:"within"`
}

// For how long the world may stand still: as it is unless somebody says otherwise, and bounds.
const (
	Within      = time.Second
	LeastWithin = 100 * time.Millisecond
	MostWithin  = 30 * time.Second
)

// A Moment is a game between two ticks, with all that another program needs to go on with it.
type Moment struct {
	Tick  uint64             `json:"tick"`
	Level game.Level         `json:"level"`
	Seats []server.SavedSeat `json:"seats"`
	// Paused says that the world stands still as somebody wanted it.
	Paused bool `json:"paused,omitempty"`
	// At is when it was.
	At time.Time `json:"at"`
	// Declared is what the game declares, as world.Declared writes it. Only a trial has it, and
	// what follows.
	Declared []byte `json:"declared,omitempty"`
	Build    string `json:"build,omitempty"`
	// Key is the hash of the key that tickets are sealed with.
	Key []byte `json:"key,omitempty"`
	// Upgrades is how often a program has taken the place of another so far.
	Upgrades uint64 `json:"upgrades,omitempty"`
	// Handed are the descriptors that come along after the baton's, in their order.
	Handed []Handed `json:"handed,omitempty"`

	World []byte `json:"-"` // comes in a message of its own
}

// Handed is a descriptor that is passed on.
type Handed struct {
	Role    Role   `json:"role"`
	Address string `json:"address,omitempty"`
	FD      int    `json:"-"`
}

// A Role is what a descriptor is for.
type Role string

// What is passed on.
const (
	Lock         Role = "lock" // of the folder
	Control      Role = "control"
	UDP          Role = "udp"
	HTTP         Role = "http"
	Admin        Role = "admin"
	WebTransport Role = "webtransport"
)

// Find is the descriptor of a role, or nil.
func (m *Moment) Find(r Role) *Handed {
	for i := range m.Handed {
		if m.Handed[i].Role == r {
			return &m.Handed[i]
		}
	}
	return nil
}

// Refusal is that the other has said No, and why.
type Refusal struct{ Why string }

func (r *Refusal) Error() string { return r.Why }

var errMessage = errors.New("not what an upgrade says")

// read reads a message. What it has is taken in as it comes, so that a wrong length costs nothing.
func read(in io.Reader) (kind, []byte, error) {
	var h [head]byte
	if _, err := io.ReadFull(in, h[:]); err != nil {
		return 0, nil, err
	}
	k, n := kind(h[0]), binary.LittleEndian.Uint32(h[1:])
	if k == 0 || k >= kinds || int64(n) > int64(most[k]) {
		return 0, nil, fmt.Errorf("%w: %v of %d bytes", errMessage, k, n)
	}
	var b bytes.Buffer
	if got, err := io.CopyN(&b, in, int64(n)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, fmt.Errorf("%v ends after %d of %d bytes: %w", k, got, n, err)
	}
	return k, b.Bytes(), nil
}

// frame writes a message.
func frame(k kind, payload []byte) ([]byte, error) {
	if len(payload) > most[k] {
		return nil, fmt.Errorf("%v has %d bytes, and %d are the most", k, len(payload), most[k])
	}
	b := make([]byte, head, head+len(payload))
	b[0] = byte(k)
	binary.LittleEndian.PutUint32(b[1:], uint32(len(payload)))
	return append(b, payload...), nil
}

// parseHello reads a Hello. Of one of another version only that is known.
func parseHello(b []byte) (*Hello, error) {
	h := new(Hello)
	if err := json.Unmarshal(b, h); err != nil {
		return nil, fmt.Errorf("%w: Hello: %w", errMessage, err)
	}
	if h.Version != Version {
		return nil, fmt.Errorf("the program that runs upgrades by version %d and the new one by "+
			"version %d: stop the one and start the other", Version, h.Version)
	}
	if h.Within == 0 {
		h.Within = Within
	}
	h.Within = min(max(h.Within, LeastWithin), MostWithin)
	return h, nil
}

// mostHanded is how many descriptors may come along, the baton's included.
const mostHanded = 16

// parseMoment reads a Trial or a Final.
func parseMoment(b []byte) (*Moment, error) {
	m := new(Moment)
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%w: %w", errMessage, err)
	}
	if len(m.Handed) >= mostHanded {
		return nil, fmt.Errorf("%w: %d descriptors", errMessage, len(m.Handed))
	}
	return m, nil
}
