package host

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/host/internal/peer"
	"github.com/coeval-dev/coeval/host/internal/relays"
)

// A peerProcess is a program that plays with others, with what it has printed.
type peerProcess struct {
	t    *testing.T
	cmd  *exec.Cmd
	said *logLines
}

// startPeer starts one. Its command is a program of this test, or of somebody else.
func startPeer(t *testing.T, command func(ctx context.Context, args ...string) *exec.Cmd,
	args ...string) *peerProcess {
	t.Helper()
	p := &peerProcess{t: t, cmd: command(t.Context(), append([]string{"peer"}, args...)...)}
	p.cmd.WaitDelay = 10 * time.Second
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.said = follow(out)
	return p
}

// until waits for something, as long as the program runs.
func (p *peerProcess) until(what string, so func() bool) {
	p.t.Helper()
	hosttest.WaitUntil(p.t, what, func() bool {
		p.said.mu.Lock()
		ended := p.said.ended
		p.said.mu.Unlock()
		if so() {
			return true
		}
		if ended {
			p.t.Fatalf("it has ended before: %s\n%s", what, p.said)
		}
		return false
	})
}

// each gives what it has said of a kind so far.
func (p *peerProcess) each(event string, use func(line map[string]any)) {
	p.said.mu.Lock()
	defer p.said.mu.Unlock()
	for _, l := range p.said.lines {
		if inner, ok := l[event].(map[string]any); ok && l["event"] == event {
			use(inner)
		}
	}
}

// invitation waits for the line by which others join.
func (p *peerProcess) invitation() (text string) {
	p.t.Helper()
	p.until("there is an invitation", func() bool {
		p.said.mu.Lock()
		defer p.said.mu.Unlock()
		for _, l := range p.said.lines {
			if l["event"] == "invitation" {
				text, _ = l["invitation"].(string)
			}
		}
		return text != ""
	})
	return text
}

// marks are the hashes of the settled worlds, by tick.
func (p *peerProcess) marks() map[float64]string {
	all := map[float64]string{}
	p.each("mark", func(l map[string]any) {
		all[l["tick"].(float64)], _ = l["hash"].(string)
	})
	return all
}

// player waits until it plays, and says whom.
func (p *peerProcess) player() (player float64) {
	p.t.Helper()
	p.until("it plays", func() bool {
		p.each("news", func(l map[string]any) {
			if l["kind"] == "entered" {
				player, _ = l["player"].(float64)
			}
		})
		return player != 0
	})
	return player
}

// settles waits for as many settled worlds more.
func (p *peerProcess) settles(more int) {
	p.t.Helper()
	had := len(p.marks())
	p.until("worlds are settled", func() bool { return len(p.marks()) >= had+more })
}

// leave has it leave in good order.
func (p *peerProcess) leave() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		p.t.Fatal(err)
	}
	p.said.end()
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("%v\n%s", err, p.said)
	}
}

// sameMarks says that all have settled the same worlds, as far as they have the same ticks.
func sameMarks(t *testing.T, least int, list ...*peerProcess) {
	t.Helper()
	first := list[0].marks()
	for _, p := range list[1:] {
		same := 0
		for tick, hash := range p.marks() {
			if other, ok := first[tick]; ok && other != hash {
				t.Errorf("tick %v is %s here and %s there", tick, hash, other)
			} else if ok {
				same++
			}
		}
		if same < least {
			t.Errorf("%d worlds were compared, want %d\n%s", same, least, p.said)
		}
	}
}

// TestPeerProcesses: three programs play one match by an invitation, and a fourth watches. One is
// killed without a word, and comes back to the same body, though its invitation has expired
// meanwhile. All settle the same worlds.
func TestPeerProcesses(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("it runs programs in real time, and interrupts them")
	}
	dir := t.TempDir()
	command := func(ctx context.Context, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0], args...)
		cmd.Env = append(os.Environ(), asMirror+"=1", "XDG_CACHE_HOME="+dir)
		return cmd
	}
	common := []string{"--listen", "127.0.0.1:0", "--json"}
	ann := startPeer(t, command, append([]string{"host", "pong", "--start", "3", "--name", "ann",
		"--patience", "1s"}, common...)...)
	code := ann.invitation()
	join := func(args ...string) *peerProcess {
		return startPeer(t, command, append(append([]string{"join", code}, common...), args...)...)
	}
	me := []string{"--name", "bob", "--identity", filepath.Join(dir, "bob")}
	bob, cleo := join(me...), join("--name", "cleo", "--style", "lockstep")
	was := bob.player()
	watcher := join("--watch")
	cleo.settles(2)
	if err := bob.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	bob.said.end()
	_ = bob.cmd.Wait()
	ann.settles(1)
	old, err := peer.ParseInvitation(code)
	if err != nil {
		t.Fatal(err)
	}
	old.Expires = time.Now().Add(-time.Hour)
	code = old.String() // which lets those in who were
	again := join(me...)
	if now := again.player(); now != was {
		t.Errorf("bob was player %v and is %v", was, now)
	}
	again.settles(2)
	watcher.settles(1)
	sameMarks(t, 1, ann, bob, cleo, again, watcher)
	var last map[string]any
	for _, p := range []*peerProcess{watcher, again, cleo, ann} {
		p.leave()
		p.said.mu.Lock()
		last = p.said.lines[len(p.said.lines)-1]
		p.said.mu.Unlock()
		if b, _ := json.Marshal(last); last["event"] != "end" ||
			!strings.Contains(string(b), `"differed":0`) {
			t.Errorf("it ends with %s", b)
		}
	}
}

// startRelay runs a relay until the test ends.
func startRelay(t *testing.T) *relays.Relay {
	t.Helper()
	at, err := relays.New(relays.Options{Listen: "127.0.0.1:0", Open: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var ran sync.WaitGroup
	ran.Go(func() { _ = at.Run(ctx) })
	t.Cleanup(func() {
		stop()
		ran.Wait()
		_ = at.Close()
	})
	return at
}

// TestPeerAtARelay has programs play through a relay, by the short code that one of them prints,
// and another watch. None of those who join says that it is no mesh: the relay does. One is killed
// without a word, and comes back to the same body; and so does the one who founded the match.
func TestPeerAtARelay(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("it runs programs in real time, and interrupts them")
	}
	at := startRelay(t)
	dir := t.TempDir()
	command := func(ctx context.Context, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0], args...)
		cmd.Env = append(os.Environ(), asMirror+"=1", "XDG_CACHE_HOME="+dir)
		return cmd
	}
	common := []string{"--listen", "127.0.0.1:0", "--json", "--relay", at.HTTP()}
	ann := startPeer(t, command, append([]string{"host", "pong", "--start", "2", "--name", "ann",
		"--identity", filepath.Join(dir, "ann")}, common...)...)
	code := ann.invitation()
	if len(code) != 19 {
		t.Errorf("the code is %q", code)
	}
	join := func(args ...string) *peerProcess {
		return startPeer(t, command,
			append(append([]string{"join", "pong", code}, common...), args...)...)
	}
	me := []string{"--name", "bob", "--identity", filepath.Join(dir, "bob")}
	bob := join(me...)
	bob.settles(1)
	watcher := join("--watch", "--behind", "1s")
	was := bob.player()
	bob.settles(1)
	kill := func(p *peerProcess) {
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		p.said.end()
		_ = p.cmd.Wait()
	}
	kill(bob)
	ann.settles(1)
	again := join(me...)
	if now := again.player(); now != was {
		t.Errorf("bob was player %v and is %v", was, now)
	}
	again.settles(1)
	founder := ann.player()
	kill(ann)
	ann2 := join("--name", "ann", "--identity", filepath.Join(dir, "ann"))
	if now := ann2.player(); now != founder {
		t.Errorf("ann was player %v and is %v", founder, now)
	}
	ann2.settles(1)
	watcher.settles(1)
	sameMarks(t, 1, ann, bob, again)
	for _, p := range []*peerProcess{watcher, again, ann2} {
		p.leave()
	}
	sameMarks(t, 1, again, ann2)
	sameMarks(t, 1, again, watcher)
	for _, name := range []string{"ann", "bob"} { // who leaves has no seat to return to
		if _, err := os.Stat(filepath.Join(dir, name+".seats")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPeerMeshAtARelay has two programs meet at a relay and play without it.
func TestPeerMeshAtARelay(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("it runs programs in real time, and interrupts them")
	}
	at := startRelay(t)
	dir := t.TempDir()
	command := func(ctx context.Context, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0], args...)
		cmd.Env = append(os.Environ(), asMirror+"=1", "XDG_CACHE_HOME="+dir)
		return cmd
	}
	common := []string{"--listen", "127.0.0.1:0", "--json", "--relay", at.HTTP()}
	ann := startPeer(t, command, append([]string{"host", "pong", "--start", "2", "--mesh"},
		common...)...)
	bob := startPeer(t, command, append([]string{"join", "pong", ann.invitation()}, common...)...)
	bob.settles(2)
	sameMarks(t, 1, ann, bob)
	bob.leave()
	ann.leave()
}
