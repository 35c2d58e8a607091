//go:build !js

package demo

import (
	"github.com/coeval-dev/coeval/conn"
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
	// Limit is bytes a second that the narrowest of the players' paths was seen to carry from the
	// server, or zero.
	Limit int `json:"limit"`
	// Sent is what the server's links say they have taken, in bytes; Rows are what it was for, and
	// add up to it.
	Sent uint64    `json:"sent"`
	Rows []byteRow `json:"rows"`
}

// A byteRow is what some of the server's bytes were for.
type byteRow struct {
	Name  string  `json:"name"`
	Kind  string  `json:"kind"` // "class", "events" or "net"
	Bytes float64 `json:"bytes"`
}

// byteRows books the server's bytes: snapshots by class, and around them what connections take.
// They add up to what the links have sent.
func byteRows(srv *server.Server, l *conn.Ledger) []byteRow {
	st := srv.Stats()
	r := &st.Replica
	var rows []byteRow
	booked := 0.0
	add := func(name, kind string, bytes float64) {
		rows = append(rows, byteRow{name, kind, bytes})
	}
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
	add("rounding to bytes", "net",
		float64(l.Sent[conn.SentUnreliable]+l.Sent[conn.SentNewest])-booked)
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
