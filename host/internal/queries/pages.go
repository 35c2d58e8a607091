//go:build !js

package queries

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/query"
)

// Path is where a site answers queries: Path + "info" and so on.
const Path = "/query/"

// An Info is what a server says of itself, as JSON. The names are for other programs and stay.
type Info struct {
	Mode    string `json:"mode"`
	Version string `json:"version"`
	query.Info
	Answers []string `json:"answers"`
}

// InfoOf is what datagrams say, for JSON.
func InfoOf(i query.Info) Info {
	out := Info{Mode: i.Mode.String(), Version: fmt.Sprintf("%016x", i.Version), Info: i,
		Answers: []string{}}
	for k := query.Ping; i.Answers>>(k-1) > 0; k++ {
		if i.Answers.Has(k) {
			out.Answers = append(out.Answers, k.String())
		}
	}
	return out
}

// A Who is who plays, as JSON.
type Who struct {
	Total   int            `json:"total"`
	Players []query.Player `json:"players"`
}

// pages are answers over HTTP, each kept for a while and given to all who ask.
type pages struct {
	mu   sync.Mutex
	kept map[string]*page
}

type page struct {
	mu sync.Mutex
	at time.Time
	content
}

type content struct {
	status query.Status
	body   []byte
}

const (
	pageAge  = 250 * time.Millisecond
	patience = 2 * time.Second
)

// Mount adds what browsers ask: pages of any site may, as anyone may over UDP, unless allow names
// those that may.
func (d *Desk) Mount(mux *http.ServeMux, allow func(*http.Request) bool) {
	if d == nil {
		return
	}
	mux.HandleFunc("GET "+Path+"{name}", func(w http.ResponseWriter, r *http.Request) {
		if open(w, r, allow) {
			d.serve(w, r)
		}
	})
	mux.HandleFunc("POST "+Path+"message", func(w http.ResponseWriter, r *http.Request) {
		if open(w, r, allow) {
			d.take(w, r)
		}
	})
}

// open lets pages from elsewhere read what is answered, and how long it took.
func open(w http.ResponseWriter, r *http.Request, allow func(*http.Request) bool) bool {
	if allow != nil && !allow(r) {
		http.Error(w, "pages from elsewhere may not ask here: have the server's operator name "+
			"them by --origin", http.StatusForbidden)
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Timing-Allow-Origin", "*")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	return true
}

func (d *Desk) serve(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	kind, ok := query.ParseKind(name)
	if !ok || kind == query.Own {
		kind = query.Own
	}
	if kind == query.Message {
		w.Header().Set("Allow", "POST")
		http.Error(w, "a message is sent by POST", http.StatusMethodNotAllowed)
		return
	}
	if kind == query.Ping && d.responder.Answers().Has(query.Ping) {
		w.WriteHeader(http.StatusNoContent) // without the game's goroutine, as that takes time
		return
	}
	status, body, err := d.page(r.Context(), kind, name)
	if err != nil {
		http.Error(w, "the server does not answer just now: ask again",
			http.StatusServiceUnavailable)
		return
	}
	if !say(w, status, name) {
		return
	}
	if kind == query.Own {
		w.Header().Set("Content-Type", "application/octet-stream")
	} else {
		w.Header().Set("Content-Type", "application/json")
	}
	_, _ = w.Write(body) // who has gone need not be told
}

// say says what a status means, and whether there is more to say.
func say(w http.ResponseWriter, s query.Status, name string) bool {
	switch s {
	case query.OK:
		return true
	case query.Off:
		http.Error(w, fmt.Sprintf("the operator has turned %q off", name), http.StatusNotFound)
	case query.Busy:
		w.Header().Set("Retry-After", "10")
		http.Error(w, "too many came: try again in ten seconds", http.StatusTooManyRequests)
	default:
		http.Error(w, fmt.Sprintf("the game has no query %.40q: %sinfo lists those that it has",
			name, Path), http.StatusNotFound)
	}
	return false
}

// page is an answer, made at most every so often.
func (d *Desk) page(ctx context.Context, k query.Kind, name string) (query.Status, []byte, error) {
	key := k.String()
	if k == query.Own {
		if key = "own " + name; !d.has(name) {
			return query.Unknown, nil, nil // nothing is kept of what there is not
		}
	}
	d.pages.mu.Lock()
	if d.pages.kept == nil {
		d.pages.kept = map[string]*page{}
	}
	p := d.pages.kept[key]
	if p == nil {
		p = &page{}
		d.pages.kept[key] = p
	}
	d.pages.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.at) < pageAge {
		return p.status, p.body, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	made := make(chan content, 1) // it may be made after nobody waits any more
	if err := d.subject.Do(ctx, func() { made <- d.make(k, name) }); err != nil {
		return 0, nil, err
	}
	p.at, p.content = time.Now(), <-made
	return p.status, p.body, nil
}

func (d *Desk) has(name string) bool {
	for _, own := range d.responder.Own() {
		if own == name {
			return true
		}
	}
	return false
}

// make makes an answer. It is called by the goroutine that drives.
func (d *Desk) make(k query.Kind, name string) (p content) {
	q := query.Query{Kind: k}
	if k == query.Own {
		q.Text = []byte(name)
	}
	var body []byte
	if p.status, body = d.responder.Content(d.now(), &q, query.MaxBody); p.status != query.OK {
		return p
	}
	switch k {
	case query.AskInfo:
		i, _ := query.ParseInfo(body) // it was written a moment ago
		p.body, _ = json.Marshal(InfoOf(i))
	case query.AskWho:
		who := Who{Players: []query.Player{}}
		for {
			w, _ := query.ParseWho(body)
			who.Total = int(w.Total)
			if who.Players = append(who.Players, w.Players...); len(w.Players) == 0 {
				break
			}
			q.First += uint16(len(w.Players))
			_, body = d.responder.Content(d.now(), &q, query.MaxBody)
		}
		p.body, _ = json.Marshal(who)
	default:
		p.body = bytes.Clone(body)
	}
	return p
}

// take takes a message.
func (d *Desk) take(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(io.LimitReader(r.Body, query.MaxMessage+1))
	if err != nil {
		return
	}
	if len(text) == 0 || len(text) > query.MaxMessage ||
		query.Clean(string(text), query.MaxMessage) != string(text) {
		http.Error(w, fmt.Sprintf("a message is a line of text of 1 to %d bytes",
			query.MaxMessage), http.StatusBadRequest)
		return
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		http.Error(w, "it is not known who asks", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	said := make(chan query.Status, 1)
	if err := d.subject.Do(ctx, func() {
		said <- d.responder.Tell(d.now(), from, text)
	}); err != nil {
		http.Error(w, "the server does not answer just now: try again",
			http.StatusServiceUnavailable)
		return
	}
	if say(w, <-said, "message") {
		w.WriteHeader(http.StatusNoContent)
	}
}
