package entry

import (
	"fmt"

	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/client"
)

// An Admission is the answer of a server's /token: all that a client needs to connect. The JSON
// names are for other programs and stay.
type Admission struct {
	Game     string `json:"game"`
	Token    string `json:"token"`
	Strategy string `json:"strategy,omitempty"` // how snapshots are made, if not as usual
	// Take is when commands are executed, if not at their ticks; Style and Commands are those of
	// the architecture, if one was chosen: how many commands go into a packet.
	Take         string   `json:"take,omitempty"`
	Style        string   `json:"style,omitempty"`
	Commands     int      `json:"commands,omitempty"`
	Knobs        string   `json:"knobs,omitempty"`        // of clients, NAME=VALUE with spaces
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

// Play sets what a client of the server has to do as the server does: how snapshots are made and
// commands are sent; and the style of the server's architecture, unless the player has chosen one.
func (a *Admission) Play(o *client.Options, chosen bool) (err error) {
	if o.Strategy, err = a.Snapshots(); err != nil {
		return err
	}
	o.Constant = a.Take != ""
	if a.Commands > 0 {
		o.Redundancy.Least, o.Redundancy.Most = a.Commands, a.Commands
	}
	// What this program does not know is of another version, and left out.
	values, err := knob.ParseValues(a.Knobs)
	if err == nil {
		err = knob.Apply(o, client.Knobs(), values)
	}
	if err != nil {
		return fmt.Errorf("the server's settings: %w", err)
	}
	if a.Style == "" || chosen {
		return nil
	}
	if o.Style, err = predict.ParseStyle(a.Style); err != nil {
		return fmt.Errorf("the server's style: %w", err)
	}
	return nil
}
