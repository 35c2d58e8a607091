package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// A platform is a way to run a Go program on a processor, real or not.
type platform struct {
	name string
	env  []string
	run  func(t *testing.T) []string // what stands before the program on the command line
}

// platforms lists what this machine may run, its own first.
func platforms() []platform {
	direct := func(*testing.T) []string { return nil }
	ps := []platform{{"here", nil, direct}, {"wasm", []string{"GOOS=js", "GOARCH=wasm"}, func(t *testing.T) []string {
		node := needProgram(t, "node", "Node.js")
		root, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			t.Fatal(err)
		}
		return []string{node, filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec_node.js")}
	}}}
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		ps = append(ps, platform{"amd64 v3", []string{"GOARCH=amd64", "GOAMD64=v3"}, func(t *testing.T) []string {
			if info, _ := os.ReadFile("/proc/cpuinfo"); !bytes.Contains(info, []byte(" fma ")) {
				t.Skip("this processor has no fused multiply-add")
			}
			return nil
		}})
	}
	if runtime.GOOS == "linux" && runtime.GOARCH != "arm64" {
		ps = append(ps, platform{"arm64", []string{"GOARCH=arm64"}, func(t *testing.T) []string {
			return []string{needProgram(t, "qemu-aarch64", "QEMU's user emulation (Debian: qemu-user)")}
		}})
	}
	return ps
}

// needProgram finds a program, or ends the test: by skipping it, but on the project's own machines, where CI=true is set, by failing it.
func needProgram(t *testing.T, program, what string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		const msg = "%s is not installed, so %s is not tried; install %s"
		if os.Getenv("CI") == "true" {
			t.Fatalf(msg, program, t.Name(), what)
		}
		t.Skipf(msg, program, t.Name(), what)
	}
	return path
}

// TestReplayEverywhere repeats matches on every platform there is, and compares the hash of each tick with what was recorded here.
func TestReplayEverywhere(t *testing.T) {
	ticks := 600
	if testing.Short() {
		ticks = 60
	}
	type match struct{ game, file, want string }
	var matches []match
	for _, g := range []*world.Game{stack.Game, pong.Game} {
		var want strings.Builder
		data, _ := recordGame(t, g, ticks, trace.Options{StateEvery: 100}, nil)
		r, err := trace.Open(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		res, err := trace.Replay(g, r, trace.ReplayOptions{Each: func(w *world.World, _ *trace.Record) error {
			fmt.Fprintf(&want, "%d %016x\n", w.Tick(), w.Hash())
			return nil
		}})
		if err != nil || res.Mismatch != nil || int(res.Last) != ticks {
			t.Fatalf("%+v %v", res, err)
		}
		matches = append(matches, match{g.Name(), save(t, data)[0], want.String()})
	}
	for _, p := range platforms() {
		t.Run(p.name, func(t *testing.T) {
			command := p.run(t)
			program := filepath.Join(t.TempDir(), "replayhash")
			build := exec.Command("go", "build", "-o", program, "./internal/replayhash")
			build.Env = append(append(os.Environ(), "CGO_ENABLED=0"), p.env...)
			if msg, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, msg)
			}
			for _, m := range matches {
				args := append(append(command[:len(command):len(command)], program), m.file)
				var stderr bytes.Buffer
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Stderr = &stderr
				got, err := cmd.Output()
				if err != nil {
					t.Errorf("%s: %v\n%s", m.game, err, &stderr)
				}
				a, b := strings.Split(string(got), "\n"), strings.Split(m.want, "\n")
				for i := range b {
					if i >= len(a) || a[i] != b[i] {
						t.Errorf("%s: %q, and here %q", m.game, strings.Join(a[min(i, len(a)):min(i+1, len(a))], ""), b[i])
						break
					}
				}
			}
		})
	}
}
