package find_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/find"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/proxy"
	"github.com/coeval-dev/coeval/service/directory/ask"
)

// freePort is one that nobody has, over UDP and TCP.
func freePort(t *testing.T) int {
	t.Helper()
	for range 20 {
		c, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := c.LocalAddr().(*net.UDPAddr).Port
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		_ = c.Close()
		if err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// far puts a network in front of a port, with so long a way in each direction, and gives the
// address behind which it is.
func far(t *testing.T, port int, way time.Duration) string {
	t.Helper()
	p, err := proxy.New(proxy.Options{Listen: "127.0.0.1:0", To: fmt.Sprintf("127.0.0.1:%d", port),
		Conditions: netsim.Both(netsim.Profile{Latency: way}), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.Run(ctx); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return p.Addr().String()
}

// listed waits until a directory lists so many places: a list may be a moment old.
func listed(t *testing.T, directory string, places int) {
	t.Helper()
	c, err := ask.New(directory, nil)
	if err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		list, err := c.Entries(t.Context(), ask.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for i := range list {
			n += len(list[i].Places)
		}
		if n == places {
			return
		}
		if time.Since(begin) > patience {
			t.Fatalf("%d places are listed, and not %d: %+v", n, places, list)
		}
	}
}

// patience is when a test gives up on something that should have happened long ago.
const patience = 90 * time.Second

// found runs find --json.
func found(t *testing.T, p host.Program, args ...string) (r find.Report, joined map[string]any) {
	t.Helper()
	code, out, errs := try(t, p, append([]string{"find", "--json"}, args...)...)
	if code != 0 {
		t.Fatalf("%v: %d %s", args, code, errs)
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	joined, _ = r.Joined.(map[string]any)
	return r, joined
}

// names are those of the servers, in order.
func names(r find.Report) string {
	var list []string
	for _, s := range r.Servers {
		list = append(list, s.Name)
	}
	return strings.Join(list, ",")
}

// TestFindsAndJoins: a real directory lists real servers, one of them far away. The nearest is
// first, and played on; when it is gone the other is.
func TestFindsAndJoins(t *testing.T) {
	t.Parallel()
	d := aDirectory(t)
	port := freePort(t)
	_, end := aServer(t, d, "near", "--region", "eu", "--tag", "fast")
	aServer(t, d, "far", "--region", "us", "--listen", fmt.Sprintf("127.0.0.1:%d", port),
		"--public", far(t, port, 40*time.Millisecond))
	listed(t, d, 2)
	r, _ := found(t, several, "--directory", d)
	if names(r) != "near,far" || r.Servers[0].Hindrance != "" {
		t.Fatalf("%+v", r)
	}
	for i, s := range r.Servers {
		if s.Trip == nil || s.Trip.Probes < 1 || i == 1 && s.Trip.RTT < 80 || len(s.Places) != 1 {
			t.Errorf("%s: %+v", s.Name, s.Trip)
		}
	}
	for args, want := range map[string]string{
		"--sort name": "far,near", "--region us": "far", "--tag fast": "near", "--room": "near,far",
		"--search FA": "far", "--limit 1": "near",
	} {
		r, _ := found(t, one, append(strings.Fields(args), "--directory", d)...)
		if names(r) != want {
			t.Errorf("%s: %s", args, names(r))
		}
	}
	code, out, _ := try(t, one, "find", "--directory", d)
	if code != 0 || !strings.Contains(out, "near") || !strings.Contains(out, " ms") ||
		len(strings.Split(strings.TrimSpace(out), "\n")) != 3 {
		t.Errorf("%d %s", code, out)
	}
	play := []string{"--join", "--headless", "--seconds", "1", "--directory", d}
	_, joined := found(t, several, append(play, "pong")...)
	if trip, _ := joined["round_trip_ms"].(float64); joined["game"] != "pong" ||
		joined["snapshots"].(float64) == 0 || trip >= 80 {
		t.Errorf("%v", joined)
	}
	end()
	listed(t, d, 1)
	r, joined = found(t, one, play...)
	if trip, _ := joined["round_trip_ms"].(float64); names(r) != "far" || trip < 80 {
		t.Errorf("%s %v", names(r), joined)
	}
	if code, _, errs := try(t, one, "find", "--directory", d, "--join"); code != 2 ||
		!strings.Contains(errs, "not a terminal") {
		t.Errorf("%d %s", code, errs)
	}
}

// TestFindAsksForATokenAtTheDirectory: a server that lets in only whom a backend sends is joined by
// a token of the directory that has its key, and not where nobody has it.
func TestFindAsksForATokenAtTheDirectory(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "key")
	if code, _, errs := try(t, several, "token", "key", "--out", key); code != 0 {
		t.Fatal(errs)
	}
	with, without := aDirectory(t, "--key", key), aDirectory(t)
	aServer(t, with, "closed", "--key", key, "--take", "newest")
	aServer(t, without, "closed", "--key", key)
	listed(t, with, 1)
	listed(t, without, 1)
	_, joined := found(t, one, "--join", "--headless", "--seconds", "0.5", "--directory", with)
	if joined["snapshots"] == 0.0 || joined["game"] != "pong" {
		t.Errorf("%v", joined)
	}
	code, out, errs := try(t, one, "find", "--join", "--headless", "--directory", without)
	if code != 3 || !strings.Contains(out, "needs a token") ||
		!strings.Contains(errs, "none of these can be joined") {
		t.Errorf("%d %s%s", code, out, errs)
	}
}

// TestFindsTheNearestMirror: of a group the nearest mirror is joined.
func TestFindsTheNearestMirror(t *testing.T) {
	t.Parallel()
	d := aDirectory(t)
	key := filepath.Join(t.TempDir(), "key")
	if code, _, errs := try(t, several, "token", "key", "--out", key); code != 0 {
		t.Fatal(errs)
	}
	mirror := func(name string, args ...string) map[string]string {
		line, _ := begin(t, "listed at the directory", append([]string{"mirror", "--game", "pong",
			"--key", key, "--open", "--group", "Around", "--name", name, "--mirrors",
			"127.0.0.1:0", "--directory", d, "--drain", "0s"}, args...)...)
		return line
	}
	port, group := freePort(t), fmt.Sprintf("127.0.0.1:%d", freePort(t))
	mirror("boston", "--uber", "--listen", fmt.Sprintf("127.0.0.1:%d", port),
		"--public", far(t, port, 40*time.Millisecond), "--mirrors", group)
	mirror("paris", "--join", group, "--listen", "127.0.0.1:0")
	listed(t, d, 2)
	r, joined := found(t, one, "--join", "--headless", "--seconds", "1", "--directory", d)
	if names(r) != "Around" || len(r.Servers[0].Places) != 2 ||
		r.Servers[0].Places[0].Name != "paris" || r.Servers[0].Places[1].Trip.RTT < 80 {
		t.Errorf("%+v", r.Servers[0])
	}
	if trip, _ := joined["round_trip_ms"].(float64); trip >= 80 || joined["snapshots"] == 0.0 {
		t.Errorf("%v", joined)
	}
	code, out, _ := try(t, one, "find", "--directory", d)
	if code != 0 || !strings.Contains(out, "2 mirrors") || !strings.Contains(out, "  boston") {
		t.Errorf("%d %s", code, out)
	}
}
