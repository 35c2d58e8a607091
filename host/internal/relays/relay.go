//go:build !js

// Package relays runs a relay for players of any game: with the sockets, tokens, HTTP and metrics
// that are around it.
package relays

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/announced"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/queries"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/webtransport"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/web"
)

// Game is what tokens for relays name in place of a game.
const Game = "coeval relay"

// Options are what a relay is made from. Those that are zero have the defaults of
// host.RelayOptions.
type Options struct {
	Listen, HTTP string
	WebSocket    bool
	WebTransport string
	Hosts        []string
	Web          serve.WebOptions
	// Origins are hosts whose pages may come; none is all.
	Origins []string
	Keys    []token.Key
	Open    bool
	Limits  relay.Limits
	// Directory is where the relay is listed, if anywhere.
	Directory announced.Options
	// Queries are what is told to those who have not joined, as query.ParseKinds reads it.
	Queries string
	Log     *slog.Logger
}

// A Relay is one that runs, with what is around it.
type Relay struct {
	log    *slog.Logger
	relay  *relay.Server
	socket link.Link
	site   serve.Site
	print  string
	mux    *http.ServeMux
	meters *serve.Meters
	listed *announced.Listing // nil without
	desk   *queries.Desk      // nil without
	open   bool
}

// step is how often the relay looks for what has come.
const step = 2 * time.Millisecond

// New opens the sockets of a relay. On an error nothing is left open.
func New(o Options) (_ *Relay, err error) {
	if err := o.Web.Check(); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Relay{log: o.Log, mux: http.NewServeMux(), open: o.Open || len(o.Keys) == 0}
	if r.listed, err = o.Directory.Open(nil, o.Log); err != nil {
		return nil, err
	}
	if r.desk, err = queries.Open(o.Queries, r.asked(&o), o.Log); err != nil {
		return nil, cli.Usage(err)
	}
	r.socket, r.site.Listener, err = serve.OpenPorts(cmp.Or(o.Listen, ":4300"), o.HTTP)
	if err != nil {
		return nil, err
	}
	r.socket = r.desk.Link(r.socket, r.listed.Answerers()...)
	links := []link.Link{r.socket}
	defer func() {
		if err != nil {
			serve.CloseAll(links)
			r.site.Close()
		}
	}()
	r.site.WebOptions = o.Web
	r.site.Names = append(r.site.Names, o.Hosts...)
	if r.print, err = r.site.Secure(); err != nil {
		return nil, err
	}
	a := entry.Admission{Game: Game, UDP: r.socket.LocalAddr().Port()}
	by := serve.Browsers{WebSocket: o.WebSocket, WebTransport: o.WebTransport, Hosts: o.Hosts,
		Origins: o.Origins, Sessions: cmp.Or(o.Limits.Connections, 1024),
		Each: cmp.Or(o.Limits.PerAddress, 64)}
	more, identity, err := by.Open(r.mux, &r.site, &a)
	if links = append(links, more...); err != nil {
		return nil, err
	}
	given := o.Keys
	if len(o.Keys) == 0 {
		key, err := token.NewKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		o.Keys = []token.Key{key}
	}
	ro := relay.Options{Links: links, Keys: o.Keys, Limits: o.Limits, Step: step, News: r.news,
		Voter: peers.Witness}
	ro.Conn.Wall = time.Now().Unix()
	if _, err = rand.Read(ro.Conn.Seed[:]); err != nil {
		return nil, err
	}
	r.meters = serve.MetersOf(step, func(ctx context.Context, m *serve.Metrics) error {
		m.Site(&r.site)
		return r.relay.Do(ctx, func() {
			measure(m, r.relay)
			m.Queries(r.desk)
		})
	})
	ro.Ticked = r.meters.Took
	if err = r.listed.Introduce(r.subject(a, given, &o), r.mux); err != nil {
		return nil, err
	}
	if r.relay, err = relay.New(ro); err != nil {
		return nil, err
	}
	r.mount(a, identity, &o)
	return r, nil
}

// A Status is the answer of /status. The JSON names are for other programs and stay.
type Status struct {
	Matches  int    `json:"matches"`
	Members  int    `json:"members"`
	Playing  int    `json:"playing"`
	Watching int    `json:"watching"`
	Rows     uint64 `json:"rows"`
	Carried  uint64 `json:"carried_bytes"`
	Open     bool   `json:"open"`
}

// Status says how the relay is.
func (r *Relay) Status(ctx context.Context) (Status, error) {
	return serve.Ask(ctx, r.relay.Do, func() Status {
		s, t := r.relay.Status(), r.relay.Stats()
		return Status{Matches: s.Matches, Members: s.Members, Playing: s.Playing,
			Watching: s.Watching, Rows: t.Rows, Carried: t.CarriedBytes, Open: r.open}
	})
}

// mount adds what the relay says of itself over HTTP.
func (r *Relay) mount(a entry.Admission, identity *webtransport.Identity, o *Options) {
	r.meters.Mount(r.mux, &r.site)
	r.mux.Handle("GET /status", r.site.Watched(http.HandlerFunc(
		func(w http.ResponseWriter, q *http.Request) {
			s, err := r.Status(q.Context())
			serve.Answer(w, s, http.StatusServiceUnavailable, err)
		})))
	d := &serve.Door{Open: r.open, Kind: "relay", Refusals: &r.site.Refusals,
		Seats: cmp.Or(o.Limits.PerAddress, 64)}
	d.Admit = func(q *http.Request) (any, int, error) {
		type made struct {
			token token.Token
			err   error
		}
		m, err := serve.Ask(q.Context(), r.relay.Do, func() (m made) {
			m.token, m.err = r.relay.Token(cli.Draw()|1, serve.TokenLife)
			return m
		})
		if err != nil {
			return nil, http.StatusServiceUnavailable, err
		}
		b := a
		b.Token = m.token.Text()
		if identity != nil {
			for _, h := range identity.Hashes() {
				b.Certificates = append(b.Certificates, hex.EncodeToString(h[:]))
			}
		}
		return b, http.StatusInternalServerError, m.err
	}
	if len(o.Origins) > 0 {
		d.Origin = web.Pages(o.Origins...)
	}
	r.mux.Handle("/token", d)
	r.desk.Mount(r.mux, d.Origin)
}

// Addr is where members come to, over UDP.
func (r *Relay) Addr() netip.AddrPort { return r.socket.LocalAddr() }

// HTTP is the address and port at which the relay answers over HTTP, or nothing.
func (r *Relay) HTTP() string { return r.site.Addr() }

// Fingerprint is that of a certificate that the relay has made, or nothing.
func (r *Relay) Fingerprint() string { return r.print }

// Run relays until the context ends.
func (r *Relay) Run(ctx context.Context) error {
	r.site.Run(r.mux, r.log)
	r.log.Info("relaying", "udp", r.Addr().String(), "http", r.HTTP(), "scheme", r.site.Scheme(),
		"open", r.open)
	r.site.Warn(r.log, r.open)
	r.meters.SetReady(true)
	unlist := r.listed.Begin(ctx)
	err := r.relay.Run(ctx)
	unlist()
	r.meters.SetReady(false)
	t := r.relay.Stats()
	r.log.Info("stopped", "matches", t.Created, "rows", t.Rows, "carried_bytes", t.CarriedBytes)
	return err
}

// Close closes the sockets.
func (r *Relay) Close() error {
	r.site.Close()
	return r.relay.Close()
}
