package tokens

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
)

func tryToken(args ...string) (code int, stdout, stderr string) {
	return hosttest.NewProgram(pong.Title).Try([]*cobra.Command{Command()},
		append([]string{"token"}, args...)...)
}

func TestTokenFromKeyToInspect(t *testing.T) {
	key := filepath.Join(t.TempDir(), "server.key")
	if code, _, msg := tryToken("key", "--out", key); code != cli.ExitOK {
		t.Fatal(msg)
	}
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v %v", info.Mode(), err)
	}
	code, text, msg := tryToken("issue", "--key", key, "--game", "tanks", "--client", "42",
		"--server", "203.0.113.7:4000", "--data", "name=ada")
	if code != cli.ExitOK {
		t.Fatal(msg)
	}
	code, out, _ := tryToken("inspect", "--key", key, "--json", strings.TrimSpace(text))
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != cli.ExitOK {
		t.Fatal(code, err, out)
	}
	if *r.Client != 42 || *r.UserData != "name=ada" || r.Expired || len(r.Servers) != 1 ||
		r.Servers[0] != "203.0.113.7:4000" {
		t.Errorf("%+v", r)
	}
	code, out, _ = tryToken("inspect", strings.TrimSpace(text))
	if code != cli.ExitOK || strings.Contains(out, "ada") || !strings.Contains(out, "sealed") {
		t.Errorf("without the key: %d %s", code, out)
	}
}

func TestTokenExpired(t *testing.T) {
	key := filepath.Join(t.TempDir(), "server.key")
	if code, _, msg := tryToken("key", "--out", key); code != cli.ExitOK {
		t.Fatal(msg)
	}
	// Expiry counts in seconds, so a token for a nanosecond has expired at once.
	_, text, _ := tryToken("issue", "--key", key, "--game", "g", "--client", "1", "--for", "1ns")
	code, out, msg := tryToken("inspect", strings.TrimSpace(text))
	if code != cli.ExitFailure || !strings.Contains(msg, "coeval token issue") ||
		!strings.Contains(out, "expires") {
		t.Errorf("code %d, said %q and printed %q", code, msg, out)
	}
}

func TestTokenMistakes(t *testing.T) {
	dir := t.TempDir()
	key, other, junk := filepath.Join(dir, "a.key"), filepath.Join(dir, "b.key"),
		filepath.Join(dir, "junk")
	for _, k := range []string{key, other} {
		if code, _, msg := tryToken("key", "--out", k); code != cli.ExitOK {
			t.Fatal(msg)
		}
	}
	if err := os.WriteFile(junk, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	issue := func(args ...string) []string {
		return append([]string{"issue", "--key", key, "--game", "g", "--client", "1"}, args...)
	}
	_, text, _ := tryToken(issue()...)
	text = strings.TrimSpace(text)
	for _, tt := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"key file exists", []string{"key", "--out", key}, cli.ExitFailure, "exists"},
		{"no key file",
			[]string{"issue", "--key", filepath.Join(dir, "none"), "--game", "g", "--client", "1"},
			cli.ExitFailure, "coeval token key --out"},
		{"not a key", []string{"issue", "--key", junk, "--game", "g", "--client", "1"},
			cli.ExitFailure, "not a key"},
		{"bad address", issue("--server", "nonsense"), cli.ExitFailure, "203.0.113.7:4000"},
		{"no port", issue("--server", "203.0.113.7"), cli.ExitFailure, "203.0.113.7:4000"},
		{"no life", issue("--for", "0s"), cli.ExitUsage, "--for"},
		{"much data", issue("--data", strings.Repeat("x", 257)), cli.ExitUsage, "--data"},
		{"nothing required", []string{"issue"}, cli.ExitUsage, "required"},
		{"not a token", []string{"inspect", "hello"}, cli.ExitFailure, "coeval token issue"},
		{"cut short", []string{"inspect", text[:len(text)-9]}, cli.ExitFailure, "malformed"},
		{"other key", []string{"inspect", "--key", other, text}, cli.ExitFailure, "same key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, out, msg := tryToken(tt.args...)
			if code != tt.code || !strings.Contains(msg, tt.says) || out != "" {
				t.Errorf("code %d, said %q and printed %q; want code %d and %q", code, msg, out,
					tt.code, tt.says)
			}
		})
	}
}
