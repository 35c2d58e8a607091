//go:build !js

package host

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/topology/server"
)

// liveState is what the panel is told several times a second. The JSON names are the page's.
type liveState struct {
	Seconds float64      `json:"seconds"` // since the start
	Players int          `json:"players"`
	Away    int          `json:"away"`
	Clients int          `json:"clients"` // connections that the bytes went to
	Map     string       `json:"map"`
	Tick    uint64       `json:"tick"`
	TickMS  float64      `json:"tick_ms"`
	Presets []string     `json:"presets"`
	Network networkState `json:"network"`
	// Sent is what the server's links say they have taken, in bytes; Rows are what it was for, and add up to it.
	Sent uint64    `json:"sent"`
	Rows []byteRow `json:"rows"`
}

// A byteRow is what some of the server's bytes were for.
type byteRow struct {
	Name  string  `json:"name"`
	Kind  string  `json:"kind"` // "class", "events" or "net"
	Bytes float64 `json:"bytes"`
}

// live asks the server how it does.
func (s *demoSite) live(ctx context.Context) (liveState, error) {
	answer := make(chan liveState, 1)
	err := s.host.server.Do(ctx, func() {
		srv := s.host.server
		p, last := srv.Population(), srv.Last()
		l := srv.Ledger()
		answer <- liveState{Players: p.Players, Away: p.Away, Clients: p.Connections, Map: srv.Level().Name, Tick: uint64(srv.World().Tick()), TickMS: last.Elapsed().Seconds() * 1000,
			Sent: srv.Counters().SentBytes, Rows: byteRows(srv, &l)}
	})
	if err != nil {
		return liveState{}, err
	}
	out := <-answer
	out.Seconds = time.Since(s.client.began).Seconds()
	out.Presets, out.Network = cli.Presets(), s.host.network.state()
	return out, nil
}

// byteRows books the server's bytes: snapshots by class, and around them what connections take. They add up to what the links have sent.
func byteRows(srv *server.Server, l *conn.Ledger) []byteRow {
	st := srv.Stats()
	r := &st.Replica
	var rows []byteRow
	booked := 0.0
	add := func(name, kind string, bytes float64) { rows = append(rows, byteRow{name, kind, bytes}) }
	part := func(name, kind string, bits float64) {
		add(name, kind, bits/8)
		booked += bits / 8
	}
	for i, c := range r.Classes {
		name := "commands of others"
		if classes := srv.Protocol().Game().Classes(); i < len(classes) {
			name = classes[i].Name()
		}
		part(name, "class", c.Bits)
	}
	part("unreliable events", "events", r.Events)
	part("views", "class", r.Views)
	part("snapshot headers", "net", r.Header)
	part("snapshot hashes", "net", r.Tail)
	add("rounding to bytes", "net", float64(l.Sent[conn.SentUnreliable]+l.Sent[conn.SentNewest])-booked)
	for p, n := range l.Sent {
		switch p := conn.Purpose(p); p {
		case conn.SentUnreliable, conn.SentNewest:
		case conn.SentReliable:
			add("events and messages", "events", float64(n))
		case conn.SentRidden:
			add("the same, again", "events", float64(n))
		default:
			add(p.String(), "net", float64(n))
		}
	}
	if l.Refused > 0 {
		add("refused by links", "net", -float64(l.Refused))
	}
	return rows
}

// present is what the panel is to show now.
func (s *demoSite) present(ctx context.Context) (any, error) {
	if s.mirrors != nil {
		return s.mirrors.state(), nil
	}
	return s.live(ctx)
}

// events streams how the build goes and how the game does, until the page is closed.
func (s *demoSite) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	flush := http.NewResponseController(w)
	send := func(event string, v any) bool {
		b, err := json.Marshal(v)
		if err != nil {
			return false
		}
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, b); err != nil {
			return false
		}
		return flush.Flush() == nil
	}
	every := 250 * time.Millisecond
	if s.mirrors != nil {
		every = 100 * time.Millisecond // rollbacks are to be seen as they happen
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	var told buildState
	for first := true; ; first = false {
		if b := s.client.now(); first || b != told {
			told = b
			if !send("build", b) {
				return
			}
		}
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		l, err := s.present(ctx)
		cancel()
		if err == nil && !send("live", l) {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.ending.Done():
			return
		case <-tick.C:
		}
	}
}

// network changes the simulated network.
func (s *demoSite) network(w http.ResponseWriter, r *http.Request) {
	var wish networkWish
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096))
	d.DisallowUnknownFields()
	if err := d.Decode(&wish); err != nil {
		http.Error(w, "that is no setting of the network: "+err.Error(), http.StatusBadRequest)
		return
	}
	if err := s.host.network.set(wish); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.host.network.state())
}
