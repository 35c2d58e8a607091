package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"html"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"path"
	"strings"
)

//go:embed assets
var assets embed.FS

// Options are what a page is made from.
type Options struct {
	// Client gives the program for the browser, or nil as long as there is none.
	Client func() *Bundle
	// Hosts are the names, besides this machine's own loopback, by which the page may be asked for.
	// Requests for others are refused, so that no page from elsewhere can pass itself off as this
	// one.
	Hosts []string
	// Index is which of the package's pages is at the root. Default: index.html, the game with its
	// panel; play.html is the game alone, mirrors.html has several side by side, peers.html shows
	// what the program draws, blind.html asks which of two it was, and match.html plays in matches
	// at a relay.
	Index string
	// Game is what the page says is played, and Keys how. Defaults: those of the arena.
	Game, Keys string
	// Connect are the origins that the page may connect to besides its own, such as
	// https://127.0.0.1:4433.
	Connect []string
	// Servers, if set, has the page list other servers of the title, at /servers, and has players
	// gather before a match, at /rooms.
	Servers *Servers
	// Settings, if set, is what match.html is told, as JSON: at match.json.
	Settings []byte
}

// Servers are what a page lists: the servers of a game that a directory knows. The JSON names are
// the page's.
type Servers struct {
	Directory string `json:"directory"` // its URL
	Game      string `json:"game"`
}

// Page serves the page, its assets, and the client.
func Page(o Options) http.Handler {
	mux := http.NewServeMux()
	policy := policyOf(o.Connect)
	if o.Index == "" {
		o.Index = "index.html"
	}
	mux.HandleFunc("GET /{$}", serveAsset(o.Index, policy, o.name))
	mux.HandleFunc("GET /play", serveAsset("play.html", policy, o.name))
	list, err := fs.ReadDir(assets, "assets")
	if err != nil {
		panic(err) // they are part of the program
	}
	for _, f := range list {
		mux.HandleFunc("GET /assets/"+f.Name(), serveAsset(f.Name(), policy, o.name))
	}
	if o.Servers != nil {
		// It asks whatever the directory lists, so it may connect anywhere; the game may not.
		anywhere := policyOf([]string{"http:", "https:"})
		mux.HandleFunc("GET /servers", serveAsset("servers.html", anywhere, o.name))
		mux.HandleFunc("GET /rooms", serveAsset("rooms.html", anywhere, o.name))
		mux.HandleFunc("GET /servers.json", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			_ = json.NewEncoder(w).Encode(o.Servers) // who has gone need not be told
		})
	}
	if o.Settings != nil {
		mux.HandleFunc("GET /"+fileSettings, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			_, _ = w.Write(o.Settings)
		})
	}
	mux.HandleFunc("GET /client.wasm",
		func(w http.ResponseWriter, r *http.Request) { o.bundle(w, r, (*Bundle).serveProgram) })
	mux.HandleFunc("GET /wasm_exec.js",
		func(w http.ResponseWriter, r *http.Request) { o.bundle(w, r, (*Bundle).serveStarter) })
	return mux
}

// policyOf is what a page may do that connects to these besides its own origin.
func policyOf(connect []string) string {
	return "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' blob:; style-src 'self'; " +
		"img-src 'self' data: blob:; connect-src " +
		strings.Join(append([]string{"'self'"}, connect...), " ") +
		"; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'; " +
		"worker-src 'self' blob:; media-src 'self' blob: data:"
}

// What pages say of the arena, in place of which stands what is said of another game.
const (
	arenaName = "arena"
	arenaKeys = "WASD and mouse. H shows all keys."
)

// name puts the game's name and keys into a page.
func (o *Options) name(data []byte) []byte {
	text := string(data)
	if o.Game != "" {
		name := html.EscapeString(o.Game)
		text = strings.NewReplacer("<title>coeval "+arenaName, "<title>coeval "+name,
			"<span>"+arenaName+"</span>", "<span>"+name+"</span>").Replace(text)
	}
	if o.Servers != nil {
		text = strings.ReplaceAll(text, ` data-servers hidden`, ` data-servers`)
	}
	if o.Keys != "" {
		text = strings.ReplaceAll(text, arenaKeys, html.EscapeString(o.Keys))
	}
	return []byte(text)
}

func (o *Options) bundle(w http.ResponseWriter, r *http.Request,
	serve func(*Bundle, http.ResponseWriter, *http.Request)) {
	var b *Bundle
	if o.Client != nil {
		b = o.Client()
	}
	if b == nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "the game is still being built", http.StatusServiceUnavailable)
		return
	}
	serve(b, w, r)
}

// serveAsset serves one of the package's files.
func serveAsset(name, policy string, change func(data []byte) []byte) http.HandlerFunc {
	data, err := assets.ReadFile(path.Join("assets", name))
	if err != nil {
		panic(err) // it is part of the program
	}
	if path.Ext(name) == ".html" {
		data = change(data)
	}
	sum := sha256.Sum256(data)
	packed := pack(data)
	tag := hex.EncodeToString(sum[:8])
	kind := mime.TypeByExtension(path.Ext(name))
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		packed.serve(w, r, tag)
	}
}

// errHost is what a page from elsewhere is told.
var errHost = errors.New(
	"this page is not known by that name, or another page asks for it; open it by the address " +
		"that was printed")

// Guard refuses requests for other hosts than this machine, or those given, and those of other
// pages: a page of a stranger can neither change something nor get a token or a socket. It may only
// lead someone here. A program on a loopback address is not safe from pages of strangers without
// it: names can be made to lead there.
func Guard(next http.Handler, hosts ...string) http.Handler {
	own := Pages()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !Known(r.Host, hosts...) {
			http.Error(w, errHost.Error(), http.StatusForbidden)
			return
		}
		if !own(r) && !visits(r) {
			http.Error(w, errHost.Error(), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Pages says of requests whether they come from no page, from one of the same host, or from one of
// those given, with patterns as in "*.example.org".
func Pages(hosts ...string) func(r *http.Request) bool {
	return func(r *http.Request) bool {
		origin := r.Header.Get("Origin")
		if origin == "" {
			// Browsers say so where they do not name the page.
			site := r.Header.Get("Sec-Fetch-Site")
			return site == "" || site == "same-origin" || site == "none"
		}
		_, host, ok := strings.Cut(origin, "://")
		if !ok {
			return false
		}
		if strings.EqualFold(host, r.Host) {
			return true
		}
		for _, h := range hosts {
			if match, err := path.Match(strings.ToLower(h), strings.ToLower(host)); match &&
				err == nil {
				return true
			}
		}
		return false
	}
}

// visits says that a request is someone following a link to a page, and nothing that a script could
// read or use.
func visits(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Origin") == "" &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// ByPage says whether a page asks, or someone who looks at one: a browser, and no other program.
func ByPage(r *http.Request) bool {
	return r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != ""
}

// Known says whether the host that a request names is this machine's loopback, or one of those
// given, with any port.
func Known(host string, hosts ...string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if in, ok := strings.CutPrefix(name, "["); ok {
		if name, ok = strings.CutSuffix(in, "]"); !ok {
			return false
		}
	}
	if name == "localhost" {
		return true
	}
	if a, err := netip.ParseAddr(name); err == nil && a.IsLoopback() {
		return true
	}
	for _, h := range hosts {
		if strings.EqualFold(h, name) {
			return true
		}
	}
	return false
}
