//go:build !js

package demo

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/page"
	"github.com/coeval-dev/coeval/host/internal/page/qr"
	"github.com/coeval-dev/coeval/host/internal/serve"
)

// A reach is from where a demo can be played: from this machine alone, or by guests as well, who
// were given a link. The link has a key in it, so that being on the same network is not enough.
type reach struct {
	page.Reach
	bind netip.Addr
	key  string // nothing where there are no guests
}

// findReach reads --listen.
func (d *flags) findReach() (err error) {
	if d.reach.bind.IsValid() {
		return nil
	}
	d.reach = reach{bind: netip.MustParseAddr("127.0.0.1"), Reach: page.Here}
	if d.listen == "" {
		return nil
	}
	text := d.listen
	if text == "all" {
		text = "0.0.0.0"
	}
	if d.reach.bind, err = netip.ParseAddr(strings.Trim(text, "[]")); err != nil {
		return cli.Usagef("--listen is %q: give an address of this machine, or all (the port goes "+
			"to --port)", d.listen)
	}
	if d.reach.bind.IsLoopback() {
		return nil
	}
	d.reach.Reach = page.NewReach(d.reach.bind)
	if len(d.reach.Reach) == len(page.Here) {
		return cli.Usagef("--listen is %q, and this machine has no address that others could "+
			"reach: connect it to a network first", d.listen)
	}
	key := make([]byte, 10)
	_, _ = rand.Read(key) // it never fails
	d.reach.key = strings.ToLower(base32.StdEncoding.EncodeToString(key))
	return nil
}

// at is the address to listen at, with a port.
func (r *reach) at(port int) string { return netip.AddrPortFrom(r.bind, uint16(port)).String() }

// links are what guests are given: one for each address of this machine.
func (s *site) links() []string {
	r := &s.flags.reach
	if r.key == "" {
		return nil
	}
	query := url.Values{"invite": {r.key}}
	if s.flags.mirrors != nil {
		query.Set("home", "1")
	}
	return r.Links(s.site.Scheme(), s.port(), query)
}

// guests lets those who come from other machines play, and nothing else: the network, the mirrors
// and what the demo says of itself are for whoever runs it.
func (s *site) guests(next http.Handler) http.Handler {
	key := []byte(s.flags.reach.key)
	if len(key) == 0 {
		return next
	}
	refuse := func(w http.ResponseWriter, why, text string) {
		s.site.Refusals.Count(why)
		http.Error(w, text, http.StatusForbidden)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if serve.FromHere(r) {
			next.ServeHTTP(w, r)
			return
		}
		path := r.URL.Path
		switch {
		case path == "/":
			r.URL.Path = "/play" // without the panel
		case path == "/token":
			if subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("invite")), key) != 1 {
				refuse(w, "invite", "ask whoever runs this game for the whole link")
				return
			}
		case path == "/play", path == "/client.wasm", path == "/wasm_exec.js",
			strings.HasPrefix(path, "/assets/"), strings.HasPrefix(path, "/coeval"):
		default:
			refuse(w, "guests", "this is for whoever runs the game")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// An invitation is what the page shows to whoever runs the demo, so that others can come.
type invitation struct {
	Links []string `json:"links"`
}

// mountInvitation offers the links, and the first of them as a code that a phone reads.
func (s *site) mountInvitation(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/invite", func(w http.ResponseWriter, _ *http.Request) {
		serve.Answer(w, invitation{Links: s.links()}, 0, nil)
	})
	mux.HandleFunc("GET /api/invite.svg", func(w http.ResponseWriter, r *http.Request) {
		links := s.links()
		if len(links) == 0 {
			http.Error(w, "nobody else can come; start with --listen all", http.StatusNotFound)
			return
		}
		c, err := qr.New(links[0])
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "image/svg+xml")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write([]byte(c.SVG()))
	})
}
