package network_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/service/dis"
	"github.com/coeval-dev/coeval/service/dis/network"
)

// heardBy is what the simulator of open-dis prints.
type heardBy struct {
	Port     int
	Type     dis.Kind
	Location struct{ X, Y, Z float64 }
	Marking  string
}

// openDIS installs the package, or skips the test: what npm can reach is for the machine to say.
func openDIS(t *testing.T) (folder string) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not here; with it the package open-dis would be talked to", tool)
		}
	}
	folder = t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--no-save",
		"--fetch-retries=0", "--ignore-scripts", "--cache", filepath.Join(folder, "cache"),
		"open-dis@1.3.6")
	cmd.Dir = folder
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("open-dis cannot be installed here: %v\n%s", err, out)
	}
	script, err := os.ReadFile("testdata/opendis.js")
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "opendis.js"), script, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// A simulator that is made with open-dis understands our PDUs, and we its, in both versions.
func TestOpenDIS(t *testing.T) {
	if testing.Short() {
		t.Skip("another program is installed and run")
	}
	folder := openDIS(t)
	for _, version := range []uint8{dis.Version6, dis.Version7} {
		t.Run("version "+strconv.Itoa(int(version)), func(t *testing.T) {
			talk(t, folder, version)
		})
	}
}

func talk(t *testing.T, folder string, version uint8) {
	n, err := network.Join(network.Options{To: "127.0.0.1:9", Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	cmd := exec.CommandContext(t.Context(), "node", "opendis.js", strconv.Itoa(int(version)),
		n.Addr().String())
	cmd.Dir = folder
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan heardBy, 1000)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			var h heardBy
			if json.Unmarshal(s.Bytes(), &h) == nil {
				lines <- h
			}
		}
	})
	defer func() {
		_ = cmd.Process.Kill() // it may have ended
		reading.Wait()
		_ = cmd.Wait()
	}()
	first, ok := <-lines
	if !ok || first.Port == 0 {
		t.Fatalf("it did not begin: %s", errs.String())
	}
	to, err := network.Join(network.Options{To: "127.0.0.1:" + strconv.Itoa(first.Port),
		Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	sender := dis.Sender{Site: 1, Application: 2, Header: dis.Header{Version: version}}
	sender.Describe(3, &dis.EntityState{Marking: dis.Mark("coeval")})
	body := reckon.Body{Pos: det.Vec3{X: 6378137, Y: 1000.25}, Facing: det.Identity}
	x := dis.NewExercise(dis.Options{Site: 1, Application: 2})
	theirs := dis.ID{Site: 77, Application: 2, Number: 3} // as its script names it
	heard, start := false, time.Now()
	for end := start.Add(time.Minute); !heard || x.Entity(theirs) == nil; {
		if time.Now().After(end) {
			t.Fatalf("understood: %v; its entity came: %v; %s", heard, x.Entity(theirs) != nil,
				errs.String())
		}
		now := time.Since(start)
		pledge, _ := sender.Move(nil, now, dis.Relative(now), 3, reckon.FPW, &body)
		if len(pledge) > 0 {
			if err := to.Send(pledge); err != nil {
				t.Fatal(err)
			}
		}
		for d, err := range n.Receive(50 * time.Millisecond) {
			if err != nil {
				t.Fatal(err)
			}
			x.Receive(time.Since(start), dis.Relative(time.Since(start)), d.Data, nil)
		}
		for len(lines) > 0 {
			h := <-lines
			heard = heard || h.Type == dis.KindEntityState && h.Location.Y == 1000.25 &&
				h.Marking == "coeval"
		}
	}
	check(t, x.Entity(theirs), time.Since(start), version)
}

// check says what is wrong with its entity.
func check(t *testing.T, e *dis.Entity, now time.Duration, version uint8) {
	t.Helper()
	if at := e.At(now).Pos; at != (det.Vec3{X: 6378137, Y: 1005.25}) {
		t.Errorf("its entity is at %v", at)
	}
	if e.Marking.String() != "coeval" || e.Version != version {
		t.Errorf("its entity is %v, version %d", e.Marking, e.Version)
	}
}
