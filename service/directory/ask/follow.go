package ask

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/lobby"
)

// silence is after how long a connection that says nothing is taken for broken, and mostEvent is
// how many bytes an event may have: a full room has a tenth of that.
const (
	silence   = 3 * directory.Quiet
	mostEvent = 1 << 20
)

// Reasons why a stream of events ends: a directory that ends itself ends them all.
var (
	errEnded  = errors.New("the directory tells no more: ask it again")
	errSilent = errors.New("the directory has said nothing for too long")
)

// Follow tells where one is, now and whenever that changes, for as long as the connection holds:
// nothing has to be asked again and again, and one is not silent. It returns when the context ends,
// told does not want more, or the connection breaks, and always says why. Whoever follows again
// begins with how it is then. The lines of chat have numbers, by which one finds those that came
// meanwhile.
func (m *Member) Follow(ctx context.Context, told func(lobby.Mine) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alive := time.AfterFunc(askTime, func() { cancel(errSilent) }) // it begins at once
	defer alive.Stop()
	c := m.client
	q, err := http.NewRequestWithContext(ctx, http.MethodGet,
		c.base+directory.Path+"me/events", nil)
	if err != nil {
		return err
	}
	q.Header.Set("Authorization", "Bearer "+m.bearer)
	r, err := c.http.Do(q)
	if err != nil {
		return c.silent(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(r.Body, mostEvent)) // what there is of it
		return c.refusal(r, said)
	}
	var is lobby.Mine
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, mostEvent)
	kind := ""
	for lines.Scan() {
		alive.Reset(silence)
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		switch string(name) {
		case "event":
			kind = string(value)
		case "data":
			data, err := readEvent(kind, value)
			if err != nil {
				return c.nonsense()
			}
			if data == nil {
				break
			}
			is.Hear(data)
			if err := told(is); err != nil {
				return err
			}
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("the directory at %s was cut off: %w", c.base, err)
	}
	return errEnded
}

// readEvent reads what is told, or gives nil for what a later directory may tell.
func readEvent(kind string, text []byte) (any, error) {
	switch kind {
	case "begin":
		return read[lobby.Mine](text)
	case "room":
		room, err := read[lobby.Room](text)
		return &room, err
	case "chat":
		return read[lobby.Line](text)
	case "queue":
		return read[lobby.Queued](text)
	case "start":
		return read[lobby.Start](text)
	case "out":
		return read[lobby.Out](text)
	}
	return nil, nil
}

func read[T any](text []byte) (v T, err error) {
	err = json.Unmarshal(text, &v)
	return v, err
}
