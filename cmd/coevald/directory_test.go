package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/games/pong"
)

// In a process that this is set for, the test binary stands in for the program.
const asProgram = "COEVAL_TEST_AS_COEVALD"

func init() {
	if os.Getenv(asProgram) != "" {
		for i, t := range program.Titles {
			if t == pong.Title {
				program.Titles[i] = quick()
			}
		}
		os.Exit(program.Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
}

// start runs the program, and gives the first line of its log with a message.
func start(t *testing.T, message string, args ...string) (*exec.Cmd, map[string]any) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.WaitDelay = 10 * time.Second
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		line := map[string]any{}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line["msg"] == message {
			go func() { _, _ = io.Copy(io.Discard, pipe) }() // until the process ends
			return cmd, line
		}
	}
	t.Fatalf("%v never says %q: %v", args, message, cmd.Wait())
	return nil, nil
}

// listed waits until a list has, or has not, a name.
func listed(t *testing.T, at, name string, want bool) {
	t.Helper()
	for t.Context().Err() == nil {
		if r, err := http.Get("http://" + at + "/directory/v1/entries?game=pong"); err == nil {
			text, err := io.ReadAll(r.Body)
			_ = r.Body.Close()
			if err == nil && strings.Contains(string(text), name) == want {
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestDirectoryProcess: a server is a process that is listed by a directory, which is another. The
// directory is killed, and lists the server when it is back; the server goes, and is listed no
// more.
func TestDirectoryProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	store := filepath.Join(t.TempDir(), "d.db")
	run := func(listen string) (*exec.Cmd, string) {
		cmd, line := start(t, "listing", "directory", "--json", "--store", store, "--listen",
			listen)
		return cmd, line["http"].(string)
	}
	dir, at := run("127.0.0.1:0")
	game, line := start(t, "listed at the directory", "serve", "pong", "--log", "json", "--listen",
		"127.0.0.1:0", "--directory", "http://"+at, "--name", "Friday night")
	if line["udp"] == "" {
		t.Errorf("%v", line)
	}
	listed(t, at, "Friday night", true)
	if err := dir.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = dir.Wait() // it was killed
	dir, _ = run(at)
	listed(t, at, "Friday night", true)
	if err := game.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := game.Wait(); err != nil {
		t.Error(err)
	}
	listed(t, at, "Friday night", false)
	if err := dir.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := dir.Wait(); err != nil {
		t.Error(err)
	}
}

// TestBenchDirectory: the benchmark starts this program as a directory, loads it, and finds all
// that it has registered.
func TestBenchDirectory(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	t.Setenv(asProgram, "1")
	code, stdout, stderr := try("bench", "directory", "--servers", "60", "--seconds", "1",
		"--queries", "50", "--listeners", "5", "--datagrams", "2000", "--changing", "100", "--json",
		"--url", filepath.Join(t.TempDir(), "d.db"))
	var r struct {
		Databases []struct {
			Database            string
			Registered, Queries int
			Alive, Failed       int
			Flood               struct {
				Sent, Honest int
				In           int `json:"bytes_in"`
				Out          int `json:"bytes_out"`
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil ||
		len(r.Databases) != 1 {
		t.Fatalf("%d %s %s %v", code, stdout, stderr, err)
	}
	d := r.Databases[0]
	if d.Database != "SQLite" || d.Registered != 60 || d.Queries != 50 || d.Alive == 0 ||
		d.Failed != 0 || d.Flood.Sent != 2000 || d.Flood.Honest == 0 || d.Flood.In == 0 ||
		d.Flood.Out == 0 || d.Flood.Out > d.Flood.In {
		t.Errorf("%s", stdout)
	}
	code, _, stderr = try("bench", "directory", "--url", "mysql://x")
	if code != 1 || !strings.Contains(stderr, "no such kind of database") {
		t.Errorf("%d %s", code, stderr)
	}
}
