//go:build !js

package host

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/topology/mirror"
)

// fleetState is what the page with mirrors is told several times a second. The JSON names are the page's.
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
func (f *demoMirrors) state() fleetState {
	s := fleetState{Seconds: time.Since(f.born).Seconds(), Map: f.level.Name, Timeline: f.timeline, Presets: cli.Presets()}
	if len(f.nodes) == 2 {
		s.Witness = map[bool]string{true: "there", false: mirror.Joining.String()}[f.voice.Load()]
	}
	living, hopeless := 0, 0
	for i, n := range f.nodes {
		m := mirrorState{Number: i + 1, Place: mirrorPublic(i).String(), Phase: dead, Rollbacks: f.rollbacks[i].Load(), Sent: map[string]uint64{}}
		if l := n.alive(); l != nil {
			m = *l.state.Load()
			living++
			if m.Phase == mirror.Suspended.String() || m.Phase == mirror.Joining.String() {
				hopeless++
			}
		}
		s.Mirrors = append(s.Mirrors, m)
		for j := range i {
			c, cut := f.sea.way(j, i)
			s.Ways = append(s.Ways, wayState{A: j + 1, B: i + 1, Latency: ms(c.Down.Latency), Cut: cut})
		}
	}
	s.Stuck = living > 0 && living == hopeless
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Preset = f.preset
	s.News = append(s.News, f.news...)
	return s
}

// mirrorAdmission is the answer of /token where there are mirrors: the ways to all of them, of which the first to take is Peer's.
type mirrorAdmission struct {
	admission
	Peer string            `json:"peer"`
	Ways map[string]string `json:"ways"` // paths, by address
	Seat string            `json:"seat"` // to be given when asking again, so as to be the same player
}

// admit hands out tokens: to someone on a shore, who is someone new or has been here.
func (f *demoMirrors) admit(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		http.Error(w, "ask with GET or POST", http.StatusMethodNotAllowed)
		return
	}
	home, err := f.number(r.FormValue("home"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	seat := draw() % (botBit - 1)
	if text := r.FormValue("seat"); text != "" {
		if seat, err = strconv.ParseUint(text, 16, 64); err != nil || seat >= botBit {
			http.Error(w, "that is no seat of this demo: ask without", http.StatusBadRequest)
			return
		}
	}
	t, err := f.token(uint64(home+1)<<homeShift | seat)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	first := f.best(home)
	a := mirrorAdmission{admission: admission{Game: f.title.Name(), Token: t.Text(), WebSocket: doorPath(first, home)}, Peer: mirrorPublic(first).String(), Ways: map[string]string{}, Seat: fmt.Sprintf("%x", seat)}
	for i := range f.nodes {
		a.Ways[mirrorPublic(i).String()] = doorPath(i, home)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(a)
}

// doorPath is where browsers of a shore reach a mirror.
func doorPath(i, shore int) string { return fmt.Sprintf("/coeval/%d/from/%d", i+1, shore+1) }

// best is the mirror for someone on a shore: its own, or else one that serves.
func (f *demoMirrors) best(home int) int {
	for k := range f.nodes {
		i := (home + k) % len(f.nodes)
		if l := f.nodes[i].alive(); l != nil && l.state.Load().Phase == mirror.Serving.String() {
			return i
		}
	}
	return home
}

// number reads which mirror is meant.
func (f *demoMirrors) number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(f.nodes) {
		return 0, fmt.Errorf("there is no mirror %q: they are numbered from 1 to %d", text, len(f.nodes))
	}
	return n - 1, nil
}

// enter leads a browser to a mirror.
func (f *demoMirrors) enter(w http.ResponseWriter, r *http.Request) {
	i, err := f.number(r.PathValue("mirror"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	shore, err := f.number(r.PathValue("shore"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	door := f.nodes[i].door(shore)
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

// order does what the page asks for.
func (f *demoMirrors) order(w http.ResponseWriter, r *http.Request) {
	var wish fleetWish
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096))
	d.DisallowUnknownFields()
	if err := d.Decode(&wish); err != nil {
		http.Error(w, "that is no order for mirrors: "+err.Error(), http.StatusBadRequest)
		return
	}
	if err := f.obey(&wish); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(f.state())
}

func (f *demoMirrors) obey(wish *fleetWish) error {
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
func (f *demoMirrors) mount(mux *http.ServeMux) {
	mux.HandleFunc("GET /coeval/{mirror}/from/{shore}", f.enter)
	mux.HandleFunc("/token", f.admit)
	mux.HandleFunc("POST /api/mirrors", f.order)
}
