//go:build !js

package host

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link/webtransport"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/server"
)

// A bulletin is what a server says of itself over HTTP, and where an open one hands out tokens.
type bulletin struct {
	title        *game.Title
	strategy     replica.Strategy
	open         bool
	server       *server.Server
	udp          uint16
	websocket    bool
	webtransport uint16
	identity     *webtransport.Identity

	mu     sync.Mutex
	filled time.Time
	left   float64 // tokens that may be handed out at once
}

func newBulletin(t *game.Title, s replica.Strategy, open bool) *bulletin {
	return &bulletin{title: t, strategy: s, open: open}
}

// An admission is the answer of /token: all that a client needs to connect. The JSON names are for other programs and stay.
type admission struct {
	Game         string   `json:"game"`
	Token        string   `json:"token"`
	Strategy     string   `json:"strategy,omitempty"`     // how snapshots are made, if not as usual
	UDP          uint16   `json:"udp"`                    // port
	WebSocket    string   `json:"websocket,omitempty"`    // path, at the same address
	WebTransport uint16   `json:"webtransport,omitempty"` // port
	Certificates []string `json:"certificates,omitempty"` // SHA-256 of those that WebTransport uses
}

// strategy is how the server makes snapshots.
func (a *admission) strategy() (replica.Strategy, error) {
	if a.Strategy == "" {
		return replica.Coeval, nil
	}
	s, err := replica.ParseStrategy(a.Strategy)
	if err != nil {
		return s, fmt.Errorf("the server makes snapshots as this program cannot; use the same build on both sides: %w", err)
	}
	return s, nil
}

// A status is the answer of /status. The JSON names are for other programs and stay.
type status struct {
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

func (b *bulletin) mount(mux *http.ServeMux, m *meters) {
	mux.HandleFunc("GET /healthz", m.health)
	mux.HandleFunc("GET /readyz", m.readiness)
	mux.Handle("GET /metrics", m.handler())
	mux.HandleFunc("GET /status", b.status)
	mux.HandleFunc("/token", b.token)
}

// ask has a question answered by the goroutine that drives the server.
func (b *bulletin) ask(r *http.Request, f func()) error {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	return b.server.Do(ctx, f)
}

func (b *bulletin) status(w http.ResponseWriter, r *http.Request) {
	answer := make(chan status, 1)
	if err := b.ask(r, func() {
		s, p, last := b.server, b.server.Population(), b.server.Last()
		answer <- status{Game: b.title.Name(), Level: s.Level().Name, Tick: uint64(s.World().Tick()), Players: p.Players, Spectators: p.Spectators, Away: p.Away,
			Most: s.MostPlayers(), Paused: s.Paused(), Open: b.open, TickMS: last.Elapsed().Seconds() * 1000}
	}); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(<-answer)
}

// What an open server hands out: enough for a crowd that comes at once, and not so many that making them is all it does.
const (
	tokensAtOnce  = 2000
	tokensASecond = 500
	tokenLife     = time.Minute
)

// pass limits how many tokens are made.
func (b *bulletin) pass(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.filled.IsZero() {
		b.left = tokensAtOnce
	} else {
		b.left = min(b.left+tokensASecond*now.Sub(b.filled).Seconds(), tokensAtOnce)
	}
	b.filled = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// token lets anyone in, if the server is open. Everyone is someone new; who comes back does so with the ticket of an earlier connection.
func (b *bulletin) token(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*") // any page may; so may anyone without a page
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodPost:
		http.Error(w, "ask with GET or POST", http.StatusMethodNotAllowed)
		return
	case !b.open:
		http.Error(w, "this server is not open; ask the game's own backend for a token", http.StatusForbidden)
		return
	case !b.pass(time.Now()):
		http.Error(w, "too many ask at once, try again in a second", http.StatusTooManyRequests)
		return
	}
	type made struct {
		text string
		err  error
	}
	answer := make(chan made, 1)
	if err := b.ask(r, func() {
		t, err := b.server.Token(draw()|1, nil, tokenLife)
		answer <- made{t.Text(), err}
	}); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	m := <-answer
	if m.err != nil {
		http.Error(w, m.err.Error(), http.StatusInternalServerError)
		return
	}
	a := admission{Game: b.title.Name(), Token: m.text, UDP: b.udp, WebTransport: b.webtransport}
	if b.strategy != replica.Coeval {
		a.Strategy = b.strategy.String()
	}
	if b.websocket {
		a.WebSocket = "/coeval"
	}
	if b.identity != nil {
		for _, h := range b.identity.Hashes() {
			a.Certificates = append(a.Certificates, hex.EncodeToString(h[:]))
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(a)
}
