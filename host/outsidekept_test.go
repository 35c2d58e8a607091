package host

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/hosttest"
)

// TestAGameOutsideIsKept: a game in a module of its own is kept in a folder and in a database, by
// one import more, and operators see it. What is declared beside its class survives a restart, and
// another world with the same database.
func TestAGameOutsideIsKept(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("it builds programs, and interrupts them")
	}
	o := &outside{t: t, dir: t.TempDir()}
	o.program = filepath.Join(o.dir, "garage.program")
	if err := os.Mkdir(filepath.Join(o.dir, "garage"), 0o777); err != nil {
		t.Fatal(err)
	}
	// They have another ending as they are of another module.
	for name, from := range map[string]string{"main.go": "main.go.txt",
		"garage/garage.go": "garage.go.txt"} {
		text, err := os.ReadFile(filepath.Join("testdata/garage", from))
		if err != nil {
			t.Fatal(err)
		}
		o.write(name, string(text))
	}
	o.module("example.com/cars")
	o.build(".", o.program)
	o.try(0, "token", "key", "--out", "garage.key")
	o.try(0, "admin", "token", "make", "--dir", "admin", "--role", "operate", "--name", "ada",
		"--out", "ada.token")
	for i, life := range []struct {
		folder string
		on     bool // with a world that was kept there
		drive  bool
	}{{"kept", false, true}, {"kept", true, false}, {"other", false, false}} {
		line, _, stop := o.begin("serve", "--listen", "127.0.0.1:0", "--key", "garage.key",
			"--keep", life.folder, "--store", "garage.db", "--admin", "127.0.0.1:0", "--admin-dir",
			"admin")
		at := line["http"].(string)
		if got := strings.Contains(o.log.String(), "going on with the game that was kept"); got !=
			life.on {
			t.Errorf("life %d goes on with a world: %t", i, got)
		}
		operators, _ := o.log.await("operators are answered", 0)
		leave := o.drives(at, i, life.drive)
		out := o.try(0, "admin", "players", "--json", "--token-file", "ada.token", "--server",
			"http://"+operators["admin"].(string))
		if !strings.Contains(out, `"client":"7"`) {
			t.Errorf("operators do not see who is there: %s", out)
		}
		leave()
		stop()
	}
	if out := o.try(0, "store", "check", "garage.db"); !strings.Contains(out, "garage: all") {
		t.Errorf("store check: %s", out)
	}
	if out := o.try(0, "keep", "list", "kept"); !strings.Contains(out, "garage") {
		t.Errorf("keep list: %s", out)
	}
}

// drives has the player's car drive, or stand, until it is seen to have come far, and gives what
// has the player leave.
func (o *outside) drives(at string, life int, drive bool) (leave func()) {
	o.t.Helper()
	token := strings.TrimSpace(o.try(0, "token", "issue", "--key", "garage.key", "--game", "garage",
		"--client", "7", "--for", "1h"))
	sees := filepath.Join(o.dir, fmt.Sprint("sees", life))
	cmd := o.command(o.program, "join", at, "--headless", "--token", token)
	if cmd.Env = append(cmd.Env, "GARAGE_SEES="+sees); drive {
		cmd.Env = append(cmd.Env, "GARAGE_DRIVE=1")
	}
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	hosttest.WaitUntil(o.t, "the car has come far", func() bool {
		text, _ := os.ReadFile(sees)
		return string(text) == "30"
	})
	return func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 130 {
			o.t.Error(err)
		}
	}
}
