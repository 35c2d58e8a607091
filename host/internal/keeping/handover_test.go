//go:build !js

package keeping

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/keep"
)

// TestCeded: a folder whose game was given away is not opened, and says who has it; one that claims
// a game is opened by whoever knows of that alone.
func TestCeded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	o := Options{Dir: dir, Stay: func([]byte) (uint64, error) { return 1, nil }}
	k, err := Open(pong.Game, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Claim(keep.Handover{Where: []string{"https://eu:4900"}, Tick: 9}); err != nil {
		t.Fatal(err)
	}
	mark := token.Mark{Client: 5, Expires: time.Now().Unix() + 1000}
	k.Inherit([]token.Mark{mark}, 0, 0)
	if err := k.Close(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(pong.Game, o); !errors.Is(err, keep.ErrHandedOver) ||
		!strings.Contains(err.Error(), "https://eu:4900") {
		t.Fatal(err)
	}
	o.Claimed = true
	if k, err = Open(pong.Game, o); err != nil || k.Claimed() == nil || k.Claimed().Tick != 9 {
		t.Fatal(err)
	}
	if marks, _, _ := k.Used().Marks(); len(marks) != 1 || marks[0] != mark {
		t.Errorf("used: %v", marks)
	}
	if err := k.Own(); err != nil {
		t.Fatal(err)
	}

	// A disk that does not take the mark is tried again, and until then it is not durable.
	blocked := filepath.Join(dir, "handover.new")
	if err := os.Mkdir(blocked, 0o700); err != nil {
		t.Fatal(err)
	}
	to := []netip.AddrPort{netip.MustParseAddrPort("203.0.113.7:4000")}
	for k.Numbers().Errors == 0 {
		if k.Ceded(77, to) {
			t.Fatal("it is durable without a disk")
		}
		time.Sleep(time.Millisecond)
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	for !k.Ceded(77, to) {
		time.Sleep(time.Millisecond)
	}
	if err := k.Close(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(pong.Game, o); !errors.Is(err, keep.ErrHandedOver) ||
		!strings.Contains(err.Error(), "203.0.113.7:4000") ||
		!strings.Contains(err.Error(), "tick 77") {
		t.Error(err)
	}
}
