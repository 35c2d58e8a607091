//go:build !js

// Package toolstest is what the tests of tools share: a program with the bundled games.
package toolstest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/tools"
)

// The exit codes of programs.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitInterrupted = 130
)

// titles are the games of the program.
var titles []*game.Title

// Bundled is a program with the games that Main was given.
func Bundled() *host.Program {
	return &host.Program{Name: "coeval", Tools: tools.All, Titles: titles}
}

// Main lets the test binary stand in for the program, which some commands start again.
func Main(m *testing.M, games ...*game.Title) {
	titles = games
	if os.Getenv("COEVAL_TEST_AS_PROGRAM") != "" {
		Bundled().Main()
	}
	os.Exit(m.Run())
}

// Try runs a command line.
func Try(args ...string) (code int, stdout, stderr string) {
	return TryContext(context.Background(), args...)
}

// TryContext runs a command line, which ends with the context.
func TryContext(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Bundled().Run(ctx, args, &out, &errs)
	return code, out.String(), errs.String()
}

// Process is the program as a process, for what starts the program again.
func Process(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "COEVAL_TEST_AS_PROGRAM=1")
	return cmd
}

// Measured is what the program prints that measures something, as a process. A run in which this
// machine was too busy for what was to be measured says nothing of the program, and is tried again.
func Measured(t *testing.T, args ...string) []byte {
	t.Helper()
	for try := 1; ; try++ {
		var out, errs bytes.Buffer
		cmd := Process(t, args...)
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		if err == nil {
			return out.Bytes()
		}
		if try == 10 || !strings.Contains(errs.String(), "this machine is too busy") {
			t.Fatalf("%q: %v\n%s%s", args, err, &out, &errs)
		}
		t.Logf("try %d: %s", try, strings.TrimSpace(errs.String()))
	}
}

const dotsSchema = `{
 "name": "dots", "entities": 12, "rate_hz": 20, "base_age": 2, "skip": 2,
 "fields": [ { "name": "x", "min": 0, "max": 4095 }, { "name": "speed", "min": -50, "max": 50 }, { "name": "colour", "min": 0, "max": 4 } ],
 "classes": [ { "name": "dot", "first": 0, "count": 12 } ],
 "hints": { "position": ["x"], "velocity": ["speed"] }
}`

// Dots writes a small recording, and says where its files are.
func Dots(t *testing.T) (schema, frames string) {
	t.Helper()
	var data []byte
	for n := range 60 {
		for e := range 12 {
			speed := (e*7+n/10)%41 - 20
			for _, v := range []int{2048 + n*speed, speed, (n + e) / 16 % 5} {
				data = binary.LittleEndian.AppendUint32(data, uint32(v))
			}
		}
	}
	dir := t.TempDir()
	schema, frames = filepath.Join(dir, "dots.json"), filepath.Join(dir, "dots.bin")
	if err := errors.Join(os.WriteFile(schema, []byte(dotsSchema), 0o600),
		os.WriteFile(frames, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	return schema, frames
}
