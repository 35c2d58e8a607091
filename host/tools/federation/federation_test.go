//go:build !js

package federation_test

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/host/tools/federation"
)

var program = host.Program{Name: "coevald", Tools: []host.Command{federation.Command},
	Titles: []*game.Title{pong.Title}}

// start runs the command until the test ends, and gives its address.
func start(t *testing.T, args ...string) (url string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	read, write := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- program.Run(ctx, append([]string{"federation", "--listen", "127.0.0.1:0"},
			args...), write, write)
		write.Close()
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != 0 && code != 130 {
			t.Errorf("exit code %d", code)
		}
	})
	lines := bufio.NewScanner(read)
	for lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), "federations are at "); ok {
			go func() {
				for lines.Scan() {
				}
			}()
			return strings.TrimSuffix(at, "/federation/v1/ws")
		}
		t.Log(lines.Text())
	}
	t.Fatal("it does not begin")
	return ""
}

// A federate in Python moves a train, one in JavaScript watches it, in order of time.
func TestOtherLanguages(t *testing.T) {
	python := hosttest.NeedProgram(t, "python3", "Python 3")
	node := hosttest.NeedProgram(t, "node", "Node.js 20 or later")
	url := start(t)
	dir := filepath.Join("..", "..", "..", "service", "federation", "testdata")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	watcher := exec.CommandContext(ctx, node, "--experimental-websocket",
		filepath.Join(dir, "federate.mjs"), url)
	out, err := watcher.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	watcher.Stderr = &errs
	if err := watcher.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "watching" {
		t.Fatalf("%q %s", lines.Text(), &errs)
	}
	train, err := exec.CommandContext(ctx, python, filepath.Join(dir, "federate.py"),
		url).CombinedOutput()
	if err != nil || !strings.Contains(string(train), "the train has gone 250 m") {
		t.Fatalf("%v: %s", err, train)
	}
	var seen []string
	for lines.Scan() {
		seen = append(seen, lines.Text())
	}
	if err := watcher.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	all := strings.Join(seen, "\n")
	for _, want := range []string{"at 1000 ms: 25 m\nat 2000 ms: 50 m",
		"at 10000 ms: 250 m\nthe train is gone"} {
		if !strings.Contains(all, want) {
			t.Fatalf("what was seen lacks %q:\n%s", want, all)
		}
	}
}

// What the command refuses.
func TestCommand(t *testing.T) {
	url := start(t)
	for _, x := range []struct {
		args string
		code int
		says string
	}{
		{"federation status http" + strings.TrimPrefix(url, "ws"), 0, "FEDERATION"},
		{"federation status --json http" + strings.TrimPrefix(url, "ws"), 0, `"federations":[]`},
		{"federation --listen :0", 2, "can be reached from elsewhere"},
		{"federation --token-file " + filepath.Join(t.TempDir(), "none"), 1, "write a secret"},
		{"federation --patience -1s", 2, "0 or more"},
		{"federation status http://127.0.0.1:1", 1, "refused"},
	} {
		var out strings.Builder
		code := program.Run(t.Context(), strings.Fields(x.args), &out, &out)
		if code != x.code || !strings.Contains(out.String(), x.says) {
			t.Errorf("%q: exit code %d, and it prints %q", x.args, code, &out)
		}
	}
}
