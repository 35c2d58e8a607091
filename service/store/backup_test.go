package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/service/store"
)

// TestBackup: what is backed up while others trade is one moment, whichever database it is of, and
// can be restored into either.
func TestBackup(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := open(t, url)
		must(t, s.Schema(t.Context(), 7, "text"))
		must(t, s.Write(t.Context(), []kept.Fence{{Subject: "game", Epoch: 5}}, []kept.Row{
			gold("ann", 500), gold("bob", 500), {Key: kept.Key{Class: "Bag", Scope: kept.Thing,
				Of: "ö"}, Schema: 7, Data: []byte{}}}))
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if _, _, err := s.Do(t.Context(), kept.Name{Tick: 1, World: uint64(i)}, nil,
					trade("ann", "bob", 1)); err != nil {
					t.Error(err)
				}
			}
		}()
		name := filepath.Join(t.TempDir(), "backup")
		made, err := s.Backup(t.Context(), name)
		close(stop)
		<-stopped
		must(t, err)
		if made.Game != "market" || made.Rows != 3 {
			t.Errorf("made %+v", made)
		}
		if _, err := s.Backup(t.Context(), name); err == nil {
			t.Error("a backup was written over")
		}
		for _, d := range databases {
			to := d.make(t)
			got, err := store.Restore(t.Context(), name, to)
			must(t, err)
			if got.Sum != made.Sum {
				t.Errorf("%s holds another sum", d.name)
			}
			r := open(t, to)
			rows, err := r.Load(t.Context(), []kept.Key{purse("ann"), purse("bob")})
			must(t, err)
			st, err := r.Status(t.Context())
			must(t, err)
			if in(rows[0])+in(rows[1]) != 1000 || int64(in(rows[1])) != 500+st.Answers ||
				st.Fences[0].Epoch != 5 || st.Classes[0].Text != "text" {
				t.Errorf("%s: %v, %+v", d.name, rows, st)
			}
			if _, err := store.Restore(t.Context(), name, to); !errors.Is(err, kept.ErrOther) ||
				!strings.Contains(err.Error(), "not empty") {
				t.Errorf("restored over what is there: %v", err)
			}
			again, err := r.Backup(t.Context(), filepath.Join(t.TempDir(), "again"))
			if err != nil || again.Sum != made.Sum {
				t.Errorf("a backup of what was restored: %+v, %v", again, err)
			}
		}
	})
}

// TestDamagedBackup: it is not restored, and nothing is made.
func TestDamagedBackup(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "a.db"))
	var rows []kept.Row
	for i := range 2000 {
		rows = append(rows, gold(fmt.Sprint("p", i), 1))
	}
	must(t, s.Write(t.Context(), nil, rows))
	name := filepath.Join(dir, "backup")
	_, err := s.Backup(t.Context(), name)
	must(t, err)
	whole, err := os.ReadFile(name)
	must(t, err)
	for _, bad := range [][]byte{whole[:len(whole)/2], append(make([]byte, 50), whole[50:]...),
		append(whole[:len(whole)/2:len(whole)/2], make([]byte, len(whole)-len(whole)/2)...), {}} {
		must(t, os.WriteFile(name, bad, 0o600))
		to := filepath.Join(dir, "b.db")
		if _, err := store.Restore(t.Context(), name, to); err == nil {
			t.Error("a damaged backup was restored")
		}
		if _, err := os.Stat(to); err == nil {
			t.Error("something was made")
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".backup*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
