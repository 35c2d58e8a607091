package host

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/world"
)

// A keptServer is a process that keeps its game.
type keptServer struct {
	cmd *exec.Cmd
	log *logLines
}

// serveKept starts the program with a folder, and gives it when it serves.
func serveKept(t *testing.T, listen, dir string, more ...string) (*keptServer, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"serve", "pong", "--listen",
		listen, "--keep", dir, "--flush", "tick", "--log", "json"}, more...)...)
	cmd.Env = append(os.Environ(), asMirror+"=1")
	cmd.WaitDelay = 10 * time.Second
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &keptServer{cmd, follow(pipe)}
	line, _ := s.log.await("serving", 0)
	if line == nil {
		t.Fatalf("it does not serve: %v\n%s", cmd.Wait(), s.log)
	}
	return s, line["http"].(string)
}

// TestKill9: the process of a server is killed without a word, and started again. The game goes on
// at the last tick that was flushed, and a player who was there all the time comes back to the same
// body by the ticket of the connection that was lost.
func TestKill9(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it takes as long as a connection takes to be given up")
	}
	dir := filepath.Join(t.TempDir(), "kept")
	s, addr := serveKept(t, "127.0.0.1:0", dir)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var body, tick atomic.Uint64 // what the player sees
	bot := func(t *game.Title) game.Bot {
		inner := t.NewBot(1)
		return func(w *world.World, me world.Player, at world.Tick, in *world.Inputs) error {
			if w != nil {
				for e := range world.All[pong.Paddle](w) {
					if w.Owner(e) == me && me != world.Nobody {
						body.Store(uint64(e))
					}
				}
				tick.Store(uint64(w.Tick()))
			}
			return inner(w, me, at, in)
		}
	}
	over := make(chan error, 1)
	go func() {
		j, err := Join(ctx, pong.Title, JoinOptions{Servers: []string{addr}, Name: "ada", Bot: bot})
		if err == nil && j.Player != 1 {
			err = fmt.Errorf("%+v", j)
		}
		over <- err
	}()
	joined, _ := s.log.await("joined", 0)
	for body.Load() == 0 || tick.Load() < 90 {
		time.Sleep(5 * time.Millisecond)
	}
	was := body.Swap(0)
	durable := keptTick(t, addr)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // it was killed
	again, _ := serveKept(t, addr, dir)
	went, _ := again.log.await("going on with the game that was kept", 0)
	if went == nil || went["tick"].(float64) < durable || went["seats"].(float64) != 1 {
		t.Fatalf("%v was durable: %v", durable, went)
	}
	returned, _ := again.log.await("returned", 0)
	if returned == nil || returned["client"] != joined["client"] ||
		returned["player"] != joined["player"] {
		t.Fatalf("%v, who was %v", returned, joined)
	}
	for from := tick.Load(); body.Load() == 0 || tick.Load() < from+30; {
		select {
		case err := <-over:
			t.Fatal(err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	if got := body.Load(); got != was {
		t.Errorf("the body is %d and was %d", got, was)
	}
	cancel()
	if err := <-over; err != nil {
		t.Error(err)
	}
	if err := again.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := again.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, again.log)
	}
	replayKept(t, dir)
}

// keptTick is the tick that a server says is durable.
func keptTick(t *testing.T, addr string) (tick float64) {
	t.Helper()
	_, text := get(t, "http://"+addr+"/metrics")
	for line := range strings.Lines(text) {
		if _, err := fmt.Sscanf(line, "coeval_keep_durable_tick %g", &tick); err == nil {
			return tick
		}
	}
	t.Fatalf("no metric of what is durable:\n%s", text)
	return 0
}

// replayKept has trace read all that is kept, as it reads any trace.
func replayKept(t *testing.T, dir string) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.trace"))
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, name := range append(list, dir) { // the folder stands for its newest
		if code, out, errs := try("trace", "replay", name); code != 0 ||
			!strings.Contains(out, "all agree") {
			t.Errorf("%s: exit code %d: %s%s", name, code, out, errs)
		}
		if code, out, errs := try("desync", name, name); code != 0 ||
			!strings.Contains(out, "are the same") {
			t.Errorf("desync %s: exit code %d: %s%s", name, code, out, errs)
		}
	}
}

// TestServeKeepBadly: what cannot be is said by the command, and nothing begins.
func TestServeKeepBadly(t *testing.T) {
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "letter.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		code int
		says string
		args []string
	}{
		{2, "--keep-seat", []string{"--keep", "1m"}},
		{2, "go with --keep", []string{"--flush", "tick"}},
		{2, "--flush is", []string{"--keep", t.TempDir(), "--flush", "often"}},
		{2, "--keep-every is", []string{"--keep", t.TempDir(), "--keep-every", "1ms"}},
		{1, "name a folder that is empty", []string{"--keep", other}},
	} {
		args := append([]string{"serve", "pong", "--listen", "127.0.0.1:0"}, x.args...)
		if code, _, stderr := try(args...); code != x.code || !strings.Contains(stderr, x.says) {
			t.Errorf("%v: exit code %d: %s", x.args, code, stderr)
		}
	}
}
