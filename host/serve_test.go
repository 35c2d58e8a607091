package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/host/internal/load"
	"github.com/coeval-dev/coeval/host/internal/serve"
	_ "github.com/coeval-dev/coeval/topology/architecture/all"
	"github.com/coeval-dev/coeval/trace"
)

// A served is a server that runs in the test, found by what it logs.
type served struct {
	UDP, HTTP string
	join      string     // the line to join with
	stop      func() int // gives the exit code
	lines     func() []map[string]any
}

// heard keeps what several goroutines of a program say.
type heard struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buf.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buf.String()
}

// serveIn runs coeval serve until it says that it serves.
func serveIn(t *testing.T, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	code := make(chan int, 1)
	var said heard
	go func() {
		code <- run(ctx,
			append([]string{"serve", "--listen", "127.0.0.1:0", "--log", "json"}, args...), &said,
			w, commands())
		w.Close()
	}()
	var mu sync.Mutex
	var lines []map[string]any
	found := make(chan *served, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		for s := bufio.NewScanner(r); s.Scan(); {
			line := map[string]any{}
			if json.Unmarshal(s.Bytes(), &line) != nil {
				line["plain"] = s.Text()
			}
			mu.Lock()
			lines = append(lines, line)
			mu.Unlock()
			if line["msg"] == "serving" {
				found <- &served{
					UDP: line["udp"].(string), HTTP: line["http"].(string), join: said.String()}
			}
		}
		close(found)
	}()
	x, ok := <-found
	if !ok {
		cancel()
		t.Fatalf("exit code %d: %v", <-code, lines)
	}
	var once sync.Once
	got := 0
	x.stop = func() int {
		once.Do(func() {
			cancel()
			got = <-code
			<-read
		})
		return got
	}
	x.lines = func() []map[string]any {
		mu.Lock()
		defer mu.Unlock()
		return append([]map[string]any(nil), lines...)
	}
	t.Cleanup(func() { x.stop() })
	return x
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	return askServer(t, http.MethodGet, url)
}

// botsAt lets bots play at a server until all of them do, and for some ticks more.
func botsAt(t *testing.T, server string, count int, ticks uint64) (r load.Report) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out, errs bytes.Buffer
	code := make(chan int, 1)
	go func() {
		args := []string{
			"bots", "--server", server, "--count", fmt.Sprint(count), "--spread", "0", "--json"}
		code <- run(ctx, args, &out, &errs, commands())
	}()
	var begun uint64
	hosttest.WaitUntil(t, "the bots play", func() bool {
		var st serve.Status
		if _, text := get(t, "http://"+server+"/status"); json.Unmarshal([]byte(text), &st) != nil {
			t.Fatal(text)
		}
		if begun == 0 && st.Players >= count {
			begun = st.Tick
		}
		return begun > 0 && st.Tick >= begun+ticks
	})
	stop()
	if got := <-code; got != cli.ExitOK || json.Unmarshal(out.Bytes(), &r) != nil {
		t.Fatalf("exit code %d: %s%s", got, &out, &errs)
	}
	return r
}

func TestServeJoinAndBots(t *testing.T) {
	t.Parallel() // it mostly waits
	record := filepath.Join(t.TempDir(), "match.trace")
	ticket := filepath.Join(t.TempDir(), "ticket")
	s := serveIn(t, "pong", "--websocket", "--webtransport", "127.0.0.1:0", "--record", record,
		"--seed", "7")
	if want := "join with: coeval join " + s.HTTP + "\n"; s.join != want {
		t.Errorf("it says %q, want %q", s.join, want)
	}

	for _, over := range []string{"udp", "websocket", "webtransport"} {
		code, stdout,
			stderr := try("join", s.HTTP, "--headless", "--seconds", "0.5", "--json", "--over",
			over, "--ticket", ticket)
		var j Joined
		if err := json.Unmarshal([]byte(stdout), &j); err != nil || code != 0 {
			t.Fatalf("over %s: exit code %d: %v\n%s%s", over, code, err, stdout, stderr)
		}
		if j.Game != "pong" || j.Player != 1 || j.Snapshots == 0 || j.Entities != 3 ||
			j.Commands == 0 {
			t.Errorf("over %s: %+v", over, j)
		}
	}
	if _, ok := readTicket(ticket); !ok {
		t.Error("no ticket was kept")
	}
	table := make(chan string, 1)
	ctx, stopTable := context.WithCancel(t.Context())
	defer stopTable()
	go func() {
		var out bytes.Buffer
		run(ctx, []string{"bots", "--server", s.HTTP, "--count", "2"}, &out, io.Discard, commands())
		table <- out.String()
	}()
	r := botsAt(t, s.HTTP, 5, 150)
	if r.Game != "pong" || r.Bots != 5 || r.Played != 5 || r.Snapshots <= 0 || r.Down <= 0 ||
		r.Up <= 0 || r.Bad != 0 || len(r.Ended) != 0 {
		t.Errorf("%+v", r)
	}
	stopTable()
	if text := <-table; !strings.Contains(text, "snaps/s") || len(strings.Split(text, "\n")) < 3 {
		t.Errorf("the table is\n%s", text)
	}

	for path, want := range map[string]string{
		"healthz": "ok", "readyz": "ready", "status": `"game":"pong"`,
		"metrics": `coeval_visits_total{what="joined"} 10`} {
		if code, text := get(t, "http://"+s.HTTP+"/"+path); code != 200 ||
			!strings.Contains(text, want) {
			t.Errorf("%s: %d\n%s", path, code, text)
		}
	}
	// Every byte that the links sent is booked by some purpose, as are those that they did not
	// take, to a browser that has just left. A look may fall between the two.
	hosttest.WaitUntil(t, "as many bytes are booked as were sent", func() bool {
		_, text := get(t, "http://"+s.HTTP+"/metrics")
		booked, sent := traffic(text)
		return booked == sent && sent > 0
	})
	if code := s.stop(); code != 0 {
		t.Errorf("exit code %d: %v", code, s.lines())
	}
	f, err := os.Open(record)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	reader, err := trace.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	res, err := trace.Replay(pong.Game, reader, trace.ReplayOptions{})
	if err != nil || res.Mismatch != nil {
		t.Errorf("the match does not repeat: %v, %+v", err, res)
	}
}

func TestServeWithAKeyIsClosed(t *testing.T) {
	t.Parallel() // it mostly waits
	key := filepath.Join(t.TempDir(), "server.key")
	if code, _, stderr := try("token", "key", "--out", key); code != 0 {
		t.Fatal(stderr)
	}
	s := serveIn(t, "pong", "--key", key)
	if want := "join with: coeval join " + s.UDP + " --token TOKEN --game pong\n"; s.join != want {
		t.Errorf("it says %q, want %q", s.join, want)
	}
	if code, _, stderr := try("join", s.HTTP, "--headless", "--seconds",
		"1"); code != cli.ExitFailure || !strings.Contains(stderr, "not open") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	_, text, _ := try("token", "issue", "--key", key, "--game", "pong", "--client", "7")
	code, stdout,
		stderr := try("join", s.UDP, "--token", strings.TrimSpace(text), "--game", "pong",
		"--headless", "--seconds", "1", "--json")
	var j Joined
	if err := json.Unmarshal([]byte(stdout), &j); err != nil || code != 0 || j.Snapshots == 0 {
		t.Errorf("exit code %d: %v\n%s%s", code, err, stdout, stderr)
	}
	// A token of another game is refused, with a reason.
	_, text, _ = try("token", "issue", "--key", key, "--game", "stack", "--client", "8")
	if code, _, stderr := try("join", s.UDP, "--token", strings.TrimSpace(text), "--game", "stack",
		"--headless", "--seconds", "5"); code != cli.ExitFailure ||
		!strings.Contains(stderr, "wrong game") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestServeMistakes(t *testing.T) {
	t.Parallel() // it mostly waits
	s := serveIn(t, "pong")
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, x := range []struct {
		args, want string
		code       int
	}{
		{"serve", "which game?", cli.ExitUsage},
		{"serve chess", "there are arena, crowd, pong, stack", cli.ExitUsage},
		{"serve pong --players 0", "--players is 0", cli.ExitUsage},
		{"serve pong --log xml", "text or json", cli.ExitUsage},
		{"serve pong --log-level loud", "debug, info, warn or error", cli.ExitUsage},
		{"serve pong --listen " + s.UDP, "in use", cli.ExitFailure},
		{"serve pong --listen 127.0.0.1:0 --http " + s.HTTP, "another program has the port",
			cli.ExitFailure},
		{"serve pong --listen 127.0.0.1:0 --http none --websocket",
			"--websocket needs an HTTP address", cli.ExitUsage},
		{"serve pong --key " + filepath.Join(dir, "none"), "coeval token key", cli.ExitFailure},
		{"serve crowd --listen 127.0.0.1:0 --level many", "not a number of players",
			cli.ExitFailure},
		{"serve arena --listen 127.0.0.1:0 --level atlantis", "atlantis", cli.ExitFailure},
		{"serve pong --config " + filepath.Join(dir, "none"), "there is no config file",
			cli.ExitUsage},
		{"serve pong --config " + file("bad.conf", "players = 8\nplayrs = 9\n"), "bad.conf:2",
			cli.ExitUsage},
		{"serve pong --config " + file("worse.conf", "players\n"), "worse.conf:1", cli.ExitUsage},
		{"serve pong --config " + file("worst.conf", "players = many\n"), "worst.conf:1",
			cli.ExitUsage},
		{"serve pong --listen 127.0.0.1:0 --record " + file("old.trace", "x"), "already there",
			cli.ExitFailure},
		{"join", "which server?", cli.ExitUsage},
		{"join nowhere", "address and a port", cli.ExitUsage},
		{"join 127.0.0.1:1 --headless", "no server answers at 127.0.0.1:1", cli.ExitFailure},
		{"join " + s.HTTP, "not a terminal", cli.ExitUsage},
		{"join " + s.HTTP + " --json", "--headless", cli.ExitUsage},
		{"join " + s.HTTP + " --headless --over pigeon", "udp, websocket or webtransport",
			cli.ExitUsage},
		{"join " + s.HTTP + " --headless --over websocket", "start it with --websocket",
			cli.ExitFailure},
		{"join " + s.HTTP + " --headless --over webtransport", "start it with --webtransport",
			cli.ExitFailure},
		{"join 127.0.0.1:1 --token x", "--game", cli.ExitUsage},
		{"bots --count 0", "--count is 0", cli.ExitUsage},
		{"bots --server 127.0.0.1:1", "no server answers", cli.ExitFailure},
	} {
		code, _, stderr := try(strings.Fields(x.args)...)
		if code != x.code || !strings.Contains(stderr, x.want) {
			t.Errorf("%s: exit code %d, want %d with %q:\n%s", x.args, code, x.code, x.want, stderr)
		}
	}
}

// TestTicketsThatAreOfNoUse: a ticket of a server that is no more is passed over.
func TestTicketsThatAreOfNoUse(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it takes its time")
	}
	ticket := filepath.Join(t.TempDir(), "ticket")
	one := serveIn(t, "pong")
	if code, _, stderr := try("join", one.HTTP, "--headless", "--seconds", "1", "--ticket",
		ticket); code != 0 {
		t.Fatal(stderr)
	}
	one.stop()
	before, ok := readTicket(ticket)
	if !ok {
		t.Fatal("no ticket was kept")
	}
	two := serveIn(t, "pong") // with another key
	if code, _, stderr := try("join", two.HTTP, "--headless", "--seconds", "1", "--ticket",
		ticket); code != 0 {
		t.Fatal(stderr)
	}
	if after, ok := readTicket(ticket); !ok || string(after.Sealed) == string(before.Sealed) {
		t.Error("the old ticket was kept")
	}
}

// readTicket reads what a player kept.
func readTicket(name string) (token.Token, bool) {
	text, err := os.ReadFile(name)
	if err != nil {
		return token.Token{}, false
	}
	t, err := token.ParseText(string(text))
	return t, err == nil
}

// traffic reads how many bytes were booked by purpose, and how many the links have sent.
func traffic(metrics string) (booked, sent float64) {
	for line := range strings.Lines(metrics) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		var v float64
		if json.Unmarshal([]byte(value), &v) != nil {
			continue
		}
		switch {
		case strings.HasPrefix(name, "coeval_sent_bytes_total"):
			booked += v
		case name == "coeval_link_refused_bytes_total":
			booked -= v
		case name == "coeval_link_sent_bytes_total":
			sent = v
		}
	}
	return booked, sent
}
