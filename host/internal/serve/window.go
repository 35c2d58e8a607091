//go:build !js

package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"syscall"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/inspect"
	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/topology/server"
)

// A window is the page that shows a game while it runs, at an address of its own. It is none
// without one.
type window struct {
	site      Site
	tokens    bool // it is reached from other machines
	inspector atomic.Pointer[inspect.Inspector]
}

// listen opens the port. One that other machines reach needs what keeps strangers out.
func (w *window) listen(o *AdminOptions, s *Site) error {
	if o.Inspect == "" {
		return nil
	}
	l, err := net.Listen("tcp", o.Inspect)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("another program has the port: choose another with --inspect: %w", err)
	}
	if err != nil {
		return err
	}
	w.tokens = !addrOf(l.Addr().String()).IsLoopback()
	if w.tokens && (s.tls == nil || o.Dir == "") {
		_ = l.Close() // nothing came by it
		return cli.Usagef("--inspect %s is reached from other machines, and shows all of the game "+
			"to whoever asks: give --admin-dir, the folder with the tokens of those who may, and "+
			"--tls-cert and --tls-key, or --tls-self-signed; or listen at this machine alone, as "+
			"--inspect 127.0.0.1:4950", o.Inspect)
	}
	w.site.Listener, w.site.WebOptions, w.site.tls = l, s.WebOptions, s.tls
	return nil
}

// run begins to answer. API acts on the game, or is nil.
func (w *window) run(g admin.Game, api *admin.API, log *slog.Logger) {
	if w.site.Listener == nil {
		return
	}
	i := inspect.New(inspect.Options{Game: g, API: api, Tokens: w.tokens, Hosts: w.site.Names,
		Log: log})
	w.inspector.Store(i)
	w.site.Run(i.Handler(), log)
	log.Info("the game can be looked at", "inspect",
		fmt.Sprintf("%s://%s/", w.site.Scheme(), w.site.Addr()))
}

// ticked is told of each tick.
func (w *window) ticked(t server.Times) { w.inspector.Load().Ticked(t) }

// close ends it, and gives the port free.
func (w *window) close() {
	w.inspector.Load().Close()
	w.site.Close()
}

// Ticked is told of each tick, for those who look.
func (a *Admin) Ticked(t server.Times) {
	if a != nil {
		a.window.ticked(t)
	}
}

// Inspect is where the game can be looked at, or nothing.
func (a *Admin) Inspect() string {
	if a == nil {
		return ""
	}
	return a.window.site.Addr()
}
