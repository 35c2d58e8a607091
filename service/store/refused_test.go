package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/service/store"
)

// TestRefused: what cannot be a store is refused with what to do, and nothing of it is changed.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	text := file("notes.txt", strings.Repeat("not a database at all\n", 500))
	damaged := filepath.Join(dir, "damaged.db")
	s := open(t, damaged)
	var rows []kept.Row
	for i := range 200 {
		rows = append(rows, gold(strings.Repeat("x", 1+i), 1))
	}
	must(t, s.Write(t.Context(), nil, rows))
	must(t, s.Close())
	whole, err := os.ReadFile(damaged)
	must(t, err)
	for i := 100; i < len(whole); i++ { // all but its head
		whole[i] = 0xa5
	}
	must(t, os.WriteFile(damaged, whole, 0o600))
	for _, x := range []struct{ url, want string }{
		{"", "which database?"},
		{":memory:", "keeps nothing"},
		{"sqlite:", "names no file"},
		{"mysql://root@host/x", "there is no such kind of database"},
		{"postgres://user:secret@[::1", "not a URL of PostgreSQL"},
		{dir, "it is a folder"},
		{filepath.Join(dir, "no", "such"), "no such file"},
		{text, "no database of SQLite"},
		{damaged, "damaged"},
	} {
		before, _ := os.ReadFile(x.url)
		s, err := store.Open(t.Context(), x.url, store.Options{Game: "market"})
		if err == nil {
			must(t, s.Close())
		}
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q: %v, want %q", x.url, err, x.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("a password is shown: %v", err)
		}
		if after, _ := os.ReadFile(x.url); string(after) != string(before) {
			t.Errorf("%s was changed", x.url)
		}
	}
	none := filepath.Join(dir, "none.db")
	if _, err := store.Open(t.Context(), none, store.Options{}); err == nil {
		t.Error("a store that is not there was opened")
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("it was made")
	}
}

// TestDataOfOthers: another game's data, a newer version's, and another program's.
func TestDataOfOthers(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := open(t, url)
		must(t, s.Write(t.Context(), nil, []kept.Row{gold("ann", 1)}))
		refused := func(o store.Options, want string) {
			t.Helper()
			other, err := store.Open(t.Context(), url, o)
			if err == nil {
				must(t, other.Close())
			}
			if !errors.Is(err, kept.ErrOther) || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		}
		refused(store.Options{Game: "chess"}, `it holds the game "market", and not "chess"`)
		run(t, url, `UPDATE coeval_store SET value = '999' WHERE name = 'version'`)
		refused(store.Options{Game: "market"}, "version 999")
		refused(store.Options{Game: "market", Migrate: true}, "version 999")
		run(t, url, `UPDATE coeval_store SET value = 'x' WHERE name = 'version'`)
		refused(store.Options{Game: "market"}, "says nothing that this program knows")
		run(t, url, `ALTER TABLE coeval_store RENAME TO accounts`)
		refused(store.Options{Game: "market"}, "tables of another program")
		run(t, url, `ALTER TABLE accounts RENAME TO coeval_store`)
		run(t, url, `UPDATE coeval_store SET value = '1' WHERE name = 'version'`)
		rows, err := open(t, url).Load(t.Context(), []kept.Key{purse("ann")})
		if err != nil || in(rows[0]) != 1 {
			t.Errorf("afterwards there is %v, %v", rows, err)
		}
	})
}

// TestRightsAreMissing: a user without rights, and databases that are not there.
func TestRightsAreMissing(t *testing.T) {
	s := server(t)
	elsewhere := strings.Replace(s.URL("guest", "closed"), "/postgres?", "/nowhere?", 1)
	must(t, s.SQL("postgres", "CREATE ROLE guest LOGIN; CREATE SCHEMA closed"))
	for url, want := range map[string]string{
		s.URL("guest", "closed"):  "GRANT",
		s.URL("nobody", "closed"): "user or password is wrong",
		elsewhere:                 "createdb",
		"postgres://x@127.0.0.1:1/x?connect_timeout=1": kept.ErrAway.Error(),
	} {
		_, err := store.Open(t.Context(), url, store.Options{Game: "market"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
	if os.Geteuid() == 0 {
		return // may write anywhere
	}
	file := filepath.Join(t.TempDir(), "a.db")
	must(t, open(t, file).Close())
	must(t, os.Chmod(file, 0o400))
	if _, err := store.Open(t.Context(), file, store.Options{Game: "market"}); err == nil {
		t.Error("a file without rights was opened")
	}
}

// run runs a statement as another program would.
func run(t *testing.T, url, statement string) {
	t.Helper()
	must(t, store.Exec(t.Context(), url, statement))
}
