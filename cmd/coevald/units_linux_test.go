package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// units is where the units of systemd are.
const units = "../../deploy/systemd"

// A unit is what a file of systemd says: for each name all values, in order. An instance is what
// stands behind the @.
type unit struct {
	file, instance string
	values         map[string][]string
}

// readUnit reads a unit and fills in what systemd would, with folders below a root.
func readUnit(t *testing.T, file, instance, root string) *unit {
	t.Helper()
	f, err := os.Open(filepath.Join(units, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fill := strings.NewReplacer("%%", "%", "%i", instance, "%S", filepath.Join(root, "var/lib"),
		"%d", filepath.Join(root, "credentials"), "/etc/", filepath.Join(root, "etc")+"/")
	u := &unit{file, instance, map[string][]string{}}
	for s := bufio.NewScanner(f); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		name, value, ok := strings.Cut(line, "=")
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "[") {
			continue
		}
		if !ok {
			t.Fatalf("%s: %s", file, line)
		}
		u.values[name] = append(u.values[name], fill.Replace(value))
	}
	return u
}

// one is the value of a name that has one.
func (u *unit) one(t *testing.T, name string) string {
	t.Helper()
	if list := u.values[name]; len(list) == 1 {
		return list[0]
	}
	t.Fatalf("%s: %s=%q", u.file, name, u.values[name])
	return ""
}

// restarts says whether systemd would start a program anew that has ended with a code.
func (u *unit) restarts(t *testing.T, code int) bool {
	t.Helper()
	if how := u.one(t, "Restart"); how != "on-failure" {
		t.Fatalf("%s: Restart=%s", u.file, how)
	}
	prevented := strings.Fields(u.one(t, "RestartPreventExitStatus"))
	return code != 0 && !slices.Contains(prevented, strconv.Itoa(code))
}

// TestUnitsAreWell: systemd finds nothing to complain about, and what it calls the exposure of each
// is low. What the program is told about time fits what systemd is.
func TestUnitsAreWell(t *testing.T) {
	analyze := need(t, "systemd-analyze", "systemd")
	files, err := filepath.Glob(filepath.Join(units, "*.service"))
	if err != nil || len(files) != 5 {
		t.Fatalf("%v, %v", files, err)
	}
	dir := t.TempDir()
	program, err := exec.LookPath("true") // what the units start need not be there
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.NewReplacer("/usr/local/bin/coevald", program, "/usr/local/bin/coeval",
			program)
		to := filepath.Join(dir, strings.Replace(filepath.Base(name), "@", "@pong", 1))
		if err := os.WriteFile(to, []byte(words.Replace(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(analyze, "verify", to).CombinedOutput(); err != nil ||
			len(out) > 0 {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		if out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=16",
			to).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		u := readUnit(t, filepath.Base(name), "pong", dir)
		for code, want := range map[int]bool{0: false, 1: true, 2: false} {
			if got := u.restarts(t, code); got != want {
				t.Errorf("%s: started anew after exit code %d: %t", name, code, got)
			}
		}
		limit, err := time.ParseDuration(u.one(t, "TimeoutStopSec"))
		if drain := u.drain(t); err != nil || limit < drain+10*time.Second {
			t.Errorf("%s: %v to drain, and %v until it is killed: %v", name, drain, limit, err)
		}
	}
}

// drain is what the line says that starts the program.
func (u *unit) drain(t *testing.T) time.Duration {
	t.Helper()
	words := strings.Fields(u.one(t, "ExecStart"))
	i := slices.Index(words, "--drain")
	if i < 0 {
		return 0
	}
	d, err := time.ParseDuration(words[i+1])
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestUnitsOfAGame: the two units of which one takes the place of the other differ by their names
// alone.
func TestUnitsOfAGame(t *testing.T) {
	a := readUnit(t, "coeval-serve@.service", "pong", "/")
	b := readUnit(t, "coeval-upgrade@.service", "pong", "/")
	delete(a.values, "Description")
	delete(b.values, "Description")
	if len(a.values) != len(b.values) {
		t.Error("one says more than the other")
	}
	for name, x := range a.values {
		if !slices.Equal(x, b.values[name]) {
			t.Errorf("%s: %q and %q", name, x, b.values[name])
		}
	}
}

// TestUnitsUser: systemd makes the user that the units name.
func TestUnitsUser(t *testing.T) {
	sysusers := need(t, "systemd-sysusers", "systemd")
	root, err := filepath.Abs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs(filepath.Join(units, "coeval.sysusers"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(sysusers, "--root", root, file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	passwd, err := os.ReadFile(filepath.Join(root, "etc/passwd"))
	user := readUnit(t, "coeval-serve@.service", "pong", "/").one(t, "User")
	if err != nil || !strings.Contains("\n"+string(passwd), "\n"+user+":") {
		t.Errorf("no user %s: %v\n%s", user, err, passwd)
	}
}

// need finds a program, or ends the test: by skipping it, but where nothing may be left out, by
// failing it.
func need(t *testing.T, program, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatalf("%s is not installed (package %s)", program, pkg)
	case err != nil:
		t.Skipf("%s is not installed (package %s)", program, pkg)
	}
	return path
}
