package host

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/games/pong"
)

// TestUpgrade: a second process takes the place of a server while somebody plays. The player keeps
// its body, the new one goes on at the tick at which the old one stopped, and the old one ends in
// good order. Before that, a program of another game is refused, and the old one plays on.
func TestUpgrade(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it starts processes")
	}
	dir := filepath.Join(t.TempDir(), "kept")
	old, addr := serveKept(t, "127.0.0.1:0", dir)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var sees seer
	over := make(chan error, 1)
	go func() {
		_, err := Join(ctx, pong.Title, JoinOptions{Servers: []string{addr}, Name: "ada",
			Bot: sees.bot})
		over <- err
	}()
	for sees.body.Load() == 0 || sees.tick.Load() < 60 {
		time.Sleep(5 * time.Millisecond)
	}
	was := sees.body.Load()
	begin := func(game string) *keptServer {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "serve", game, "--listen", addr,
			"--keep", dir, "--upgrade", "--upgrade-within", "20s", "--log", "json")
		cmd.Env = append(os.Environ(), asMirror+"=1")
		cmd.WaitDelay = 10 * time.Second
		pipe, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return &keptServer{cmd, follow(pipe)}
	}
	other := begin("crowd")
	other.log.end()
	if err := other.cmd.Wait(); err == nil {
		t.Errorf("a server of another game has taken the place:\n%s", other.log)
	}
	next := begin("pong")
	went, _ := next.log.await("going on with the game of the server before", 0)
	moved, _ := next.log.await("the world moves again", 0)
	if went == nil || moved == nil || went["seats"].(float64) != 1 ||
		moved["tick"].(float64) != went["tick"].(float64)+1 {
		t.Fatalf("%v, %v\n%s", went, moved, next.log)
	}
	t.Log("the world stood still for", moved["stood_still"])
	old.log.end()
	if err := old.cmd.Wait(); err != nil {
		t.Errorf("the old one: %v\n%s", err, old.log)
	}
	if line, _ := next.log.await("returned", 0); line == nil {
		t.Fatalf("the player has not come back\n%s", next.log)
	}
	sees.body.Store(0)
	for from := sees.tick.Load(); sees.body.Load() == 0 || sees.tick.Load() < from+30; {
		select {
		case err := <-over:
			t.Fatal(err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	if got := sees.body.Load(); got != was {
		t.Errorf("the body is %d and was %d", got, was)
	}
	cancel()
	if err := <-over; err != nil {
		t.Error(err)
	}
	if err := next.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	next.log.end()
	if err := next.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, next.log)
	}
	replayKept(t, dir)
}
