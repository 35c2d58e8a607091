//go:build !js

package directorylab

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/service/directory"
)

// listen has listeners listen, each to a game, until the context ends. It returns when all do.
func (l *load) listen(ctx context.Context, all *sync.WaitGroup) error {
	for i := range l.Listeners {
		c, err := l.dial()
		if err != nil {
			return err
		}
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		if _, err := fmt.Fprintf(c, "GET %sevents?game=game%02d HTTP/1.1\r\nHost: %s\r\n\r\n",
			directory.Path, i%games, c.host); err != nil {
			return err
		}
		all.Go(func() {
			defer stop()
			defer c.Close()
			if err := l.hear(c.in); ctx.Err() == nil {
				l.dropped.Add(1)
				l.failures.add(fmt.Errorf("a listener: %w", err))
			}
		})
	}
	return nil
}

// hear reads what a listener is told, and takes the time of each update by what it says.
func (l *load) hear(in *bufio.Reader) error {
	r, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", r.Status)
	}
	begun, buf, kept := false, make([]byte, 4096), 0
	for {
		n, err := r.Body.Read(buf[kept:])
		if err != nil {
			return err
		}
		text := buf[:kept+n]
		if !begun {
			at := bytes.Index(text, []byte("event: change"))
			if at < 0 {
				kept = copy(buf, text[max(len(text)-64, 0):])
				continue
			}
			begun, text = true, text[at:]
		}
		kept = copy(buf, l.times(text))
	}
}

// times takes the times of all updates in a text, and gives the end of it that may be cut off.
func (l *load) times(text []byte) (rest []byte) {
	const head = `"level":"` + mark
	for {
		at := bytes.Index(text, []byte(head))
		if at < 0 {
			return text[max(len(text)-len(head), 0):]
		}
		value := text[at+len(head):]
		end := bytes.IndexByte(value, '"')
		if end < 0 {
			return text[at:]
		}
		if said, err := strconv.ParseInt(string(value[:end]), 10, 64); err == nil {
			l.listened.add(time.Since(time.Unix(0, said)))
		}
		text = value[end:]
	}
}
