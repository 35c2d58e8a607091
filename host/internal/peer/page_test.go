//go:build !js

package peer

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/host/internal/relays"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/web"
)

// relayAt runs a relay until the test ends, and says where.
func relayAt(t *testing.T, o relays.Options) string {
	t.Helper()
	o.Listen = "127.0.0.1:0"
	r, err := relays.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var ran sync.WaitGroup
	ran.Go(func() { _ = r.Run(ctx) })
	t.Cleanup(func() {
		stop()
		ran.Wait()
		_ = r.Close()
	})
	return r.HTTP()
}

// built is a folder with what looks like a game for the browser.
func built(t *testing.T) string {
	t.Helper()
	b, err := web.QuickBundle([]byte("\x00asm\x01\x00\x00\x00 and so on"), []byte("start()"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "built")
	if err := b.Save(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPageServer: the page has what it needs to found matches at the relay or to join one, may
// connect to that and nothing else, and is given to nobody who was led here by another name.
func TestPageServer(t *testing.T) {
	t.Parallel()
	relay := relayAt(t, relays.Options{WebSocket: true})
	o := &Options{Title: pong.Title, Relay: relay, Style: peers.Lockstep(), Wait: -1,
		Match: &peers.Match{Seats: 4, Start: 3, Seed: 1<<63 + 1, Grace: 90 * time.Second},
		Fill:  func(text string) string { return strings.ReplaceAll(text, "{program}", "pongs") }}
	p := &PageOptions{HTTP: "127.0.0.1:0", Hosts: []string{"play.example.org"},
		Built: os.DirFS(built(t)), Seeded: true}
	s, err := NewPageServer(t.Context(), o, p)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	hosttest.WaitUntil(t, "the game is there", func() bool { return s.Client().Bundle() != nil })
	at, fragment, _ := strings.Cut(s.Link(), "#")
	if fragment != "new" {
		t.Error(s.Link())
	}
	get := func(path, host string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "GET", at+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(b)
	}
	page, text := get("", "play.example.org")
	policy := page.Header.Get("Content-Security-Policy")
	if page.StatusCode != 200 || !strings.Contains(text, `id="lobby"`) ||
		!strings.Contains(text, "<title>coeval pong</title>") ||
		!strings.Contains(policy, " http://"+relay+" ws://"+relay+" https://127.0.0.1:* ") {
		t.Errorf("%s %q\n%s", page.Status, policy, text)
	}
	if r, _ := get("", "evil.example"); r.StatusCode != http.StatusForbidden {
		t.Errorf("by another name: %s", r.Status)
	}
	if _, text := get("client.wasm", ""); !strings.Contains(text, "asm") {
		t.Errorf("the game is %q", text)
	}
	_, text = get("match.json", "")
	var told map[string]any
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"game": "pong", "relay": "http://" + relay, "style": "lockstep", "delay": -1.0,
		"seats": 4.0, "start": 3.0, "wait": -1.0, "grace": 90000.0, "seed": "9223372036854775809",
		"command": "pongs peer join pong CODE --relay " + relay,
	} {
		if told[name] != want {
			t.Errorf("%s is %v, want %v", name, told[name], want)
		}
	}
	o.Match, o.Invitation = nil, "K7QF-3M9P-7XK2-QW9D"
	o.Watch, o.Behind = true, 2500*time.Millisecond
	if got := s.Link(); !strings.HasSuffix(got, "/#code=K7QF-3M9P-7XK2-QW9D&watch&behind=2.5") {
		t.Error(got)
	}
}

// TestPageRefuses: what stands in the way of a page is said with what to do about it.
func TestPageRefuses(t *testing.T) {
	t.Parallel()
	relay, deaf := relayAt(t, relays.Options{WebSocket: true}), relayAt(t, relays.Options{})
	blind := pong.Title.Clone()
	blind.Screen = game.Screen{}
	taken := filepath.Join(t.TempDir(), "taken")
	if err := os.MkdirAll(filepath.Join(taken, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	const code = "K7QF-3M9P-7XK2-QW9D"
	for _, x := range []struct {
		title *game.Title
		args  string
		says  string
	}{
		{pong.Title, "host --page", "--page goes with --relay"},
		{pong.Title, "host --page --mesh --relay " + relay, "does not go with --mesh"},
		{pong.Title, "host --page --bot --relay " + relay, "--bot does not go with --page"},
		{pong.Title, "host --page --relay " + deaf, "takes no browsers: start it with --websocket"},
		{pong.Title, "host --page --relay 127.0.0.1:1", "no server answers"},
		{pong.Title, "host --page --client nowhere --relay " + relay, "write it with --out"},
		{pong.Title, "host --page --tls-cert c.pem --relay " + relay, "--tls-key go together"},
		{pong.Title, "host --page --client " + built(t) + " --out " + taken + " --relay " + relay,
			"holds other files"},
		{pong.Title, "join --page --out x --relay " + relay + " " + code, "--out goes with host"},
		{pong.Title, "join --page --relay " + relay + " K7QF", "four groups"},
		{blind, "host --page --relay " + relay, "no Screen to draw with"},
	} {
		p := hosttest.NewProgram(x.title)
		exit, _, errs := p.Try([]*cobra.Command{Command(&p.Program)},
			append([]string{"peer"}, strings.Fields(x.args)...)...)
		if exit == 0 || !strings.Contains(errs, x.says) {
			t.Errorf("%s: %d %s, want %q", x.args, exit, errs, x.says)
		}
	}
}
