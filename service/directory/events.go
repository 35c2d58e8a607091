package directory

import (
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
)

// This file is live updates. Once a second whoever listens is told what has changed. Not all are
// told at the same moment: a thousand who are would have those wait who ask for a list just then.
// What is told is written once for all of a turn that listen with the same filter. A listener has
// room for a few seconds; one that is slower is told to begin anew, and dropped.

// Nobody may keep others from listening: one address has so many listeners, and as each filter has
// texts of its own to be kept for the slow, there are so many filters and so many bytes.
const (
	mostListeners   = 4096
	listenersOfEach = 64
	turns           = 10
	mostFilters     = 64 // of each turn
	listenerRoom    = 8
	listenerBytes   = 1 << 20
)

// Errors of those who want to listen.
var (
	ErrListeners = errors.New("as many listen as may: try again later, or ask for the list now " +
		"and then")
	ErrListening = errors.New("too many listen from this address: end some, or ask for the list " +
		"now and then")
	ErrFilters = errors.New("others listen with as many filters as there may be: listen with " +
		"game alone, and leave out the rest yourself")
)

// A hub tells listeners.
type hub struct {
	mu     sync.Mutex
	turns  [turns]turn
	count  int
	of     map[netip.Addr]int // listeners of each source
	closed bool
}

// A turn are those who are told at the same time.
type turn struct {
	groups map[string]*group
	count  int
	noted  map[string]change // since they were told
	told   *listing          // what they know
}

// A group are those who listen with the same filter.
type group struct {
	filter    filter
	listeners map[*listener]bool
}

// A listener is somebody who is told. Its channel is closed when it was dropped or the directory
// ends.
type listener struct {
	turn   *turn
	key    string // the filter as text, the same for the same filter
	source netip.Addr
	queue  chan []byte
	queued atomic.Int64 // bytes
}

func (h *hub) init() {
	h.of = map[netip.Addr]int{}
	for i := range h.turns {
		h.turns[i].groups, h.turns[i].noted = map[string]*group{}, map[string]change{}
	}
}

func (h *hub) note(changes map[string]change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.turns {
		t := &h.turns[i]
		if t.count == 0 {
			continue
		}
		for id, c := range changes {
			if before, ok := t.noted[id]; ok {
				c.was = before.was
			}
			t.noted[id] = c
		}
	}
}

// listen adds a listener, and gives what it is to begin with: what others of its turn were told of
// last, so that what they are told next fits.
func (h *hub) listen(f filter, key string, source netip.Addr, now *listing) (
	*listener, *listing, error,
) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := &h.turns[0]
	for i := range h.turns {
		if h.turns[i].count < t.count {
			t = &h.turns[i]
		}
	}
	g := t.groups[key]
	switch {
	case h.closed || h.count >= mostListeners:
		return nil, nil, ErrListeners
	case source.IsValid() && h.of[source] >= listenersOfEach:
		return nil, nil, ErrListening
	case g == nil && len(t.groups) >= mostFilters:
		return nil, nil, ErrFilters
	case g == nil:
		g = &group{filter: f, listeners: map[*listener]bool{}}
		t.groups[key] = g
	}
	if t.count == 0 {
		t.told = now
		clear(t.noted)
	}
	x := &listener{turn: t, key: key, source: source, queue: make(chan []byte, listenerRoom)}
	g.listeners[x] = true
	h.count++
	t.count++
	if source.IsValid() {
		h.of[source]++
	}
	return x, t.told, nil
}

func (h *hub) leave(x *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(x)
}

// remove takes a listener out, if it is there. The hub is held.
func (h *hub) remove(x *listener) bool {
	g := x.turn.groups[x.key]
	if g == nil || !g.listeners[x] {
		return false
	}
	delete(g.listeners, x)
	if len(g.listeners) == 0 {
		delete(x.turn.groups, x.key)
	}
	h.count--
	x.turn.count--
	if x.source.IsValid() {
		if h.of[x.source]--; h.of[x.source] == 0 {
			delete(h.of, x.source)
		}
	}
	return true
}

// size is how many listen.
func (h *hub) size() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count
}

// tell tells the listeners of a turn what has changed.
func (h *hub) tell(n int, l *listing) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := &h.turns[n%turns]
	if len(t.noted) == 0 {
		return
	}
	for _, g := range t.groups {
		text := changes(t.noted, &g.filter)
		if text == nil {
			continue
		}
		for x := range g.listeners {
			if n := x.queued.Load(); n > 0 && n+int64(len(text)) > listenerBytes {
				h.drop(x)
				continue
			}
			x.queued.Add(int64(len(text)))
			select {
			case x.queue <- text:
			default:
				h.drop(x)
			}
		}
	}
	clear(t.noted)
	t.told = l
}

func (h *hub) drop(x *listener) {
	if h.remove(x) {
		close(x.queue)
	}
}

// changes writes what has changed, for those with a filter: entries as they are now, and the IDs of
// those that matched and are gone or match no more. It is nil if nothing is to be told.
func changes(noted map[string]change, f *filter) []byte {
	changed, gone := []byte("event: change\ndata: "+`{"changed":[`), []byte(`],"gone":[`)
	n, m := 0, 0
	for id, c := range noted {
		switch {
		case c.is != nil && f.match(c.is):
			if n++; n > 1 {
				changed = append(changed, ',')
			}
			changed = append(changed, c.is.json...)
		case c.was != nil && f.match(c.was):
			if m++; m > 1 {
				gone = append(gone, ',')
			}
			gone = append(append(append(gone, '"'), id...), '"')
		}
	}
	if n+m == 0 {
		return nil
	}
	return append(append(changed, gone...), "]}\n\n"...)
}

// chunk is about how many bytes are written at once of what a listener begins with.
const chunk = 32 << 10

// begin says all that matches, a part after another: a listing is shared, so however slow the
// listener is, it costs a buffer.
func (l *listing) begin(f *filter, say func([]byte) bool) bool {
	out := append(make([]byte, 0, chunk+(4<<10)), "event: begin\ndata: ["...)
	n := 0
	for _, e := range l.of(f.game)[0] {
		if !f.match(e) {
			continue
		}
		if n++; n > 1 {
			out = append(out, ',')
		}
		if out = append(out, e.json...); len(out) >= chunk {
			if !say(out) {
				return false
			}
			out = out[:0]
		}
	}
	return say(append(out, "]\n\n"...))
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for i := range h.turns {
		for _, g := range h.turns[i].groups {
			for x := range g.listeners {
				h.drop(x)
			}
		}
	}
}
