package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// program is something that looks like WebAssembly.
func program(n int) []byte {
	return append([]byte("\x00asm\x01\x00\x00\x00"), bytes.Repeat([]byte("function"), n)...)
}

func get(h http.Handler, path, encoding, tag string) *http.Response {
	r := httptest.NewRequest("GET", "http://127.0.0.1:8080"+path, nil)
	r.Header.Set("Accept-Encoding", encoding)
	if tag != "" {
		r.Header.Set("If-None-Match", tag)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// body undoes the encoding.
func body(t *testing.T, r *http.Response) []byte {
	t.Helper()
	var in io.Reader = r.Body
	switch r.Header.Get("Content-Encoding") {
	case "gzip":
		z, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		in = z
	case "zstd":
		z, err := zstd.NewReader(in, zstd.WithDecoderMaxWindow(8<<20)) // as browsers have it
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		in = z
	}
	b, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPage(t *testing.T) {
	var made *Bundle
	h := Page(Options{Client: func() *Bundle { return made },
		Connect: []string{"https://127.0.0.1:4433"}})
	for path, want := range map[string]string{
		"/": "text/html", "/play": "text/html", "/assets/panel.js": "text/javascript",
		"/assets/style.css": "text/css", "/assets/icon.svg": "image/svg+xml"} {
		r := get(h, path, "gzip", "")
		if r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Type"), want) ||
			len(body(t, r)) < 100 {
			t.Errorf("%s: %s, %s", path, r.Status, r.Header.Get("Content-Type"))
		}
		policy := r.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'self'") ||
			!strings.Contains(policy, "connect-src 'self' https://127.0.0.1:4433") ||
			strings.Contains(policy, "unsafe-inline") || strings.Contains(policy, "'unsafe-eval'") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if again := get(h, path, "gzip",
			r.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
			t.Errorf("%s again: %s", path, again.Status)
		}
	}
	if r := get(h, "/client.wasm", "", ""); r.StatusCode != http.StatusServiceUnavailable ||
		r.Header.Get("Retry-After") == "" {
		t.Errorf("before it is built: %s", r.Status)
	}
	for _, path := range []string{"/assets/", "/assets/../page.go", "/other", "/assets/none.js"} {
		if r := get(h, path, "", ""); r.StatusCode == 200 {
			t.Errorf("%s is served", path)
		}
	}
	plain := program(5000)
	for _, pack := range []func(program, starter []byte) (*Bundle, error){QuickBundle, NewBundle} {
		var err error
		if made, err = pack(plain, []byte("start()")); err != nil {
			t.Fatal(err)
		}
		for accept, want := range map[string]string{
			"gzip, deflate, br, zstd": "zstd", "gzip, zstd;q=0": "gzip", "gzip": "gzip",
			"": "gzip"} {
			r := get(h, "/client.wasm", accept, "")
			if r.Header.Get("Content-Encoding") != want ||
				r.Header.Get("Content-Type") != "application/wasm" ||
				!bytes.Equal(body(t, r), plain) {
				t.Errorf("for %q: %s", accept, r.Header.Get("Content-Encoding"))
			}
		}
	}
	if r := get(h, "/wasm_exec.js", "", ""); string(body(t, r)) != "start()" {
		t.Error("another script")
	}
}

// TestPagesOwnFiles checks that the page loads nothing from elsewhere, and only files that are
// there.
func TestPagesOwnFiles(t *testing.T) {
	h := Page(Options{})
	list, err := assets.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		data, err := assets.ReadFile("assets/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(data), "http://www.w3.org/2000/svg", "")
		if strings.Contains(text, "http://") || strings.Contains(text, `"https://`) ||
			strings.Contains(text, "'https://") || strings.Contains(text, "//cdn") {
			t.Errorf("%s speaks of another host", f.Name())
		}
		for _, part := range strings.Split(text, "/assets/")[1:] {
			name := part[:strings.IndexAny(part, `"'`)]
			if r := get(h, "/assets/"+name, "", ""); r.StatusCode != 200 {
				t.Errorf("%s wants %s, which is not there", f.Name(), name)
			}
		}
	}
	if n := PageSize(); n < 1000 || n > 48_000 {
		t.Errorf("the page has %d bytes", n)
	}
}

func TestBundleIsKeptWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "kept")
	b, err := NewBundle(program(3000), []byte("go()"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second replaces the first
		if err := b.Save(dir); err != nil {
			t.Fatal(err)
		}
	}
	again, err := LoadBundle(os.DirFS(dir))
	if err != nil || again.Tag != b.Tag {
		t.Fatal(err)
	}
	if p, g, z := again.Sizes(); p != len(program(3000)) || g == 0 || z == 0 {
		t.Error(p, g, z)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		name := filepath.Join(dir, f.Name())
		good, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range [][]byte{
			nil, good[:len(good)/2], append(bytes.Clone(good), 'x'), flipped(good)} {
			if err := os.WriteFile(name, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if x, err := LoadBundle(os.DirFS(dir)); err == nil &&
				(x.Tag != b.Tag || !bytes.Equal(x.starter.plain, []byte("go()"))) {
				t.Errorf("%s, damaged, was taken", f.Name())
			}
		}
		if err := os.WriteFile(name, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := NewBundle([]byte("<html>"), nil); err == nil {
		t.Error("a page was taken for a program")
	}
}

// TestSavePage: a page as files has all that it asks for, its program as it was, and takes the
// place of nothing but another page.
func TestSavePage(t *testing.T) {
	b, err := NewBundle(program(3000), []byte("go()"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "page")
	o := Options{Client: func() *Bundle { return b }, Index: "match.html", Game: "tanks",
		Settings: []byte("{}")}
	for range 2 {
		if err := SavePage(dir, o); err != nil {
			t.Fatal(err)
		}
	}
	h := http.FileServer(http.Dir(dir))
	if got := body(t, get(h, "/client.wasm", "", "")); !bytes.Equal(got, program(3000)) {
		t.Errorf("the program has %d bytes", len(got))
	}
	index := string(body(t, get(h, "/", "", "")))
	if !strings.Contains(index, "<title>coeval tanks</title>") {
		t.Error(index)
	}
	for _, text := range strings.FieldsFunc(index, func(r rune) bool { return r == '"' }) {
		if strings.HasPrefix(text, "assets/") || strings.HasSuffix(text, ".js") {
			if r := get(h, "/"+text, "", ""); r.StatusCode != 200 {
				t.Errorf("%s: %s", text, r.Status)
			}
		}
	}
	if again, err := LoadBundle(os.DirFS(dir)); err != nil || again.Tag != b.Tag {
		t.Error(err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "work.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := SavePage(other, o); err == nil || !strings.Contains(err.Error(), "other files") {
		t.Error(err)
	}
}

func flipped(b []byte) []byte {
	b = bytes.Clone(b)
	b[len(b)/2] ^= 0x10
	return b
}

func TestGuard(t *testing.T) {
	h := Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "hello")
	}), "play.example")
	for _, x := range []struct {
		method, host, origin string
		ok                   bool
	}{
		{"GET", "127.0.0.1:8080", "", true},
		{"GET", "localhost:8080", "", true},
		{"GET", "[::1]:8080", "", true},
		{"GET", "play.example", "", true},
		{"GET", "evil.example:8080", "", false},
		{"GET", "127.0.0.1.evil.example", "", false},
		{"GET", "192.168.1.1:8080", "", false},
		{"POST", "127.0.0.1:8080", "http://127.0.0.1:8080", true},
		{"POST", "127.0.0.1:8080", "", true}, // not a browser
		{"POST", "127.0.0.1:8080", "https://evil.example", false},
		{"POST", "127.0.0.1:8080", "null", false},
		{"POST", "127.0.0.1:8080", "http://127.0.0.1:9999", false},
		{"GET", "127.0.0.1:8080", "http://127.0.0.1:8080", true},
		{"GET", "127.0.0.1:8080", "https://evil.example", false}, // for a socket, or to read
		{"GET", "127.0.0.1:8080", "null", false},
	} {
		r := httptest.NewRequest(x.method, "/", nil)
		r.Host = x.host
		if x.origin != "" {
			r.Header.Set("Origin", x.origin)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if (w.Code == 200) != x.ok {
			t.Errorf("%s for %q from %q: %d", x.method, x.host, x.origin, w.Code)
		}
	}
}

// TestStrangersPages: what browsers say of a page that asks without naming itself.
func TestStrangersPages(t *testing.T) {
	h := Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, x := range []struct {
		site, mode, dest string
		ok               bool
	}{
		{"", "", "", true}, // not a browser
		{"none", "navigate", "document", true},
		{"same-origin", "cors", "empty", true},
		{"cross-site", "navigate", "document", true}, // someone follows a link
		{"cross-site", "navigate", "iframe", false},
		{"cross-site", "no-cors", "image", false},
		{"same-site", "no-cors", "script", false}, // another port of this machine
	} {
		r := httptest.NewRequest("GET", "/token", nil)
		r.Host = "127.0.0.1:8080"
		for name, value := range map[string]string{"Site": x.site, "Mode": x.mode, "Dest": x.dest} {
			if value != "" {
				r.Header.Set("Sec-Fetch-"+name, value)
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if (w.Code == 200) != x.ok {
			t.Errorf("%+v: %d", x, w.Code)
		}
	}
	pages := Pages("play.example.org", "*.example.net")
	for origin, ok := range map[string]bool{
		"": true, "https://play.example.org": true, "https://eu.example.net": true,
		"http://example.com":  true, // the server's own
		"https://example.org": false, "https://evil.example": false, "null": false,
		"https://play.example.org.evil.example": false,
	} {
		r := httptest.NewRequest("POST", "/token", nil)
		r.Header.Set("Origin", origin)
		if pages(r) != ok {
			t.Errorf("%q: %v", origin, !ok)
		}
	}
}

// FuzzHost gives the guard any name: only those of this machine may pass.
func FuzzHost(f *testing.F) {
	for _, s := range []string{
		"127.0.0.1:80", "[::1]", "localhost", "evil", "", ":", "[::1", "127.0.0.1%eth0:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if !Known(host) {
			return
		}
		name := strings.Trim(host[:len(host)-len(portOf(host))], "[]")
		if a, err := netip.ParseAddr(name); name != "localhost" && (err != nil || !a.IsLoopback()) {
			t.Errorf("%q passed as %q", host, name)
		}
	})
}

// portOf is the last colon and what follows it, if that is no part of an address.
func portOf(host string) string {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.HasSuffix(host, "]") || strings.Count(host, ":") > 1 &&
		!strings.HasPrefix(host, "[") {
		return ""
	}
	return host[i:]
}

func ExamplePage() {
	bundle, err := NewBundle([]byte("\x00asm..."), []byte("// wasm_exec.js"))
	if err != nil {
		fmt.Println(err)
		return
	}
	s := httptest.NewServer(Guard(Page(Options{Client: func() *Bundle { return bundle }})))
	defer s.Close()
	r, err := http.Get(s.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Body.Close()
	fmt.Println(r.Status, r.Header.Get("Content-Type"))
	// Output: 200 OK text/html; charset=utf-8
}

// TestPageNamesTheGame: the page says which game it is, and no name can break out of it.
func TestPageNamesTheGame(t *testing.T) {
	for game, want := range map[string]string{
		"":          "<title>coeval arena</title>",
		"tanks":     "<title>coeval tanks</title>",
		"<b>tanks>": "<title>coeval &lt;b&gt;tanks&gt;</title>",
	} {
		for _, at := range []string{"/", "/play"} {
			r := httptest.NewRecorder()
			Page(Options{Game: game, Keys: "only <space>"}).ServeHTTP(r,
				httptest.NewRequest("GET", at, nil))
			text := r.Body.String()
			if r.Code != 200 || !strings.Contains(text, want) || strings.Contains(text, "<b>") {
				t.Errorf("%q at %s: %d\n%s", game, at, r.Code, text)
			}
			if at == "/" && !strings.Contains(text, "only &lt;space&gt;") {
				t.Errorf("the keys are not told:\n%s", text)
			}
		}
	}
}
