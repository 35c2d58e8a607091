package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// keepJSON runs a command of keep, which must succeed, and gives its JSON.
func keepJSON(t *testing.T, args ...string) map[string]any {
	t.Helper()
	code, out, errs := hill(append(append([]string{"keep"}, args...), "--json")...)
	answer := map[string]any{}
	if err := json.Unmarshal([]byte(out), &answer); code != 0 || err != nil {
		t.Fatalf("keep %v: exit code %d: %v: %s%s", args, code, err, out, errs)
	}
	return answer
}

// keepRefuses runs a command of keep, which must say why not.
func keepRefuses(t *testing.T, want int, says string, args ...string) {
	t.Helper()
	code, out, errs := hill(append([]string{"keep"}, args...)...)
	if code != want || !strings.Contains(errs, says) || strings.Contains(errs, "{program}") {
		t.Errorf("keep %v: exit code %d, want %d and %q: %s%s", args, code, want, says, out, errs)
	}
}

// TestKeepCommands: a game is backed up while it is played, and gone on with from a backup, or from
// a moment before, as it was there.
func TestKeepCommands(t *testing.T) {
	t.Parallel() // it mostly waits
	tmp := t.TempDir()
	at := func(name string) string { return filepath.Join(tmp, name) }
	s := startHill(t, at("admin"), "serve", "--keep", at("kept"), "--flush", "tick",
		"--keep-every", "1s", "--keep-history", "1h")
	ada := visitHill(t, s.http, "ada")
	s.log.await("joined", 0)
	var early float64
	for ; keptTick(t, s.http) < early+150; time.Sleep(5 * time.Millisecond) {
		if early == 0 {
			early = keptTick(t, s.http) + 60 // she is there by then
		}
	}
	durable := keptTick(t, s.http)
	file := keepJSON(t, "backup", at("kept"), at("monday.tar"))
	folder := keepJSON(t, "backup", at("kept"), at("monday"))
	past := keepJSON(t, "restore", at("kept"), at("past"), "--to", fmt.Sprint(early))
	if file["tick"].(float64) < durable || folder["tick"].(float64) < file["tick"].(float64) ||
		past["tick"].(float64) != early || past["seats"].(float64) != 1 {
		t.Errorf("tick %v was durable: %v, %v; asked for tick %v: %v", durable, file, folder,
			early, past)
	}
	if info, err := os.Stat(at("monday.tar")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others can read the key in it: %v, %v", info, err)
	}
	keepRefuses(t, 1, "is not empty", "restore", at("monday.tar"), at("kept"))
	keepRefuses(t, 1, "is there already", "backup", at("kept"), at("monday.tar"))
	list := keepJSON(t, "list", at("kept"))
	if n := len(list["chapters"].([]any)); n < 3 || list["game"] != "hill" ||
		fmt.Sprint(list["seats"]) != "[1 ada]" {
		t.Errorf("with a history of all: %v", list)
	}
	if c := keepJSON(t, "check", "--all", at("kept")); c["computed"].(float64) < 3 {
		t.Errorf("%v", c)
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // it was killed
	ada.leaves(t)
	keepJSON(t, "restore", at("monday.tar"), at("new"))
	for name, want := range map[string]any{"new": file["tick"], "past": early,
		"monday": folder["tick"]} {
		again := startHill(t, at("admin"), "serve", "--keep", at(name))
		went, _ := again.log.await("going on with the game that was kept", 0)
		if went["tick"] != want || went["seats"] != 1.0 {
			t.Errorf("%s goes on with %v, want tick %v", name, went, want)
		}
		again.admin("shutdown")
		again.ended()
	}
	keepMistakes(t, at)
}

// keepMistakes: what is no backup, is damaged, or has not that moment is refused, and leaves
// nothing.
func keepMistakes(t *testing.T, at func(string) string) {
	t.Helper()
	good, err := os.ReadFile(at("monday.tar"))
	if err != nil {
		t.Fatal(err)
	}
	mark := []byte("chapter-000000000001.trace")
	damaged := bytes.Clone(good)
	damaged[bytes.Index(damaged, mark)+700] ^= 1 // in the world that its first chapter begins with
	for name, text := range map[string][]byte{"damaged.tar": damaged, "short.tar": good[:1000],
		"letter.tar": []byte("dear Ada")} {
		if err := os.WriteFile(at(name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		code int
		says string
		args []string
	}{
		{1, "there is no", []string{"list", at("nowhere")}},
		{1, "no backup of a kept game", []string{"list", at("letter.tar")}},
		{1, "", []string{"restore", at("short.tar"), at("x")}},
		{1, "hill keep restore", []string{"check", "--all", at("damaged.tar")}},
		{1, "nothing of that moment", []string{"restore", at("new"), at("x"), "--to", "25h ago"}},
		{2, "--to is", []string{"restore", at("new"), at("x"), "--to", "yesterday"}},
		{2, "name a folder", []string{"restore", at("monday.tar"), at("x.tar")}},
		{1, "name the folder", []string{"backup", at("admin"), at("x")}},
	} {
		keepRefuses(t, x.code, x.says, x.args...)
	}
	for _, name := range []string{"x", "x.tar"} {
		if _, err := os.Lstat(at(name)); !os.IsNotExist(err) {
			t.Errorf("%s was left behind: %v", name, err)
		}
	}
}
