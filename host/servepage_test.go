package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/web"
)

// builtClient is a folder with what looks like a game for the browser.
func builtClient(t *testing.T) string {
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

// askServer asks a server something, with pairs of headers; Host among them is the name asked for.
func askServer(t *testing.T, method, url string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// TestServePage: a server with a page gives it, its client and a way in to browsers that ask by one
// of its names, and nothing to pages from elsewhere. Programs that are no browser join as before.
func TestServePage(t *testing.T) {
	t.Parallel()
	s := serveIn(t, "pong", "--page", "--client", builtClient(t), "--host", "play.example.org")
	at := "http://" + s.HTTP
	port := s.HTTP[strings.LastIndex(s.HTTP, ":"):]
	if want := "play in a browser at http://play.example.org" + port + "/\n"; !strings.Contains(
		s.join, want) {
		t.Errorf("it says %q, want %q", s.join, want)
	}
	const evil = "http://evil.example"
	for _, x := range []struct {
		method, path string
		headers      []string
		want         int
		says         string
	}{
		{"GET", "/", nil, 200, "<title>coeval pong</title>"},
		{"GET", "/", []string{"Host", "play.example.org"}, 200, `class="play"`},
		{"GET", "/", []string{"Host", "evil.example"}, 403, "not known by that name"},
		{"GET", "/assets/play.js", nil, 200, "coevalJoin"},
		{"GET", "/client.wasm", nil, 200, "asm"},
		{"GET", "/wasm_exec.js", nil, 200, "start()"},
		{"GET", "/wasm_exec.js", []string{"Sec-Fetch-Site", "cross-site"}, 403, "another page"},
		{"POST", "/token", []string{"Origin", at}, 200, `"websocket":"/coeval"`},
		{"POST", "/token", []string{"Origin", "https://play.example.org"}, 200, "certificates"},
		{"POST", "/token", []string{"Origin", evil}, 403, "pages from elsewhere"},
		{"POST", "/token", []string{"Origin", evil, "Host", "evil.example"}, 403,
			"not known by that name"},
		{"GET", "/coeval", []string{"Origin", evil, "Connection", "Upgrade", "Upgrade",
			"websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key",
			"dGhlIHNhbXBsZSBub25jZQ=="}, 403, "evil.example"},
		{"POST", "/token", []string{"Host", "some.name"}, 200, `"token"`}, // no browser
		{"GET", "/status", []string{"X-Forwarded-For", "192.0.2.7"}, 403, "whoever runs"},
		{"GET", "/metrics", []string{"X-Forwarded-For", "192.0.2.7"}, 403, "whoever runs"},
		{"POST", "/api/network", nil, 404, ""},
		{"GET", "/api/events", nil, 404, ""},
	} {
		code, text := askServer(t, x.method, at+x.path, x.headers...)
		// The client is made ready in the background, and the page asks again until it is.
		for begin := time.Now(); code == http.StatusServiceUnavailable &&
			strings.Contains(text, "still being built") && time.Since(begin) < time.Minute; {
			time.Sleep(50 * time.Millisecond)
			code, text = askServer(t, x.method, at+x.path, x.headers...)
		}
		if code != x.want || !strings.Contains(text, x.says) {
			t.Errorf("%s %s %q: %d %.120s", x.method, x.path, x.headers, code, text)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", at+"/token", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for origin, may := range map[string]string{
		at: "", "https://play.example.org": "https://play.example.org", evil: "",
	} {
		r.Header.Set("Origin", origin)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Header.Get("Access-Control-Allow-Origin"); got != may {
			t.Errorf("a page of %s may read it: %q", origin, got)
		}
	}
	_, metrics := get(t, at+"/metrics")
	for _, why := range []string{`"other_pages"} 3`, `"origin"} 2`} {
		if !strings.Contains(metrics, why) {
			t.Errorf("the refusals have no %s", why)
		}
	}
	botsAt(t, s.HTTP, 1, 10)
}

// TestServePageWithTokens: where a backend issues tokens, the page brings one, and is told at once
// if it is not for this server.
func TestServePageWithTokens(t *testing.T) {
	t.Parallel()
	key, other := newKey(t), newKey(t)
	s, err := NewServer(pong.Title, ServeOptions{
		Listen: "127.0.0.1:0", Page: true, Client: os.DirFS(builtClient(t)),
		Keys: []token.Key{key},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil || s.Close() != nil {
			t.Error(err)
		}
	}()
	at := "http://" + s.HTTP()
	if got := s.Links(); len(got) != 1 || got[0] != at+"/" {
		t.Errorf("links %q", got)
	}
	now := time.Now().Unix()
	good := token.Grant{Protocol: token.ProtocolID("pong"), Client: 42, Issued: now,
		Expires: now + 60, Servers: []netip.AddrPort{s.Addr()}}
	issue := func(k token.Key, change func(g *token.Grant)) string {
		g := good
		change(&g)
		x, err := token.Issue(k, g, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + x.Text()
	}
	asIs := func(*token.Grant) {}
	for _, x := range []struct {
		name, brought string
		want          int
		says          string
	}{
		{"none", "", 403, "is not open"},
		{"nonsense", "Bearer coeval", 400, "no whole token"},
		{"another key", issue(other, asIs), 403, "not for this server"},
		{"another game", issue(key, func(g *token.Grant) {
			g.Protocol = token.ProtocolID("stack")
		}), 403, "not for this server"},
		{"another server", issue(key, func(g *token.Grant) {
			g.Servers = []netip.AddrPort{netip.MustParseAddrPort("192.0.2.7:4000")}
		}), 403, "not for this server"},
		{"an old one", issue(key, func(g *token.Grant) { g.Expires = now - 1 }), 403, "expired"},
		{"a good one", issue(key, asIs), 200, `"websocket"`},
	} {
		code, text := askServer(t, "POST", at+"/token", "Origin", at, "Authorization", x.brought)
		if code != x.want || !strings.Contains(text, x.says) {
			t.Errorf("%s: %d %.120s", x.name, code, text)
		}
		var a entry.Admission
		if code == 200 && (json.Unmarshal([]byte(text), &a) != nil ||
			"Bearer "+a.Token != x.brought || a.WebTransport == 0 || len(a.Certificates) == 0) {
			t.Errorf("%s: %+v", x.name, a)
		}
	}
}

func newKey(t *testing.T) token.Key {
	t.Helper()
	k, err := token.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestServePageRefuses: what stands in the way of a page is said before anything is served, with
// what to do about it.
func TestServePageRefuses(t *testing.T) {
	dir, built := t.TempDir(), builtClient(t)
	if err := os.WriteFile(filepath.Join(dir, "client.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, x := range []struct {
		args []string
		says string
	}{
		{[]string{"--client", filepath.Join(dir, "none")}, "build it with coeval demo"},
		{[]string{"--client", dir}, "the client that was built before cannot be used"},
		{[]string{"--client", built, "--http", "none"}, "--page needs an HTTP address"},
		{[]string{"--client", built, "--http", l.Addr().String()}, "another program has the port"},
	} {
		code, _, errs := try(append([]string{"serve", "pong", "--listen", "127.0.0.1:0"},
			x.args...)...)
		if code == 0 || !strings.Contains(errs, x.says) {
			t.Errorf("%q: %d %s", x.args, code, errs)
		}
	}
	blind := pong.Title.Clone()
	blind.Screen = game.Screen{}
	if _, err := NewServer(blind, ServeOptions{Listen: "127.0.0.1:0", Page: true}); err == nil ||
		!strings.Contains(err.Error(), "neither a Screen") {
		t.Error(err)
	}
	t.Setenv("PATH", dir)
	_, err = NewServer(pong.Title, ServeOptions{Listen: "127.0.0.1:0", Page: true})
	if err == nil || !strings.Contains(err.Error(), "install it from https://go.dev") ||
		!strings.Contains(err.Error(), "--client DIR") {
		t.Error(err)
	}
}

// TestServePageTakesAnotherPort: where the port after the server's is taken, WebTransport has
// another, of which the page is told.
func TestServePageTakesAnotherPort(t *testing.T) {
	t.Parallel()
	built := os.DirFS(builtClient(t))
	for range 20 { // the port before one that is free may be taken
		taken, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		at := taken.LocalAddr().(*net.UDPAddr).AddrPort()
		s, err := NewServer(pong.Title, ServeOptions{
			Listen: netip.AddrPortFrom(at.Addr(), at.Port()-1).String(), Page: true, Client: built,
		})
		_ = taken.Close()
		if err == nil {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			return
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatal(err)
		}
	}
	t.Error("no server had a port before one that is taken")
}
