package admin

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// This file is how a group of mirrors gives its game to another group, such as one of a new build:
// mirror --upgrade asks for all of it, in this order: world, halt, used, world, cede.

// A Group is the group of mirrors that a mirror is in.
type Group struct {
	// Mirror is asked within Game.Do.
	Mirror Halter
	// Key is by what another program knows that it has the same key, Build says which program this
	// is, and Upgrades how often the game has gone from one group to another.
	Key      []byte
	Build    string
	Upgrades uint64
	// Used are the tokens that have let someone in here, or nil. It is asked within Game.Do.
	Used *conn.Used
}

// A Halter is a mirror, as those see it who have its group stand still: to take its game, or to go
// on later.
type Halter interface {
	Present() (*keep.Snapshot, error)
	Halt(limit time.Duration) error
	Halting() mirror.Halting
	Final() (*keep.Snapshot, error)
	Cede(t world.Tick, to []netip.AddrPort) error
	GoOn()
	SetPaused(on bool, why string) error
	Change(l game.Level) (done bool, err error)
	Base() world.Tick
	Safe() world.Tick
	Decree() (leads bool, number uint64)
}

var _ Halter = (*mirror.Mirror)(nil)

// A Handover is the answer to how far a group is with giving its game away.
type Handover struct {
	// Tick is the last that counts, or 0 if the group plays on.
	Tick uint64 `json:"tick"`
	// Final says that the world of that tick can be fetched.
	Final bool `json:"final"`
	// Ceded says that the game is another group's for good. To is where players reach that.
	Ceded bool     `json:"ceded"`
	To    []string `json:"to"`
	// StillMS is for how long the world has stood still.
	StillMS float64 `json:"still_ms"`
}

func handoverOf(h *mirror.Halting) *Handover {
	out := &Handover{Tick: uint64(h.Tick), Final: h.Final, Ceded: h.Ceded, To: []string{},
		StillMS: h.Still.Seconds() * 1000}
	for _, a := range h.To {
		out.To = append(out.To, a.String())
	}
	return out
}

// group has something done with the mirror, by the goroutine that drives it.
func (a *API) group(c *call, f func(m Halter) error) error {
	if a.game.Group == nil {
		return refuse(http.StatusConflict, "no_mirrors", "this is no mirror: a new build takes a "+
			"server's place by serve --upgrade")
	}
	return a.with(c, func(*server.Server) error { return f(a.game.Group.Mirror) })
}

func (a *API) handover(c *call) (any, error) {
	var h mirror.Halting
	err := a.group(c, func(m Halter) error { h = m.Halting(); return nil })
	return handoverOf(&h), err
}

// until asks a mirror again and again, until something is so.
func (a *API) until(c *call, limit time.Duration,
	ask func(m Halter, h *mirror.Halting) (done bool, err error)) (*Handover, error) {
	for end := time.Now().Add(limit); ; {
		var h mirror.Halting
		done := false
		if err := a.group(c, func(m Halter) (err error) {
			h = m.Halting()
			done, err = ask(m, &h)
			return err
		}); err != nil {
			return nil, err
		}
		if done {
			return handoverOf(&h), nil
		}
		if time.Now().After(end) {
			return nil, refuse(http.StatusServiceUnavailable, "late",
				"it is not so within %v, and may be yet: ask at handover", limit)
		}
		select {
		case <-c.Done():
			return nil, c.Err()
		case <-time.After(a.game.Title.Game.TickLength() / 2):
		}
	}
}

// HaltRequest asks that the group halts, for so long at most: if nobody takes the game by then it
// goes on. Default: 1 s.
type HaltRequest struct {
	Within string `json:"within,omitempty"`
}

// The bounds of HaltRequest.Within, and what is added for all mirrors to hear of it.
const (
	leastHalt, mostHalt = 100 * time.Millisecond, 30 * time.Second
	haltHeard           = 5 * time.Second
)

// halt has the group halt, and answers when the last world can be fetched.
func (a *API) halt(c *call) (any, error) {
	q := HaltRequest{}
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	limit := time.Second
	if q.Within != "" {
		var err error
		if limit, err = time.ParseDuration(q.Within); err != nil || limit < leastHalt ||
			limit > mostHalt {
			return nil, bad(fmt.Errorf("within is %.20q: it must be from %v to %v", q.Within,
				leastHalt, mostHalt))
		}
	}
	was := world.Tick(0)
	return a.until(c, limit+haltHeard, func(m Halter, h *mirror.Halting) (bool, error) {
		if h.Tick != 0 && was == 0 {
			was = h.Tick
		}
		switch err := error(nil); {
		case h.Final || h.Ceded:
			return true, nil
		case was != 0 && h.Tick != was:
			return false, goesOn(was)
		case h.Tick == 0:
			if err = m.Halt(limit); errors.Is(err, mirror.ErrCannotHalt) {
				return false, refuse(http.StatusConflict, "cannot_halt", "%v", err)
			}
			return false, notNow(err)
		}
		return false, nil
	})
}

// goesOn says that a group has not given its game away.
func goesOn(t world.Tick) error {
	return refuse(http.StatusConflict, "goes_on", "the mirrors do not stand still after tick %d any "+
		"more, or never did, and play on: begin anew, and give it longer if it was too slow", t)
}

// notNow is what a mirror says of itself, for who asks.
func notNow(err error) error {
	if err == nil {
		return nil
	}
	return refuse(http.StatusConflict, "not_now", "%v", err)
}

func (a *API) goOn(c *call) (any, error) {
	var h mirror.Halting
	err := a.group(c, func(m Halter) error {
		m.GoOn()
		h = m.Halting()
		return nil
	})
	return handoverOf(&h), err
}

// CedeRequest asks that a group that halts after a tick gives its game away, to a group that
// players reach at these addresses.
type CedeRequest struct {
	Tick uint64   `json:"tick"`
	To   []string `json:"to"`
}

// cedeTime is how long an answer waits until all mirrors hold that the game is given away.
const cedeTime = time.Minute

// cede gives the game away, and answers when that is so whatever happens, or when it is not.
func (a *API) cede(c *call) (any, error) {
	var q CedeRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	var to []netip.AddrPort
	for _, text := range q.To {
		at, err := netip.ParseAddrPort(text)
		if err != nil || at.Port() == 0 {
			return nil, bad(fmt.Errorf("to has %.60q: it must be an address and a port, such as "+
				"203.0.113.7:4000", text))
		}
		to = append(to, at)
	}
	return a.until(c, cedeTime, func(m Halter, h *mirror.Halting) (bool, error) {
		switch {
		case uint64(h.Tick) != q.Tick || q.Tick == 0:
			return false, goesOn(world.Tick(q.Tick))
		case h.Ceded:
			return true, nil
		case len(h.To) > 0: // it is decided
			return false, nil
		}
		return false, notNow(m.Cede(h.Tick, to))
	})
}
