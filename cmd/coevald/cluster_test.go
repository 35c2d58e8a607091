package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// world is a world that runs on this machine, and what commands say of it.
type clusterWorld struct {
	*testing.T
	dir string
}

// do runs a command about the world, which has to succeed, and gives what it prints.
func (w *clusterWorld) do(args ...string) string {
	w.Helper()
	args = append(append([]string{"cluster"}, args...), "--dir", w.dir)
	code, stdout, stderr := try(args...)
	if code != 0 {
		w.Fatalf("%v: exit code %d: %s", args, code, stderr)
	}
	return stdout
}

// status is what the command of that name says.
type clusterStatus struct {
	Version uint64
	Zones   []struct {
		Zone     int
		Server   string
		Entities int
		Spare    bool
	}
	Servers []struct {
		Name    string
		Zones   []int
		Drained bool
	}
}

func (w *clusterWorld) until(what string, ok func(s *clusterStatus) bool) {
	w.Helper()
	var s clusterStatus
	for began := time.Now(); time.Since(began) < 2*time.Minute; time.Sleep(100 * time.Millisecond) {
		s = clusterStatus{}
		text := w.do("status", "--json")
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			w.Fatalf("%v: %s", err, text)
		}
		if ok(&s) {
			return
		}
	}
	w.Fatalf("it was waited in vain until %s: %+v", what, s)
}

func (s *clusterStatus) steady(zones int) bool {
	n := 0
	for _, z := range s.Zones {
		if z.Server != "0" && !z.Spare {
			n++
		}
	}
	return n == zones
}

// up starts the world.
func (w *clusterWorld) up(metrics string) *exec.Cmd {
	w.Helper()
	w.Setenv(asProgram, "1")
	cmd, _ := start(w.T, "a server of the world runs", "cluster", "up", "crowd", "--zones", "3",
		"--servers", "2", "--bots", "8", "--reach", "24", "--dir", w.dir, "--http", metrics,
		"--log", "json")
	return cmd
}

// TestCluster: a world runs on this machine by one command. Its borders move, a server is drained,
// who may not give orders does not, and it goes on where it was when it is started again.
func TestCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	w := &clusterWorld{T: t, dir: filepath.Join(t.TempDir(), "world")}
	metrics := twoPorts(t)
	cmd := w.up(metrics)
	w.until("all zones are stepped", func(s *clusterStatus) bool { return s.steady(3) })
	if got := w.do("split", "2"); !strings.Contains(got, "what is behind is zone 4") {
		t.Error(got)
	}
	w.until("it is split", func(s *clusterStatus) bool { return s.steady(4) })
	if got := w.do("merge", "2", "--json"); !strings.Contains(got, `"done":"zone 2 gets`) {
		t.Error(got)
	}
	w.until("it is merged", func(s *clusterStatus) bool { return s.steady(3) })
	if got := w.do("status"); !strings.Contains(got, "spare") ||
		!strings.Contains(got, "server 2") {
		t.Error(got)
	}
	w.roles()
	w.do("drain", "server 2")
	w.until("server 2 has no zones", func(s *clusterStatus) bool {
		return s.steady(3) && len(s.Servers) == 2 && s.Servers[1].Drained &&
			len(s.Servers[1].Zones) == 0
	})
	r, err := http.Get("http://" + metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(r.Body)
	_ = r.Body.Close()
	for _, want := range []string{"coeval_zone_entities{zone=\"1\"}", "coeval_handovers_total ",
		"coeval_journal_delay_seconds 0."} {
		if !strings.Contains(string(text), want) {
			t.Errorf("metrics lack %s:\n%s", want, text)
		}
	}
	for range 2 { // and once more, from disk
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if code, _, text := try("cluster", "status", "--dir", w.dir); code != 1 ||
			!strings.Contains(text, "no world runs") {
			t.Errorf("exit code %d: %s", code, text)
		}
		cmd = w.up(metrics)
		w.until("it goes on", func(s *clusterStatus) bool { return s.steady(3) && s.Version >= 3 })
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

// roles gives orders by tokens.
func (w *clusterWorld) roles() {
	w.Helper()
	folder := filepath.Join(filepath.Dir(w.dir), "admin")
	for _, x := range []struct {
		role string
		code int
	}{{"watch", 1}, {"operate", 0}} {
		file := folder + "." + x.role
		code, _, text := try("admin", "token", "make", "--dir", folder, "--role", x.role, "--name",
			"ada", "--out", file)
		if code != 0 {
			w.Fatal(text)
		}
		for _, verb := range []string{"pause", "resume"} {
			code, _, text = try("cluster", verb, "--dir", w.dir, "--admin-dir", folder,
				"--token-file", file)
			if code != x.code {
				w.Errorf("%s as %s: exit code %d: %s", verb, x.role, code, text)
			}
		}
	}
	log, err := os.ReadFile(filepath.Join(folder, "audit.jsonl"))
	for _, want := range []string{`"what":"cluster pause"`, `"result":"refused"`, `"result":"ok"`} {
		if err != nil || !strings.Contains(string(log), want) {
			w.Errorf("%v: the log lacks %s: %s", err, want, log)
		}
	}
}

// twoPorts is an address whose port, and the one behind it, are free.
func twoPorts(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		at := l.Addr().(*net.TCPAddr)
		m, err := net.ListenTCP("tcp", &net.TCPAddr{IP: at.IP, Port: at.Port + 1})
		_ = l.Close()
		if err == nil {
			_ = m.Close()
			return at.String()
		}
	}
	t.Fatal("there are no two free ports in a row")
	return ""
}

// TestClusterDemo: the page shows a world, a button kills a server, and another goes on with its
// zones.
func TestClusterDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "cluster", "demo", "crowd", "--page",
		"127.0.0.1:0", "--servers", "2", "--bots", "6", "--zones", "2")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(pipe).ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSpace(line), " is at ")
	if !ok {
		t.Fatalf("it says %q", line)
	}
	go func() { _, _ = io.Copy(io.Discard, pipe) }() // until the process ends
	ask := func(method, path string) (int, string) {
		q, err := http.NewRequestWithContext(t.Context(), method, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			return 0, err.Error()
		}
		defer a.Body.Close()
		text, _ := io.ReadAll(a.Body)
		return a.StatusCode, string(text)
	}
	var dots map[int]bool // zones of which a server says where things are
	until := func(what string, ok func(s *clusterStatus) bool) {
		t.Helper()
		for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
			var s struct {
				clusterStatus
				Seen []struct{ Zones []struct{ Zone int } }
			}
			_, text := ask("GET", "state")
			dots = map[int]bool{}
			if json.Unmarshal([]byte(text), &s) == nil {
				for _, x := range s.Seen {
					for _, z := range x.Zones {
						dots[z.Zone] = true
					}
				}
				if ok(&s.clusterStatus) {
					return
				}
			}
			if time.Since(began) > 2*time.Minute {
				t.Fatalf("it was waited in vain until %s: %s", what, text)
			}
		}
	}
	if code, text := ask("GET", ""); code != 200 || !strings.Contains(text, "Kill a server") {
		t.Errorf("the page: %d %s", code, text)
	}
	whole := func(s *clusterStatus) bool { return s.steady(2) && dots[1] && dots[2] }
	until("all zones are stepped", whole)
	if code, text := ask("POST", "do/kill/1"); code != 200 {
		t.Errorf("%d %s", code, text)
	}
	until("it goes on", whole)
	for path, want := range map[string]int{"do/kill/9": 400, "do/dance/1": 400, "do/kill/x": 400,
		"no": 404} {
		if code, _ := ask("POST", path); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
	_ = cmd.Cancel()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestClusterRefuses: what makes no sense is said, with what to do instead.
func TestClusterRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, x := range []struct {
		args string
		code int
		want string
	}{
		{"cluster status --dir DIR", 1, "no world runs in the folder"},
		{"cluster split x --dir DIR", 1, "no world runs in the folder"},
		{"cluster split", 2, "accepts 1 arg"},
		{"cluster up crowd --zones 2 --dir DIR/a", 2, "--reach"},
		{"cluster up crowd --servers 0 --dir DIR/b", 2, "choose 1 to 64 servers"},
		{"cluster up chess", 2, `no game "chess"`},
		{"cluster serve crowd --dir DIR", 2, "--key is needed"},
		{"cluster serve crowd --nats nats://127.0.0.1:1 --key DIR/none", 1, "no key file"},
	} {
		args := strings.Fields(strings.ReplaceAll(x.args, "DIR", dir))
		code, _, stderr := try(args...)
		if code != x.code || !strings.Contains(stderr, x.want) {
			t.Errorf("%q: exit code %d: %s", x.args, code, stderr)
		}
	}
}
