package host

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/link"
)

// TestPlacesWithoutAToken: somebody opens as many sessions as there are places for browsers, and
// more, has no token, and says next to nothing. Whoever has one plays all the same.
func TestPlacesWithoutAToken(t *testing.T) {
	t.Parallel() // it mostly waits
	for _, over := range []string{"websocket", "webtransport"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			s := serveIn(t, "pong", "--websocket", "--webtransport", "127.0.0.1:0")
			base, err := entry.Base(s.HTTP, "")
			if err != nil {
				t.Fatal(err)
			}
			a, err := entry.Ask(t.Context(), base)
			if err != nil {
				t.Fatal(err)
			}
			dial := a.DialSocket
			if over == "webtransport" {
				dial = a.DialTransport
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var sessions []link.Link
			for i := range 120 { // there are 112 places
				l, peer, err := dial(ctx, base)
				if err != nil {
					t.Fatalf("session %d: %v", i, err)
				}
				defer l.Close()
				sessions = append(sessions, l)
				_, _ = l.Send([]link.Datagram{{Addr: peer, Data: []byte{1}}})
			}
			j := joinWith(t, s.HTTP, "--over", over, "--seconds", "0.3")
			if j.Snapshots == 0 {
				t.Errorf("%+v", j)
			}
			m := metrics(t, s.HTTP)
			// On a slow machine the first are gone for their silence by then.
			gone := m[`coeval_places_refused_total{reason="gave_way"}`] +
				m[`coeval_places_refused_total{reason="not_proven"}`]
			if taken := m[`coeval_places{kind="taken"}`]; gone < 8 || taken > 112 {
				t.Errorf("%v of 120 have lost their places, %v have one", gone, taken)
			}
			if hosttest.Soak() { // and the rest goes by itself, within seconds
				for _, l := range sessions {
					for {
						if _, err := l.Receive(make([]link.Datagram, 4)); err != nil {
							break
						}
						_, _ = l.Wait(time.Second)
					}
				}
			}
		})
	}
}

// metrics reads what a server says of itself.
func metrics(t *testing.T, at string) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	time.Sleep(1100 * time.Millisecond) // numbers may be a second old
	_, text := get(t, "http://"+at+"/metrics")
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		var v float64
		if json.Unmarshal([]byte(value), &v) == nil {
			out[name] = v
		}
	}
	return out
}

// TestTokensOfOtherServers: a token is good where it says, and nowhere else.
func TestTokensOfOtherServers(t *testing.T) {
	t.Parallel() // it mostly waits
	key := filepath.Join(t.TempDir(), "server.key")
	if code, _, stderr := try("token", "key", "--out", key); code != 0 {
		t.Fatal(stderr)
	}
	s := serveIn(t, "pong", "--key", key, "--public", "192.0.2.77:4000")
	for i, x := range []struct {
		server string
		good   bool
	}{{s.UDP, true}, {"192.0.2.77:4000", true}, {"203.0.113.9:4000", false}} {
		code, text, stderr := try("token", "issue", "--key", key, "--game", "pong", "--client",
			fmt.Sprint(i+1), "--server", x.server)
		if code != 0 {
			t.Fatal(stderr)
		}
		code, _, stderr = try("join", s.UDP, "--token", strings.TrimSpace(text), "--game", "pong",
			"--headless", "--seconds", "0.2")
		if good := code == 0; good != x.good ||
			!x.good && !strings.Contains(stderr, "token for another server") {
			t.Errorf("a token for %s: exit code %d: %s", x.server, code, stderr)
		}
	}
	m := metrics(t, s.HTTP)
	if m[`coeval_refused_total{reason="token_for_another_server"}`] != 1 {
		t.Errorf("refusals: %v", m)
	}
}

// TestHTTPS: a server with a certificate of its own making is trusted by its fingerprint or by its
// file, and by nothing else; over WebSocket as well.
func TestHTTPS(t *testing.T) {
	t.Parallel() // it mostly waits
	s := serveIn(t, "pong", "--tls-self-signed", "--websocket")
	_, trust, ok := strings.Cut(strings.TrimSpace(s.join), " --trust ")
	if !ok || !strings.HasPrefix(trust, "sha256:") {
		t.Fatalf("it says %q", s.join)
	}
	c, err := tls.Dial("tcp", s.HTTP, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	leaf := c.ConnectionState().PeerCertificates[0]
	c.Close()
	if sum := sha256.Sum256(leaf.Raw); trust != fmt.Sprintf("sha256:%x", sum) {
		t.Errorf("the fingerprint is %s and not %x", trust, sum)
	}
	file := filepath.Join(t.TempDir(), "server.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--trust", trust}, {"--trust", file}, {"--trust", trust, "--over", "websocket"},
	} {
		args = append([]string{s.HTTP, "--seconds", "0.2"}, args...)
		if j := joinWith(t, args...); j.Snapshots == 0 {
			t.Errorf("%v: %+v", args, j)
		}
	}
	other := "sha256:" + strings.Repeat("00", 32)
	for _, x := range []struct {
		args, want string
		code       int
	}{
		{"", "400", cli.ExitFailure}, // by plain HTTP
		{"--https", "certificate that is not trusted", cli.ExitFailure},
		{"--trust " + other, "not the one with that fingerprint", cli.ExitFailure},
		{"--trust nothing.pem", "neither a fingerprint", cli.ExitUsage},
	} {
		code, _, stderr := try(append([]string{"join", s.HTTP, "--headless"},
			strings.Fields(x.args)...)...)
		if code != x.code || !strings.Contains(stderr, x.want) {
			t.Errorf("%q: exit code %d: %s", x.args, code, stderr)
		}
	}
	for _, args := range []string{
		"--tls-cert x", "--tls-self-signed --tls-cert x --tls-key y", "--metrics-from moon",
		"--proxy 1.2.3", "--public nowhere.invalid:x",
	} {
		code, _, stderr := try(append([]string{"serve", "pong", "--listen", "127.0.0.1:0"},
			strings.Fields(args)...)...)
		if code != cli.ExitUsage {
			t.Errorf("%s: exit code %d: %s", args, code, stderr)
		}
	}
}

// TestPlainHTTPIsWarnedOf: beyond this machine, an open server says that it hands out secrets.
func TestPlainHTTPIsWarnedOf(t *testing.T) {
	t.Parallel() // it mostly waits
	warned := func(args ...string) bool {
		s := serveIn(t, append([]string{"pong"}, args...)...)
		s.stop()
		for _, line := range s.lines() {
			if msg, _ := line["msg"].(string); strings.Contains(msg, "by plain HTTP") {
				return true
			}
		}
		return false
	}
	if !warned("--http", ":0") {
		t.Error("no word of plain HTTP")
	}
	if warned() || warned("--http", ":0", "--tls-self-signed") {
		t.Error("a warning without cause")
	}
}

// TestManyScrapers: sixteen who ask for the metrics and read nothing of the answer keep no one else
// from them.
func TestManyScrapers(t *testing.T) {
	t.Parallel() // it mostly waits
	s := serveIn(t, "pong")
	for range 16 {
		c, err := net.Dial("tcp", s.HTTP)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if code, text := get(t, "http://"+s.HTTP+"/metrics"); code != http.StatusOK ||
			!strings.Contains(text, "coeval_world_tick") {
			t.Errorf("%d: %s", code, text)
		}
	}
}

// TestWatchersAndProxies: what is for the operator is told this machine, and who was named; what a
// proxy says of who asks counts if it was named too.
func TestWatchersAndProxies(t *testing.T) {
	t.Parallel() // it mostly waits
	plain := serveIn(t, "pong")
	named := serveIn(t, "pong", "--metrics-from", "198.51.100.0/24", "--proxy", "127.0.0.1")
	for _, x := range []struct {
		at   *served
		from string
		code int
	}{
		{plain, "", 200}, {plain, "198.51.100.7", 403}, // passed on by a proxy that nobody named
		{named, "", 200}, {named, "198.51.100.7", 200}, {named, "203.0.113.7", 403},
		{named, "198.51.100.7, 203.0.113.7", 403}, {named, "203.0.113.7, 198.51.100.7", 200},
		{named, "198.51.100.7, nonsense", 200}, // then it is the proxy itself
	} {
		for _, path := range []string{"metrics", "status"} {
			r, err := http.NewRequest(http.MethodGet, "http://"+x.at.HTTP+"/"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if x.from != "" {
				r.Header.Set("X-Forwarded-For", x.from)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != x.code {
				t.Errorf("%s for %q: %d, want %d", path, x.from, resp.StatusCode, x.code)
			}
		}
	}
	// Tokens are limited by that address, and not for all together.
	ask := func(from string) int {
		r, err := http.NewRequest(http.MethodPost, "http://"+named.HTTP+"/token", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Forwarded-For", from)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	got := map[int]int{}
	for i := range 100 {
		got[ask(fmt.Sprintf("2001:db8::%x", i+1))]++ // all of one network
	}
	if got[http.StatusOK] < 20 || got[http.StatusTooManyRequests] < 20 {
		t.Errorf("one network was answered %v", got)
	}
	if code := ask("2001:db8:0:1::1"); code != http.StatusOK {
		t.Errorf("another network: %d", code)
	}
	m := metrics(t, named.HTTP)
	if m[`coeval_http_refused_total{reason="tokens_of_one_address"}`] < 20 ||
		m[`coeval_http_refused_total{reason="watchers"}`] < 4 {
		t.Errorf("%v", m)
	}
}

// TestAuthorsServer: a program of an author's own has all of it.
func TestAuthorsServer(t *testing.T) {
	t.Parallel() // it mostly waits
	s, err := NewServer(pong.Title, ServeOptions{Listen: "127.0.0.1:0",
		Public: []string{"192.0.2.4"}, PerAddress: 3,
		Web: WebOptions{TLSSelfSigned: true, MetricsFrom: []string{"all"}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	trust, err := entry.ParseTrust(s.Fingerprint())
	if err != nil {
		t.Fatal(err)
	}
	a, err := entry.AskBy(ctx, &url.URL{Scheme: "https", Host: s.HTTP()}, trust)
	if err != nil {
		t.Fatal(err)
	}
	public := netip.AddrPortFrom(netip.MustParseAddr("192.0.2.4"), s.Addr().Port())
	if tok, err := token.ParseText(a.Token); err != nil || len(tok.Servers) != 2 ||
		tok.Servers[0] != public {
		t.Errorf("the token is for %v: %v", tok.Servers, err)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
