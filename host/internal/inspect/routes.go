//go:build !js

package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// Path is what all paths of the API begin with.
const Path = "/inspect/v1/"

// A route is something that can be asked for.
type route struct {
	name, about string
	params      []param
	answer      any // of the type that is answered as JSON, or nil
	kind        string
	do          func(i *Inspector, w http.ResponseWriter, r *http.Request) error
}

type param struct {
	name, about, kind string
	needed            bool
}

var (
	byPlayer = param{"player", "number of a player", "integer", false}
	byClient = param{"client", "account of a person: its number", "string", false}
)

// routes are all that there are. The description is made of them.
var routes []route

func init() { // a variable would refer to itself, as the description lists them
	const asJSON = "application/json"
	routes = []route{
		{"state", "how the server is now", nil, State{}, asJSON, (*Inspector).getState},
		{"events", "the same some times a second, as server-sent events of the name state", nil,
			nil, "text/event-stream", (*Inspector).getEvents},
		{"people", "who there is, and how their connections do", nil, People{}, asJSON,
			(*Inspector).getPeople},
		{"traffic", "every byte by what it was for; of all, or of one person",
			[]param{byPlayer, byClient}, Traffic{}, asJSON, (*Inspector).getTraffic},
		{"world", "every entity, and where it is", nil, Things{}, asJSON, (*Inspector).getWorld},
		{"view", "what one person is shown, with priorities, and what waits",
			[]param{byPlayer, byClient}, Things{}, asJSON, (*Inspector).getView},
		{"entity", "all fields of an entity",
			[]param{{"id", "its identifier, in hexadecimal digits", "string", true}}, Entity{},
			asJSON, (*Inspector).getEntity},
		{"ticks", "how long ticks took while someone watched, by stage, and the slowest", nil,
			Ticks{}, asJSON, (*Inspector).getTicks},
		{"profile", "a CPU profile, for go tool pprof; labels say the stage",
			[]param{{"seconds", "how long it takes, from 1 to 30", "integer", false}}, nil,
			"application/octet-stream", (*Inspector).getProfile},
		{"goroutines", "what every goroutine does", nil, nil, "text/plain",
			(*Inspector).getGoroutines},
		{"openapi.json", "this description", nil, nil, asJSON, (*Inspector).getDescription},
	}
}

// A mistake is one of whoever asks.
type mistake struct {
	status int
	text   string
}

func (m *mistake) Error() string { return m.text }

func bad(format string, args ...any) error {
	return &mistake{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// fail answers that something cannot be answered, and why.
func fail(w http.ResponseWriter, err error) {
	code := http.StatusServiceUnavailable
	var m *mistake
	var refused *admin.Error
	switch {
	case errors.As(err, &m):
		code = m.status
	case errors.As(err, &refused):
		code = refused.Status
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()}) // as below
}

// reply answers with JSON.
func reply(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // who has gone need not be told
	return nil
}

// now takes a look that makes an answer. A server whose game has failed has no world to look at.
func now[T any](i *Inspector, w http.ResponseWriter, r *http.Request,
	f func(s *server.Server) (T, error)) error {
	var v T
	var wrong error
	err := i.look(r.Context(), func(s *server.Server) { v, wrong = f(s) })
	if err = errors.Join(err, wrong); err != nil {
		return err
	}
	return reply(w, v)
}

// alive says why there is no world to look at, if there is none.
func alive(s *server.Server) error {
	if err := s.Failed(); err != nil {
		return &mistake{http.StatusConflict, "the game has failed: " + err.Error()}
	}
	return nil
}

func (i *Inspector) getState(w http.ResponseWriter, r *http.Request) error {
	return now(i, w, r, func(s *server.Server) (State, error) {
		st := i.state(s)
		i.complete(&st)
		return st, nil
	})
}

func (i *Inspector) getPeople(w http.ResponseWriter, r *http.Request) error {
	var p People
	if err := i.look(r.Context(), func(s *server.Server) { p = peopleOf(s) }); err != nil {
		return err
	}
	p.sort() // which the game does not wait for
	return reply(w, p)
}

// person is whom a request asks for, or nil for everyone.
func person(s *server.Server, r *http.Request) (*server.Seat, error) {
	q := r.URL.Query()
	switch player, client := q.Get("player"), q.Get("client"); {
	case player != "":
		n, err := strconv.ParseUint(player, 10, 16)
		if seat := s.SeatOf(world.Player(n)); err == nil && n > 0 && seat != nil {
			return seat, nil
		}
		return nil, &mistake{http.StatusNotFound, fmt.Sprintf("there is no player %.20q", player)}
	case client != "":
		n, err := strconv.ParseUint(client, 10, 64)
		if seat := s.Seat(n); err == nil && seat != nil {
			return seat, nil
		}
		return nil, &mistake{http.StatusNotFound, fmt.Sprintf("there is no account %.20q", client)}
	}
	return nil, nil
}

func (i *Inspector) getTraffic(w http.ResponseWriter, r *http.Request) error {
	return now(i, w, r, func(s *server.Server) (Traffic, error) {
		seat, err := person(s, r)
		if err != nil {
			return Traffic{}, err
		}
		if seat != nil {
			return trafficWith(s, seat), nil
		}
		st := s.Stats()
		return trafficOf(s, &st), nil
	})
}

func (i *Inspector) getWorld(w http.ResponseWriter, r *http.Request) error {
	return now(i, w, r, func(s *server.Server) (Things, error) {
		if err := alive(s); err != nil {
			return Things{}, err
		}
		return i.things(s), nil
	})
}

func (i *Inspector) getView(w http.ResponseWriter, r *http.Request) error {
	return now(i, w, r, func(s *server.Server) (Things, error) {
		seat, err := person(s, r)
		if seat == nil && err == nil {
			err = bad("whose view? Give player, or client")
		}
		if err = errors.Join(err, alive(s)); err != nil {
			return Things{}, err
		}
		return i.view(s, seat), nil
	})
}

func (i *Inspector) getEntity(w http.ResponseWriter, r *http.Request) error {
	id, err := strconv.ParseUint(r.URL.Query().Get("id"), 16, 64)
	if err != nil {
		return bad("there is no entity %.20q: give its identifier in hexadecimal digits",
			r.URL.Query().Get("id"))
	}
	return now(i, w, r, func(s *server.Server) (Entity, error) {
		if err := alive(s); err != nil {
			return Entity{}, err
		}
		return i.entity(s, world.ID(id)), nil
	})
}

func (i *Inspector) getTicks(w http.ResponseWriter, _ *http.Request) error {
	return reply(w, i.ticks.read(i.opt.Game.Title.Game.TickLength()))
}

// mostProfile is how long a profile may take.
const mostProfile = 30

func (i *Inspector) getProfile(w http.ResponseWriter, r *http.Request) error {
	seconds := 5
	if text := r.URL.Query().Get("seconds"); text != "" {
		var err error
		if seconds, err = strconv.Atoi(text); err != nil || seconds < 1 || seconds > mostProfile {
			return bad("a profile takes from 1 to %d seconds, and not %.20q", mostProfile, text)
		}
	}
	if !i.profiles.TryLock() {
		return &mistake{http.StatusConflict, "a profile is being made: wait until it is there"}
	}
	defer i.profiles.Unlock()
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(
		time.Duration(seconds+30) * time.Second)) // what cannot be set has the limit of all
	var out bytes.Buffer
	if err := pprof.StartCPUProfile(&out); err != nil {
		return &mistake{http.StatusConflict, "another profile is being made: " + err.Error()}
	}
	select {
	case <-time.After(time.Duration(seconds) * time.Second):
	case <-r.Context().Done():
	}
	pprof.StopCPUProfile()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="cpu.pprof"`)
	_, _ = w.Write(out.Bytes()) // who has gone need not be told
	return nil
}

func (i *Inspector) getGoroutines(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_ = pprof.Lookup("goroutine").WriteTo(w, 1) // who has gone need not be told
	return nil
}

func (i *Inspector) getDescription(w http.ResponseWriter, _ *http.Request) error {
	return reply(w, describe())
}
