package host

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestWorldOutside: a game of someone else runs as one world on several servers, by a program of
// five lines and one import more.
func TestWorldOutside(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("it builds a program, and interrupts it")
	}
	dir := t.TempDir()
	o := &outside{t: t, dir: dir, program: filepath.Join(dir, "world")}
	if err := os.CopyFS(dir, os.DirFS("testdata/outside")); err != nil {
		t.Fatal(err)
	}
	o.module("example.com/tanks")
	o.build("./cmd/world", o.program)
	cmd := o.command(o.program, "cluster", "up", "tanks", "--zones", "2", "--servers", "3",
		"--bots", "3", "--buddies")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(300 * time.Millisecond) {
		zones, players, said := o.world()
		if zones == 2 && players >= 3 {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("the world has ended: %v\n%s", err, &out)
		default:
		}
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			<-ended
			t.Fatalf("%d zones are stepped, with %d players: %s\n%s", zones, players, said, &out)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
}

// world asks how many zones of the world are stepped, and for how many players.
func (o *outside) world() (zones, players int, said []byte) {
	said, _ = o.command(o.program, "cluster", "status", "--json").CombinedOutput()
	var s struct {
		Zones []struct {
			Server  string
			Players int
		}
	}
	if json.Unmarshal(said, &s) != nil {
		return 0, 0, said // there is none yet
	}
	for _, z := range s.Zones {
		if z.Server != "" && z.Server != "0" {
			zones++
			players += z.Players
		}
	}
	return zones, players, said
}
