package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/world"
)

// serviceUser is who the units run as here: a user who owns nothing.
const serviceUser = 64123

// confine is what systemd does for a unit before the program starts, as far as tools can: nothing
// can be written but what is the unit's own, no privilege is left and none can be had.
const confine = `set -eu
mount --make-rprivate /
mount --bind "$STATE" "$STATE"
mount -o remount,bind,ro /
cd "$WORK"
exec setpriv --reuid "$SERVICE" --regid "$SERVICE" --clear-groups --no-new-privs \
	--bounding-set=-all --inh-caps=-all -- "$@"
`

// patience is when a test gives up on something that should have happened long ago.
const patience = 90 * time.Second

// A machine is where units run: a folder with /etc and /var/lib in it, and the program.
type machine struct {
	t       *testing.T
	root    string
	program string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	if os.Geteuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("only root can start a program as another user")
		}
		t.Skip("only root can start a program as another user")
	}
	need(t, "unshare", "util-linux")
	need(t, "setpriv", "util-linux")
	root, err := os.MkdirTemp("", "units") // another user gets to it, as to no folder of a test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	m := &machine{t, root, filepath.Join(root, "program")}
	m.must(os.Chmod(root, 0o711))
	m.must(os.MkdirAll(filepath.Join(root, "etc/coeval"), 0o755))
	from, err := os.Open(os.Args[0])
	m.must(err)
	defer from.Close()
	to, err := os.OpenFile(m.program, os.O_WRONLY|os.O_CREATE, 0o755)
	m.must(err)
	_, err = io.Copy(to, from)
	m.must(errors.Join(err, to.Close()))
	return m
}

func (m *machine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// A service is a unit that runs.
type service struct {
	m    *machine
	unit *unit
	cmd  *exec.Cmd
	log  chan map[string]any // its lines
	told chan string         // what it says to who started it
}

// start starts a unit as systemd does: its line, its user, its folders and its settings.
func (m *machine) start(file, instance string, settings ...string) *service {
	t := m.t
	t.Helper()
	u := readUnit(t, file, instance, m.root)
	for _, name := range u.values["EnvironmentFile"] {
		m.must(os.WriteFile(strings.TrimPrefix(name, "-"),
			[]byte(strings.Join(settings, "\n")+"\n"), 0o600))
	}
	s := &service{m: m, unit: u, log: make(chan map[string]any, 1000)}
	state := filepath.Join(m.root, "var/lib", u.one(t, "StateDirectory"))
	if err := os.MkdirAll(state, 0o755); err != nil { // those on the way to it as well
		t.Fatal(err)
	}
	m.must(os.Chmod(state, 0o700))
	m.must(os.Chown(state, serviceUser, serviceUser))
	line := strings.Fields(u.one(t, "ExecStart"))
	if name := filepath.Base(line[0]); name != "coeval" && name != "coevald" {
		t.Fatalf("%s starts %s", file, line[0])
	}
	s.cmd = exec.CommandContext(t.Context(), "unshare", append([]string{"--mount", "--", "sh",
		"-c", confine, "sh", m.program}, line[1:]...)...)
	s.cmd.Env = append([]string{asProgram + "=1", "PATH=" + os.Getenv("PATH"), "STATE=" + state,
		"WORK=" + u.one(t, "WorkingDirectory"), fmt.Sprint("SERVICE=", serviceUser),
		"STATE_DIRECTORY=" + state, "NOTIFY_SOCKET=" + s.listen(instance)}, settings...)
	s.cmd.WaitDelay = 10 * time.Second
	pipe, err := s.cmd.StderrPipe()
	m.must(err)
	m.must(s.cmd.Start())
	go func() {
		defer close(s.log)
		for lines := bufio.NewScanner(pipe); lines.Scan(); {
			line := map[string]any{}
			if json.Unmarshal(lines.Bytes(), &line) != nil {
				line["plain"] = lines.Text()
			}
			select {
			case s.log <- line:
			case <-t.Context().Done():
			}
		}
	}()
	return s
}

// listen opens the socket at which the program says that it is ready.
func (s *service) listen(instance string) string {
	t := s.m.t
	name := filepath.Join(s.m.root, fmt.Sprintf("notify-%s-%d", instance, time.Now().UnixNano()))
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	s.m.must(err)
	t.Cleanup(func() { _ = c.Close() })
	s.m.must(os.Chmod(name, 0o777))
	s.told = make(chan string, 10)
	go func() {
		for b := make([]byte, 100); ; {
			n, err := c.Read(b)
			if err != nil {
				return
			}
			s.told <- string(b[:n])
		}
	}()
	return name
}

// says waits for a line of the log.
func (s *service) says(message string) map[string]any {
	t := s.m.t
	t.Helper()
	var all []map[string]any
	for line := range s.log {
		if all = append(all, line); line["msg"] == message {
			return line
		}
	}
	t.Fatalf("it never says %q: %v\n%v", message, s.cmd.Wait(), all)
	return nil
}

// tells waits for what the program says to who started it.
func (s *service) tells(want string) {
	t := s.m.t
	t.Helper()
	select {
	case got := <-s.told:
		if got != want {
			t.Fatalf("%q, not %q", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("it never tells %q", want)
	}
}

// ends waits for the end and gives the exit code.
func (s *service) ends() int {
	for range s.log { // all of it, before the pipe is closed
	}
	_ = s.cmd.Wait() // the code says it
	return s.cmd.ProcessState.ExitCode()
}

// stop does what systemctl stop does.
func (s *service) stop() { s.m.must(s.cmd.Process.Signal(syscall.SIGTERM)) }

// await waits until a page is answered with a status.
func (m *machine) await(url string, status int) {
	m.t.Helper()
	for began := time.Now(); time.Since(began) < patience; time.Sleep(5 * time.Millisecond) {
		if r, err := http.Get(url); err == nil {
			_ = r.Body.Close()
			if r.StatusCode == status {
				return
			}
		}
	}
	m.t.Fatalf("%s never answers %d", url, status)
}

// TestUnitServes: a game is served by the very line of its unit, in what systemd leaves of a
// machine. The other unit takes its place while somebody plays; it drains when it is stopped, and
// what was kept is there at the next start.
func TestUnitServes(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it starts processes")
	}
	m := newMachine(t)
	old := m.start("coeval-serve@.service", "pong", "COEVAL_LISTEN=127.0.0.1:0", "COEVAL_LOG=json")
	at := old.says("serving")["http"].(string)
	old.tells("READY=1")
	m.await("http://"+at+"/readyz", http.StatusOK)

	var ticks atomic.Uint64
	bot := func(*game.Title) game.Bot {
		return func(w *world.World, _ world.Player, _ world.Tick, _ *world.Inputs) error {
			if w != nil {
				ticks.Add(1)
			}
			return nil
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	over := make(chan error, 1)
	go func() {
		_, err := host.Join(ctx, pong.Title, host.JoinOptions{Servers: []string{at}, Bot: bot})
		over <- err
	}()
	old.says("joined")

	same := []string{"COEVAL_LISTEN=" + at, "COEVAL_LOG=json", "COEVAL_UPGRADE_WITHIN=20s"}
	next := m.start("coeval-upgrade@.service", "pong", same...)
	next.says("going on with the game of the server before")
	next.tells("READY=1")
	if code := old.ends(); old.unit.restarts(t, code) {
		t.Errorf("exit code %d: systemd would start it again", code)
	}
	next.says("returned")
	for from := ticks.Load(); ticks.Load() < from+10; {
		time.Sleep(5 * time.Millisecond)
	}
	m.await("http://"+at+"/readyz", http.StatusOK)

	next.stop()
	next.tells("STOPPING=1")
	next.says("draining")
	m.await("http://"+at+"/readyz", http.StatusServiceUnavailable)
	leave() // it would have as long as the unit says
	if err := <-over; err != nil {
		t.Error(err)
	}
	if left := next.says("drained")["left"]; left != 0.0 {
		t.Errorf("%v are left", left)
	}
	if code := next.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	again := m.start("coeval-serve@.service", "pong", same...)
	if line := again.says("going on with the game that was kept"); line["tick"].(float64) == 0 {
		t.Error(line)
	}
	again.tells("READY=1")
	again.stop()
	if code := again.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	m.owned("var/lib/coeval/serve/pong/kept")
	wrong := m.start("coeval-serve@.service", "pong", append(same, "COEVAL_PLAYERS=many")...)
	if code := wrong.ends(); code == 0 || wrong.unit.restarts(t, code) {
		t.Errorf("a setting that is wrong: exit code %d", code)
	}
}

// owned checks that a folder is the user's and holds something.
func (m *machine) owned(name string) {
	m.t.Helper()
	dir := filepath.Join(m.root, name)
	info, err := os.Stat(dir)
	m.must(err)
	list, err := os.ReadDir(dir)
	if st := info.Sys().(*syscall.Stat_t); err != nil || len(list) == 0 || st.Uid != serviceUser ||
		info.Mode().Perm()&0o077 != 0 {
		m.t.Errorf("%s: %v, user %d, %d files: %v", dir, info.Mode(), st.Uid, len(list), err)
	}
}

// TestUnitMirrors: a mirror that founds a game by its unit, and goes on with it by the same; and a
// witness by its own, which comes back as well.
func TestUnitMirrors(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it starts processes")
	}
	m := newMachine(t)
	key := filepath.Join(m.root, "credentials/key")
	m.must(os.Mkdir(filepath.Dir(key), 0o755))
	cmd := exec.Command(m.program, "token", "key", "--out", key)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	m.must(os.Chmod(key, 0o400))
	m.must(os.Chown(key, serviceUser, serviceUser))
	for _, says := range []string{"", "going on with the game that was kept"} {
		s := m.start("coeval-mirror@.service", "pong", "COEVAL_LISTEN=127.0.0.1:0",
			"COEVAL_MIRRORS=127.0.0.1:0", "COEVAL_UBER=true", "COEVAL_LOG=json")
		if says != "" {
			s.says(says)
		}
		serving := s.says("serving")
		m.await("http://"+serving["http"].(string)+"/readyz", http.StatusOK)
		w := m.start("coeval-witness@.service", "pong", "COEVAL_MIRRORS=127.0.0.1:0",
			"COEVAL_HTTP=none", "COEVAL_LOG=json", "COEVAL_JOIN="+serving["address"].(string))
		w.says("witness")
		for _, one := range []*service{w, s} {
			one.stop()
			if code := one.ends(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		}
	}
	m.owned("var/lib/coeval/mirror/pong/kept")
	m.owned("var/lib/coeval/witness/pong/votes")
}

// TestUnitLists: a directory by its unit.
func TestUnitLists(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it starts processes")
	}
	m := newMachine(t)
	s := m.start("coeval-directory.service", "", "COEVAL_LISTEN=127.0.0.1:0", "COEVAL_LOG=json")
	at := s.says("listing")["http"].(string)
	s.tells("READY=1")
	m.await("http://"+at+"/readyz", http.StatusOK)
	s.stop()
	if code := s.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	m.owned("var/lib/coeval/directory")
}
