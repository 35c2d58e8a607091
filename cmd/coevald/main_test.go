package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// try runs a command line.
func try(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = program.Run(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// TestStoreCommands goes through all of them, with what they refuse.
func TestStoreCommands(t *testing.T) {
	dir := t.TempDir()
	in := strings.NewReplacer("DIR", dir)
	for _, x := range []struct {
		args           string
		code           int
		stdout, stderr string // what each must contain; empty means empty
	}{
		{"--help", 0, "\n  store ", ""},
		{"bench", 0, "coevald bench store", ""},
		{"store", 0, "coevald store backup", ""},
		{"store status", 2, "", "accepts 1 arg"},
		{"store status DIR/a.db", 1, "", "no such file"},
		{"store migrate DIR/a.db", 1, "", "no such file"},
		{"store migrate DIR/a.db --game chess", 2, "", `there is no game "chess"`},
		{"store migrate DIR/a.db --game pong", 0, "version              1\n", ""},
		{"store migrate DIR/a.db --game arena", 1, "", `it holds the game "pong", and not "arena"`},
		{"store migrate DIR/a.db", 0, "game                 pong\n", ""},
		{"store status DIR/a.db --json", 0, `"game":"pong"`, ""},
		{"store check DIR/a.db", 0, "pong: all 0 rows, of 0 schemas, would load", ""},
		{"store check DIR/a.db --json", 0, `"findings":[]`, ""},
		{"store backup DIR/a.db DIR/b", 0, "sum of all that is in it", ""},
		{"store backup DIR/a.db DIR/b", 1, "", "is there already"},
		{"store restore DIR/b DIR/a.db", 1, "", "it is not empty"},
		{"store restore DIR/none DIR/c.db", 1, "", "no such file"},
		{"store restore DIR/b DIR/c.db --json", 0, `"version":1`, ""},
		{"store status DIR/c.db", 0, "pong", ""},
		{"store status mysql://x", 1, "", "there is no such kind of database"},
		{"serve pong --store DIR/p.db", 2, "", "nothing of pong outlives its matches"},
		{"bench store --url DIR/a.db", 1, "", `it holds the game "pong", and not "storelab"`},
	} {
		code, stdout, stderr := try(strings.Fields(in.Replace(x.args))...)
		if code != x.code {
			t.Errorf("%q: exit code %d, want %d: %s", x.args, code, x.code, stderr)
		}
		for _, s := range []struct{ got, want string }{{stdout, x.stdout}, {stderr, x.stderr}} {
			if (s.want == "") != (s.got == "") || !strings.Contains(s.got, s.want) {
				t.Errorf("%q prints %q, want it to contain %q", x.args, s.got, s.want)
			}
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "p.db*")); err != nil || len(left) > 0 {
		t.Errorf("%v is there: %v", left, err)
	}
}

// TestBenchStore plays a small world, whose rows and trades are compared with the database.
func TestBenchStore(t *testing.T) {
	code, stdout, stderr := try("bench", "store", "--entities", "40", "--seconds", "1", "--trades",
		"30", "--json")
	if code != 0 || !strings.Contains(stdout, `"verified":true`) ||
		strings.Contains(stdout, `"trades":0,`) {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}
