//go:build !js

package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// A mirrorHost is a mirror with what is around it.
type mirrorHost struct {
	flags   *MirrorOptions
	title   *game.Title
	log     *slog.Logger
	opt     mirror.Options
	sockets mirrorSockets
	begun   atomic.Bool // it was let in
	stops   atomic.Bool
	tick    world.Tick   // that was shown last
	moved   atomic.Int64 // when it was another, as Unix time in milliseconds

	mirror   atomic.Pointer[mirror.Mirror] // nil until it is made, which the first news come before
	listener net.Listener
	web      *http.Server
	serving  sync.WaitGroup
	meters   *mirrorMeters
	track    *recording
	settled  world.Tick // the last that was recorded
}

// prepare opens everything. On an error nothing is left open.
func (r *MirrorOptions) prepare(ctx context.Context, t *game.Title) (*mirrorHost, error) {
	host := &mirrorHost{flags: r, title: t, log: r.Log}
	var err error
	if host.opt, err = r.options(t); err != nil {
		return nil, err
	}
	if r.Record != "" {
		if err := unrecorded(r.Record); err != nil {
			return nil, err
		}
		host.track = newRecording(r.Record, r.Log)
	}
	if host.sockets, err = r.openSockets(ctx); err != nil {
		return nil, err
	}
	host.listener = host.sockets.web
	fail := func(err error) (*mirrorHost, error) {
		host.sockets.close()
		return nil, err
	}
	if !r.Found {
		if host.opt.Ask, err = r.askWhom(ctx, host.sockets.address); err != nil {
			return fail(err)
		}
	}
	o := &host.opt
	o.Address, o.Public, o.News, o.Settled = host.sockets.address, host.sockets.public, host.news, host.keep
	o.Server.News = (&Server{log: r.Log}).news
	host.meters = newMirrorMeters(host)
	o.Server.Ticked = host.ticked
	if r.Found {
		o.Server.Begun = host.track.begin // who joins begins with what is settled first
	}
	host.web = &http.Server{Handler: host.pages(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(r.Log.Handler(), slog.LevelDebug)}
	o.Link, o.Server.Links = host.sockets.mirrors, []link.Link{host.sockets.players}
	m, err := mirror.New(*o)
	if err != nil {
		return fail(err)
	}
	host.mirror.Store(m)
	if host.track != nil && host.track.err != nil {
		return fail(host.track.err)
	}
	return host, nil
}

// run drives the mirror until the context ends.
func (h *mirrorHost) run(ctx context.Context) error {
	if h.listener != nil {
		h.serving.Go(func() {
			if err := h.web.Serve(h.listener); !errors.Is(err, http.ErrServerClosed) {
				h.log.Error("http has ended", "error", err)
			}
		})
	}
	defer context.AfterFunc(ctx, func() { h.stops.Store(true) })()
	if !h.opt.Found {
		h.log.Info("joining", "game", h.title.Name(), "asks", fmt.Sprint(h.opt.Ask), "address", h.opt.Address.String())
	}
	err := h.live(ctx)
	h.log.Info("stopped")
	return mirrorAdvice(err)
}

// errPatience ends a mirror that no other has let in.
var errPatience = errors.New("no mirror answers")

// live drives the mirror. Patience is for getting in: one that was in asks for as long as it runs.
func (h *mirrorHost) live(ctx context.Context) error {
	attempt, give := context.WithCancelCause(ctx)
	defer give(nil)
	if !h.opt.Found && !h.flags.Forever {
		defer time.AfterFunc(h.flags.Patience, func() {
			if !h.begun.Load() {
				give(errPatience)
			}
		}).Stop()
	}
	err := h.mirror.Load().Run(attempt)
	if errors.Is(context.Cause(attempt), errPatience) {
		return h.flags.unanswered(h.opt.Address)
	}
	return err
}

// unanswered says what to do where no mirror has let this one in.
func (r *MirrorOptions) unanswered(self netip.AddrPort) error {
	return fmt.Errorf("%w at %s within %v: check that it is what a mirror has as --address, that one runs there, and that UDP gets through to its --mirrors port from here and back to %v; --forever keeps trying",
		errPatience, strings.Join(r.Join, ", "), r.Patience, self)
}

func (h *mirrorHost) close() error {
	_ = h.web.Close() // it closes the listener
	h.serving.Wait()
	return errors.Join(h.mirror.Load().Close(), h.track.close())
}

// mirrorAdvice says what to do about the end of a mirror.
func mirrorAdvice(err error) error {
	if !errors.Is(err, mirror.ErrEnded) {
		return err
	}
	for reason, advice := range map[crimp.Reason]string{
		crimp.ReasonToken:   "copy the key file of the other mirrors to this machine and give it with --key; if it is the same, set this machine's clock right, and see that --game is theirs",
		crimp.ReasonGame:    "the other mirrors play another game: give the same --game, or ask others",
		crimp.ReasonProgram: "use the same build of the program, --timeline, --delays and --window as the other mirrors",
		crimp.ReasonFull:    "there are as many mirrors as there may be: stop one, and start this one again",
	} {
		if strings.Contains(err.Error(), reason.String()) {
			return fmt.Errorf("%w\n%s", err, advice)
		}
	}
	return err
}

// news logs what happens between mirrors.
func (h *mirrorHost) news(n mirror.News) {
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
		h.begun.Store(true)
	case mirror.Began:
		h.began()
		return
	case mirror.PlayerMoved:
		level = slog.LevelDebug
	case mirror.MirrorLeft, mirror.CutOff, mirror.Rejoining, mirror.ClockJumped, mirror.Refused:
		level = slog.LevelWarn
	case mirror.Differs:
		level = slog.LevelError
	case mirror.Ended:
		level = slog.LevelDebug // the command says it in the end
	}
	h.log.Log(context.Background(), level, n.Kind.String(), args...)
}

// began says that players may come, and where.
func (h *mirrorHost) began() {
	args := []any{"game", h.title.Name()}
	if m := h.mirror.Load(); m != nil && m.Server() != nil {
		args = append(args, "level", m.Server().Level().Name, "mirror", int(m.ID()), "uber", int(m.Uber()))
	}
	args = append(args, "udp", h.sockets.players.LocalAddr().String(), "public", h.opt.Public.String(), "address", h.opt.Address.String())
	if h.listener != nil {
		args = append(args, "http", h.listener.Addr().String())
	}
	h.log.Info("serving", args...)
}

// ticked is told of each tick of the server; the world may stand still all the same.
func (h *mirrorHost) ticked(s server.Times) {
	h.meters.server.ticked(s)
	m := h.mirror.Load()
	if m == nil || m.Server() == nil {
		return
	}
	if t := m.Server().World().Tick(); t != h.tick {
		h.tick = t
		h.moved.Store(time.Now().UnixMilli())
	}
}

// keep records what is settled. A mirror that had to join anew goes on from a later state.
func (h *mirrorHost) keep(w *world.World, in *world.Inputs) {
	r := h.track
	switch {
	case r == nil || r.err != nil || w.Tick() <= h.settled && r.trace != nil:
		return // what was settled before is settled again alike
	case r.trace == nil:
		l := server.Level{}
		if m := h.mirror.Load(); m != nil && m.Server() != nil {
			l = m.Server().Level()
		}
		r.begin(w, l)
	case w.Tick() == h.settled+1:
		r.tick(w, in)
	default:
		r.fail(r.trace.State(w))
	}
	h.settled = w.Tick()
}
