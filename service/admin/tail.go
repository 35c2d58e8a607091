package admin

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
)

// A Tail remembers the last of what is logged, for a diagnosis. The zero value is empty; any
// goroutine may use it.
type Tail struct {
	mu   sync.Mutex
	buf  []byte
	full bool // something was forgotten
}

// mostTail is how many bytes of the log are remembered.
const mostTail = 256 << 10

// Write adds a line.
func (t *Tail) Write(line []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, line...)
	if len(t.buf) > 2*mostTail {
		rest := t.buf[len(t.buf)-mostTail:]
		_, whole, _ := bytes.Cut(rest, []byte{'\n'})
		t.buf, t.full = append(t.buf[:0], whole...), true
	}
	return len(line), nil
}

// Text is what is remembered.
func (t *Tail) Text() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.full {
		return append([]byte("(what came before is not remembered)\n"), t.buf...)
	}
	return bytes.Clone(t.buf)
}

// Wrap gives a logger that logs as another does, and into the tail.
func (t *Tail) Wrap(l *slog.Logger) *slog.Logger {
	return slog.New(both{l.Handler(), slog.NewTextHandler(t, nil)})
}

// both hands what is logged to two handlers.
type both [2]slog.Handler

func (b both) Enabled(ctx context.Context, l slog.Level) bool {
	return b[0].Enabled(ctx, l) || b[1].Enabled(ctx, l)
}

func (b both) Handle(ctx context.Context, r slog.Record) (err error) {
	for _, h := range b {
		if h.Enabled(ctx, r.Level) {
			err = errors.Join(err, h.Handle(ctx, r.Clone()))
		}
	}
	return err
}

func (b both) WithAttrs(a []slog.Attr) slog.Handler {
	return both{b[0].WithAttrs(a), b[1].WithAttrs(a)}
}

func (b both) WithGroup(name string) slog.Handler {
	return both{b[0].WithGroup(name), b[1].WithGroup(name)}
}
