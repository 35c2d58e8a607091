//go:build !js

package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/inspect"
	"github.com/coeval-dev/coeval/host/internal/page"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/web"
)

// A site is a demo that is open: a page, and what it shows.
type site struct {
	flags    *flags
	listener net.Listener
	site     serve.Site // around the listener
	web      *http.Server
	print    string // of a certificate that was made here
	client   *page.Client
	shown    shown
	stop     context.CancelFunc
	ending   context.Context
}

// What a page shows: one server, several mirrors, peers, or a blind test.
type shown interface {
	// run drives it until the context ends, and close ends what never ran.
	run(ctx context.Context) error
	close()
	// page says what page it is shown on, and mount adds what that asks for, and has those counted
	// whom it refuses.
	page() web.Options
	mount(mux *http.ServeMux, refused *serve.Refusals)
	// state is what the page is told, every so often.
	state(ctx context.Context) (any, error)
	every() time.Duration
}

// open opens everything. On an error nothing is left open.
func (d *flags) open(level game.Level) (*site, error) {
	l, err := d.bind()
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf(
			"port %d is taken, perhaps by another demo: end that, or choose another by --port (0 "+
				"for any)", d.port)
	}
	if err != nil {
		return nil, err
	}
	s := &site{flags: d, listener: l, client: cmp.Or(d.client, page.NewClient(d.title, nil))}
	s.site.Listener, s.site.WebOptions = l, d.web
	s.site.Names = d.reach.Reach
	if s.print, err = s.site.Secure(); err != nil {
		_ = l.Close()
		return nil, err
	}
	switch {
	case d.trials():
		s.shown = d.openBlind()
	case d.mirrors != nil:
		s.shown, err = d.openFleet(level)
	case d.peers != nil:
		s.shown, err = d.openParty(level)
	default:
		s.shown, err = d.openServer(level, s.port())
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	s.ending, s.stop = context.WithCancel(context.Background())
	s.web = &http.Server{
		Handler: s.handler(), BaseContext: func(net.Listener) context.Context { return s.ending },
	}
	return s, nil
}

// bind opens the port of the page, or one of the next if nobody asked for that one.
func (d *flags) bind() (l net.Listener, err error) {
	if err := d.findReach(); err != nil {
		return nil, err
	}
	for i := range 20 {
		l, err = net.Listen("tcp", d.reach.at(d.port+i))
		if err == nil || d.fixed || d.port == 0 || !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return l, err
}

func (s *site) port() int { return s.listener.Addr().(*net.TCPAddr).Port }

func (s *site) url() string {
	u := fmt.Sprintf("%s://127.0.0.1:%d/", s.site.Scheme(), s.port())
	switch {
	case s.flags.trials():
	case s.flags.blind != nil:
		u += "?blind"
	case s.flags.style != "doom3":
		u += "?style=" + s.flags.style
	}
	return u
}

// run serves until the context ends, or something that the demo cannot do without does.
func (s *site) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var work sync.WaitGroup
	failed := func(err error) {
		if err != nil && !errors.Is(err, context.Canceled) {
			cancel(err)
		}
	}
	work.Go(func() {
		if err := s.web.Serve(s.site.Protect(s.web)); !errors.Is(err, http.ErrServerClosed) {
			failed(err)
		}
	})
	work.Go(func() { failed(s.shown.run(ctx)) })
	// otherwise the page draws, and plays nothing itself
	if s.flags.peers == nil && !s.flags.trials() {
		work.Go(func() { _ = s.client.Make(ctx) })
	}
	<-ctx.Done()
	s.stop() // ends the streams of events
	late, done := context.WithTimeout(context.Background(), 2*time.Second)
	defer done()
	if s.web.Shutdown(late) != nil {
		_ = s.web.Close()
	}
	work.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func (s *site) close() {
	s.stop()
	_ = s.web.Close()
	_ = s.listener.Close()
	s.shown.close()
}

// handler is all that the site answers.
func (s *site) handler() http.Handler {
	mux := http.NewServeMux()
	o := s.shown.page()
	o.Client, o.Game = s.client.Bundle, s.flags.title.Name()
	if s.flags.title.Client == "" { // a title with a client of its own has keys of its own
		o.Keys = "Arrows or WASD, and the space bar."
	}
	if s.flags.directory != "" {
		o.Servers = &web.Servers{Directory: s.flags.directory, Game: s.flags.title.Name()}
	}
	scheme := map[string]string{"http": "ws", "https": "wss"}[s.site.Scheme()]
	o.Connect = append(o.Connect, s.flags.reach.Origins(scheme, s.port())...)
	mux.Handle("/", web.Page(o))
	mux.HandleFunc("GET /api/events", s.events)
	mux.Handle("GET /metrics", s.site.Watched(
		serve.NewMeters(s.flags.title.Game, s.read).Handler()))
	s.shown.mount(mux, &s.site.Refusals)
	if d, ok := s.shown.(*demoServer); ok { // for whoever sits at this machine, and no guests
		mux.Handle(inspect.Below, s.site.Watched(d.inspect.Handler()))
	}
	s.mountInvitation(mux)
	return s.site.Guard(s.guests(mux), s.flags.reach.Reach)
}

// read takes the numbers of the demo, what it refused among them. Mirrors tell their own.
func (s *site) read(ctx context.Context, m *serve.Metrics) error {
	m.Site(&s.site)
	if d, ok := s.shown.(*demoServer); ok {
		return d.server.Do(ctx, func() { m.Server(d.server) })
	}
	return nil
}

// How long a page may take to receive an event, and to send a wish.
const eventTime = 10 * time.Second

// events streams how the build goes and how the game does, until the page is closed.
func (s *site) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	flush := http.NewResponseController(w)
	send := func(event string, v any) bool {
		b, err := json.Marshal(v)
		if err != nil {
			return false
		}
		_ = flush.SetWriteDeadline(time.Now().Add(eventTime)) // what cannot be set has none
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, b); err != nil {
			return false
		}
		return flush.Flush() == nil
	}
	_, _ = fmt.Fprint(w, "retry: 250\n\n") // a program that is replaced is back soon
	tick := time.NewTicker(s.shown.every())
	defer tick.Stop()
	var told page.Progress
	for first := true; ; first = false {
		if b := s.client.Now(); first || b != told {
			told = b
			if !send("build", b) {
				return
			}
		}
		if st, err := s.shown.state(r.Context()); err == nil && !send("live", st) {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.ending.Done():
			return
		case <-tick.C:
		}
	}
}

// wish reads what a page asks for, does it, and answers with what came of it.
func wish[W, S any](what string, do func(*W) error, state func() S) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(eventTime))
		var wish W
		d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096))
		d.DisallowUnknownFields()
		err := d.Decode(&wish)
		if err != nil {
			err = fmt.Errorf("that is no %s: %w", what, err)
		} else {
			err = do(&wish)
		}
		var answer any
		if err == nil {
			answer = state()
		}
		serve.Answer(w, answer, http.StatusBadRequest, err)
	}
}
