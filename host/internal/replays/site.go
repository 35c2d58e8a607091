//go:build !js

package replays

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"strconv"
	"sync"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/web"
	"github.com/coeval-dev/coeval/world"
)

// mostBranches is how many there may be of what would have been.
const mostBranches = 8

// A site is the page with all that it asks for.
type site struct {
	title *game.Title
	ctx   context.Context

	mu    sync.Mutex
	films []*film // a branch that was given up is nil
	work  sync.WaitGroup
	marks []string // remarks on the files
}

// show begins to look through a film, and lists it.
func (s *site) show(f *film) int {
	f.marks.begin(f.title.Game, f.seeker.First(), f.seeker.Last())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.films = append(s.films, f)
	s.work.Go(func() { f.survey(s.ctx) })
	return len(s.films) - 1
}

// film is the one that a request asks for.
func (s *site) film(r *http.Request, name string) (*film, error) {
	n, err := strconv.Atoi(r.FormValue(name))
	if r.FormValue(name) == "" {
		n, err = 0, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || n < 0 || n >= len(s.films) || s.films[n] == nil {
		return nil, badf("there is no recording %q here", r.FormValue(name))
	}
	return s.films[n], nil
}

// A badRequest is something that cannot be answered as it was asked.
type badRequest struct{ error }

func badf(format string, args ...any) error { return badRequest{fmt.Errorf(format, args...)} }

// handler is the page.
func (s *site) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", web.Page(web.Options{Index: "replay.html", Game: s.title.Name()}))
	answer := func(pattern string, h func(w http.ResponseWriter, r *http.Request) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
			if err := h(w, r); err != nil {
				code := http.StatusUnprocessableEntity
				var bad badRequest
				if errors.As(err, &bad) {
					code = http.StatusBadRequest
				}
				http.Error(w, err.Error(), code)
			}
		})
	}
	answer("GET /api/films", s.list)
	answer("GET /api/instant", s.instant)
	answer("GET /api/entity", s.entity)
	answer("GET /api/differences", s.differences)
	answer("POST /api/branch", s.branch)
	answer("POST /api/forget", s.forget)
	answer("GET /api/clip.gif", s.gif)
	answer("GET /api/clip.trace", s.cut)
	answer("GET /api/test", s.test)
	answer("GET /frame", s.frame)
	answer("GET /file", s.file)
	return web.Guard(mux)
}

// reply answers with JSON.
func reply(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	return json.NewEncoder(w).Encode(v)
}

// A listed film is what the page knows of one from the start.
type listed struct {
	Number   int                 `json:"number"`
	Name     string              `json:"name"`
	Note     string              `json:"note,omitempty"`
	Build    string              `json:"build"`
	Recorded string              `json:"recorded,omitempty"` // the note in the file
	First    world.Tick          `json:"first"`
	Last     world.Tick          `json:"last"`
	Branch   bool                `json:"branch,omitempty"`
	Origin   int                 `json:"origin"`
	From     world.Tick          `json:"from,omitempty"`
	Damage   string              `json:"damage,omitempty"`
	Apart    string              `json:"apart,omitempty"`
	Wrong    string              `json:"wrong,omitempty"`
	Errors   string              `json:"errors,omitempty"`
	Until    world.Tick          `json:"until"` // how far the survey has come
	Done     bool                `json:"done"`
	Marks    []mark              `json:"marks"`
	Counts   map[string]int      `json:"counts"`
	Span     world.Tick          `json:"span"`
	Events   map[string][]uint32 `json:"events"`
	// where it differs from the first film: as from and until, both included
	Differs [][2]world.Tick `json:"differs"`
	Keys    int             `json:"keys"`
	KeySize int             `json:"key_bytes"`
}

// A listing is all that the page knows from the start. The JSON names are the page's.
type listing struct {
	Game     string    `json:"game"`
	Rate     int       `json:"rate"`
	Drawn    bool      `json:"drawn"`
	Films    []listed  `json:"films"`
	Remarks  []string  `json:"remarks"`
	Commands []command `json:"commands"`
}

// A command is a field of what players command, for what would have been.
type command struct {
	Name  string  `json:"name"`
	Kind  string  `json:"kind"`
	Min   int32   `json:"min"`
	Max   int32   `json:"max"`
	Rest  int32   `json:"rest"`
	Scale float64 `json:"scale,omitempty"`
}

func (s *site) list(w http.ResponseWriter, _ *http.Request) error {
	s.mu.Lock()
	films := append([]*film(nil), s.films...)
	s.mu.Unlock()
	out := listing{Game: s.title.Name(), Rate: s.title.Game.Rate(), Drawn: s.title.Screen.Drawn(),
		Remarks: s.marks, Commands: []command{}, Films: []listed{}}
	if schema := films[0].seeker.Header().Commands; schema != nil {
		for _, c := range schema.Slots {
			out.Commands = append(out.Commands, command{c.Name, c.Kind.String(), c.Min, c.Max,
				c.Absent, c.Scale})
		}
	}
	for n, f := range films {
		if f == nil {
			continue
		}
		l := f.listed(n)
		for m, o := range films {
			if o != nil && o == f.origin {
				l.Origin = m
			}
		}
		if n > 0 && films[l.Origin] != nil {
			l.Differs = differing(films[l.Origin], f)
		}
		out.Films = append(out.Films, l)
	}
	return reply(w, out)
}

func (f *film) listed(n int) listed {
	f.mu.Lock()
	defer f.mu.Unlock()
	h, m := f.seeker.Header(), &f.marks
	l := listed{Number: n, Name: f.name, Note: f.note, Build: h.Build.String(), Recorded: h.Note,
		First: f.seeker.First(), Last: f.seeker.Last(), Branch: f.origin != nil, From: f.from,
		Apart: m.apart, Wrong: m.wrong, Errors: m.errors, Until: m.until, Done: m.done,
		Marks: append([]mark{}, m.list...), Counts: maps.Clone(m.counts), Span: m.span,
		Events: map[string][]uint32{}, Differs: [][2]world.Tick{}}
	if err := f.seeker.Damage(); err != nil {
		l.Damage = err.Error()
	}
	for i, e := range f.title.Game.Events() {
		l.Events[e.Name()] = append([]uint32(nil), m.events[i]...)
	}
	l.Keys, l.KeySize = f.seeker.KeyFrames()
	return l
}

// differing lists from when until when the worlds of two films are not the same, as far as both
// have been looked through.
func differing(a, b *film) [][2]world.Tick {
	hashes := func(f *film) (world.Tick, []uint32) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.marks.first, f.marks.hashes
	}
	x, p := hashes(a)
	y, q := hashes(b)
	out := [][2]world.Tick{}
	for t := max(x, y); t < min(x+world.Tick(len(p)), y+world.Tick(len(q))); t++ {
		if p[t-x] == q[t-y] || p[t-x] == 0 || q[t-y] == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1][1]+30 >= t { // short agreement is no end of it
			out[n-1][1] = t
		} else if n < columns {
			out = append(out, [2]world.Tick{t, t})
		} else {
			out[n-1][1] = t
		}
	}
	return out
}

// number reads a number of a request.
func number(r *http.Request, name string, least, most, otherwise float64) (float64, error) {
	text := r.FormValue(name)
	if text == "" {
		return otherwise, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= least && v <= most) {
		return 0, badf("%s is %q; it must be a number from %v to %v", name, text, least, most)
	}
	return v, nil
}

// tickOf is the tick that a request asks for.
func tickOf(r *http.Request, name string) (world.Tick, error) {
	v, err := number(r, name, 0, math.MaxInt64/2, 0)
	return world.Tick(v), err
}

func (s *site) instant(w http.ResponseWriter, r *http.Request) error {
	f, err := s.film(r, "film")
	if err != nil {
		return err
	}
	t, err := tickOf(r, "at")
	if err != nil {
		return err
	}
	var i *instant
	if err := f.at(t, func(w *world.World) error { i = f.instant(w); return nil }); err != nil {
		return err
	}
	return reply(w, i)
}

// idOf is the entity that a request asks for.
func idOf(r *http.Request) (world.ID, error) {
	id, err := strconv.ParseUint(r.FormValue("id"), 16, 64)
	if err != nil {
		return 0, badf("there is no entity %q", r.FormValue("id"))
	}
	return world.ID(id), nil
}

func (s *site) entity(w http.ResponseWriter, r *http.Request) error {
	f, err := s.film(r, "film")
	if err != nil {
		return err
	}
	t, err := tickOf(r, "at")
	if err != nil {
		return err
	}
	id, err := idOf(r)
	if err != nil {
		return err
	}
	var list []field
	if err := f.at(t, func(w *world.World) error {
		list = fields(w, id)
		return nil
	}); err != nil {
		return err
	}
	return reply(w, list)
}

// differences compares two films at an instant.
func (s *site) differences(w http.ResponseWriter, r *http.Request) error {
	a, err := s.film(r, "a")
	if err != nil {
		return err
	}
	b, err := s.film(r, "b")
	if err != nil {
		return err
	}
	t, err := tickOf(r, "at")
	if err != nil {
		return err
	}
	var x, y *holding
	if err := a.at(t, func(w *world.World) error { x = hold(w); return nil }); err != nil {
		return err
	}
	if err := b.at(t, func(w *world.World) error { y = hold(w); return nil }); err != nil {
		return err
	}
	out := struct {
		Tick  world.Tick   `json:"tick"`
		Other world.Tick   `json:"other"`
		List  []difference `json:"list"`
		More  int          `json:"more,omitempty"`
	}{Tick: x.tick, Other: y.tick}
	if x.tick == y.tick {
		out.List, out.More = compare(a.title.Game, x, y)
	}
	return reply(w, out)
}

// frame draws one: three numbers of 4 bytes, which are the length of what follows of the library,
// where in the library that begins, and the length of the list; two floats, the size of the screen
// in units of the overlay; then the library's part and the list.
func (s *site) frame(w http.ResponseWriter, r *http.Request) error {
	f, err := s.film(r, "film")
	if err != nil {
		return err
	}
	if !s.title.Screen.Drawn() {
		return badf("%s has no Screen, so there is nothing to see of it", s.title.Name())
	}
	o := shot{view: r.FormValue("view")}
	if len(o.view) > 40 {
		return badf("a view's name is at most 40 bytes long")
	}
	var known, me float64
	for _, v := range []struct {
		to                     *float64
		name                   string
		least, most, otherwise float64
	}{
		{&o.at, "at", 0, math.MaxInt64 / 2, 0}, {&o.width, "w", 1, 8192, 960},
		{&o.height, "h", 1, 8192, 540}, {&known, "lib", 0, draw.MaxLibrary, 0},
		{&me, "me", 0, math.MaxUint16, 0},
	} {
		if *v.to, err = number(r, v.name, v.least, v.most, v.otherwise); err != nil {
			return err
		}
	}
	o.me = world.Player(me)
	var out []byte
	if out, err = f.shoot(o, int(known)); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(out) // who has gone need not be told
	return nil
}

// shoot draws a frame for a page that knows so many bytes of the library.
func (f *film) shoot(o shot, known int) (out []byte, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o.at = min(max(o.at, float64(f.seeker.First())), float64(f.seeker.Last()))
	return out, f.draw(o, func(s *draw.Surface) error {
		library, list := s.Library(), s.List()
		if known > len(library) {
			known = 0 // it was another surface's
		}
		out = make([]byte, 0, 20+len(library)-known+len(list))
		for _, n := range []int{len(library) - known, known, len(list)} {
			out = binary.LittleEndian.AppendUint32(out, uint32(n))
		}
		for _, v := range []float64{s.Width(), s.Height()} {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
		}
		out = append(append(out, library[known:]...), list...)
		return nil
	})
}

// file is an image or sound of the title's.
func (s *site) file(w http.ResponseWriter, r *http.Request) error {
	name := r.FormValue("name")
	assets := s.title.Screen.Assets
	if assets == nil || !fs.ValidPath(name) {
		http.NotFound(w, r)
		return nil
	}
	data, err := fs.ReadFile(assets, name)
	if err != nil {
		http.NotFound(w, r)
		return nil
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(data) // who has gone need not be told
	return nil
}
