package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/internal/mirrors"
	"github.com/coeval-dev/coeval/world"
)

// A seer is a bot that notes which body is its own, and at which tick.
type seer struct{ body, tick atomic.Uint64 }

func (s *seer) bot(t *game.Title) game.Bot {
	inner := t.NewBot(1)
	return func(w *world.World, me world.Player, at world.Tick, in *world.Inputs) error {
		if w != nil {
			for e := range world.All[pong.Paddle](w) {
				if w.Owner(e) == me && me != world.Nobody {
					s.body.Store(uint64(e))
				}
			}
			s.tick.Store(uint64(w.Tick()))
		}
		return inner(w, me, at, in)
	}
}

// TestMirrorsKill9: the processes of all three mirrors are killed at once, and started again. It is
// the same game, at a tick that was safe or later, and a player who was there all the time is back
// in the same body.
func TestMirrorsKill9(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it waits until connections are given up")
	}
	c := &crew{t: t, key: groupKeyFor(t)}
	dir := t.TempDir()
	for i := range 3 {
		c.mirror("", "127.0.0.1", "--game", "pong", "--flush", "tick", "--keep",
			filepath.Join(dir, fmt.Sprint(i)))
	}
	c.wait("three mirrors", 0)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var sees seer
	over := make(chan error, 1)
	go func() {
		_, err := Join(ctx, pong.Title, JoinOptions{
			Servers: []string{c.mirrors[1].http}, Name: "ada", Bot: sees.bot})
		over <- err
	}()
	for sees.body.Load() == 0 || keptSafe(t, c.mirrors[1].http) < 60 ||
		sees.tick.Load() < 150 {
		time.Sleep(5 * time.Millisecond)
	}
	c.acquainted()
	was, safe := sees.body.Load(), keptSafe(t, c.mirrors[1].http)
	for _, m := range c.mirrors {
		m.end(syscall.SIGKILL)
	}
	sees.body.Store(0)
	for _, m := range c.mirrors {
		m.launch()
	}
	for _, m := range c.mirrors {
		m.serves()
	}
	c.wait("three mirrors again, and the player", 1)
	c.begun(safe)
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
	for i, m := range c.mirrors {
		if code := m.end(os.Interrupt); code != 0 {
			t.Errorf("mirror %d: exit code %d\n%s", i+1, code, m.log)
		}
		list, _ := filepath.Glob(filepath.Join(dir, fmt.Sprint(i), "*.trace"))
		for _, name := range list {
			if code, out, errs := try("trace", "replay", name); code != 0 ||
				!strings.Contains(out, "all agree") {
				t.Errorf("%s: exit code %d: %s%s", name, code, out, errs)
			}
		}
		if i > 0 && len(list) > 0 {
			before, _ := filepath.Glob(filepath.Join(dir, fmt.Sprint(i-1), "*.trace"))
			if code, out, errs := try("desync", before[0], list[0]); code != 0 ||
				!strings.Contains(out, "are the same") {
				t.Errorf("desync of two mirrors: exit code %d: %s%s", code, out, errs)
			}
		}
		if len(list) == 0 {
			t.Errorf("mirror %d kept nothing", i+1)
		}
	}
}

// TestMirrorStandsStill: two of three mirrors are killed, and one of those never comes back. The
// one that lived goes on with the other, and its player with both.
func TestMirrorStandsStill(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it waits until it is known who lacks")
	}
	c := &crew{t: t, key: groupKeyFor(t)}
	dir := t.TempDir()
	for i := range 3 {
		c.mirror("", "127.0.0.1", "--game", "pong", "--flush", "tick", "--keep",
			filepath.Join(dir, fmt.Sprint(i)))
	}
	lives := c.mirrors[2]
	c.join("", lives, 1)
	c.wait("three mirrors, a bot", 1)
	c.acquainted()
	for keptSafe(t, lives.http) < 60 {
		time.Sleep(5 * time.Millisecond)
	}
	safe := keptSafe(t, lives.http)
	c.mirrors[0].end(syscall.SIGKILL)
	c.mirrors[1].end(syscall.SIGKILL)
	c.mirrors[1].launch()
	c.mirrors[1].serves()
	c.wait("two mirrors, and the bot", 1)
	c.begun(safe)
	c.finish(1)
}

// begun sees that one mirror has begun the game again, at a tick that was safe or later.
func (c *crew) begun(safe float64) {
	c.t.Helper()
	count := 0
	for _, m := range c.mirrors {
		m.log.mu.Lock()
		for _, line := range m.log.lines {
			if line["msg"] != "begins the game again" {
				continue
			}
			if count++; line["tick"].(float64) < safe {
				c.t.Errorf("it goes on at tick %v, and %v was safe", line["tick"], safe)
			}
		}
		m.log.mu.Unlock()
	}
	if count != 1 {
		c.t.Errorf("%d mirrors have begun the game again", count)
	}
}

// TestWitnessKill9: two mirrors are killed at once, with their witness or without it, and one never
// comes back. The other and the witness, which remembers what it voted for, are enough to go on.
func TestWitnessKill9(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits until it is known who lacks")
	}
	for name, dies := range map[string]bool{"it dies too": true, "it stands still": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it mostly waits
			witnessRemembers(t, dies)
		})
	}
}

func witnessRemembers(t *testing.T, dies bool) {
	c := &crew{t: t, key: groupKeyFor(t)}
	dir := t.TempDir()
	for i := range 2 {
		c.mirror("", "127.0.0.1", "--game", "pong", "--flush", "tick", "--keep",
			filepath.Join(dir, fmt.Sprint(i)))
	}
	votes := []string{"--game", "pong", "--keep", filepath.Join(dir, "votes")}
	w, log, at := c.witness("127.0.0.1:0", votes...)
	c.wait("two mirrors", 0)
	c.acquainted()
	lost, back := c.mirrors[0], c.mirrors[1]
	for keptSafe(t, back.http) < 60 {
		time.Sleep(5 * time.Millisecond)
	}
	safe := keptSafe(t, back.http)
	if dies {
		if err := w.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = w.Wait() // it was killed
	}
	lost.end(syscall.SIGKILL)
	back.end(syscall.SIGKILL)
	back.launch()
	if dies {
		w, log, _ = c.witness(at, votes...)
	}
	back.serves()
	c.begun(safe)
	if err := w.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := w.Wait(); err != nil {
		t.Errorf("the witness: %v\n%s", err, log)
	}
	if code := back.end(os.Interrupt); code != 0 {
		t.Errorf("exit code %d\n%s", code, back.log)
	}
}

// keptSafe is the tick that a mirror says all disks have.
func keptSafe(t *testing.T, addr string) (tick float64) {
	t.Helper()
	_, text := get(t, "http://"+addr+"/metrics")
	for line := range strings.Lines(text) {
		if _, err := fmt.Sscanf(line, "coeval_keep_safe_tick %g", &tick); err == nil {
			return tick
		}
	}
	t.Fatalf("no metric of what is safe:\n%s", text)
	return 0
}

// TestMirrorsChangeLevel: one command has all mirrors begin another level, and answers when all
// disks have it; bots play on in it. Then all processes are killed at once, and it is that level in
// which the game goes on.
func TestMirrorsChangeLevel(t *testing.T) {
	t.Parallel() // it mostly waits
	dir := t.TempDir()
	ada := newToken(t, filepath.Join(dir, "admin"), "operate")
	c := &crew{t: t, key: groupKeyFor(t)}
	for i := range 3 {
		c.mirror("", "127.0.0.1", "--game", "arena", "--flush", "tick", "--keep",
			filepath.Join(dir, fmt.Sprint(i)), "--admin", "127.0.0.1:0", "--admin-dir",
			filepath.Join(dir, "admin"))
	}
	c.wait("three mirrors", 0)
	c.join("", c.mirrors[1], 2)
	c.join("", c.mirrors[2], 1)
	c.wait("bots play", 3)
	var at []string
	for _, m := range c.mirrors {
		answered, _ := m.log.await("operators are answered", 0)
		at = append(at, "http://"+answered["admin"].(string))
	}
	access := []string{"--server", at[1] + "," + at[2], "--token-file", ada, "--json"}
	code, out, errs := hill(append([]string{"admin", "level", "foundry"}, access...)...)
	if code != 0 || !strings.Contains(out, `"foundry"`) || !strings.Contains(out, `"kept":true`) {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	in := func(all []mirrors.Status, players int) bool {
		for _, st := range all {
			if st.Level != "foundry" || st.Phase != "serving" || len(st.Mirrors) != 3 {
				return false
			}
			players -= st.Players
		}
		return players == 0
	}
	c.until("all are there", func(all []mirrors.Status) bool { return in(all, 3) })
	if code, _, errs := hill(append([]string{"admin", "level", "atlantis"},
		access...)...); code == 0 || !strings.Contains(errs, "foundry") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	c.acquainted()
	for _, m := range c.mirrors {
		m.end(syscall.SIGKILL)
	}
	for _, m := range c.mirrors {
		m.launch()
	}
	for _, m := range c.mirrors {
		m.serves()
	}
	c.until("all are there again", func(all []mirrors.Status) bool { return in(all, 3) })
	c.acquainted()
	for _, b := range c.bots {
		_ = b.cmd.Process.Signal(os.Interrupt)
		_ = b.cmd.Wait()
	}
	c.bots = nil
	c.finish(0)
	for i := range 3 {
		if code, out, errs := try("keep", "check", filepath.Join(dir, fmt.Sprint(i))); code != 0 {
			t.Errorf("mirror %d: exit code %d: %s%s", i+1, code, out, errs)
		}
	}
}
