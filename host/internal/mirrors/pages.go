//go:build !js

package mirrors

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/topology/architecture"
	"github.com/coeval-dev/coeval/topology/mirror"
)

// A Status is the answer of /status. The JSON names are for other programs and stay.
type Status struct {
	serve.Status
	Phase     string  `json:"phase"`
	Mirror    int     `json:"mirror"` // its number in the group
	Uber      int     `json:"uber"`   // that of the überserver
	Mirrors   []int   `json:"mirrors"`
	Absent    []int   `json:"absent"`  // those of them that it is not in touch with
	Detours   []int   `json:"detours"` // those that it reaches only over others
	Settled   uint64  `json:"settled_tick"`
	SettledMS float64 `json:"settled_delay_ms"`
	Rejoins   uint64  `json:"rejoins"`
	// Congestion is how much mirrors suffer from what they send to each other, 0 to 1.
	Congestion float64 `json:"congestion"`
}

// pages is what the mirror says of itself over HTTP.
func (h *host) pages() (http.Handler, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", h.health)
	mux.HandleFunc("GET /readyz", h.readiness)
	status := func(w http.ResponseWriter, r *http.Request) {
		st, err := serve.Ask(r.Context(), h.mirror.Load().Do, h.status)
		serve.Answer(w, st, http.StatusServiceUnavailable, err)
	}
	mux.Handle("GET /status", h.site.Watched(http.HandlerFunc(status)))
	mux.Handle("GET /metrics", h.site.Watched(h.meters.Handler()))
	mux.Handle("/token", &serve.Door{
		Open: h.Open, Kind: "mirror", Admit: h.admit,
		Seats: serve.SeatsOfEach(&h.Mirror.Server), Refusals: &h.site.Refusals,
	})
	h.desk.Mount(mux, nil)
	return mux, h.listed.Introduce(h.subject(), mux)
}

// phase asks how far the mirror has come.
func (h *host) phase(r *http.Request) (mirror.Phase, error) {
	m := h.mirror.Load()
	p, err := serve.Ask(r.Context(), m.Do, m.Phase)
	if err != nil {
		return mirror.Out, errors.New("the mirror does not answer")
	}
	return p, nil
}

// health says whether the mirror is being driven, and its world goes on if it serves. One that asks
// to be let in, or is cut off, is well: to start it anew would not help.
func (h *host) health(w http.ResponseWriter, r *http.Request) {
	p, err := h.phase(r)
	switch {
	case err == nil && p == mirror.Out:
		err = errors.New("the mirror does not answer")
	case h.stuck(p, time.Now()):
		err = errStuck
	}
	serve.Say(w, "ok, "+p.String(), err)
}

var errStuck = errors.New("the world stands still")

// stuck says whether the world of a mirror that should serve it stands still, and not for another
// group to take it over.
func (h *host) stuck(p mirror.Phase, now time.Time) bool {
	return p == mirror.Serving && !h.upgrades.halts.Load() &&
		now.Sub(time.UnixMilli(h.moved.Load())) > serve.WellWithin
}

// readiness says whether players should be sent here.
func (h *host) readiness(w http.ResponseWriter, r *http.Request) {
	p, err := h.phase(r)
	switch {
	case err != nil:
	case h.stops.Load():
		err = errors.New("stopping")
	case h.drained.Load():
		err = errors.New("draining")
	case p != mirror.Serving:
		err = errors.New(p.String())
	case h.stuck(p, time.Now()):
		err = errStuck
	case h.crowded(r):
		err = errors.New("the lines to other mirrors are overloaded")
	}
	serve.Say(w, "ready", err)
}

// crowded says whether nobody new is let in, because of the lines to other mirrors.
func (h *host) crowded(r *http.Request) bool {
	m := h.mirror.Load()
	c, err := serve.Ask(r.Context(), m.Do, m.Congestion)
	return err == nil && c.Full
}

// status says how the mirror is. It is for the goroutine that drives it.
func (h *host) status() Status {
	m := h.mirror.Load()
	st := m.Stats()
	out := Status{
		Phase: m.Phase().String(), Mirror: int(m.ID()), Uber: int(m.Uber()), Mirrors: []int{},
		Absent: []int{}, Detours: []int{},
		Settled:   uint64(max(st.Settled, m.Base()) - m.Base()),
		SettledMS: m.SettledDelay().Seconds() * 1000,
		Rejoins:   st.Rejoins, Congestion: m.Congestion().Level,
	}
	for _, id := range m.Members() {
		out.Mirrors = append(out.Mirrors, int(id))
	}
	for _, id := range m.Absent() {
		out.Absent = append(out.Absent, int(id))
	}
	for _, l := range m.Lines() {
		if l.Via != 0 && l.Via != l.Member {
			out.Detours = append(out.Detours, int(l.Member))
		}
	}
	if s := m.Server(); s != nil {
		out.Status = serve.StatusOf(s)
	}
	out.Game, out.Open = h.title.Name(), h.Open
	return out
}

// admit lets anyone in. The token is good at every mirror, since all have the key.
func (h *host) admit(r *http.Request) (any, int, error) {
	if p, err := h.phase(r); err != nil || p != mirror.Serving || h.stops.Load() {
		return nil, http.StatusServiceUnavailable,
			errors.New("this mirror does not serve now; ask another, or again in a second")
	}
	t, err := Token(h.Mirror.Keys[0], h.title.Name(), cli.Draw()|1)
	a := entry.Admission{Game: h.title.Name(), Token: t.Text(), UDP: h.Mirror.Public.Port(),
		Knobs: architecture.ForClients(h.Knobs).String()}
	return a, http.StatusInternalServerError, err
}

// Token lets a player in at every mirror that has the key.
func Token(key token.Key, game string, client uint64) (token.Token, error) {
	return token.Issue(key, token.Grant{
		Protocol: token.ProtocolID(game), Client: client,
		Expires: time.Now().Add(serve.TokenLife).Unix(),
	}, rand.Reader)
}

// read takes all numbers at one moment.
func (h *host) read(ctx context.Context, out *serve.Metrics) error {
	m := h.mirror.Load()
	out.Site(&h.site)
	out.Store(h.clerk)
	return m.Do(ctx, func() {
		measure(out, m)
		out.Queries(h.desk)
		h.measureKept(out, m)
		h.measureUpgrades(out)
	})
}
