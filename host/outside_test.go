package host

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
)

// An outside is a module of someone else, with a game of its own and a program of five lines.
type outside struct {
	t       *testing.T
	dir     string
	program string
	log     *logLines // of what was begun last
}

// newOutside copies the module to a folder outside of the repository, and builds its programs.
func newOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{t: t, dir: t.TempDir()}
	o.program = filepath.Join(o.dir, "tanks")
	if err := os.CopyFS(o.dir, os.DirFS("testdata/outside")); err != nil {
		t.Fatal(err)
	}
	o.module("example.com/tanks")
	o.build("./cmd/tanks", o.program)
	return o
}

// module writes what makes a folder a module of its own. It needs what the toolkit needs, in the
// same versions: nothing is downloaded.
func (o *outside) module(name string) {
	o.t.Helper()
	repository, err := filepath.Abs("..")
	if err != nil {
		o.t.Fatal(err)
	}
	sum, err := os.ReadFile("../go.sum")
	if err != nil {
		o.t.Fatal(err)
	}
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		o.t.Fatal(err)
	}
	text := strings.Replace(string(mod), "module "+cli.Module, "module "+name, 1) +
		fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", cli.Module, cli.Module, repository)
	o.write("go.mod", text)
	o.write("go.sum", string(sum))
}

// write makes a file of the module.
func (o *outside) write(name, text string) {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o666); err != nil {
		o.t.Fatal(err)
	}
}

func (o *outside) build(program, out string) {
	o.t.Helper()
	cmd := o.command("go", "build", "-o", out, program)
	if text, err := cmd.CombinedOutput(); err != nil {
		o.t.Fatalf("%v\n%s", err, text)
	}
}

func (o *outside) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(o.t.Context(), name, args...)
	cmd.Dir = o.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")
	return cmd
}

// try runs the program, and gives what it printed.
func (o *outside) try(code int, args ...string) string {
	o.t.Helper()
	cmd := o.command(o.program, args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		o.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// begin starts a command that goes on, and waits until it logs that it serves.
func (o *outside) begin(args ...string) (line map[string]any, said *logLines, stop func()) {
	o.t.Helper()
	cmd := o.command(o.program, append(args, "--log", "json")...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		o.t.Fatal(err)
	}
	pipe, err := cmd.StderrPipe()
	if err != nil {
		o.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	said = follow(out)
	log := follow(pipe)
	o.log = log
	ended := false
	stop = func() {
		if !ended {
			ended = true
			_ = cmd.Process.Signal(os.Interrupt)
			log.end()
			said.end()
			if err := cmd.Wait(); err != nil {
				o.t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, log)
			}
		}
	}
	if line, _ = log.await("serving", 0); line == nil {
		o.t.Fatalf("%s\n%s", strings.Join(args, " "), log)
	}
	return line, said, stop
}

// TestAGameOutsideOfTheRepository: a game in a module of its own has every command, from a main.go
// of five lines, and the measuring ones from one of a few more.
func TestAGameOutsideOfTheRepository(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("it builds programs, and interrupts them")
	}
	o := newOutside(t)
	contains := func(out string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("no %q in\n%s", w, out)
			}
		}
	}
	contains(o.try(0), "tanks: tanks in the dust", "tanks serve", "tanks join localhost:4000")
	contains(o.try(0, "--version"), "tanks ", "coeval ", "platform")

	// Alone.
	first := o.try(0, "play", "--headless", "--ticks", "120", "--players", "3", "--record",
		"run.trace", "--json")
	contains(first, `"game":"tanks"`)
	contains(o.try(0, "play", "--check", "--ticks", "120", "--players", "3"), "all the same",
		"0 were wrong")
	contains(o.try(2, "play"), "this is not a terminal")
	contains(o.try(0, "trace", "info", "run.trace"), "by this program")
	contains(o.try(0, "trace", "replay", "run.trace"), "all agree")
	contains(o.try(0, "desync", "run.trace", "run.trace"), "are the same")

	// Served, to the terminal's player, to bots and to a page.
	line, said, stop := o.begin("serve", "--listen", "127.0.0.1:0", "--websocket")
	at := line["http"].(string)
	if want := "join with: tanks join " + at; said.plain(want) == "" {
		t.Errorf("it does not say %q", want)
	}
	var j Joined
	if err := json.Unmarshal([]byte(o.try(0, "join", at, "--headless", "--seconds", "1", "--json")),
		&j); err != nil || j.Game != "tanks" || j.Predicted == 0 {
		t.Errorf("%+v, %v", j, err)
	}
	contains(o.try(0, "ask", line["udp"].(string)), "of 64", "own, tanks")
	contains(o.try(0, "ask", line["udp"].(string), "tanks"), " tanks")
	contains(o.try(0, "bots", "--server", at, "--count", "3", "--seconds", "1.2", "--spread", "0",
		"--json"), `"played":3`)
	o.demo(func(page string) {
		t.Run("uploads", func(t *testing.T) { o.uploadByPage(t, page) })
		hosttest.NeedProgram(t, "node", "Node.js 20 or later")
		if p := playInNode(t, page, at); !p.Playing || p.Player == 0 ||
			!slices.Contains(p.Drawn, draw.OpBox) || !slices.Contains(p.Drawn, draw.OpCircle) {
			t.Errorf("%+v", p) // oneself, and the dust that only clients have
		}
	})
	stop()

	o.betweenPeers()

	// On mirrors, with a key.
	o.try(0, "token", "key", "--out", "mirrors.key")
	line, _, stop = o.begin("mirror", "--uber", "--key", "mirrors.key", "--open", "--listen",
		"127.0.0.1:0", "--mirrors", "127.0.0.1:0")
	line, _, leave := o.begin("mirror", "--join", line["address"].(string), "--key", "mirrors.key",
		"--open", "--listen", "127.0.0.1:0", "--mirrors", "127.0.0.1:0")
	contains(o.try(0, "join", line["http"].(string), "--headless", "--seconds", "0.5", "--json"),
		`"game":"tanks"`)
	leave()
	stop()
	contains(o.try(0, "token", "issue", "--key", "mirrors.key", "--game", "tanks", "--client", "7"),
		"coeval-token")

	// With tools.
	o.program = filepath.Join(o.dir, "measured")
	o.build("./cmd/measured", o.program)
	contains(o.try(0, "bench", "server", "--players", "2", "--seconds", "0.5", "--json"),
		`"players":2`)
	contains(o.try(0, "vet", "."), "")
	contains(o.try(0, "lab", "run", "--network", "cable", "--players", "2", "--runs", "2", "--time",
		"1s", "--warm", "1s", "--dir", "tunnel"), "tanks, map")
	contains(o.try(0, "lab", "report", "--dir", "tunnel"), "For tanks with 2 players on cable")
	contains(o.try(0, "lab", "incident", "--architecture", "quake3", "--network", "lte",
		"--players", "2", "--time", "2s"), "quake3 on lte")
	contains(o.try(0, "netsim", "--help"), "measured netsim --listen")
	if !hosttest.Soak() {
		return // the rest is tried on a bundled title by the tests of the tools
	}
	contains(o.try(0, "bench", "feel", "--players", "2", "--time", "1s", "--warm", "1s"),
		"own corrections a minute")
	contains(o.try(0, "lab", "bandwidth", "--quick", "--clients", "1,2", "--bytes-only"),
		"a client's commands to its server")
	contains(o.try(0, "lab", "mirrors", "--minutes", "0.02", "--alone", "--players", "1",
		"--mirrors", "2"), "settled")
	contains(o.try(0, "codec", "play", "--players", "4", "--seconds", "2", "--out", "tanks.tables"),
		" bytes for Tank, Shell, Round")
}

// betweenPeers plays between two programs, without a server, and shows two in a page.
func (o *outside) betweenPeers() {
	o.t.Helper()
	command := func(_ context.Context, args ...string) *exec.Cmd {
		cmd := o.command(o.program, args...)
		cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+o.dir)
		return cmd
	}
	ann := startPeer(o.t, command, "host", "--json", "--listen", "127.0.0.1:0")
	bob := startPeer(o.t, command, "join", ann.invitation(), "--json", "--listen", "127.0.0.1:0")
	bob.settles(2)
	ann.settles(1)
	sameMarks(o.t, 1, ann, bob)
	bob.leave()
	ann.leave()
	cmd := o.command(o.program, "demo", "--peers", "2", "--port", "0", "--no-open")
	out, err := cmd.StdoutPipe()
	if err != nil {
		o.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	said := follow(out)
	line := said.plain("the game is at ")
	at := strings.Fields(strings.TrimPrefix(line, "the game is at ") + " none")[0]
	if code, text := get(o.t, at); code != http.StatusOK || !strings.Contains(text, "peers.js") {
		o.t.Errorf("%d: %s", code, text)
	}
	_ = cmd.Process.Signal(os.Interrupt)
	said.end()
	if err := cmd.Wait(); err != nil {
		o.t.Error(err)
	}
}

// demo runs the demo, which compiles the program itself for the browser, until the page can fetch
// it, and has that file used.
func (o *outside) demo(use func(page string)) {
	o.t.Helper()
	cmd := o.command(o.program, "demo", "--port", "0", "--no-open", "--bots", "1")
	cmd.Env = append(cmd.Env, hosttest.OwnCache(o.t)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		o.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	said := follow(out)
	line := said.plain("the game is at ")
	ready := said.plain("ready after ")
	if line == "" || ready == "" {
		o.t.Fatalf("the demo does not get ready:\n%s", said)
	}
	at := strings.Fields(strings.TrimPrefix(line, "the game is at "))[0]
	if code, text := get(o.t, at); code != http.StatusOK ||
		!strings.Contains(text, "<span>tanks</span>") {
		o.t.Errorf("%d: %s", code, text)
	}
	code, client := get(o.t, at+"client.wasm")
	if code != http.StatusOK {
		o.t.Fatalf("the client: %d", code)
	}
	page := filepath.Join(o.dir, "client.wasm")
	if err := os.WriteFile(page, []byte(client), 0o666); err != nil {
		o.t.Fatal(err)
	}
	use(page)
	_ = cmd.Process.Signal(os.Interrupt)
	said.end()
	if err := cmd.Wait(); err != nil {
		o.t.Error(err)
	}
}
