package peer

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/relays"
	"github.com/coeval-dev/coeval/topology/peers"
)

// TestRelayRefuses: who is given a code that leads nowhere for them is told why, in words.
func TestRelayRefuses(t *testing.T) {
	t.Parallel() // it mostly waits
	at, err := relays.New(relays.Options{Listen: "127.0.0.1:0", Open: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() {
		_ = at.Run(ctx)
		_ = at.Close()
	})
	dir := t.TempDir()
	options := func(title *game.Title, name string) Options {
		return Options{Title: title, Headless: true, JSON: true, Relay: at.HTTP(),
			Listen: "127.0.0.1:0", Identity: filepath.Join(dir, name), Name: name,
			Style: peers.Rollback(), Lines: io.Discard, Desyncs: "none",
			Fill: func(text string) string { return text }}
	}
	ann := options(pong.Title, "ann")
	ann.Match = &peers.Match{Seats: 1, Start: 1}
	if ann.Level, err = cli.FillLevel(pong.Title, game.Level{}); err != nil {
		t.Fatal(err)
	}
	ann.Match.Level, ann.Match.Seed = ann.Level.Name, ann.Level.Seed
	read, write := io.Pipe()
	ann.Lines = write
	var left sync.WaitGroup
	defer left.Wait()
	playing, leave := context.WithCancel(ctx)
	defer leave()
	left.Go(func() {
		if err := Play(playing, ann); err != nil {
			t.Error(err)
		}
		_ = write.Close()
	})
	lines := bufio.NewScanner(read)
	var said line
	for lines.Scan() && said.Event != "invitation" {
		if err := json.Unmarshal(lines.Bytes(), &said); err != nil {
			t.Fatal(err)
		}
	}
	left.Go(func() { _, _ = io.Copy(io.Discard, read) })
	if said.Mode != "rows" || said.Relay != at.HTTP() {
		t.Errorf("%+v", said)
	}
	wrong := "2222-2222" + said.Invitation[len("2222-2222"):]
	refused := func(want string, title *game.Title, code string, change func(*Options)) {
		t.Helper()
		o := options(title, "bob")
		o.Invitation = code
		if change != nil {
			change(&o)
		}
		if err := Play(ctx, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	refused("let you in: there is no match with this code", pong.Title, wrong, nil)
	refused("let you in: the match plays \"pong", arena.Title, said.Invitation, nil)
	refused("let you in: all 1 seats", pong.Title, said.Invitation, nil)
	refused("no server answers", pong.Title, said.Invitation,
		func(o *Options) { o.Relay = "127.0.0.1:1" })
}
