package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/web"
)

// TestPrecompile: a program is compiled for both sides and kept, so that its demo finds the client
// at once; and what does not compile is told in the compiler's words.
func TestPrecompile(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles programs")
	}
	for _, set := range hosttest.OwnCache(t) {
		name, value, _ := strings.Cut(set, "=")
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/tiny\n\ngo 1.24\n")
	write("main.go", "package main\n\nfunc main() { println(7) }\n")
	var last float64
	show := func(part float64, _ string) { last = part }
	if err := Precompile(t.Context(), "example.com/tiny", dir, show); err != nil {
		t.Fatal(err)
	}
	if last <= 0 || last > 1 {
		t.Errorf("it got to %v", last)
	}
	src := Source{program: "example.com/tiny", dir: dir}
	key, err := src.key(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := web.LoadBundle(os.DirFS(filepath.Join(cache, "coeval", "client",
		key))); err != nil {
		t.Errorf("the client was not kept: %v", err)
	}
	write("main.go", "package main\n\nfunc main() { prinltn(7) }\n")
	if err := Precompile(t.Context(), "example.com/tiny", dir, show); err == nil ||
		!strings.Contains(err.Error(), "main.go:3:15: undefined: prinltn") {
		t.Error(err)
	}
}
