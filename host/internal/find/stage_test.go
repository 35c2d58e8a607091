package find_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"sync"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host"
	_ "github.com/coeval-dev/coeval/service/directory/use" // its databases
	"github.com/coeval-dev/coeval/web"
)

var (
	// several is a program of several titles, and one that of an author with one.
	several = host.Program{Name: "coeval", Titles: []*game.Title{pong.Title, stack.Title}}
	one     = host.Program{Name: "pong", Titles: []*game.Title{pong.Title}}
)

// begin runs a command until the test ends or what it gives is called, and gives the line of its
// log with a message.
func begin(t *testing.T, message string, args ...string) (line map[string]string, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	in, out := io.Pipe()
	var running sync.WaitGroup
	running.Go(func() {
		var said bytes.Buffer
		if code := several.Run(ctx, append(args, "--log", "json"), &said, out); code != 0 {
			t.Errorf("%v ended with %d: %s", args, code, &said)
		}
		_ = out.Close()
	})
	found := make(chan map[string]string, 1)
	running.Go(func() {
		for lines := bufio.NewScanner(in); lines.Scan(); {
			var all map[string]any
			if json.Unmarshal(lines.Bytes(), &all) != nil || all["msg"] != message ||
				found == nil {
				continue
			}
			line := map[string]string{}
			for k, v := range all {
				line[k], _ = v.(string)
			}
			select {
			case found <- line:
			default: // it was said before
			}
		}
		close(found)
	})
	end = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	t.Cleanup(end)
	line, ok := <-found
	if !ok {
		t.Fatalf("%v never says %q", args, message)
	}
	return line, end
}

// aDirectory starts a directory, and gives its URL.
func aDirectory(t *testing.T, args ...string) string {
	t.Helper()
	line, _ := begin(t, "listing", append([]string{"directory", "--listen", "127.0.0.1:0",
		"--store", filepath.Join(t.TempDir(), "d.db")}, args...)...)
	return "http://" + line["http"]
}

// aServer starts a server that is listed, and gives the line that says so.
func aServer(t *testing.T, directory, name string, args ...string) (map[string]string, func()) {
	t.Helper()
	return begin(t, "listed at the directory", append([]string{"serve", "pong", "--listen",
		"127.0.0.1:0", "--directory", directory, "--name", name}, args...)...)
}

// try runs a command to its end.
func try(t *testing.T, p host.Program, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = p.Run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// builtClient is a folder with what looks like a game for the browser.
func builtClient(t *testing.T) string {
	t.Helper()
	b, err := web.QuickBundle([]byte("\x00asm\x01\x00\x00\x00 and so on"), []byte("start()"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "built")
	if err := b.Save(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}
