//go:build !js

package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/topology/server"
)

// Of a stream: how often the state is told, and how many may listen.
const (
	every        = 500 * time.Millisecond
	mostWatchers = 32
)

// A stream tells everyone who listens the same, which is asked for once. While nobody listens no
// goroutine runs.
type stream struct {
	mu      sync.Mutex
	clients map[chan []byte]bool
}

func (s *stream) init() { s.clients = map[chan []byte]bool{} }

// getEvents tells the state until whoever asked goes.
func (i *Inspector) getEvents(w http.ResponseWriter, r *http.Request) error {
	tell := make(chan []byte, 4)
	if err := i.join(tell); err != nil {
		return err
	}
	defer i.leave(tell)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_ = out.SetWriteDeadline(time.Time{}) // it is set for each event
	for {
		select {
		case <-r.Context().Done():
			return nil
		case data := <-tell:
			_ = out.SetWriteDeadline(time.Now().Add(10 * time.Second))
			if _, err := fmt.Fprintf(w, "event: state\ndata: %s\n\n", data); err != nil {
				return nil
			}
			if out.Flush() != nil {
				return nil
			}
		}
	}
}

// join adds someone who listens; the first begins the looking.
func (i *Inspector) join(tell chan []byte) error {
	i.stream.mu.Lock()
	defer i.stream.mu.Unlock()
	if i.ctx.Err() != nil {
		return errors.New("the server is ending")
	}
	if len(i.stream.clients) >= mostWatchers {
		return &mistake{http.StatusTooManyRequests, fmt.Sprintf("%d are watching already",
			mostWatchers)}
	}
	i.stream.clients[tell] = true
	i.watchers.Add(1)
	if len(i.stream.clients) == 1 {
		i.work.Go(i.tell)
	}
	return nil
}

func (i *Inspector) leave(tell chan []byte) {
	i.stream.mu.Lock()
	defer i.stream.mu.Unlock()
	delete(i.stream.clients, tell)
	i.watchers.Add(-1)
}

// tell asks for the state and tells it, until nobody listens. Who does not keep up misses some.
func (i *Inspector) tell() {
	clock := time.NewTicker(every)
	defer clock.Stop()
	for {
		data := i.next()
		i.stream.mu.Lock()
		if len(i.stream.clients) == 0 {
			i.stream.mu.Unlock()
			return
		}
		for tell := range i.stream.clients {
			select {
			case tell <- data:
			default:
			}
		}
		i.stream.mu.Unlock()
		select {
		case <-i.ctx.Done():
			return
		case <-clock.C:
		}
	}
}

// next is the state as JSON, or why there is none.
func (i *Inspector) next() []byte {
	var st State
	err := i.look(i.ctx, func(s *server.Server) { st = i.state(s) })
	if err != nil {
		st.Failed = err.Error()
	}
	i.complete(&st)
	data, err := json.Marshal(&st)
	if err != nil { // a number that JSON has no text for
		data, _ = json.Marshal(map[string]string{"failed": err.Error()})
	}
	return data
}
