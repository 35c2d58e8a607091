//go:build !js

package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/mirror"
)

// A mirrorStatus is the answer of /status. The JSON names are for other programs and stay.
type mirrorStatus struct {
	status
	Phase     string  `json:"phase"`
	Mirror    int     `json:"mirror"` // its number in the group
	Uber      int     `json:"uber"`   // that of the überserver
	Mirrors   []int   `json:"mirrors"`
	Settled   uint64  `json:"settled_tick"`
	SettledMS float64 `json:"settled_delay_ms"`
	Rejoins   uint64  `json:"rejoins"`
}

// pages is what the mirror says of itself over HTTP.
func (h *mirrorHost) pages() http.Handler {
	mux := http.NewServeMux()
	door := newBulletin(h.title, replica.Coeval, h.flags.Open)
	mux.HandleFunc("GET /healthz", h.health)
	mux.HandleFunc("GET /readyz", h.readiness)
	mux.HandleFunc("GET /status", h.status)
	mux.Handle("GET /metrics", h.meters.handler())
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) { h.token(door, w, r) })
	return mux
}

// ask has a question answered by the goroutine that drives the mirror.
func (h *mirrorHost) ask(ctx context.Context, f func(m *mirror.Mirror)) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	m := h.mirror.Load()
	return m.Do(ctx, func() { f(m) })
}

// phase asks how far the mirror has come.
func (h *mirrorHost) phase(ctx context.Context) (mirror.Phase, error) {
	answer := make(chan mirror.Phase, 1)
	if err := h.ask(ctx, func(m *mirror.Mirror) { answer <- m.Phase() }); err != nil {
		return mirror.Out, err
	}
	return <-answer, nil
}

// health says whether the mirror is being driven, and its world goes on if it serves. One that asks to be let in, or is cut off, is well: to start it anew would not help.
func (h *mirrorHost) health(w http.ResponseWriter, r *http.Request) {
	p, err := h.phase(r.Context())
	switch {
	case err != nil || p == mirror.Out:
		http.Error(w, "the mirror does not answer", http.StatusServiceUnavailable)
	case h.stuck(p, time.Now()):
		http.Error(w, "the world stands still", http.StatusServiceUnavailable)
	default:
		_, _ = w.Write([]byte("ok, " + p.String() + "\n"))
	}
}

// stuck says whether the world of a mirror that should serve it stands still.
func (h *mirrorHost) stuck(p mirror.Phase, now time.Time) bool {
	return p == mirror.Serving && now.Sub(time.UnixMilli(h.moved.Load())) > wellWithin
}

// readiness says whether players should be sent here.
func (h *mirrorHost) readiness(w http.ResponseWriter, r *http.Request) {
	p, err := h.phase(r.Context())
	switch {
	case err != nil:
		http.Error(w, "the mirror does not answer", http.StatusServiceUnavailable)
	case h.stops.Load():
		http.Error(w, "stopping", http.StatusServiceUnavailable)
	case p != mirror.Serving:
		http.Error(w, p.String(), http.StatusServiceUnavailable)
	case h.stuck(p, time.Now()):
		http.Error(w, "the world stands still", http.StatusServiceUnavailable)
	default:
		_, _ = w.Write([]byte("ready\n"))
	}
}

func (h *mirrorHost) status(w http.ResponseWriter, r *http.Request) {
	answer := make(chan mirrorStatus, 1)
	if err := h.ask(r.Context(), func(m *mirror.Mirror) { answer <- h.look(m) }); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(<-answer)
}

// look says how a mirror is.
func (h *mirrorHost) look(m *mirror.Mirror) mirrorStatus {
	st := m.Stats()
	out := mirrorStatus{Phase: m.Phase().String(), Mirror: int(m.ID()), Uber: int(m.Uber()), Mirrors: []int{}, Settled: uint64(st.Settled),
		SettledMS: m.SettledDelay().Seconds() * 1000, Rejoins: st.Rejoins}
	out.Game, out.Open = h.title.Name(), h.flags.Open
	for _, id := range m.Members() {
		out.Mirrors = append(out.Mirrors, int(id))
	}
	if s := m.Server(); s != nil {
		p, last := s.Population(), s.Last()
		out.Level, out.Tick, out.Most, out.TickMS = s.Level().Name, uint64(s.World().Tick()), s.MostPlayers(), last.Elapsed().Seconds()*1000
		out.Players, out.Spectators, out.Away = p.Players, p.Spectators, p.Away
	}
	return out
}

// token lets anyone in, if the mirror is open. The token is good at every mirror, since all have the key.
func (h *mirrorHost) token(door *bulletin, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*") // any page may; so may anyone without a page
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		http.Error(w, "ask with GET or POST", http.StatusMethodNotAllowed)
		return
	}
	if !door.open {
		http.Error(w, "this mirror is not open; ask the game's own backend for a token", http.StatusForbidden)
		return
	}
	if !door.pass(time.Now()) {
		http.Error(w, "too many ask at once, try again in a second", http.StatusTooManyRequests)
		return
	}
	if p, err := h.phase(r.Context()); err != nil || p != mirror.Serving || h.stops.Load() {
		http.Error(w, "this mirror does not serve now; ask another, or again in a second", http.StatusServiceUnavailable)
		return
	}
	t, err := token.Issue(h.opt.Keys[0], token.Grant{Protocol: token.ProtocolID(h.title.Name()), Client: draw() | 1, Expires: time.Now().Add(tokenLife).Unix()}, rand.Reader)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(admission{Game: h.title.Name(), Token: t.Text(), UDP: h.opt.Public.Port()})
}
