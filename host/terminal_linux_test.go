package host

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/host/internal/join"
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
