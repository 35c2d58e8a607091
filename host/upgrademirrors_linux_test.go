package host

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/admin"
)

// An oldGroup is mirrors that run, with operators and folders, and a player at one of them.
type oldGroup struct {
	*crew
	dir, token string
	admin      []string // where each answers operators
	entered    string   // the token that the player came by
	sees       seer
	body       uint64
	over       chan error
	stop       context.CancelFunc
}

// newOldGroup has pong be played on mirrors.
func newOldGroup(t *testing.T, mirrors int) *oldGroup {
	t.Helper()
	g := &oldGroup{crew: &crew{t: t, key: groupKeyFor(t)}, dir: t.TempDir(),
		over: make(chan error, 1)}
	people := filepath.Join(g.dir, "admin")
	g.token = newToken(t, people, "operate")
	for i := range mirrors {
		m := g.mirror("", "127.0.0.1", "--game", "pong", "--keep",
			g.folder(i), "--admin", "127.0.0.1:0", "--admin-dir", people, "--drain", "15s")
		line, _ := m.log.await("operators are answered", 0)
		g.admin = append(g.admin, "http://"+line["admin"].(string))
	}
	g.wait("the old mirrors", 0)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	g.stop = cancel
	t.Cleanup(cancel)
	base, err := entry.Base(g.mirrors[mirrors-1].http, "")
	if err != nil {
		t.Fatal(err)
	}
	admission, err := entry.Ask(ctx, base)
	if err != nil {
		t.Fatal(err)
	}
	g.entered = admission.Token
	go func() {
		_, err := Join(ctx, pong.Title, JoinOptions{Servers: []string{g.mirrors[mirrors-1].udp},
			Name: "ada", Token: g.entered, Bot: g.sees.bot})
		g.over <- err
	}()
	g.plays()
	g.body = g.sees.body.Load()
	return g
}

// folder is that of an old mirror.
func (g *oldGroup) folder(i int) string { return filepath.Join(g.dir, fmt.Sprint("old", i)) }

// plays waits until the player is shown its body, and the world going on.
func (g *oldGroup) plays() {
	g.t.Helper()
	g.sees.body.Store(0)
	for from := g.sees.tick.Load(); g.sees.body.Load() == 0 || g.sees.tick.Load() < from+30; {
		select {
		case err := <-g.over:
			g.t.Fatal(err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// A newMirror is a process of the new build.
type newMirror struct {
	cmd *exec.Cmd
	log *logLines
}

// upgrade starts a mirror that takes over the game, by asking at these addresses.
func (g *oldGroup) upgrade(listen string, ask ...string) *newMirror {
	g.t.Helper()
	cmd := g.process("", "mirror", "--listen", listen, "--mirrors", "127.0.0.1:0", "--game", "pong",
		"--key", g.key, "--keep", filepath.Join(g.dir, "new"), "--open", "--metrics-from", "all",
		"--upgrade", strings.Join(ask, ","), "--token-file", g.token, "--upgrade-within", "20s",
		"--json")
	pipe, err := cmd.StderrPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	return &newMirror{cmd, follow(pipe)}
}

// ends waits for the process, and expects an exit code.
func (m *newMirror) ends(t *testing.T, want int) {
	t.Helper()
	m.log.end()
	_ = m.cmd.Wait() // the code says it
	if got := m.cmd.ProcessState.ExitCode(); got != want {
		t.Fatalf("exit code %d, want %d\n%s", got, want, m.log)
	}
}

// A spy stands between a new mirror and one that runs. When the game is to be ceded it kills the
// new one: before that is passed on, or after it was done.
type spy struct {
	*httptest.Server
	victim atomic.Pointer[os.Process]
	after  bool
	once   sync.Once
	killed chan struct{}
}

func newSpy(t *testing.T, old string, after bool) *spy {
	t.Helper()
	at, err := url.Parse(old)
	if err != nil {
		t.Fatal(err)
	}
	s := &spy{after: after, killed: make(chan struct{})}
	proxy := httputil.NewSingleHostReverseProxy(at)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != admin.Path+"cede" {
			proxy.ServeHTTP(w, r)
			return
		}
		if after {
			proxy.ServeHTTP(httptest.NewRecorder(), r)
		}
		s.once.Do(func() {
			for s.victim.Load() == nil {
				time.Sleep(time.Millisecond)
			}
			_ = s.victim.Load().Kill()
			close(s.killed)
		})
	}))
	t.Cleanup(s.Close)
	return s
}

// anyPort is one that is free for UDP and TCP, most likely.
func anyPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// took waits until the new mirror has the game, and sees that it goes on with the world that the
// old ones had last; TestUpgradeMirrorsToAnotherVersion sees that no tick lacks.
func (g *oldGroup) took(m *newMirror) (tick float64, http string) {
	t := g.t
	t.Helper()
	serves, _ := m.log.await("serving", 0)
	went, _ := m.log.await("going on with the game of the mirrors before", 0)
	moved, _ := m.log.await("the world moves again", 0)
	if serves == nil || went == nil || moved == nil || went["seats"].(float64) != 1 ||
		moved["tick"].(float64) <= went["tick"].(float64) {
		t.Fatalf("%v, %v, %v\n%s", serves, went, moved, m.log)
	}
	t.Logf("the world stood still for %v, after tick %v with hash %v", moved["stood_still"],
		went["tick"], went["hash"])
	return went["tick"].(float64), serves["http"].(string)
}

// ended waits until the old mirrors have, in good order, and sees that their folders bring the game
// back nowhere.
func (g *oldGroup) ended(at string) {
	t := g.t
	t.Helper()
	for i, m := range g.mirrors {
		m.log.end()
		_ = m.cmd.Wait() // the code says it
		if code := m.cmd.ProcessState.ExitCode(); code != cli.ExitOK {
			t.Errorf("old mirror %d: exit code %d\n%s", i, code, m.log)
		}
		for _, how := range [][]string{{"--uber"}, {"--found-anew"}} {
			args := append([]string{"mirror", "--game", "pong", "--listen", "127.0.0.1:0",
				"--mirrors", "127.0.0.1:0", "--key", g.key, "--keep", g.folder(i)}, how...)
			if code, _, errs := tryMirror(t.Context(), args...); code != cli.ExitFailure ||
				!strings.Contains(errs, "players reach it at ["+at+"]") {
				t.Errorf("%v: exit code %d\n%s", how, code, errs)
			}
		}
	}
}

// TestUpgradeMirrors: a new build takes over the game of three mirrors while somebody plays, who
// goes on in the same body. Before that another game is refused, and the old ones play on.
func TestUpgradeMirrors(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it starts processes")
	}
	g := newOldGroup(t, 3)
	code, _, errs := tryMirror(t.Context(), "mirror", "--game", "crowd", "--key", g.key,
		"--upgrade", g.admin[0], "--token-file", g.token, "--upgrade-try")
	if code != cli.ExitFailure || !strings.Contains(errs, `"pong"`) {
		t.Errorf("another game: exit code %d\n%s", code, errs)
	}
	listen := anyPort(t)
	next := g.upgrade(listen, g.admin...)
	tick, at := g.took(next)
	g.plays()
	if got := g.sees.body.Load(); got != g.body || g.sees.tick.Load() <= uint64(tick) {
		t.Errorf("the body is %d and was %d, at tick %d", got, g.body, g.sees.tick.Load())
	}
	// The token by which the player came is as used as it was.
	if _, err := Join(t.Context(), pong.Title, JoinOptions{Servers: []string{listen},
		Token: g.entered, Name: "eve", Bot: new(seer).bot, For: time.Second}); err == nil ||
		!strings.Contains(err.Error(), "used") {
		t.Errorf("a token has let someone in once more: %v", err)
	}
	g.ended(listen)
	if _, text := get(t, "http://"+at+"/metrics"); !strings.Contains(text,
		"\ncoeval_upgrades_total 1\n") ||
		strings.Contains(text, "\ncoeval_upgrade_still_seconds 0\n") {
		t.Errorf("metrics:\n%s", text)
	}
	// Others join it as usual.
	line, _ := next.log.await("serving", 0)
	more := mirrorIn(t, "--game", "pong", "--key", g.key, "--join", line["address"].(string))
	g.plays()
	if code := more.stop(); code != cli.ExitOK {
		t.Errorf("exit code %d\n%s", code, more.log)
	}
	g.stop()
	if err := <-g.over; err != nil {
		t.Error(err)
	}
	if err := next.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	next.ends(t, cli.ExitOK)
	replayKept(t, filepath.Join(g.dir, "new"))
}

// TestUpgradeMirrorsKilled: a new one is killed when it has the last world and is about to be given
// the game: the old ones play on. The next is killed when the game is its own, and before it knows:
// it is started again and goes on, as the old ones do not.
func TestUpgradeMirrorsKilled(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it starts processes")
	}
	g := newOldGroup(t, 1)
	listen := anyPort(t)
	before := newSpy(t, g.admin[0], false)
	first := g.upgrade(listen, before.URL)
	before.victim.Store(first.cmd.Process)
	<-before.killed
	first.ends(t, -1)
	if code, _, errs := try("admin", "go-on", "--server", g.admin[0], "--token-file",
		g.token); code != cli.ExitOK {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	for _, m := range g.mirrors {
		if line, _ := m.log.await("goes on", 0); line == nil {
			t.Fatalf("an old mirror does not go on\n%s", m.log)
		}
	}
	g.plays()
	// Its folder is not to be gone on with, unless the old ones say so: the next one asks them.
	if code, _, errs := tryMirror(t.Context(), "mirror", "--game", "pong", "--listen",
		"127.0.0.1:0", "--mirrors", "127.0.0.1:0", "--key", g.key, "--uber", "--keep",
		filepath.Join(g.dir, "new")); code != cli.ExitFailure ||
		!strings.Contains(errs, "--upgrade again") {
		t.Errorf("exit code %d\n%s", code, errs)
	}

	after := newSpy(t, g.admin[0], true)
	second := g.upgrade(listen, after.URL)
	after.victim.Store(second.cmd.Process)
	<-after.killed
	second.ends(t, -1)
	next := g.upgrade(listen, g.admin...)
	if line, _ := next.log.await("this mirror was given the game before it was started anew",
		0); line == nil {
		t.Fatalf("it does not know\n%s", next.log)
	}
	if line, _ := next.log.await("serving", 0); line == nil {
		t.Fatalf("it does not serve\n%s", next.log)
	}
	g.plays()
	if got := g.sees.body.Load(); got != g.body {
		t.Errorf("the body is %d and was %d", got, g.body)
	}
	g.ended(listen)
	g.stop()
	if err := <-g.over; err != nil {
		t.Error(err)
	}
	if err := next.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	next.ends(t, cli.ExitOK)
}
