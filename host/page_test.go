package host

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
)

// paged is what a client for the browser tells of itself.
type paged struct {
	Playing   bool
	Style     string
	Player    int
	Tick      int
	Snapshots int
	Sent      float64
	Carrier   string
	Drawn     []draw.Op // calls that frames had
	Texts     []string  // of the last frame
	Said      string
}

// playInNode plays in Node.js, by a program for the browser, on a server that takes WebSocket.
func playInNode(t *testing.T, program, server string) (p paged) {
	t.Helper()
	node := hosttest.NeedProgram(t, "node", "Node.js 20 or later")
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	starter := filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "--experimental-websocket", "testdata/page.js", starter,
		program, "http://"+server)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &errs)
	}
	if err := json.Unmarshal(out, &p); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return p
}

// buildPage compiles a program for the browser.
func buildPage(t *testing.T, dir, program string, env ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "client.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", name, program)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0"), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

// TestPagePlays: the program that serves the games, compiled for the browser, is their client: it
// joins what its page says, draws and takes keys, whichever strategy the server has.
func TestPagePlays(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("building for another platform is slow")
	}
	hosttest.NeedProgram(t, "node", "Node.js 20 or later")
	program := buildPage(t, "..", "./cmd/coeval")
	for game, strategy := range map[string]string{"pong": "doom3"} {
		s := serveIn(t, game, "--websocket", "--strategy", strategy)
		p := playInNode(t, program, s.HTTP)
		if !p.Playing || p.Style != "quake3" || p.Player != 1 || p.Tick == 0 || p.Snapshots == 0 ||
			p.Sent == 0 || p.Carrier != "WebSocket" ||
			!slices.Contains(p.Drawn, draw.OpCircle) || len(p.Texts) < 2 {
			t.Errorf("%s: %+v", game, p)
		}
	}
}
