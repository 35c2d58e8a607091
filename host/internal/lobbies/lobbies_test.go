package lobbies_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/host/internal/lobbies"
	"github.com/coeval-dev/coeval/service/directory/ask"
	_ "github.com/coeval-dev/coeval/service/directory/use" // its databases
)

var program = host.Program{Name: "coeval", Titles: []*game.Title{pong.Title, stack.Title}}

// said is what a command says, which may be looked at while it runs.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// begin runs a command until the test ends, and gives what a line of its log says of a name.
func begin(t *testing.T, message, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var log said
	var running sync.WaitGroup
	running.Go(func() {
		if code := program.Run(ctx, append(args, "--log", "json"), io.Discard, &log); code != 0 {
			t.Errorf("%v ended with %d: %s", args, code, &log)
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	value := ""
	hosttest.WaitUntil(t, message, func() bool {
		for line := range strings.Lines(log.String()) {
			var all map[string]any
			if json.Unmarshal([]byte(line), &all) == nil && all["msg"] == message {
				value, _ = all[name].(string)
				return true
			}
		}
		return false
	})
	return value
}

// stage starts a directory with a server of pong.
func stage(t *testing.T) (url string) {
	t.Helper()
	dir := t.TempDir()
	key := filepath.Join(dir, "k")
	if code := program.Run(t.Context(), []string{"token", "key", "--out", key}, io.Discard,
		io.Discard); code != 0 {
		t.Fatal("no key")
	}
	url = "http://" + begin(t, "listing", "http", "directory", "--listen", "127.0.0.1:0",
		"--store", filepath.Join(dir, "d.db"), "--key", key, "--queue", "pong=2")
	begin(t, "listed at the directory", "id", "serve", "pong", "--listen", "127.0.0.1:0", "--key",
		key, "--directory", url, "--name", "table", "--region", "here")
	return url
}

// try runs the command to its end.
func try(t *testing.T, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // if the others have failed
	defer cancel()
	code = program.Run(ctx, append([]string{"lobby"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

// TestRoomToMatch: one makes a room, another joins by the link, the host starts, and both play at
// the same server; two who queue come together, too.
func TestRoomToMatch(t *testing.T) {
	t.Parallel() // it mostly waits
	url := stage(t)
	play := []string{"--directory", url, "--headless", "--seconds", "0.2"}
	var out said
	var running sync.WaitGroup
	running.Go(func() {
		if code := program.Run(t.Context(), append([]string{"lobby", "pong", "--name", "ann",
			"--start", "2", "--public"}, play...), &out, &out); code != 0 {
			t.Errorf("the host ended with %d: %s", code, &out)
		}
	})
	code := ""
	hosttest.WaitUntil(t, "there is a room", func() bool {
		if m := regexp.MustCompile(`--code ([A-Z]+)`).FindStringSubmatch(out.String()); m != nil {
			code = m[1]
		}
		return code != ""
	})
	if c, list, errs := try(t, "pong", "--rooms", "--directory", url); c != 0 ||
		!strings.Contains(list, code) {
		t.Errorf("the list is %d: %s%s", c, list, errs)
	}
	c, told, errs := try(t, append(play, "--code", "https://example.org/play#room="+code, "--name",
		"bob", "--ready", "--json")...)
	var r struct {
		Game   string `json:"game"`
		Server string `json:"server"`
	}
	if err := json.Unmarshal([]byte(told), &r); c != 0 || err != nil || r.Game != "pong" {
		t.Fatalf("bob ended with %d: %s%s", c, told, errs)
	}
	running.Wait()
	for _, want := range []string{"bob is here", "playing at table", "player "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the host is not told %q: %s", want, &out)
		}
	}
	account := filepath.Join(t.TempDir(), "me")
	queue := append([]string{"pong", "--queue", "--name", "c"}, play...)
	running.Go(func() {
		if c, told, errs := try(t, append(queue, "--account", account)...); c != 0 ||
			!strings.Contains(told, "playing at table") {
			t.Errorf("one who queues ended with %d: %s%s", c, told, errs)
		}
	})
	if c, told, errs := try(t, queue...); c != 0 || !strings.Contains(told, "playing at table") {
		t.Errorf("the other ended with %d: %s%s", c, told, errs)
	}
	running.Wait()
	secret, err := os.ReadFile(account)
	if err != nil || !strings.HasPrefix(string(secret), "anon.") {
		t.Errorf("the account that is kept is %q: %v", secret, err)
	}
	for _, x := range []struct{ want, args string }{
		{"check the letters", "--code AAAAAA --directory " + url},
		{"which game", "--directory " + url},
		{"which directory", "pong --directory="},
		{"in a room, its host types /queue", "--code A --queue --directory " + url},
		{"make one with --public", "stack --rooms --directory " + url},
		{"does not answer", "pong --headless --directory http://127.0.0.1:1"},
	} {
		if c, told, errs := try(t, strings.Fields(x.args)...); c == 0 ||
			!strings.Contains(errs, x.want) {
			t.Errorf("%s: %d: %s%s, want %q", x.args, c, told, errs, x.want)
		}
	}
}

// TestTyped: what is typed is done, what others do is told, and the one who is removed is told so.
func TestTyped(t *testing.T) {
	t.Parallel() // it mostly waits
	c, err := ask.New(stage(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	var ann, bob bytes.Buffer
	host, err := lobbies.NewGuest(ctx, c, "ann", "", &ann)
	if err != nil {
		t.Fatal(err)
	}
	guest, err := lobbies.NewGuest(ctx, c, "bob", host.Code(), &bob)
	if err != nil {
		t.Fatal(err)
	}
	look := func() {
		t.Helper()
		for _, g := range []*lobbies.Guest{host, guest} {
			if err := g.Look(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	look()
	for _, line := range []string{"hello ann", "/ready", "/unready", "/team 1", ""} {
		if left, err := guest.Type(ctx, line); left || err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		look()
	}
	want := "bob is here\nbob: hello ann\nbob is ready\nbob is not ready\nbob is in team 1\n"
	if ann.String() != want {
		t.Errorf("the host is told:\n%s\nwant:\n%s", &ann, want)
	}
	for line, want := range map[string]string{"/start": "only the host", "/team x": "which team",
		"/dance": "there are /ready", "/kick eve": "nobody here"} {
		if _, err := guest.Type(ctx, line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	if _, err := host.Type(ctx, "/kick bob"); err != nil {
		t.Fatal(err)
	}
	if err := guest.Look(ctx); err == nil || !strings.Contains(err.Error(), "not in the room") {
		t.Errorf("bob is told %v", err)
	}
	if left, err := host.Type(ctx, "/leave"); !left || err != nil {
		t.Errorf("%v, %v", left, err)
	}
}
