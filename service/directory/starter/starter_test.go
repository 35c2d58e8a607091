//go:build unix

package starter_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/starter"
)

func Example() {
	s := starter.New(starter.Options{Command: "test $LOBBY_GAME = tanks"})
	defer s.Close()
	over, _, err := s.Start(directory.StartRequest{Game: "tanks", Players: 4, Tag: "match-1"})
	fmt.Println(err, <-over)
	// Output: <nil> <nil>
}

// A page is what is logged, by several at once.
type page struct {
	mu sync.Mutex
	bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Buffer.Write(b)
}

// TestStart: a command knows what it is for, what it prints is logged, so many run at once, one
// that fails says so, and all end when the starter does.
func TestStart(t *testing.T) {
	t.Setenv("COEVAL_LISTEN", "the directory's own")
	log := &page{}
	s := starter.New(starter.Options{Most: 2, URL: "http://d",
		Log: slog.New(slog.NewTextHandler(log, nil)),
		Command: `echo "<$LOBBY_GAME $LOBBY_PLAYERS $COEVAL_TAG $COEVAL_DIRECTORY` +
			`$COEVAL_LISTEN $LOBBY_PAGE $COEVAL_PAGE>"; $LOBBY_LEVEL`})
	over, _, err := s.Start(directory.StartRequest{Game: "tanks", Level: "exit 3", Players: 4,
		Tag: "match-1", Page: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-over; err == nil || !strings.Contains(err.Error(), "3") {
		t.Errorf("%v", err)
	}
	long := directory.StartRequest{Level: "sleep 3600"}
	one, stop, err := s.Start(long)
	if err != nil {
		t.Fatal(err)
	}
	two, _, err := s.Start(long)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Start(long); !errors.Is(err, directory.ErrBusy) {
		t.Errorf("a third: %v", err)
	}
	stop()
	if err := <-one; err == nil {
		t.Error("it was stopped, and ended well")
	}
	_ = s.Close() // it never fails
	if err := <-two; err == nil {
		t.Error("it was stopped, and ended well")
	}
	if _, _, err := s.Start(long); !errors.Is(err, directory.ErrBusy) {
		t.Errorf("after the end: %v", err)
	}
	if !strings.Contains(log.String(), "<tanks 4 match-1 http://d true true>") {
		t.Error(log.String())
	}
}
