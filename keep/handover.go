package keep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// This file is how a folder says that its game is, or may be, another group's: so that nobody comes
// back with it who has given it away, and nobody founds it who was not given it.

// A Handover is what a folder says of a game that goes from one group of mirrors to another.
type Handover struct {
	// Ceded says that this folder's group has given its game away, to one that players reach at
	// Where. Otherwise the folder is that of the group that wants the game, and it is not known
	// here that it was given it; Where is where the other group is asked.
	Ceded bool     `json:"ceded"`
	Where []string `json:"where"`
	// Tick is the last that the group before has computed, and Epoch the number from which the
	// group after it counts its decrees.
	Tick  world.Tick `json:"tick"`
	Epoch uint32     `json:"epoch,omitempty"`
	// At is when it was written, for people.
	At time.Time `json:"at"`
}

// ErrHandedOver says that a folder's game is another group's, or may be. Use errors.Is.
var ErrHandedOver = errors.New("its game is handed over")

const (
	handoverName = "handover"
	handoverHead = "coeval handover 1\n"
	mostHandover = 1 << 16
)

// HandOver writes it down. It is durable when there is no error, and may be called while another
// goroutine has the folder.
func HandOver(d Disk, h *Handover) error {
	text, err := json.Marshal(h)
	if err == nil && len(text) > mostHandover/2 {
		err = errors.New("too many servers")
	}
	if err == nil {
		b := append([]byte(handoverHead), text...)
		err = Install(d, handoverName, fmt.Appendf(b, "\nsum %08x\n", sum(text)))
	}
	if err != nil {
		return fmt.Errorf("keep: %s: %w", handoverName, err)
	}
	return nil
}

// HandedOver is what HandOver wrote last, or nil.
func HandedOver(d Disk) (*Handover, error) {
	b, err := readAll(d, handoverName, mostHandover)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var h *Handover
	if err == nil {
		h, err = parseHandover(b)
	}
	if err != nil {
		return nil, fmt.Errorf("keep: %s: %w", handoverName, err)
	}
	return h, nil
}

func parseHandover(b []byte) (*Handover, error) {
	if !bytes.HasPrefix(b, []byte(handoverHead)) {
		if bytes.HasPrefix(b, []byte("coeval handover ")) {
			return nil, ErrNewer
		}
		return nil, ErrDamaged
	}
	text, _, _ := bytes.Cut(b[len(handoverHead):], []byte("\n"))
	h := new(Handover)
	if !bytes.Equal(b, fmt.Appendf(nil, "%s%s\nsum %08x\n", handoverHead, text, sum(text))) ||
		json.Unmarshal(text, h) != nil {
		return nil, ErrDamaged
	}
	return h, nil
}

// Keeps has the folder be one whose game is its group's: what HandOver wrote is gone for good when
// there is no error.
func Keeps(d Disk) error {
	if err := d.Remove(handoverName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep: %s: %w", handoverName, err)
	}
	return d.Sync()
}

// Discard removes a game that HandOver says is not known to be this folder's group's, after it has
// become known that it is not. A folder that says nothing of the kind is left as it is.
func Discard(d Disk) error {
	h, err := HandedOver(d)
	if err != nil || h == nil || h.Ceded {
		return err
	}
	names, err := d.List()
	if err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	// What says that the rest is not to be believed goes last, and the identity with it.
	slices.SortStableFunc(names, func(a, b string) int { return last(a) - last(b) })
	for _, name := range names {
		if Named(name) || name == groupName || name == usedName || name == handoverName {
			if err := d.Remove(name); err != nil {
				return fmt.Errorf("keep: %w", err)
			}
			if err := d.Sync(); err != nil {
				return fmt.Errorf("keep: %w", err)
			}
		}
	}
	return nil
}

func last(name string) int { return slices.Index([]string{handoverName, identityName}, name) }
