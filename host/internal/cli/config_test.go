package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestSettingsFromAnywhere: the command line goes before the environment, and that before the file.
func TestSettingsFromAnywhere(t *testing.T) {
	name := filepath.Join(t.TempDir(), "serve.conf")
	if err := os.WriteFile(name,
		[]byte("# a comment\n\nplayers = 3\nsnapshots= 30\n level =  a b \nhost = x\nhost = y\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	var players, snapshots, workers int
	var level, config string
	var hosts []string
	f := pflag.NewFlagSet("x", pflag.ContinueOnError)
	f.IntVar(&players, "players", 1, "")
	f.IntVar(&snapshots, "snapshots", 1, "")
	f.IntVar(&workers, "max-workers", 1, "")
	f.StringVar(&level, "level", "", "")
	f.StringVar(&config, "config", "", "")
	f.StringSliceVar(&hosts, "host", []string{"localhost"}, "")
	if err := f.Parse([]string{"--snapshots", "10"}); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"COEVAL_CONFIG": name, "COEVAL_PLAYERS": "2", "COEVAL_SNAPSHOTS": "99",
		"COEVAL_MAX_WORKERS": "4"}
	if err := Configure(f, config,
		func(k string) (string, bool) { v, ok := env[k]; return v, ok }); err != nil {
		t.Fatal(err)
	}
	if players != 2 || snapshots != 10 || workers != 4 || level != "a b" ||
		strings.Join(hosts, " ") != "x y" {
		t.Errorf("players %d, snapshots %d, workers %d, level %q, hosts %v", players, snapshots,
			workers, level, hosts)
	}
	env["COEVAL_PLAYERS"] = "few"
	f.Lookup("players").Changed = false
	if err := Configure(f, config,
		func(k string) (string, bool) { v, ok := env[k]; return v, ok }); err == nil ||
		!strings.Contains(err.Error(), "COEVAL_PLAYERS") {
		t.Errorf("%v", err)
	}
}
