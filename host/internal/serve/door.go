//go:build !js

package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/topology/server"
)

// Do has f called by the goroutine that drives a server or a mirror, and waits for it.
type Do func(ctx context.Context, f func()) error

// patience is how long whoever asks over HTTP waits for the goroutine that drives.
const patience = 2 * time.Second

// Ask has a question answered by the goroutine that drives.
func Ask[T any](ctx context.Context, do Do, question func() T) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var answer, none T
	if err := do(ctx, func() { answer = question() }); err != nil {
		return none, err // it may still be answered
	}
	return answer, nil
}

// Answer writes an answer as JSON, or what is wrong.
func Answer(w http.ResponseWriter, v any, status int, err error) {
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// A Status is the answer of /status. The JSON names are for other programs and stay.
type Status struct {
	Game       string  `json:"game"`
	Level      string  `json:"level"`
	Tick       uint64  `json:"tick"`
	Players    int     `json:"players"`
	Most       int     `json:"most_players"`
	Spectators int     `json:"spectators"`
	Away       int     `json:"away"`
	Paused     bool    `json:"paused"`
	Open       bool    `json:"open"`
	TickMS     float64 `json:"tick_ms"` // that the last tick took
}

// StatusOf says how a server is. It is for the goroutine that drives it.
func StatusOf(s *server.Server) Status {
	p, last := s.Population(), s.Last()
	return Status{
		Level: s.Level().Name, Tick: uint64(s.World().Tick()), Most: s.MostPlayers(),
		Players: p.Players, Spectators: p.Spectators, Away: p.Away, Paused: s.Paused(),
		TickMS: last.Elapsed().Seconds() * 1000,
	}
}

// What an open server hands out: enough for a crowd that comes at once, and not so many that making
// them is all it does. Of these one address has twice as many as it has seats, and a few; then one
// a second.
const (
	tokensAtOnce  = 2000
	tokensASecond = 500
	tokensOfEach  = 16
	// TokenLife is how long a token can be used to connect.
	TokenLife = time.Minute
)

// A Door hands out tokens at /token, to anyone if it is open. Everyone is someone new; who comes
// back does so with the ticket of an earlier connection.
type Door struct {
	Open bool
	// Kind is what it is the door of, for people.
	Kind string
	// Admit makes what is answered, or says by which status of HTTP it is refused.
	Admit func(r *http.Request) (answer any, status int, err error)
	// Bring answers those who bring a token, as "Authorization: Bearer TOKEN". It may be nil.
	Bring func(token string) (answer any, status int, err error)

	// Seats is how many one address may have; below zero there is no limit.
	Seats int
	// Origin says whether a page may ask, by where it is from. Without it, any page may: so may
	// anyone without a page.
	Origin func(r *http.Request) bool
	// Refusals are where those are counted that are not let in.
	Refusals *Refusals

	mu   sync.Mutex
	all  rate
	each rates
}

// pass limits how many tokens are made, or says by what name it is counted that none is.
func (d *Door) pass(from netip.Addr, now time.Time) (why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.Seats >= 0 && !d.each.pass(from, now, 1, float64(tokensOfEach+2*d.Seats)) {
		return "tokens_of_one_address"
	}
	if !d.all.pass(now, tokensASecond, tokensAtOnce) {
		return "tokens"
	}
	return ""
}

// refuse counts a refusal, and says it.
func (d *Door) refuse(w http.ResponseWriter, why, text string, status int) {
	if d.Refusals != nil {
		d.Refusals.Count(why)
	}
	http.Error(w, text, status)
}

func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if d.Origin == nil {
		w.Header().Set("Access-Control-Allow-Origin", "*")
	} else if !d.Origin(r) {
		d.refuse(w, "origin", "pages from elsewhere get no token here", http.StatusForbidden)
		return
	} else if from := r.Header.Get("Origin"); from != "" && !strings.HasSuffix(from, "://"+r.Host) {
		w.Header().Set("Access-Control-Allow-Origin", from) // one that was named
		w.Header().Set("Vary", "Origin")
	}
	brought, brings := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	brings = brings && d.Bring != nil
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodPost:
		http.Error(w, "ask with GET or POST", http.StatusMethodNotAllowed)
	case !d.Open && !brings:
		http.Error(w, "this "+d.Kind+" is not open; ask the game's own backend for a token",
			http.StatusForbidden)
	default:
		why := d.pass(sourceOf(addrOf(r.RemoteAddr)), time.Now())
		if why != "" {
			w.Header().Set("Retry-After", "1")
			d.refuse(w, why, "too many ask at once, try again in a second",
				http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		if !brings {
			answer, status, err := d.Admit(r)
			Answer(w, answer, status, err)
			return
		}
		answer, status, err := d.Bring(brought)
		if err != nil {
			d.refuse(w, "brought_tokens", err.Error(), status)
			return
		}
		Answer(w, answer, status, nil)
	}
}
