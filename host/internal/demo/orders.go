//go:build !js

package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/web"
)

// fleetState is what the page with mirrors is told several times a second. The JSON names are the
// page's.
type fleetState struct {
	Seconds  float64       `json:"seconds"` // since the start
	Map      string        `json:"map"`
	Timeline string        `json:"timeline"`
	Preset   string        `json:"preset"`
	Presets  []string      `json:"presets"`
	Witness  string        `json:"witness"` // how far the witness is that two mirrors need
	Mirrors  []mirrorState `json:"mirrors"`
	Ways     []wayState    `json:"ways"`
	News     []newsLine    `json:"news"`
	// Stuck says that no mirror serves, and that none will by itself.
	Stuck bool `json:"stuck"`
}

// A wayState is what lies between two mirrors. The latency is one way, in milliseconds.
type wayState struct {
	A       int     `json:"a"`
	B       int     `json:"b"`
	Latency float64 `json:"latency"`
	Cut     bool    `json:"cut"`
}

// dead is the phase of a mirror that is not there.
const dead = "dead"

// state tells how all mirrors do.
func (f *fleet) state(context.Context) (any, error) { return f.all(), nil }

func (f *fleet) all() fleetState {
	s := fleetState{
		Seconds: time.Since(f.born).Seconds(), Map: f.opt.Server.Level.Name,
		Timeline: f.opt.Timeline, Presets: cli.Presets()}
	if len(f.machines) == 2 {
		s.Witness = map[bool]string{
			true: "there", false: mirror.Joining.String()}[f.witnessed.Load()]
	}
	living, hopeless := 0, 0
	for i, n := range f.machines {
		m := mirrorState{
			Number: i + 1, Public: mirrorPublic(i).String(), Phase: dead,
			Rollbacks: n.rollbacks.Load(), Sent: map[string]uint64{}}
		if l := n.alive(); l != nil {
			m = *l.state.Load()
			living++
			if m.Phase == mirror.Suspended.String() || m.Phase == mirror.Joining.String() {
				hopeless++
			}
		}
		s.Mirrors = append(s.Mirrors, m)
		for j := range i {
			c, cut := f.mesh.way(j, i)
			s.Ways = append(s.Ways,
				wayState{A: j + 1, B: i + 1, Latency: ms(c.Down.Latency), Cut: cut})
		}
	}
	s.Stuck = living > 0 && living == hopeless
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Preset = f.preset
	s.News = append(s.News, f.news...)
	return s
}

// mirrorAdmission is the answer of /token where there are mirrors: the ways to all of them, of
// which the first to take is Peer's.
type mirrorAdmission struct {
	entry.Admission
	Peer string            `json:"peer"`
	Ways map[string]string `json:"ways"` // paths, by address
	// to be given when asking again, so as to be the same player
	Seat string `json:"seat"`
}

// admit hands out tokens: to someone in a region, who is someone new or has been here.
func (f *fleet) admit(r *http.Request) (any, int, error) {
	home, err := f.number(r.FormValue("home"))
	if err != nil {
		return nil, http.StatusBadRequest, err
	}
	seat := cli.Draw() % (botBit - 1)
	if text := r.FormValue("seat"); text != "" {
		if seat, err = strconv.ParseUint(text, 16, 64); err != nil || seat >= botBit {
			return nil, http.StatusBadRequest,
				errors.New("that is no seat of this demo: ask without")
		}
	}
	t, err := f.token(uint64(home+1)<<homeShift | seat)
	first := f.best(home)
	a := mirrorAdmission{
		Peer: mirrorPublic(first).String(), Ways: map[string]string{},
		Seat: fmt.Sprintf("%x", seat),
	}
	a.Game, a.Token, a.WebSocket = f.title().Name(), t.Text(), doorPath(first, home)
	a.Knobs = f.knobs
	for i := range f.machines {
		a.Ways[mirrorPublic(i).String()] = doorPath(i, home)
	}
	return a, http.StatusInternalServerError, err
}

// doorPath is where browsers of a region reach a mirror.
func doorPath(i, region int) string { return fmt.Sprintf("/coeval/%d/from/%d", i+1, region+1) }

// best is the mirror for someone on a region: its own, or else one that serves.
func (f *fleet) best(home int) int {
	for k := range f.machines {
		i := (home + k) % len(f.machines)
		if l := f.machines[i].alive(); l != nil && l.state.Load().Phase == mirror.Serving.String() {
			return i
		}
	}
	return home
}

// number reads which mirror is meant.
func (f *fleet) number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(f.machines) {
		return 0, fmt.Errorf("there is no mirror %q: they are numbered from 1 to %d", text,
			len(f.machines))
	}
	return n - 1, nil
}

// enter leads a browser to a mirror.
func (f *fleet) enter(w http.ResponseWriter, r *http.Request) {
	i, err := f.number(r.PathValue("mirror"))
	region, wrong := f.number(r.PathValue("region"))
	if err := errors.Join(err, wrong); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	door := f.machines[i].door(region)
	if door == nil {
		http.Error(w, "that mirror is dead", http.StatusServiceUnavailable)
		return
	}
	door.ServeHTTP(w, r)
}

// fleetWish is what the page asks for, one thing at a time. Mirrors are numbered from 1.
type fleetWish struct {
	Kill   int    `json:"kill"`
	Revive int    `json:"revive"`
	Cut    []int  `json:"cut"`
	Heal   []int  `json:"heal"`
	Preset string `json:"preset"`
	Anew   bool   `json:"anew"`
}

// obey does what the page asks for.
func (f *fleet) obey(wish *fleetWish) error {
	one := func(n int, do func(int) error) error {
		i, err := f.number(strconv.Itoa(n))
		if err != nil {
			return err
		}
		return do(i)
	}
	two := func(list []int, on bool) error {
		if len(list) != 2 || list[0] == list[1] {
			return fmt.Errorf("a way is between two mirrors, not %v", list)
		}
		return one(list[0], func(a int) error {
			return one(list[1], func(b int) error {
				f.cut(a, b, on)
				return nil
			})
		})
	}
	switch {
	case wish.Kill != 0:
		return one(wish.Kill, f.kill)
	case wish.Revive != 0:
		return one(wish.Revive, f.revive)
	case wish.Cut != nil:
		return two(wish.Cut, true)
	case wish.Heal != nil:
		return two(wish.Heal, false)
	case wish.Preset != "":
		return f.usePreset(wish.Preset)
	case wish.Anew:
		return f.anew()
	}
	return fmt.Errorf("nothing to do: kill, revive, cut, heal, preset or anew")
}

// mount adds what the page with mirrors asks for.
func (f *fleet) mount(mux *http.ServeMux, refused *serve.Refusals) {
	mux.HandleFunc("GET /coeval/{mirror}/from/{region}", f.enter)
	mux.Handle("/token", &serve.Door{
		Open: true, Kind: "demo", Admit: f.admit, Origin: web.Pages(), Refusals: refused})
	mux.Handle("POST /api/mirrors", wish("order for mirrors", f.obey, f.all))
}

func (f *fleet) page() web.Options { return web.Options{Index: "mirrors.html"} }

// every is often, so that rollbacks are seen as they happen.
func (f *fleet) every() time.Duration { return 100 * time.Millisecond }
