package server_test

import (
	"crypto/rand"
	"errors"
	"testing"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// TestReplaced: another server takes the place of one, at the same address and with its key.
// Players come back by themselves, at once, as who they were, and the first computes nothing any
// more.
func TestReplaced(t *testing.T) {
	key, err := token.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := newCourt(t, nil, key)
	c.join(7, "ada")
	c.join(9, "grace")
	before, _ := c.play(120)
	saved, err := c.server.Save()
	if err != nil || before[7] == world.Nobody || before[9] == world.Nobody {
		t.Fatal(before, err)
	}
	old := c.server
	old.Replaced("")
	for range 3 {
		if err := errors.Join(old.Tick(c.now), old.Receive(c.now)); !errors.Is(err,
			server.ErrReplaced) {
			t.Fatal(err)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := c.hub.Open(c.at)
	if err != nil {
		t.Fatal(err)
	}
	if c.server, err = server.New(server.Options{Title: pong.Title, Links: []link.Link{l},
		Resume: saved, Keys: []token.Key{key}}); err != nil {
		t.Fatal(err)
	}
	// A second: a connection that is lost is noticed after ten.
	after, y := c.play(60)
	for _, id := range []uint64{7, 9} {
		if after[id] != before[id] || y[id] == 0 {
			t.Errorf("%d was player %d and is %d, at %v", id, before[id], after[id], y[id])
		}
	}
	if st := c.server.Stats(); st.Joined != 0 || st.Returned != 2 {
		t.Errorf("%d came as new ones, and %d back", st.Joined, st.Returned)
	}
}
