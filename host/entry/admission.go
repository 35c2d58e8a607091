package entry

import (
	"fmt"

	"github.com/coeval-dev/coeval/replica"
)

// An Admission is the answer of a server's /token: all that a client needs to connect. The JSON
// names are for other programs and stay.
type Admission struct {
	Game         string   `json:"game"`
	Token        string   `json:"token"`
	Strategy     string   `json:"strategy,omitempty"`     // how snapshots are made, if not as usual
	UDP          uint16   `json:"udp"`                    // port
	WebSocket    string   `json:"websocket,omitempty"`    // path, at the same address
	WebTransport uint16   `json:"webtransport,omitempty"` // port
	Certificates []string `json:"certificates,omitempty"` // SHA-256 of those that WebTransport uses
}

// Snapshots is how the server makes snapshots.
func (a *Admission) Snapshots() (replica.Strategy, error) {
	if a.Strategy == "" {
		return replica.Coeval, nil
	}
	s, err := replica.ParseStrategy(a.Strategy)
	if err != nil {
		return s, fmt.Errorf("the server makes snapshots as this program cannot; "+
			"use the same build on both sides: %w", err)
	}
	return s, nil
}
