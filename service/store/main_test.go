package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/coeval-dev/coeval/service/store"
	"github.com/coeval-dev/coeval/service/store/storetest"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childURL); url != "" {
		child(url)
		return
	}
	code := m.Run()
	if shared.server != nil {
		if err := shared.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// shared is one server of PostgreSQL for all tests, each of which has databases of its own in it.
var shared struct {
	once   sync.Once
	server *storetest.Server
	err    error
}

func server(t testing.TB) *storetest.Server {
	t.Helper()
	storetest.Need(t)
	shared.once.Do(func() { shared.server, shared.err = storetest.Start() })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

// The databases that every test is run on. Each gives the URL of a new one.
var databases = []struct {
	name string
	make func(t testing.TB) string
}{
	{"SQLite", func(t testing.TB) string {
		return "sqlite:" + filepath.Join(t.TempDir(), "a store?.db")
	}},
	{"PostgreSQL", func(t testing.TB) string {
		url, err := server(t).Database()
		if err != nil {
			t.Fatal(err)
		}
		return url
	}},
}

// onEach runs a test on each database.
func onEach(t *testing.T, f func(t *testing.T, url string)) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) { f(t, d.make(t)) })
	}
}

func open(t testing.TB, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, store.Options{Game: "market"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
