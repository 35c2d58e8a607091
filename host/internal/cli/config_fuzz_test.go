package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// FuzzConfigure: a file of settings and an environment that hold anything. What is accepted says
// what the file says, the environment goes before the file and the command line before both, and
// what is refused is refused as a mistake of whoever wrote it.
func FuzzConfigure(f *testing.F) {
	f.Add([]byte("players = 16\n# a comment\nhost = a\nhost = b\n"), "", false)
	f.Add([]byte("players = many"), "7", true)
	f.Add([]byte("keep=\x00\n=\nconfig = x"), "-1", false)
	f.Add([]byte("open = true\nkeep = 1m30s"), "x", true)
	f.Fuzz(func(t *testing.T, file []byte, value string, given bool) {
		name := filepath.Join(t.TempDir(), "serve.conf")
		if err := os.WriteFile(name, file, 0o600); err != nil {
			t.Fatal(err)
		}
		flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
		config := flags.String("config", "", "")
		players := flags.Int("players", 64, "")
		keep := flags.Duration("keep", time.Minute, "")
		open := flags.Bool("open", false, "")
		hosts := flags.StringSlice("host", nil, "")
		if given {
			if err := flags.Parse([]string{"--keep", "3s"}); err != nil {
				t.Fatal(err)
			}
		}
		err := Configure(flags, name, func(key string) (string, bool) {
			return value, key == "COEVAL_PLAYERS" && value != ""
		})
		var usage UsageError
		if err != nil {
			if !errors.As(err, &usage) && !strings.Contains(err.Error(), "config:") {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if given && *keep != 3*time.Second {
			t.Fatalf("the command line says 3s, and it is %v", *keep)
		}
		if *config != "" {
			t.Fatal("a file of settings names another")
		}
		lines, err := parseConfig(name, strings.NewReader(string(file)))
		if err != nil {
			t.Fatal(err)
		}
		said := map[string]int{}
		for _, l := range lines {
			said[l.name]++
		}
		if value == "" && said["players"] == 0 && *players != 64 || said["open"] == 0 && *open ||
			said["host"] == 0 && len(*hosts) > 0 {
			t.Fatalf("what nobody said was set: %d, %v, %v", *players, *open, *hosts)
		}
	})
}
