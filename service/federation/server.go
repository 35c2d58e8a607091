package federation

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/coeval-dev/coeval/federation"
)

// Options of a server. The zero value lets anybody in, and keeps no save.
type Options struct {
	// Token is what a federate must bring, as Authorization: Bearer TOKEN or, in a page, as
	// ?token=. Empty lets everybody in.
	Token string
	// Dir is a folder for saves. Without one they are gone when the server ends.
	Dir string
	// Federation are the limits and rules of each execution.
	Federation federation.Options
	// Most is how many executions there may be: 64 if zero.
	Most int
	// Origins are those of pages that may connect, besides the server's own.
	Origins []string
	// Log tells who comes and goes. Nothing is told without one.
	Log *slog.Logger
}

// Limits of a connection.
const (
	maxCall   = 1 << 20 // bytes of one message from a federate
	maxOut    = 4 << 20 // bytes that wait for it; what is beyond waits in the execution
	writeTime = 30 * time.Second
	tickTime  = 50 * time.Millisecond
	maxName   = 48
)

// A Server has executions, and the connections of their federates. It is an http.Handler for
// everything below where it is mounted.
type Server struct {
	opt   Options
	begun time.Time

	mu    sync.Mutex
	all   map[string]*execution
	ends  chan struct{}
	wait  sync.WaitGroup
	ended bool
}

// An execution is one with the seats of its federates. Its lock is held while the machine works.
type execution struct {
	name string
	mu   sync.Mutex
	x    *federation.Execution
	in   []*seat
}

// New makes a server. Nothing is served until HTTP requests reach it.
func New(o Options) (*Server, error) {
	if o.Most == 0 {
		o.Most = 64
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{opt: o, begun: time.Now(), all: map[string]*execution{},
		ends: make(chan struct{})}
	if err := s.checkDir(); err != nil {
		return nil, err
	}
	s.wait.Go(s.tick)
	return s, nil
}

// Close ends all connections, and returns when nothing is left of them.
func (s *Server) Close() {
	s.mu.Lock()
	if !s.ended {
		s.ended = true
		close(s.ends)
	}
	s.mu.Unlock()
	s.wait.Wait()
}

// tick tells executions the time.
func (s *Server) tick() {
	t := time.NewTicker(tickTime)
	defer t.Stop()
	for {
		select {
		case <-s.ends:
			return
		case <-t.C:
		}
		for _, e := range s.list() {
			e.mu.Lock()
			e.x.Tick(time.Since(s.begun))
			e.drain(s)
			e.mu.Unlock()
		}
	}
}

func (s *Server) list() (all []*execution) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.all {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *execution) int { return strings.Compare(a.name, b.name) })
	return all
}

// ServeHTTP lets a federate in at .../ws, and tells what there is elsewhere.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.allowed(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "a token is needed: give the one that the federation was started with",
			http.StatusUnauthorized)
		return
	}
	if !strings.HasSuffix(r.URL.Path, "/ws") {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.Status())
		return
	}
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		http.Error(w, "the server is closing", http.StatusServiceUnavailable)
		return
	}
	s.wait.Add(1)
	s.mu.Unlock()
	defer s.wait.Done()
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{OriginPatterns: s.opt.Origins,
		CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return // Accept has answered
	}
	ws.SetReadLimit(maxCall)
	t := &seat{s: s, ws: ws, wake: make(chan struct{}, 1),
		room: make(chan struct{}, 1)}
	t.run(r.Context())
}

func (s *Server) allowed(r *http.Request) bool {
	if s.opt.Token == "" {
		return true
	}
	given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if given == "" {
		given = r.URL.Query().Get("token")
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(s.opt.Token)) == 1
}

// A Status is what there is.
type Status struct {
	Federations []FederationStatus `json:"federations"`
}

// A FederationStatus is one execution.
type FederationStatus struct {
	Name      string           `json:"name"`
	Objects   int              `json:"objects"`
	Federates []FederateStatus `json:"federates"`
}

// A FederateStatus is one federate.
type FederateStatus struct {
	Name    string `json:"name"`
	ID      uint32 `json:"id"`
	Time    int64  `json:"time"`
	Waiting int    `json:"waiting"`
}

// Status tells what there is.
func (s *Server) Status() Status {
	st := Status{Federations: []FederationStatus{}}
	for _, e := range s.list() {
		e.mu.Lock()
		f := FederationStatus{Name: e.name, Objects: e.x.Objects(), Federates: []FederateStatus{}}
		for _, g := range e.x.Federates() {
			f.Federates = append(f.Federates, FederateStatus{g.Name(), uint32(g.ID()),
				int64(g.Now()), g.Waiting()})
		}
		e.mu.Unlock()
		st.Federations = append(st.Federations, f)
	}
	return st
}

// join gives a connection a seat in an execution, which is made if there is none and a model.
func (s *Server) join(seat *seat, c *Call) error {
	if c.Federation == "" || len(c.Federation) > maxName {
		return fmt.Errorf("which federation is missing, or longer than %d bytes: federation",
			maxName)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.all[c.Federation]
	if e == nil {
		if c.Model == nil {
			return fmt.Errorf("there is no federation %.80q; whoever joins first brings its model",
				c.Federation)
		}
		if len(s.all) >= s.opt.Most {
			return fmt.Errorf("there are %d federations already", len(s.all))
		}
		m, err := federation.NewModel(c.Model)
		if err != nil {
			return err
		}
		e = &execution{name: c.Federation, x: federation.New(m, s.opt.Federation)}
		if err := s.load(e); err != nil {
			return err
		}
		e.x.Tick(time.Since(s.begun))
	} else if c.Model != nil {
		// What others have declared already is the same, or it clashes.
		e.mu.Lock()
		err := e.x.Extend(c.Model)
		e.mu.Unlock()
		if err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	f, err := e.x.Join(c.Name)
	if err != nil {
		return err
	}
	s.all[c.Federation] = e
	seat.e, seat.x, seat.f = e, e.x, f
	e.in = append(e.in, seat)
	s.opt.Log.Info("a federate has joined", "federation", e.name, "federate", c.Name)
	return nil
}

// leave takes a seat away, and an execution with the last one.
func (s *Server) leave(t *seat) {
	e := t.e
	if e == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !t.f.Left() {
		e.x.Lose(t.f, "its connection is gone")
	}
	e.in = slices.DeleteFunc(e.in, func(o *seat) bool { return o == t })
	e.drain(s)
	s.opt.Log.Info("a federate has left", "federation", e.name, "federate", t.f.Name())
	if len(e.in) == 0 && e.x.Empty() {
		delete(s.all, e.name)
	}
}

// drain gives everybody what they are to be told, as far as there is room.
func (e *execution) drain(s *Server) {
	for _, seat := range e.in {
		for len(seat.out) < maxOut {
			n, ok := seat.f.Next()
			if !ok {
				break
			}
			seat.put(seat.tell(&n))
		}
	}
	for _, label := range e.x.Fresh() {
		if err := s.store(e.name, label, e.x.Save(label)); err != nil {
			s.opt.Log.Error("a save is in memory alone", "federation", e.name, "save", label,
				"error", err)
		}
	}
}
