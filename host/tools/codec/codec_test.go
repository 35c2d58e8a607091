package codec_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
)

func TestTrainInspectAndUse(t *testing.T) {
	schema, frames := toolstest.Dots(t)
	tables := filepath.Join(t.TempDir(), "dots.tables")
	if err := os.WriteFile(tables, []byte("older"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout,
		stderr := toolstest.Try("codec", "train", "--schema", schema, "--out", tables, frames,
		frames)
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, tables+": ") ||
		!strings.Contains(stdout, " bytes from 120 frames, hash ") {
		t.Fatalf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	onlyFile(t, tables)

	code, stdout, stderr = toolstest.Try("codec", "inspect", "--schema", schema, tables)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, stderr %q", code, stderr)
	}
	for _, want := range []string{
		"schema       dots\n", "class        dot, 3 fields, 22 bits packed\n", "hash  "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	_, stdout, _ = toolstest.Try("codec", "inspect", "--schema", schema, tables, "--json")
	var info struct {
		Schema, Hash string
		Classes      []any
	}
	if err := json.Unmarshal([]byte(stdout), &info); err != nil || info.Schema != "dots" ||
		len(info.Hash) != 64 || len(info.Classes) != 1 {
		t.Errorf("%v: %s", err, stdout)
	}
	code, _, stderr = toolstest.Try("codec", "inspect", tables)
	if code != toolstest.ExitFailure ||
		!strings.Contains(stderr, "name theirs with --schema FILE.json") {
		t.Errorf("without its schema: exit code %d, stderr %q", code, stderr)
	}

	code, stdout,
		stderr = toolstest.Try("bench", "codec", "--schema", schema, "--frames", frames, "--tables",
		tables, "--strategy", "coeval")
	if code != 0 || !strings.Contains(stdout, "tables of coeval for dots: "+tables) ||
		strings.Contains(stdout, "raw") {
		t.Errorf("exit code %d, stderr %q, stdout\n%s", code, stderr, stdout)
	}
	code, _, stderr = toolstest.Try("bench", "codec", "--workload", "arena", "--tables", tables)
	if code != toolstest.ExitFailure || !strings.Contains(stderr, "made for another game") {
		t.Errorf("on another game: exit code %d, stderr %q", code, stderr)
	}
}

// onlyFile checks that nothing else was left in a file's folder.
func onlyFile(t *testing.T, name string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(name) {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

func TestTrainRefuses(t *testing.T) {
	schema, frames := toolstest.Dots(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "out.tables")
	if err := os.WriteFile(out, []byte("older"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args   string
		code   int
		stderr string
	}{
		{"--schema " + schema + " --out " + out, toolstest.ExitUsage, "requires at least 1 arg"},
		{"--schema " + schema + " " + frames, toolstest.ExitUsage,
			`required flag(s) "out" not set`},
		{"--out " + out + " " + frames, toolstest.ExitUsage, `required flag(s) "schema" not set`},
		{"--schema " + frames + " --out " + out + " " + frames, toolstest.ExitFailure,
			"schema " + frames + ": line 1: not a JSON file"},
		{"--schema " + schema + " --out " + out + " " + frames + " " + schema,
			toolstest.ExitFailure, "(recording 2 of 2)"},
		{"--schema " + schema + " --out " + out + " " + frames + ".not", toolstest.ExitFailure,
			frames + ".not: there is no such file"},
		{"--schema " + schema + " --out " + dir + " " + frames, toolstest.ExitFailure,
			dir + " is a folder"},
		{"--schema " + schema + " --out " + dir + "/no/such/folder " + frames,
			toolstest.ExitFailure, dir + "/no/such/folder cannot be written: "},
	} {
		code, stdout,
			stderr := toolstest.Try(append([]string{"codec", "train"},
			strings.Fields(x.args)...)...)
		if code != x.code || stdout != "" || !strings.Contains(stderr, x.stderr) {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q, want %d and %q", x.args, code, stdout,
				stderr, x.code, x.stderr)
		}
	}
	if data, err := os.ReadFile(out); err != nil || string(data) != "older" {
		t.Errorf("what was there before is now %q, %v", data, err)
	}
	onlyFile(t, out)
}

func TestTrainOnAFullDisk(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("this system has no disk that is always full")
	}
	schema, frames := toolstest.Dots(t)
	code, _, stderr := toolstest.Try("codec", "train", "--schema", schema, "--out", full, frames)
	if code != toolstest.ExitFailure ||
		!strings.Contains(stderr, full+" cannot be written: no space left on device") {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
}

func TestInspectRefuses(t *testing.T) {
	schema, frames := toolstest.Dots(t)
	for args, want := range map[string]string{
		frames: "tables " + frames +
			": codec: bad tables: this is not a tables file",
		frames + ".not":                     frames + ".not: there is no such file",
		"--schema " + schema + " " + frames: "this is not a tables file",
	} {
		code, _, stderr := toolstest.Try(append([]string{"codec", "inspect"},
			strings.Fields(args)...)...)
		if code != toolstest.ExitFailure || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, stderr %q, want %q", args, code, stderr, want)
		}
	}
}

func TestWholeFile(t *testing.T) {
	dir := t.TempDir()
	name, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(name, []byte("older"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(name, link); err != nil {
		t.Skip("this system has no links")
	}
	f, err := cli.CreateWhole(link)
	if err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(name); string(data) != "older" {
		t.Errorf("it is %q before anything was written", data)
	}
	if err := f.Commit([]byte("newer")); err != nil {
		t.Fatal(err)
	}
	f.Abandon() // too late to do harm
	if data, _ := os.ReadFile(name); string(data) != "newer" {
		t.Errorf("it is %q", data)
	}
	if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" &&
		info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it now: %v", info.Mode())
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
}

func TestCodecPlay(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	t.Parallel()
	file := filepath.Join(t.TempDir(), "crowd.tables")
	code, stdout,
		stderr := toolstest.Try("codec", "play", "crowd", "--players", "6", "--seconds", "4",
		"--out", file)
	if code != 0 || !strings.Contains(stdout, "Plaza, Avatar, Bolt, Gem, command") {
		t.Fatalf("exit code %d, %q, %q", code, stdout, stderr)
	}
	if data, err := os.ReadFile(file); err != nil ||
		!strings.HasPrefix(string(data), "coeval tables ") {
		t.Errorf("%v, %.20q", err, data)
	}
	for args, want := range map[string]string{
		"chess --out " + file:              `no game "chess"`,
		"crowd":                            `"out"`,
		"crowd --out /nonexistent/a/b":     "/nonexistent",
		"crowd --players -1 --out " + file: "--players is -1",
	} {
		if code, _, stderr := toolstest.Try(append([]string{"codec", "play"},
			strings.Fields(args)...)...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q", args, code, stderr)
		}
	}
}
