//go:build !js

package inspect

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/web"
)

// Options say what an Inspector shows, and to whom.
type Options struct {
	// Game is what is shown: its Title, Do and Server.
	Game admin.Game
	// API is what acts on the game, for those who have a token of its folder, or nil.
	API *admin.API
	// Tokens has everyone bring a token, as programs on other machines must; the page asks for it.
	Tokens bool
	// Hosts are the names of this machine by which the page may be asked for.
	Hosts []string
	Log   *slog.Logger
}

// An Inspector shows a game.
type Inspector struct {
	opt   Options
	begun time.Time
	ctx   context.Context
	close context.CancelFunc
	work  sync.WaitGroup

	watchers atomic.Int32
	stream   stream
	ticks    ticks
	looks    looks
	profiles sync.Mutex // one at a time
}

// looks is what looking has cost the goroutine that drives the game.
type looks struct {
	mu    sync.Mutex
	count uint64
	spent time.Duration
	most  time.Duration
}

// New makes an Inspector. Whoever makes one closes it.
func New(o Options) *Inspector {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	i := &Inspector{opt: o, begun: time.Now()}
	i.ctx, i.close = context.WithCancel(context.Background())
	i.stream.init()
	return i
}

// Close ends all streams, and waits for them.
func (i *Inspector) Close() {
	if i == nil {
		return
	}
	i.close()
	i.work.Wait()
}

// Ticked is told of each tick. It keeps how long the tick took while someone watches.
func (i *Inspector) Ticked(t server.Times) {
	if i != nil && i.watchers.Load() > 0 {
		i.ticks.add(t)
	}
}

// patience is how long a look waits for its turn.
const patience = 5 * time.Second

var errNoGame = errors.New("there is no game here yet")

// look has a function called between two ticks, and books what that takes.
func (i *Inspector) look(ctx context.Context, f func(s *server.Server)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	there := false
	done := make(chan struct{})
	err := i.opt.Game.Do(ctx, func() {
		defer close(done)
		d := measure(func() {
			if s := i.opt.Game.Server(); s != nil {
				f(s)
				there = true
			}
		})
		i.looks.mu.Lock()
		i.looks.count, i.looks.spent = i.looks.count+1, i.looks.spent+d
		i.looks.most = max(i.looks.most, d)
		i.looks.mu.Unlock()
	})
	if err != nil {
		return err
	}
	<-done
	if !there {
		return errNoGame
	}
	return nil
}

// Below is where the page is as well, for programs that have another page at the root. That must be
// one of package web, which has the page's scripts.
const Below = "/inspect/"

// Handler is the page and all that it asks for.
func (i *Inspector) Handler() http.Handler {
	mux := http.NewServeMux()
	page := web.Page(web.Options{Index: "inspect.html", Game: i.opt.Game.Title.Name()})
	mux.Handle("/", page)
	mux.Handle("GET "+Below+"{$}", http.StripPrefix(strings.TrimSuffix(Below, "/"), page))
	for _, r := range routes {
		mux.HandleFunc("GET "+Path+r.name, i.answer(r))
	}
	if i.opt.API != nil {
		mux.Handle(admin.Path, i.opt.API)
	} else {
		mux.HandleFunc(admin.Path, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "nobody may act here: start the server with --admin-dir, the folder with "+
				"the tokens of those who may", http.StatusNotFound)
		})
	}
	if i.opt.Tokens {
		return mux // a token is what a stranger's page does not have
	}
	return web.Guard(mux, i.opt.Hosts...)
}

// answer answers one kind of question, to those who may ask.
func (i *Inspector) answer(r route) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		if i.opt.Tokens {
			if err := i.opt.API.Allow(q); err != nil {
				h.Set("WWW-Authenticate", "Bearer")
				fail(w, err)
				return
			}
		}
		ctx, cancel := context.WithCancel(q.Context())
		stop := context.AfterFunc(i.ctx, cancel)
		defer stop()
		defer cancel()
		if err := r.do(i, w, q.WithContext(ctx)); err != nil {
			fail(w, err)
		}
	}
}
