//go:build !js

// Package serve runs a title for players on other machines: a server, with the sockets, tokens,
// HTTP, metrics and recordings that are around it.
//
// What a mirror and a demo need of these they take from here as well: a Door that hands out tokens,
// a Site that answers over HTTP, Meters for metrics, and News that are logged.
package serve

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/announced"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/keeping"
	"github.com/coeval-dev/coeval/host/internal/queries"
	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/host/internal/storing"
	"github.com/coeval-dev/coeval/host/internal/uploads"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/webtransport"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/architecture"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/web"
	"github.com/coeval-dev/coeval/world"
)

// Options are what a server is made from. Those that are zero have the defaults of
// host.ServeOptions.
type Options struct {
	// Server is the server inside, but for its links.
	Server server.Options
	// Architecture is by name what the server and its clients do alike, in place of what Server
	// says of it; see package architecture. Original has as many snapshots as that game had.
	Architecture string
	Original     bool
	// Knobs are what is set of the architecture and the title, before what Server says.
	Knobs        knob.Values
	Listen, HTTP string
	WebSocket    bool
	WebTransport string
	Hosts        []string
	Web          WebOptions
	// Public are addresses of the server that it does not know itself, such as that of a router.
	Public []string
	// Origins are hosts whose pages may come, besides those that the server has itself; none is
	// all.
	Origins     []string
	Open, Pause bool
	// Page also shows the game to browsers. Client is a folder with the program for them that was
	// built before; without, it is compiled while the server begins.
	Page        bool
	Client      fs.FS
	Record      string
	RecordLast  time.Duration // of the match; all of it if 0
	PanicTraces string
	// Keep is how the game is kept on disk, if its Dir is one.
	Keep keeping.Options
	// Admin is how operators see and act, and how the program ends.
	Admin AdminOptions
	// Store is where what outlives matches is kept, for a title of which something is; see package
	// kept. Default: in memory.
	Store kept.Store
	// Upgrade is how this server takes the place of one that runs.
	Upgrade UpgradeOptions
	// Directory is where the server is listed, if anywhere.
	Directory announced.Options
	// Queries are what is told to those who have not joined, as query.ParseKinds reads it.
	Queries string
	// Tables say whether the server learns better tables for the codec.
	Tables TablesOptions
	// Uploads is where what players send in one piece is kept, if anywhere.
	Uploads uploads.Options
	Log     *slog.Logger

	anyPort bool // will do for WebTransport
}

// tune sets knobs: of the title, of the server, and of its clients, who are told.
func (o *Options) tune(a *entry.Admission) (err error) {
	if len(o.Knobs) == 0 {
		return nil
	}
	k, err := o.Kind()
	if err != nil {
		return err
	}
	values, err := knob.Read("architecture "+k.Name, append(k.Knobs(),
		o.Server.Title.Settable()...), o.Knobs)
	if err != nil {
		return err
	}
	if o.Server.Title, err = o.Server.Title.With(values); err != nil {
		return err
	}
	a.Knobs = architecture.ForClients(values).String()
	return k.Tune(values, &o.Server, &client.Options{})
}

// Kind is the architecture that was chosen.
func (o *Options) Kind() (architecture.Kind, error) {
	k, err := architecture.Parse(cmp.Or(o.Architecture, "coeval"))
	if err != nil {
		return k, cli.Usagef("--architecture: %w", err)
	}
	if o.Architecture == "" {
		k.Strategy, k.Take = o.Server.Strategy, o.Server.Take
	}
	if o.Original {
		k = k.AsOriginal()
	}
	return k, nil
}

// describe puts what clients have to do alike into the answer that lets them in, and has the server
// be of the architecture that was chosen.
func (o *Options) describe(a *entry.Admission) error {
	if o.Architecture != "" {
		k, err := o.Kind()
		if err != nil {
			return err
		}
		k.Server(&o.Server)
		Describe(a, k)
		return nil
	}
	if o.Server.Strategy != replica.Coeval {
		a.Strategy = o.Server.Strategy.String()
	}
	if o.Server.Take != server.ByTick {
		a.Take = o.Server.Take.String()
	}
	return nil
}

// Describe puts what clients of an architecture have to do into the answer that lets them in.
func Describe(a *entry.Admission, k architecture.Kind) {
	if a.Commands = k.Commands; k.Style != predict.Doom3 {
		a.Style = k.Style.String()
	}
	if k.Strategy != replica.Coeval {
		a.Strategy = k.Strategy.String()
	}
	if k.Take != server.ByTick {
		a.Take = k.Take.String()
	}
}

// Fill checks what a server inside is made from, and fills in what is left open.
func Fill(o *server.Options) (err error) {
	if err := o.Title.Check(); err != nil {
		return err
	}
	o.Players, o.Spectators = cmp.Or(o.Players, 64), cmp.Or(o.Spectators, 16)
	o.Conn.MaxRate = cmp.Or(o.Conn.MaxRate, 256<<10)
	o.Level, err = cli.FillLevel(o.Title, o.Level)
	return err
}

// A Server is a title that is served, with what is around it.
type Server struct {
	log     *slog.Logger
	title   *game.Title
	server  *server.Server
	socket  link.Link
	site    Site
	print   string // of a certificate that was made here, by which clients trust it
	mux     *http.ServeMux
	open    bool
	page    *pageOf // nil without
	record  *recording.Recording
	panics  string // the folder for traces of panics, or nothing
	meters  *Meters
	keep    *keptGame          // nil without
	clerk   *storing.Clerk     // nil without
	admin   *Admin             // nil without
	listed  *announced.Listing // nil without
	results results
	desk    *queries.Desk   // nil without
	uploads *uploads.Folder // nil without
	ending  ending

	upgrades  upgrades
	successor *successor // nil if it takes nobody's place
}

// New opens the sockets of a server. On an error nothing is left open. The context is for a server
// that takes the place of another.
func New(ctx context.Context, o Options) (*Server, error) {
	s, err := open(ctx, o)
	if err = o.alone(ctx, err); err == nil && s == nil {
		return open(ctx, o)
	}
	return s, err
}

func open(ctx context.Context, o Options) (_ *Server, err error) {
	var a entry.Admission
	if err := Fill(&o.Server); err != nil {
		return nil, err
	}
	if err := o.tune(&a); err != nil {
		return nil, err
	}
	if err := o.Web.Check(); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		title: o.Server.Title, panics: o.PanicTraces, mux: http.NewServeMux(),
		ending: ending{drain: o.Admin.Drain, asked: make(chan wish, 1)},
	}
	if s.ending.to, err = o.Admin.elsewhere(context.Background()); err != nil {
		return nil, err
	}
	if s.admin, err = OpenAdmin(o.Admin, &o.Server.Rules, &o.Log); err != nil {
		return nil, err
	}
	s.log, s.record = o.Log, recording.NewLast(recording.New(o.Record, o.Log), o.RecordLast)
	if s.successor, err = succeed(ctx, &o); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.successor.refuse(err)
		}
	}()
	if err = s.openInside(&o); err != nil {
		return nil, err
	}
	links := []link.Link{s.desk.Link(s.socket, s.listed.Answerers()...)}
	defer func() {
		if err != nil {
			CloseAll(links)
			s.site.Close()
			s.admin.Close()
			_ = errors.Join(s.keep.close(nil), s.clerk.Close(false))
		}
	}()
	a.Game, a.UDP = s.title.Name(), s.socket.LocalAddr().Port()
	if err = o.describe(&a); err != nil {
		return nil, err
	}
	if err = s.introduce(&o); err != nil {
		return nil, err
	}
	if o.Page {
		if err = s.openPage(&o); err != nil {
			return nil, err
		}
	}
	by := Browsers{WebSocket: o.WebSocket, WebTransport: o.WebTransport, AnyPort: o.anyPort,
		Hosts: o.Hosts, Origins: o.Origins, Each: o.perSource(),
		Sessions: o.Server.Players + max(o.Server.Spectators, 0) + 32}
	if by.Handed, err = s.successor.last(ctx, s, &o); err != nil {
		return nil, err
	}
	more, identity, err := by.Open(s.mux, &s.site, &a)
	if err != nil {
		return nil, err
	}
	s.upgrades.handed = by.Opened
	links = append(links, more...)
	if s.server, err = s.make(o, links); err != nil {
		return nil, err
	}
	if err = errors.Join(s.record.Err(), s.keep.begun(), s.introduceTo(a, &o)); err != nil {
		s.uploads.Close()
		links = nil // the server had them
		return nil, errors.Join(err, s.server.Close())
	}
	s.mount(a, identity, &o)
	return s, nil
}

// openInside opens the folder, the store, and the ports of players and HTTP.
func (s *Server) openInside(o *Options) (err error) {
	if s.listed, err = o.Directory.Open(nil, o.Log); err != nil {
		return err
	}
	if s.desk, err = queries.Open(o.Queries, s.asked(o), o.Log); err != nil {
		return cli.Usage(err)
	}
	if s.keep, err = s.openKept(o); err != nil {
		return err
	}
	if s.clerk, err = openClerk(o, s.keep); err != nil {
		return errors.Join(err, s.keep.close(nil))
	}
	s.socket, s.site.Listener, err = s.successor.ports(cmp.Or(o.Listen, ":4000"), o.HTTP)
	if err != nil {
		return errors.Join(err, s.keep.close(nil), s.clerk.Close(false))
	}
	return nil
}

// introduce finds out who the server is: by which addresses players and tokens know it, and by
// which certificate.
func (s *Server) introduce(o *Options) (err error) {
	if len(o.Server.Addresses) == 0 {
		o.Server.Addresses, err = Addresses(s.socket.LocalAddr(), o.Public)
		if err != nil {
			return err
		}
	}
	s.site.WebOptions = o.Web
	s.site.Names = append(s.site.Names, o.Hosts...)
	if s.print, err = s.site.Secure(); err != nil {
		return err
	}
	if err := s.successor.operators(s.admin); err != nil {
		return err
	}
	return s.admin.Listen(&s.site)
}

// perSource is how many places of a browser's carrier one address has: for its seats, and as many
// again that are on their way.
func (o *Options) perSource() int {
	n := SeatsOfEach(&o.Server)
	if n < 0 {
		return n
	}
	return 2*n + 4
}

// SeatsOfEach is how many seats one address may have.
func SeatsOfEach(o *server.Options) int {
	if n := o.Limits.PerAddress; n != 0 {
		return n
	}
	return max(o.Players/4, 4)
}

// make makes the server inside.
func (s *Server) make(o Options, links []link.Link) (made *server.Server, err error) {
	so := o.Server
	so.Links, so.News = links, s.news
	so.After = func(w *world.World, in *world.Inputs) {
		s.record.Tick(w, in)
		s.keep.tick(s.server, w, in)
		s.clerk.Tick(w)
		s.results.tick(s, w)
		s.successor.ticked(s, w)
	}
	so.Begun = func(w *world.World, l server.Level) {
		s.record.Begin(w, "level "+l.Name)
		s.keep.begin(s.server, w, l)
		s.clerk.Begin()
	}
	s.meters = NewMeters(s.title.Game, func(ctx context.Context, m *Metrics) error {
		m.Site(&s.site)
		m.kept(s.keep)
		m.Store(s.clerk)
		m.upgraded(s)
		return s.server.Do(ctx, func() {
			m.Server(s.server)
			m.Queries(s.desk)
		})
	})
	so.Ticked = func(t server.Times) {
		s.meters.Ticked(t)
		s.admin.Ticked(t)
		s.keep.took(t.Step)
		s.clerk.Serve(s.server)
	}
	if o.Pause {
		so.Rules.Pause = func(*server.Seat, bool) error { return nil }
	}
	if s.uploads, err = uploads.Open(o.Uploads, o.Log); err != nil {
		return nil, err
	}
	so.Rules.Uploaded = s.uploads.Hook()
	made, err = server.New(so)
	if err != nil {
		s.uploads.Close()
		return nil, err
	}
	o.learn(made)
	return made, nil
}

// mount adds what the server says of itself over HTTP.
func (s *Server) mount(a entry.Admission, identity *webtransport.Identity, o *Options) {
	s.open = o.Open || len(o.Server.Keys) == 0
	s.meters.Mount(s.mux, &s.site)
	s.mux.Handle("GET /status", s.site.Watched(StatusPage(s.server, s.title, s.open)))
	d := NewDoor(s.server, a, identity, s.open)
	d.Seats, d.Refusals = SeatsOfEach(&o.Server), &s.site.Refusals
	if len(o.Origins) > 0 {
		d.Origin = web.Pages(o.Origins...)
	}
	if len(o.Server.Keys) > 0 {
		d.Bring = s.bring(a, identity, o)
	}
	s.mux.Handle("/token", d)
	s.desk.Mount(s.mux, d.Origin)
	if s.page != nil {
		s.mountPage(a.WebTransport)
	}
}

// StatusPage says how a server is.
func StatusPage(s *server.Server, t *game.Title, open bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		st, err := Ask(r.Context(), s.Do, func() Status { return StatusOf(s) })
		st.Game, st.Open = t.Name(), open
		Answer(w, st, http.StatusServiceUnavailable, err)
	}
}

// NewDoor makes the door of a server: what it admits by, with tokens of the server's own.
func NewDoor(
	s *server.Server, a entry.Admission, identity *webtransport.Identity, open bool,
) *Door {
	type made struct {
		token token.Token
		err   error
	}
	return &Door{Open: open, Kind: "server", Admit: func(r *http.Request) (any, int, error) {
		m, err := Ask(r.Context(), s.Do, func() (m made) {
			m.token, m.err = s.Token(cli.Draw()|1, nil, TokenLife)
			return m
		})
		if err != nil {
			return nil, http.StatusServiceUnavailable, err
		}
		return admit(a, m.token, identity), http.StatusInternalServerError, m.err
	}}
}

// admit is what is answered to whoever has a token.
func admit(a entry.Admission, t token.Token, identity *webtransport.Identity) entry.Admission {
	a.Token = t.Text()
	if identity != nil {
		for _, h := range identity.Hashes() {
			a.Certificates = append(a.Certificates, hex.EncodeToString(h[:]))
		}
	}
	return a
}

// bring is what a server with a key says to those who bring a token of a backend, as pages do: how
// the server is reached, or at once why the token lets nobody in.
func (s *Server) bring(
	a entry.Admission, identity *webtransport.Identity, o *Options,
) func(text string) (any, int, error) {
	keys, addresses := o.Server.Keys, o.Server.Addresses
	return func(text string) (any, int, error) {
		t, err := token.ParseText(text)
		if err != nil {
			return nil, http.StatusBadRequest, errors.New("the link has no whole token in it")
		}
		var g token.Grant
		for _, key := range keys {
			if g, err = token.Open(key, t.Sealed); err == nil {
				break
			}
		}
		switch {
		case err != nil, g.Protocol != token.ProtocolID(s.title.Name()), !g.Names(addresses):
			return nil, http.StatusForbidden,
				errors.New("the token in the link is not for this server: ask for another link")
		case g.Expires <= time.Now().Unix():
			return nil, http.StatusForbidden,
				errors.New("the token in the link has expired: ask for another link")
		}
		return admit(a, t, identity), 0, nil
	}
}

// Addr is where players come to, over UDP.
func (s *Server) Addr() netip.AddrPort { return s.socket.LocalAddr() }

// HTTP is the address and port at which the server answers over HTTP and players join, or nothing.
func (s *Server) HTTP() string { return s.site.Addr() }

// Admin is where operators are answered, or nothing.
func (s *Server) Admin() string { return s.admin.Addr() }

// Inspect is where the game can be looked at, or nothing.
func (s *Server) Inspect() string { return s.admin.Inspect() }

// Fingerprint is that of a certificate that the server has made, by which clients trust it, or
// nothing.
func (s *Server) Fingerprint() string { return s.print }

// Secure says whether the server answers over HTTPS.
func (s *Server) Secure() bool { return s.site.tls != nil }

// Run serves until the context ends.
func (s *Server) Run(ctx context.Context) error {
	if err := s.successor.take(s); err != nil {
		return err
	}
	s.site.Run(s.handler(), s.log)
	level := s.server.Level()
	s.log.Info("serving", "game", s.title.Name(), "level", level.Name, "seed", level.Seed,
		"udp", s.socket.LocalAddr().String(), "http", s.HTTP(), "scheme", s.site.Scheme())
	s.site.Warn(s.log, s.open)
	s.meters.SetReady(true)
	s.admin.Run(s.administered(), s.log)
	unlist := s.listed.Begin(ctx)
	play, end := context.WithCancelCause(context.WithoutCancel(ctx))
	var watching sync.WaitGroup
	heard, quiet := context.WithCancel(ctx)
	watching.Go(func() { s.watch(ctx, play, end, quiet) })
	s.hear(heard)
	err := s.play(play)
	s.meters.SetReady(false)
	unlist()
	end(nil)
	quiet()
	watching.Wait()
	s.deaf()
	if s.upgrades.gone.Load() && errors.Is(err, server.ErrReplaced) {
		err = nil
	}
	st := s.server.Stats()
	s.log.Info("stopped", "ticks", st.Ticks, "joined", st.Joined, "snapshots", st.Snapshots)
	return err
}

// play runs the game, and makes the program for browsers meanwhile. A server whose page cannot be
// made ends.
func (s *Server) play(ctx context.Context) error {
	if s.page == nil {
		return s.server.Run(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	var making sync.WaitGroup
	var failed error
	making.Go(func() {
		if err := s.page.client.Make(ctx); err != nil && ctx.Err() == nil {
			failed = fmt.Errorf("the game could not be compiled for browsers:\n%w", err)
			cancel()
		}
	})
	err := s.server.Run(ctx)
	cancel()
	making.Wait()
	return errors.Join(failed, err)
}

// Close closes the sockets, and says whether all of the match was recorded and kept.
func (s *Server) Close() error {
	s.successor.refuse(errors.New("the new one was closed before it ran"))
	s.site.Close()
	s.admin.Close()
	defer s.uploads.Close()
	var err error
	if s.upgrades.gone.Load() {
		err = s.keep.close(nil) // the world is another's
	} else {
		err = s.keep.close(s.server)
	}
	return errors.Join(s.server.Close(), s.record.Close(), err,
		s.clerk.Close(err == nil && s.server.Failed() == nil && !s.upgrades.gone.Load()))
}
