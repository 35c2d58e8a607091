package host

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/host/internal/join"
	"github.com/coeval-dev/coeval/host/internal/peer"
	"github.com/coeval-dev/coeval/host/internal/terminal"
)

// TestJoinInATerminal plays as a person would: joins, moves, asks for a pause, leaves.
func TestJoinInATerminal(t *testing.T) {
	t.Parallel() // it mostly waits
	s := serveIn(t, "pong", "--pause")
	p := newPty(t)
	before := p.mode(t)
	cmd := join.Command(&bundled.Program)
	cmd.SetArgs([]string{s.HTTP, "--name", "ada"})
	cmd.SetIn(p.program)
	cmd.SetOut(p.program)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(context.Background()) }()
	p.wait("ada, player 1")
	fmt.Fprint(p.person, "w")
	p.wait("round trip")
	fmt.Fprint(p.person, "p")
	p.wait("paused by ada")
	p.wait("[ paused ]") // on the game itself
	fmt.Fprint(p.person, "p")
	p.wait("it goes on")
	fmt.Fprint(p.person, "q")
	if err := <-done; err != nil {
		t.Error(err)
	}
	p.written(terminal.LeaveScreen)
	if p.mode(t) != before {
		t.Error("the terminal is not as it was")
	}
}

// TestJoinTheArenaInATerminal is shown the arena from where its own fighter is, though others came
// before.
func TestJoinTheArenaInATerminal(t *testing.T) {
	t.Parallel() // it mostly waits
	s := serveIn(t, "arena")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := make(chan int, 1)
	go func() {
		first <- run(ctx,
			[]string{"join", s.HTTP, "--headless", "--seconds", "600", "--name", "bob"}, io.Discard,
			io.Discard, commands())
	}()
	hosttest.WaitUntil(t, "bob plays", func() bool {
		return slices.ContainsFunc(s.lines(),
			func(line map[string]any) bool { return line["name"] == "bob" })
	})
	p := newPty(t)
	cmd := join.Command(&bundled.Program)
	cmd.SetArgs([]string{s.HTTP, "--name", "ada"})
	cmd.SetIn(p.program)
	cmd.SetOut(p.program)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(context.Background()) }()
	p.wait("ada, player 2")
	p.wait("health")
	fmt.Fprint(p.person, "q")
	if err := <-done; err != nil {
		t.Error(err)
	}
	cancel()
	<-first
}

// TestPeerInATerminal plays as a person would: founds a match, is joined, moves, switches to lock
// step and back, leaves. Through a relay it looks the same.
func TestPeerInATerminal(t *testing.T) {
	t.Run("mesh", func(t *testing.T) {
		t.Parallel() // it mostly waits
		peerInATerminal(t, `coeval-peer-1:\S+`)
	})
	t.Run("relay", func(t *testing.T) {
		t.Parallel()
		peerInATerminal(t, `(\w{4}-){3}\w{4}`, "--relay", startRelay(t).HTTP())
	})
}

func peerInATerminal(t *testing.T, invitation string, more ...string) {
	p := newPty(t)
	before := p.mode(t)
	dir := t.TempDir()
	cmd := peer.Command(&bundled.Program)
	cmd.SetArgs(append([]string{"host", "pong", "--start", "1", "--name", "ada",
		"--listen", "127.0.0.1:0", "--identity", filepath.Join(dir, "ada")}, more...))
	cmd.SetIn(p.program)
	cmd.SetOut(p.program)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(context.Background()) }()
	p.written("press Enter")
	p.mu.Lock()
	code := regexp.MustCompile(invitation).FindString(p.shown.String())
	p.mu.Unlock()
	fmt.Fprint(p.person, "\n")
	p.wait("player 1  rollback 8, delay 2")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	other := make(chan int, 1)
	go func() {
		args := append([]string{"peer", "join", "pong", code, "--listen", "127.0.0.1:0",
			"--headless", "--name", "bob", "--identity", filepath.Join(dir, "bob")}, more...)
		other <- run(ctx, args, io.Discard, io.Discard, commands())
	}()
	p.wait("bob")
	fmt.Fprint(p.person, "w")
	fmt.Fprint(p.person, "l")
	p.wait("lock step, delay")
	fmt.Fprint(p.person, "l")
	p.wait("rollback 8")
	fmt.Fprint(p.person, "q")
	if err := <-done; err != nil {
		t.Error(err)
	}
	p.written(terminal.LeaveScreen)
	if p.mode(t) != before {
		t.Error("the terminal is not as it was")
	}
	cancel()
	if c := <-other; c != 0 {
		t.Errorf("exit code %d", c)
	}
}
