//go:build !js

package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/web"
)

// A Site answers over HTTP, in a goroutine of its own. Without a listener it answers nothing.
type Site struct {
	Listener net.Listener
	WebOptions
	Refusals Refusals
	// Conns is how many connections there may be at once. Default: 512.
	Conns int

	tls     *tls.Config // nil for plain HTTP
	web     http.Server
	serving sync.WaitGroup
}

// Secure reads the certificate, if there is to be one. It says by which fingerprint clients may
// trust one that nobody has signed.
func (s *Site) Secure() (fingerprint string, err error) {
	s.tls, fingerprint, err = s.WebOptions.certificate()
	return fingerprint, err
}

// Protect has a web server keep to the limits that all have, and gives the listener to serve: so
// many connections, none of which is idle or begins slowly for long.
func (s *Site) Protect(w *http.Server) net.Listener {
	w.Handler = s.behind(w.Handler)
	w.ReadHeaderTimeout, w.IdleTimeout, w.MaxHeaderBytes = headerTime, idleTime, headersLimit
	w.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){} // HTTP/1.1 will do
	g := newGate(s.Listener, cmp.Or(s.Conns, mostConns), &s.Refusals)
	w.ConnState = g.state
	if s.tls != nil {
		return tls.NewListener(g, s.tls)
	}
	return g
}

// Run begins to answer.
func (s *Site) Run(h http.Handler, log *slog.Logger) {
	if s.Listener == nil {
		return
	}
	w := &s.web
	w.Handler, w.ReadTimeout, w.WriteTimeout = h, requestTime, answerTime
	w.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	l := s.Protect(w)
	s.serving.Go(func() {
		if err := w.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("http has ended", "error", err)
		}
	})
}

// Warn says what an operator should know who hands out tokens to people beyond this machine without
// encryption.
func (s *Site) Warn(log *slog.Logger, open bool) {
	if s.Listener == nil || !open || s.tls != nil || addrOf(s.Addr()).IsLoopback() {
		return
	}
	log.Warn("tokens are handed out by plain HTTP: whoever reads along can play as those who ask; "+
		"give --tls-cert and --tls-key, or --tls-self-signed", "http", s.Addr())
}

// Addr is where it answers, or nothing.
func (s *Site) Addr() string {
	if s.Listener == nil {
		return ""
	}
	return s.Listener.Addr().String()
}

// Scheme is how it is asked: http or https.
func (s *Site) Scheme() string {
	if s.tls != nil {
		return "https"
	}
	return "http"
}

// lastWords is how long those who asked have to hear the answer before it ends.
const lastWords = 500 * time.Millisecond

// Close ends it, once what was asked is answered, and gives the port free.
func (s *Site) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	_ = s.web.Shutdown(ctx)
	_ = s.web.Close()
	if s.Listener != nil {
		_ = s.Listener.Close() // it may never have been served
	}
	s.serving.Wait()
}

// behind finds out who asks where that is a proxy that was named: by what the proxy says, the last
// address that is no proxy's own.
func (s *Site) behind(next http.Handler) http.Handler {
	if len(s.proxies) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if within(s.proxies, addrOf(r.RemoteAddr)) {
			hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
			for i := len(hops) - 1; i >= 0; i-- {
				a := addrOf(strings.TrimSpace(hops[i]))
				if !a.IsValid() {
					break
				}
				r.RemoteAddr = netip.AddrPortFrom(a, 0).String()
				if !within(s.proxies, a) {
					break
				}
			}
			r.Header.Del("X-Forwarded-For") // it is accounted for
			r.Header.Del("Forwarded")
		}
		next.ServeHTTP(w, r)
	})
}

func within(list []netip.Prefix, a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// Guard lets no other page near anything, tokens and sockets included, and counts those it refuses.
// Hosts are those of the site's own page, besides this machine's loopback.
func (s *Site) Guard(next http.Handler, hosts []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		passed := false
		web.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			passed = true
			next.ServeHTTP(w, r)
		}), hosts...).ServeHTTP(w, r)
		if !passed {
			s.Refusals.Count("other_pages")
		}
	})
}

// Watched is for what only the operator should see: it answers this machine, and those who were
// named.
func (s *Site) Watched(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !within(s.watchers, addrOf(r.RemoteAddr)) && !FromHere(r) {
			s.Refusals.Count("watchers")
			http.Error(w, "this is for whoever runs the server: ask from the same machine, or "+
				"have your address named by --metrics-from", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// FromHere says whether a request comes from this machine. What a proxy on it passes on does not.
func FromHere(r *http.Request) bool {
	passed := r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != ""
	return addrOf(r.RemoteAddr).IsLoopback() && !passed
}
