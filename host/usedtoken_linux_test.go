package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
)

// TestUsedTokenAfterKill9: the process of a server, or of a mirror, is killed without a word and
// started again with the same folder. A token that has let somebody in before is refused, and one
// that has not is good; the ticket of the one who was in is good as well.
func TestUsedTokenAfterKill9(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it starts processes")
	}
	t.Run("serve", func(t *testing.T) {
		t.Parallel()
		key := groupKeyFor(t)
		dir := filepath.Join(t.TempDir(), "kept")
		s, addr := serveKept(t, "127.0.0.1:0", dir, "--key", key)
		usedToken(t, key, addr, func() {
			if err := s.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = s.cmd.Wait() // it was killed
			s, _ = serveKept(t, addr, dir, "--key", key)
		})
		if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, s.log)
		}
	})
	t.Run("mirror", func(t *testing.T) {
		t.Parallel()
		c := &crew{t: t, key: groupKeyFor(t)}
		m := c.mirror("", "127.0.0.1", "--game", "pong", "--flush", "tick", "--keep",
			filepath.Join(t.TempDir(), "kept"))
		usedToken(t, c.key, m.http, func() {
			m.end(syscall.SIGKILL)
			m.start()
		})
		log := m.log
		if code := m.end(os.Interrupt); code != 0 {
			t.Errorf("exit code %d\n%s", code, log)
		}
	})
}

// usedToken has somebody in by a token, has the program be killed and started again, and tries that
// token, another one, and the ticket.
func usedToken(t *testing.T, key, addr string, again func()) {
	t.Helper()
	issue := func(client string) string {
		code, out, errs := try("token", "issue", "--key", key, "--game", "pong", "--client",
			client, "--for", "1h")
		if code != 0 {
			t.Fatal(errs)
		}
		return strings.TrimSpace(out)
	}
	first, second := issue("42"), issue("43")
	ticket := filepath.Join(t.TempDir(), "ticket")
	leave := enter(t, addr, first, ticket)
	hosttest.WaitUntil(t, "the ticket", func() bool {
		_, err := os.Stat(ticket)
		return err == nil
	})
	again()
	leave()
	_, err := Join(t.Context(), pong.Title, JoinOptions{Servers: []string{addr}, Token: first,
		Bot: new(seer).bot, For: time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "token already used") {
		t.Errorf("the token that was used before: %v", err)
	}
	enter(t, addr, second, "")()
	enter(t, addr, first, ticket)() // which the token would not do any more
}

// enter has somebody play, and gives what ends that.
func enter(t *testing.T, addr, token, ticket string) func() {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	var sees seer
	go func() {
		_, err := Join(ctx, pong.Title, JoinOptions{Servers: []string{addr}, Token: token,
			Ticket: ticket, Bot: sees.bot})
		over <- err
	}()
	for sees.body.Load() == 0 {
		select {
		case err := <-over:
			t.Fatalf("not let in: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return func() {
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
	}
}
