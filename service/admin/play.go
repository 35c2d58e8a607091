package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// An Index is the answer of the API's root: what this token may ask.
type Index struct {
	Game string `json:"game"`
	Name string `json:"name"` // of the token
	Role Role   `json:"role"`
	// Mirrored says that the world is one of several copies: what is changed in it is so in all.
	Mirrored bool     `json:"mirrored"`
	Paths    []string `json:"paths"`
}

func (a *API) index(c *call) (any, error) {
	out := Index{Game: a.game.Title.Name(), Name: c.token.Name, Role: c.token.Role,
		Mirrored: a.game.Mirrored}
	for i := range routes {
		if rt := &routes[i]; rt.role <= c.token.Role {
			out.Paths = append(out.Paths, rt.method+" "+Path+rt.name)
		}
	}
	return out, nil
}

func (a *API) status(c *call) (any, error) {
	var out any
	ctx, cancel := context.WithTimeout(c, patience)
	defer cancel()
	got := make(chan any, 1)
	if err := a.game.Do(ctx, func() { got <- a.game.Status() }); err != nil {
		return nil, refuse(http.StatusServiceUnavailable, "busy", "the game does not answer: %v",
			err)
	}
	out = <-got
	return out, nil
}

func (a *API) metrics(c *call) (any, error) {
	c.out.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = c.out.Write(a.game.Metrics()) // who has gone need not be told
	return nil, nil
}

// AuditLog is the answer to what was done.
type AuditLog struct {
	Entries []Entry `json:"entries"`
}

func (a *API) audit(c *call) (any, error) {
	most := 100
	if text := c.query("last"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 10_000 {
			return nil, bad(fmt.Errorf("last is %.20q: it must be from 1 to 10000", text))
		}
		most = n
	}
	list, err := a.folder.Logged(most)
	return AuditLog{list}, err
}

// PauseRequest asks to let the world stand still, or go on. Why is shown to players.
type PauseRequest struct {
	Why string `json:"why,omitempty"`
}

// A Paused is the answer.
type Paused struct {
	Paused bool   `json:"paused"`
	Tick   uint64 `json:"tick"`
}

func (a *API) setPaused(c *call, on bool) (any, error) {
	var q PauseRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	if err := checkLine("the reason", q.Why, wire.MaxText); err != nil {
		return nil, err
	}
	if a.game.Group != nil {
		return a.pauseGroup(c, on, q.Why)
	}
	var out Paused
	err := a.with(c, func(s *server.Server) error {
		s.SetPaused(on, q.Why)
		out = Paused{s.Paused(), uint64(s.World().Tick())}
		return nil
	})
	return out, err
}

// pauseTime is how long an answer waits until the world of mirrors stands still, or goes on.
const pauseTime = 5 * time.Second

// pauseGroup has all mirrors stand still, or go on, and answers when this one does.
func (a *API) pauseGroup(c *call, on bool, why string) (any, error) {
	var out Paused
	for end := time.Now().Add(pauseTime); ; {
		err := a.with(c, func(s *server.Server) error {
			out = Paused{s.Paused(), uint64(s.World().Tick())}
			return notNow(a.game.Group.Mirror.SetPaused(on, why))
		})
		switch {
		case err != nil:
			return nil, err
		case out.Paused == on:
			return out, nil
		case time.Now().After(end):
			return nil, refuse(http.StatusServiceUnavailable, "late",
				"the mirrors have not agreed within %v, and may yet: ask at status", pauseTime)
		}
		select {
		case <-c.Done():
			return nil, c.Err()
		case <-time.After(2 * a.game.Title.Game.TickLength()):
		}
	}
}

func (a *API) pause(c *call) (any, error)  { return a.setPaused(c, true) }
func (a *API) resume(c *call) (any, error) { return a.setPaused(c, false) }

// A Saved is the answer to a save: the tick up to which nothing can be lost.
type Saved struct {
	Tick uint64 `json:"tick"`
}

func (a *API) save(c *call) (any, error) {
	if a.game.Save == nil {
		return nil, refuse(http.StatusConflict, "not_kept",
			"the game is not kept: start the server with --keep FOLDER")
	}
	t, err := a.game.Save(c)
	if err != nil {
		return nil, refuse(http.StatusServiceUnavailable, "not_saved", "%v", err)
	}
	return Saved{uint64(t)}, nil
}

// DrainRequest asks to send everyone to other servers, newcomers included. To are their addresses;
// none is those that the server knows, as mirrors do. Where it knows none, those who play stay, and
// nobody new is let in.
type DrainRequest struct {
	To []string `json:"to,omitempty"`
}

// A Drained is the answer: how many are still here.
type Drained struct {
	Draining   bool `json:"draining"`
	Players    int  `json:"players"`
	Spectators int  `json:"spectators"`
}

const mostServers = wire.MaxServers

func (a *API) drain(c *call) (any, error) {
	var q DrainRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	var to []netip.AddrPort
	for _, text := range q.To {
		at, err := netip.ParseAddrPort(text)
		if err != nil || at.Port() == 0 || len(q.To) > mostServers {
			return nil, bad(fmt.Errorf("%.60q: give up to %d addresses with their ports, such as "+
				"203.0.113.7:4000", text, mostServers))
		}
		to = append(to, netip.AddrPortFrom(at.Addr().Unmap(), at.Port()))
	}
	return a.setDraining(c, true, to)
}

func (a *API) welcome(c *call) (any, error) { return a.setDraining(c, false, nil) }

func (a *API) setDraining(c *call, on bool, to []netip.AddrPort) (any, error) {
	var out Drained
	err := a.with(c, func(s *server.Server) error {
		if on {
			s.Drain(to...)
		} else {
			s.Welcome()
		}
		p := s.Population()
		out = Drained{s.Draining(), p.Players, p.Spectators}
		return nil
	})
	if err == nil && a.game.Unready != nil {
		a.game.Unready(on)
	}
	return out, err
}

// ShutdownRequest asks for the program's end. Drain is how long players have to go on elsewhere, or
// to come to an end; nothing is what the program was started with.
type ShutdownRequest struct {
	Drain string `json:"drain,omitempty"`
	Why   string `json:"why,omitempty"`
}

// A Stopping is the answer.
type Stopping struct {
	Stopping bool `json:"stopping"`
}

func (a *API) shutdown(c *call) (any, error) {
	var q ShutdownRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	if err := checkLine("the reason", q.Why, mostWhy); err != nil {
		return nil, err
	}
	drain := time.Duration(-1)
	if q.Drain != "" {
		d, err := time.ParseDuration(q.Drain)
		if err != nil || d < 0 || d > time.Hour {
			return nil, bad(fmt.Errorf("drain is %.20q: it must be a time from 0s to 1h", q.Drain))
		}
		drain = d
	}
	if a.game.Stop == nil {
		return nil, refuse(http.StatusConflict, "cannot", "this program ends in another way")
	}
	if err := a.game.Stop(drain, q.Why); err != nil {
		return nil, refuse(http.StatusConflict, "cannot", "%v", err)
	}
	return Stopping{true}, nil
}

// trialTicks is how far something is tried on a copy of the world before it is done to the world.
const trialTicks = 8

// try computes some ticks of a copy of the world, with inputs in the first of them. The error is
// that the game panics; then the world itself is better left alone.
func try(w *world.World, in *world.Inputs) error {
	for range trialTicks {
		var p *world.Panic
		if errors.As(w.Host().TryStep(in), &p) {
			text, _, _ := strings.Cut(p.Error(), "\n")
			return refuse(http.StatusUnprocessableEntity, "panics",
				"the game panics by it, and nothing was changed: %s", text)
		}
		in = nil
	}
	return nil
}
