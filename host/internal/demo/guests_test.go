package demo

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/internal/page"
)

// TestGuests: whoever comes from another machine plays if they have the link, and does nothing
// else; whoever runs the demo does all.
func TestGuests(t *testing.T) {
	d := &flags{title: pong.Title, preset: "lan", style: "doom3", seed: 1, noOpen: true,
		reach: reach{bind: netip.MustParseAddr("127.0.0.1"), key: "sesame",
			Reach: page.Reach{"127.0.0.1", "localhost", "192.168.7.1"}}}
	level, err := d.check()
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.open(level)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	links := s.links()
	if len(links) != 1 || !strings.HasPrefix(links[0], "http://192.168.7.1:") ||
		!strings.HasSuffix(links[0], "/?invite=sesame") {
		t.Errorf("links %q", links)
	}
	h := s.handler()
	ask := func(method, path, from, host string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, http.NoBody)
		r.RemoteAddr, r.Host = from, host
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	const guest, own, here, home = "192.168.7.9:5", "192.168.7.1:8080", "127.0.0.1:5", "127.0.0.1:1"
	for _, x := range []struct {
		method, path, from, host string
		want                     int
		says                     string
	}{
		{"GET", "/?invite=sesame", guest, own, 200, `class="play"`},
		{"GET", "/", here, home, 200, `id="panel"`},
		{"GET", "/play", guest, own, 200, `class="play"`},
		{"GET", "/assets/play.js", guest, own, 200, "coevalJoin"},
		{"GET", "/client.wasm", guest, own, 503, "still being built"},
		{"POST", "/token", guest, own, 403, "ask whoever runs this game for the whole link"},
		{"POST", "/token?invite=sesam", guest, own, 403, "the whole link"},
		{"GET", "/api/events", guest, own, 403, "whoever runs the game"},
		{"POST", "/api/network", guest, own, 403, "whoever runs the game"},
		{"GET", "/api/invite", guest, own, 403, "whoever runs the game"},
		{"GET", "/api/invite.svg", guest, own, 403, "whoever runs the game"},
		{"GET", "/status", guest, own, 403, "whoever runs the game"},
		{"GET", "/", guest, "evil.example", 403, "not known by that name"},
		{"GET", "/api/invite", here, home, 200, "invite=sesame"},
		{"GET", "/api/invite.svg", here, home, 200, "<svg"},
	} {
		w := ask(x.method, x.path, x.from, x.host)
		if w.Code != x.want || !strings.Contains(w.Body.String(), x.says) {
			t.Errorf("%s %s from %s: %d %.80s", x.method, x.path, x.from, w.Code, w.Body)
		}
	}
	// A page from elsewhere gets nothing, with the link or without; and a proxy on this machine is
	// not whoever runs the demo.
	if w := ask("POST", "/token?invite=sesame", guest, own, "Origin",
		"http://evil.example"); w.Code !=
		http.StatusForbidden {
		t.Errorf("another page: %d", w.Code)
	}
	if w := ask("GET", "/api/invite", here, home, "X-Forwarded-For", "1.2.3.4"); w.Code !=
		http.StatusForbidden {
		t.Errorf("a proxy: %d", w.Code)
	}
}

func TestListen(t *testing.T) {
	for _, x := range []struct {
		listen, says string
	}{
		{"", ""}, {"127.0.0.1", ""}, {"::1", ""}, {"192.0.2.7", ""}, {"[2001:db8::7]", ""},
		{"here", "give an address of this machine"}, {"192.0.2.7:80", "the port goes to --port"},
	} {
		d := flags{listen: x.listen}
		err := d.findReach()
		if (err == nil) != (x.says == "") || err != nil && !strings.Contains(err.Error(), x.says) {
			t.Errorf("--listen %s: %v", x.listen, err)
		}
		if err != nil {
			continue
		}
		guests := x.listen != "" && !d.reach.bind.IsLoopback()
		if (d.reach.key != "") != guests || guests && len(d.reach.key) != 16 {
			t.Errorf("--listen %s: %+v", x.listen, d.reach)
		}
	}
}
