package host

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
)

// TestUploads: a player sends a replay to a server by the command line, and it is kept in the
// folder whole, once, and no further than there is room; a server without a folder says that it
// keeps none.
func TestUploads(t *testing.T) {
	t.Parallel() // it mostly waits
	folder, file := t.TempDir(), filepath.Join(t.TempDir(), "match.trace")
	replay := bytes.Repeat([]byte("what was played "), 20_000)
	if err := os.WriteFile(file, replay, 0o600); err != nil {
		t.Fatal(err)
	}
	with, without := startArena(t, folder), startArena(t, "")
	send := func(s *Server, what string) (code int, said string) {
		var r struct {
			Sent []struct{ Name, Error string } `json:"sent"`
		}
		code, out, errs := try("join", s.HTTP(), "--headless", "--seconds", "0.1", "--json",
			"--send", what)
		if err := json.Unmarshal([]byte(out), &r); code == 0 && (err != nil || len(r.Sent) != 1) {
			t.Fatalf("it says %s: %v", out, err)
		}
		if code != 0 {
			return code, errs
		}
		return 0, r.Sent[0].Error
	}
	if code, said := send(with, "replay="+file); code != 0 || said != "" {
		t.Fatalf("exit code %d: %s", code, said)
	}
	var list []string
	hosttest.WaitUntil(t, "it is kept", func() bool {
		list, _ = filepath.Glob(filepath.Join(folder, "replay-*"))
		return len(list) == 1 && !strings.HasSuffix(list[0], ".part")
	})
	if got, err := os.ReadFile(list[0]); err != nil || !bytes.Equal(got, replay) {
		t.Errorf("%s has %d bytes of %d: %v", list[0], len(got), len(replay), err)
	}
	code, said := send(without, "replay="+file)
	if code != 0 || said != "this server keeps no replay" {
		t.Errorf("exit code %d: %q", code, said)
	}
	for what, want := range map[string]string{"song=" + file: "has no upload \"song\"",
		"replay": "give what it is and a file", "replay=/nowhere": "no such file"} {
		if code, said := send(with, what); code == 0 || !strings.Contains(said, want) {
			t.Errorf("--send %s: exit code %d: %s", what, code, said)
		}
	}
}

func startArena(t *testing.T, folder string) *Server {
	t.Helper()
	s, err := NewServer(arena.Title, ServeOptions{Listen: "127.0.0.1:0", Players: 4,
		Web: WebOptions{Uploads: folder}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var ran sync.WaitGroup
	ran.Go(func() {
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		ran.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
