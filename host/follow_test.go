package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/cli"
)

// In a process that this is set for, the test binary stands in for the program with the command
// mirror.
const asMirror = "COEVAL_TEST_AS_MIRROR"

func init() {
	if os.Getenv(asMirror) != "" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr, commands()))
	}
}

// tryMirror runs a command line in this process.
func tryMirror(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(ctx, args, &out, &err, commands())
	return code, out.String(), err.String()
}

// logLines keeps what a mirror logs, and lets a test wait for a line.
type logLines struct {
	mu    sync.Mutex
	more  *sync.Cond
	lines []map[string]any
	ended bool
}

// follow reads lines until there are no more.
func follow(r io.Reader) *logLines {
	l := &logLines{}
	l.more = sync.NewCond(&l.mu)
	go func() {
		for s := bufio.NewScanner(r); s.Scan(); {
			line := map[string]any{}
			if json.Unmarshal(s.Bytes(), &line) != nil {
				line["plain"] = s.Text()
			}
			l.mu.Lock()
			l.lines = append(l.lines, line)
			l.more.Broadcast()
			l.mu.Unlock()
		}
		l.mu.Lock()
		l.ended = true
		l.more.Broadcast()
		l.mu.Unlock()
	}()
	return l
}

// await waits for a line with this message, from a number of lines on, and gives it with the number
// after it. It is nil if there will be none.
func (l *logLines) await(msg string, from int) (map[string]any, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for ; from < len(l.lines); from++ {
			if l.lines[from]["msg"] == msg {
				return l.lines[from], from + 1
			}
		}
		if l.ended {
			return nil, from
		}
		l.more.Wait()
	}
}

// plain waits for a line of plain text that begins so, and gives it, or nothing if there will be
// none.
func (l *logLines) plain(prefix string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for from := 0; ; {
		for ; from < len(l.lines); from++ {
			if text, ok := l.lines[from]["plain"].(string); ok && strings.HasPrefix(text, prefix) {
				return text
			}
		}
		if l.ended {
			return ""
		}
		l.more.Wait()
	}
}

// end waits until there are no more lines.
func (l *logLines) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.ended {
		l.more.Wait()
	}
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out strings.Builder
	for _, x := range l.lines {
		if plain, ok := x["plain"].(string); ok {
			out.WriteString(plain + "\n")
			continue
		}
		b, _ := json.Marshal(x)
		out.Write(append(b, '\n'))
	}
	return out.String()
}

// A mirrored is a mirror that runs in the test.
type mirrored struct {
	UDP, HTTP, Address string
	log                *logLines
	stop               func() int // gives the exit code
}

// mirrorIn runs coeval mirror until it says that it serves.
func mirrorIn(t *testing.T, args ...string) *mirrored {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	code := make(chan int, 1)
	go func() {
		all := append([]string{"mirror", "--listen", "127.0.0.1:0", "--mirrors", "127.0.0.1:0",
			"--json"}, args...)
		code <- run(ctx, all, io.Discard, w, commands())
		w.Close()
	}()
	m := &mirrored{log: follow(r)}
	var once sync.Once
	got := 0
	m.stop = func() int {
		once.Do(func() {
			cancel()
			got = <-code
		})
		return got
	}
	t.Cleanup(func() { m.stop() })
	line, _ := m.log.await("serving", 0)
	if line == nil {
		t.Fatalf("exit code %d:\n%s", m.stop(), m.log)
	}
	m.UDP, m.HTTP, m.Address = line["udp"].(string), line["http"].(string), line["address"].(string)
	return m
}

// stopped gives an address that was a mirror's and is nobody's any more.
func (m *mirrored) stopped(t *testing.T) string {
	t.Helper()
	other := mirrorIn(t, "--uber", "--key", groupKeyFor(t))
	if code := other.stop(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, other.log)
	}
	return other.Address
}

// groupKeyFor makes a key that is one test's own.
func groupKeyFor(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mirrors.key")
	if code, _, stderr := try("token", "key", "--out", file); code != cli.ExitOK {
		t.Fatal(stderr)
	}
	return file
}
