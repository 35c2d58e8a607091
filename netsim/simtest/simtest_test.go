package simtest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/netsim"
)

func TestEnvironmentChoosesSeeds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bug.txt")
	if err := os.WriteFile(file, []byte("seed 9\nexact\npause a\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	good := filepath.Join(t.TempDir(), "good.txt")
	if err := os.WriteFile(good, []byte("seed 9\nexact\nat 1s pause a\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key, value string
		seeds      []uint64
		err        string
	}{
		{"", "", []uint64{0, 1, 2}, ""},
		{"NETSIM_SEEDS", "2", []uint64{0, 1}, ""},
		{"NETSIM_SEEDS", "many", nil, "NETSIM_SEEDS"},
		{"NETSIM_SEED", "41", []uint64{41}, ""},
		{"NETSIM_SEED", "-1", nil, "NETSIM_SEED"},
		{"NETSIM_SCRIPT", good, []uint64{9}, ""},
		{"NETSIM_SCRIPT", file, nil, "line 3"},
		{"NETSIM_SCRIPT", file + "x", nil, "no such file"},
	} {
		env := func(key string) string {
			if key == c.key {
				return c.value
			}
			return ""
		}
		var seeds []uint64
		err := explore(t, env, 3, func(n *netsim.Net) error {
			n.Endpoint("a")
			seeds = append(seeds, n.Seed())
			return nil
		})
		if len(seeds) != len(c.seeds) || len(seeds) > 0 &&
			seeds[len(seeds)-1] != c.seeds[len(seeds)-1] {
			t.Errorf("%s=%s: seeds %v, want %v", c.key, c.value, seeds, c.seeds)
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s=%s: %v, want %q", c.key, c.value, err, c.err)
		}
	}
}

func TestRunReportsFailures(t *testing.T) {
	none := func(string) string { return "" }
	bad := errors.New("bad")
	if err := explore(t, none, 3, func(*netsim.Net) error { return bad }); !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
}
