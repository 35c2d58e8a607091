//go:build !js

// Package mirrors runs one of several servers that stay one game, with what is around it, or a
// witness that only votes.
package mirrors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/announced"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/keeping"
	"github.com/coeval-dev/coeval/host/internal/queries"
	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/host/internal/storing"
	"github.com/coeval-dev/coeval/host/internal/uploads"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// Options are what a mirror is made from. Those that are zero have the defaults of
// host.MirrorOptions.
type Options struct {
	// Mirror is the mirror inside, but for its links and addresses.
	Mirror mirror.Options
	// Knobs are what is set of the mirror, its clients and the title, before what Mirror says.
	Knobs                                  knob.Values
	Join                                   []string
	Witness                                bool
	Listen, Mirrors, Address, Public, HTTP string
	Multicast, Interface                   string
	Web                                    serve.WebOptions
	Open                                   bool
	Patience                               time.Duration
	Forever                                bool
	Record                                 string
	RecordLast                             time.Duration // of the match; all of it if 0
	// Keep is how the game is kept on disk, if its Dir is one.
	Keep keeping.Options
	// Admin is how operators see and act, and how the program ends.
	Admin serve.AdminOptions
	// Store is where what outlives matches is kept; see package kept. Default: in memory.
	Store kept.Store
	// Upgrade is whose game is taken over, if any; instead of Mirror.Found and Join.
	Upgrade UpgradeOptions
	// Directory is where the group is listed, if anywhere: by the same name at all mirrors.
	Directory announced.Options
	// Queries are what is told to those who have not joined, as query.ParseKinds reads it.
	Queries string
	// Uploads is where what players send in one piece is kept, if anywhere.
	Uploads uploads.Options
	Log     *slog.Logger
}

// Run runs a mirror, or a witness, until the context ends.
func Run(ctx context.Context, o Options) error {
	if err := o.fill(); err != nil {
		return err
	}
	if o.Witness {
		return o.witness(ctx)
	}
	if o.Upgrade.Try {
		s, err := o.newSuccessor()
		if err == nil {
			err = s.try(ctx, &o)
		}
		return err
	}
	h, err := o.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(h.run(ctx), h.close())
}

func (o *Options) fill() error {
	o.Listen, o.Mirrors = cmp.Or(o.Listen, ":4000"), cmp.Or(o.Mirrors, ":4100")
	o.Patience = cmp.Or(o.Patience, 10*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	m := &o.Mirror
	m.Timeline, m.Server.SnapshotRate = cmp.Or(m.Timeline, "auto"),
		cmp.Or(m.Server.SnapshotRate, 30)
	if err := serve.Fill(&m.Server); err != nil {
		return err
	}
	if err := Tune(m, o.Knobs); err != nil {
		return err
	}
	if err := o.Web.Check(); err != nil {
		return err
	}
	if m.Server.Intake == 0 { // the mirror's own loop has to go on as well
		m.Server.Intake = m.Server.Title.Game.TickLength() / 4
	}
	return TryDelays(m.Server.Title, m.Timeline, m.Delays)
}

// A host is a mirror with what is around it.
type host struct {
	Options
	title   *game.Title
	sockets sockets
	site    serve.Site
	print   string // of a certificate that was made here
	meters  *serve.Meters
	in      atomic.Bool // it was let in
	stops   atomic.Bool
	drained atomic.Bool // an operator sends players elsewhere
	admin   *serve.Admin
	end     context.CancelCauseFunc
	tick    world.Tick   // that was shown last
	moved   atomic.Int64 // when it was another, as Unix time in milliseconds

	mirror  atomic.Pointer[mirror.Mirror] // nil until it is made, which the first news come before
	record  *recording.Recording
	keeper  *keeping.Keeper    // nil without
	back    bool               // the folder has a game
	settled world.Tick         // the last that was recorded
	clerk   *storing.Clerk     // nil if nothing outlives the match
	listed  *announced.Listing // nil without
	desk    *queries.Desk      // nil without
	uploads *uploads.Folder    // nil without
	safe    atomic.Uint64      // the tick that all who keep the game have on their disks
	base    atomic.Uint64      // the group's tick with which the world of the level began
	telling atomic.Bool        // the world is about to be told what the store says

	successor *successor // nil if no game is taken over
	upgrades  upgrades
}

// open opens everything. On an error nothing is left open.
func (o *Options) open(ctx context.Context) (_ *host, err error) {
	h := &host{Options: *o, title: o.Mirror.Server.Title,
		record: recording.NewLast(recording.New(o.Record, o.Log), o.RecordLast)}
	h.Mirror.LeaveTime = o.Admin.Drain
	if h.admin, err = serve.OpenAdmin(o.Admin, &h.Mirror.Server.Rules, &h.Log); err != nil {
		return nil, err
	}
	if o.Record != "" {
		if err := unrecorded(o.Record); err != nil {
			return nil, err
		}
	}
	if err = h.openListed(); err != nil {
		return nil, err
	}
	if h.desk, err = queries.Open(o.Queries, h.asked(), h.Log); err != nil {
		return nil, cli.Usage(err)
	}
	if h.successor, err = o.newSuccessor(); err != nil {
		return nil, err
	}
	if h.sockets, err = o.openSockets(ctx); err != nil {
		return nil, err
	}
	h.sockets.players = h.desk.Link(h.sockets.players, h.listed.Answerers()...)
	defer func() {
		if err != nil {
			_ = h.closeKept()
			h.successor.discard(h.Keep.Dir)
		}
	}()
	if h.successor, err = h.successor.begin(ctx, h); err != nil {
		h.sockets.close()
		return nil, err
	}
	if err = h.openKept(); err != nil {
		h.sockets.close()
		return nil, err
	}
	if err = h.openStore(ctx); err != nil {
		h.sockets.close()
		return nil, err
	}
	h.site.Listener, h.site.WebOptions = h.sockets.web, o.Web
	defer func() {
		if err != nil {
			h.sockets.close()
			h.admin.Close()
			_ = h.clerk.Close(false)
		}
	}()
	if h.print, err = h.site.Secure(); err != nil {
		return nil, err
	}
	if err = h.admin.Listen(&h.site); err != nil {
		return nil, err
	}
	m := &h.Mirror
	if len(o.Join) > 0 {
		if m.Ask, err = o.askWhom(ctx, h.sockets.address); err != nil {
			return nil, err
		}
	}
	m.Address, m.Public, m.News, m.Settled = h.sockets.address, h.sockets.public, h.news, h.keep
	m.Server.News = func(n server.News) { serve.News(h.Log, n) }
	h.meters = serve.NewMeters(h.title.Game, h.read)
	m.Server.Ticked = h.ticked
	m.Server.Begun = h.begun
	m.Link, m.Multicast = h.sockets.mirrors, h.sockets.group
	m.Server.Links = []link.Link{h.sockets.players}
	made, err := h.make(ctx)
	if err != nil {
		return nil, err
	}
	h.mirror.Store(made)
	return h, h.record.Err()
}

// make makes the mirror, and has it be the one whose game it is, if it takes one over.
func (h *host) make(ctx context.Context) (made *mirror.Mirror, err error) {
	if h.uploads, err = uploads.Open(h.Uploads, h.Log); err != nil {
		return nil, h.successor.refuse(ctx, err)
	}
	h.Mirror.Server.Rules.Uploaded = h.uploads.Hook()
	if err = h.successor.last(ctx, h); err == nil {
		made, err = mirror.New(h.Mirror)
	}
	if err == nil {
		if err = h.successor.take(ctx, h); err != nil {
			_ = made.Close() // nothing came by its links
		}
	}
	if err != nil {
		h.uploads.Close()
		return nil, h.successor.refuse(ctx, err)
	}
	return made, nil
}

// run drives the mirror until the context ends.
func (h *host) run(ctx context.Context) error {
	ctx, h.end = context.WithCancelCause(ctx)
	defer h.end(nil)
	h.admin.Run(h.administered(), h.Log)
	pages, err := h.pages()
	if err != nil {
		return err
	}
	h.site.Run(pages, h.Log)
	defer h.listed.Begin(ctx)()
	h.site.Warn(h.Log, h.Open)
	defer context.AfterFunc(ctx, func() { h.stops.Store(true) })()
	if !h.Mirror.Found || h.back {
		h.Log.Info("joining", "game", h.title.Name(), "asks", fmt.Sprint(h.Mirror.Ask),
			"address", h.Mirror.Address.String())
	}
	err = h.live(ctx)
	h.Log.Info("stopped")
	return advise(err)
}

// errPatience ends a mirror that no other has let in.
var errPatience = errors.New("no mirror answers")

// live drives the mirror. Patience is for getting in: one that was in asks for as long as it runs.
func (h *host) live(ctx context.Context) error {
	attempt, give := context.WithCancelCause(ctx)
	defer give(nil)
	if !h.Mirror.Found && !h.Forever && !h.back {
		defer time.AfterFunc(h.Patience, func() {
			if !h.in.Load() {
				give(errPatience)
			}
		}).Stop()
	}
	err := h.mirror.Load().Run(attempt)
	if errors.Is(context.Cause(attempt), errPatience) {
		return h.unanswered(h.Mirror.Address)
	}
	if errors.Is(err, mirror.ErrCeded) {
		h.Log.Info("another group of mirrors has the game, and this one ends")
		return nil
	}
	return err
}

// unanswered says what to do where no mirror has let this one in.
func (o *Options) unanswered(self netip.AddrPort) error {
	return fmt.Errorf(
		"%w at %s within %v: check that it is what a mirror has as --address, that one runs "+
			"there, and that UDP gets through to its --mirrors port from here and back to %v; "+
			"--forever keeps trying",
		errPatience, strings.Join(o.Join, ", "), o.Patience, self)
}

func (h *host) close() error {
	h.site.Close()
	h.admin.Close()
	defer h.uploads.Close()
	return errors.Join(h.closeKept(), h.mirror.Load().Close(), h.record.Close(),
		h.clerk.Close(true))
}

// advise says what to do about the end of a mirror.
func advise(err error) error {
	if !errors.Is(err, mirror.ErrEnded) {
		return err
	}
	for reason, advice := range map[crimp.Reason]string{
		crimp.ReasonToken: "copy the key file of the other mirrors to this machine and give it " +
			"with --key; if it is the same, set this machine's clock right, and see that --game " +
			"is theirs",
		crimp.ReasonGame: "the other mirrors play another game: give the same --game, or ask " +
			"others",
		crimp.ReasonProgram: "use the same build of the program, --timeline, --delays and " +
			"--window as the other mirrors",
		crimp.ReasonFull: "there are as many mirrors as there may be: stop one, and start " +
			"this one again",
	} {
		if strings.Contains(err.Error(), reason.String()) {
			return fmt.Errorf("%w\n%s", err, advice)
		}
	}
	return err
}

// news logs what happens between mirrors.
func (h *host) news(n mirror.News) {
	var args []any
	if n.Mirror != 0 {
		args = append(args, "mirror", int(n.Mirror))
	}
	if n.Tick != 0 {
		args = append(args, "tick", uint64(n.Tick))
	}
	if n.Player != world.Nobody {
		args = append(args, "player", uint16(n.Player))
	}
	if n.Text != "" {
		args = append(args, "text", n.Text)
	}
	if n.Err != nil {
		args = append(args, "error", n.Err)
	}
	level := slog.LevelInfo
	switch n.Kind {
	case mirror.Established:
		h.in.Store(true)
	case mirror.Began:
		h.began()
		return
	case mirror.PlayerMoved:
		level = slog.LevelDebug
	case mirror.MirrorLeft, mirror.CutOff, mirror.Rejoining, mirror.ClockJumped, mirror.Refused,
		mirror.LineDown, mirror.Kept, mirror.CastDown, mirror.Congested, mirror.Returning,
		mirror.Revived:
		level = slog.LevelWarn
	case mirror.Halts:
		h.upgrades.halts.Store(true)
		level = slog.LevelWarn
	case mirror.GoesOn:
		h.upgrades.halts.Store(false)
		h.upgrades.failed.Add(1)
		level = slog.LevelWarn
	case mirror.Ceded:
		h.drained.Store(true)
	case mirror.Differs, mirror.Equivocated, mirror.Disputed:
		level = slog.LevelError
	case mirror.Ended:
		level = slog.LevelDebug // the command says it in the end
	}
	h.Log.Log(context.Background(), level, n.Kind.String(), args...)
}

// began says that players may come, and where.
func (h *host) began() {
	args := []any{"game", h.title.Name()}
	if m := h.mirror.Load(); m != nil && m.Server() != nil {
		args = append(args, "level", m.Server().Level().Name, "mirror", int(m.ID()), "uber",
			int(m.Uber()))
	}
	args = append(args, "udp", h.sockets.players.LocalAddr().String(), "public",
		h.Mirror.Public.String(), "address", h.Mirror.Address.String())
	if at := h.site.Addr(); at != "" {
		args = append(args, "http", at, "scheme", h.site.Scheme())
	}
	if h.print != "" {
		args = append(args, "trust", h.print)
	}
	h.Log.Info("serving", args...)
}

// ticked is told of each tick of the server; the world may stand still all the same.
func (h *host) ticked(s server.Times) {
	h.meters.Ticked(s)
	h.admin.Ticked(s)
	m := h.mirror.Load()
	if m == nil || m.Server() == nil {
		return
	}
	h.clerk.Serve(m.Server())
	if t := m.Server().World().Tick(); t != h.tick {
		h.tick = t
		h.successor.ticked(t)
		h.moved.Store(time.Now().UnixMilli())
	} else if m.Server().Paused() { // which is as it should be
		h.moved.Store(time.Now().UnixMilli())
	}
}
