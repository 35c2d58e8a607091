//go:build !js

package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/host/internal/upgrade"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/service/admin"
)

// This file is how a server that runs gives its place to another program. See package upgrade for
// who decides, and successor.go for the other side.

// upgrades are what a server knows of programs that want its place.
type upgrades struct {
	listener  *upgrade.Listener // nil without
	handed    *net.UDPConn      // WebTransport's, or nil
	key       []byte            // the hash of that of the tickets
	under     atomic.Bool       // one is under way
	gone      atomic.Bool       // another program has the game
	alive     sync.WaitGroup
	done      atomic.Uint64 // upgrades up to this program
	refusals  atomic.Uint64
	lastStill atomic.Int64 // for how long the world stood still, in nanoseconds
}

// hear lets programs that want the place of this one be heard, until the context ends. Where that
// cannot be, the log says so, and the game is served all the same.
func (s *Server) hear(ctx context.Context) {
	u := &s.upgrades
	if s.keep == nil || upgrade.Possible() != nil {
		return
	}
	if u.listener == nil {
		var err error
		if u.listener, err = upgrade.Listen(s.keep.dir); err != nil {
			u.listener = nil
			s.log.Warn("this server cannot be upgraded while it runs", "folder", s.keep.dir,
				"error", err)
			return
		}
	}
	u.alive.Go(func() {
		for ctx.Err() == nil {
			ch, err := u.listener.Accept()
			switch {
			case err == nil:
				u.alive.Go(func() { s.replace(ctx, ch) })
			case errors.Is(err, net.ErrClosed):
				return
			case errors.Is(err, upgrade.ErrUser):
				s.log.Warn("a program of another user wanted this server's place", "error", err)
			default:
				time.Sleep(lookAgain)
			}
		}
	})
}

// deaf ends it, once no upgrade is under way.
func (s *Server) deaf() {
	if u := &s.upgrades; u.listener != nil {
		u.listener.Close(!u.gone.Load())
		u.alive.Wait()
		u.listener = nil
	}
}

var errUnderWay = errors.New("another upgrade of this server is under way: wait until it is over")

// replace has another program take the place of this one, if it can.
func (s *Server) replace(ctx context.Context, ch upgrade.Channel) {
	u := &s.upgrades
	if u.under.Swap(true) {
		upgrade.Decline(ch, errUnderWay)
		return
	}
	defer u.under.Store(false)
	baton, fd, err := upgrade.NewBaton()
	if err != nil {
		upgrade.Decline(ch, err)
		return
	}
	r := upgrade.Serve(ctx, ch, running{s}, baton, fd)
	if r.Hello == nil {
		s.log.Debug("somebody came for an upgrade, and did not say who", "error", r.Err)
		return
	}
	if r.Gone {
		s.audit(r.Hello, "ok")
		s.log.Info("another program has taken this one's place", "build", r.Hello.Build,
			"declarations", r.Hello.Declarations, "took", r.Still.String())
		return
	}
	u.refusals.Add(1)
	s.audit(r.Hello, r.Err.Error())
	s.log.Warn("the upgrade has failed, and this server goes on", "build", r.Hello.Build,
		"stood_still", r.Still.String(), "error", r.Err)
}

// audit writes down who wanted the place, and what came of it.
func (s *Server) audit(h *upgrade.Hello, result string) {
	if s.admin == nil || s.admin.folder == nil {
		return
	}
	with, _ := json.Marshal(h) // it is plain
	if err := s.admin.folder.Log(admin.Entry{
		Who: "-", What: "upgrade", With: with, Result: result}, true); err != nil {
		s.log.Error("the audit log cannot be written", "error", err)
	}
}

// running is a server as an upgrade sees it.
type running struct{ *Server }

// Greet looks at who it is.
func (r running) Greet(h *upgrade.Hello) error {
	if h.Game != r.title.Name() {
		return fmt.Errorf("the server that runs is one of %q, not of %q", r.title.Name(), h.Game)
	}
	r.log.Info("a new program tries to take this one's place", "build", h.Build,
		"declarations", h.Declarations)
	r.audit(h, "asked")
	return nil
}

// moment is the game as it is. It belongs to the goroutine that drives the server.
func (s *Server) moment() (*upgrade.Moment, error) {
	if s.ending.begun.Load() {
		return nil, upgrade.ErrEnding
	}
	v, err := s.server.Save()
	if err != nil {
		return nil, err
	}
	return &upgrade.Moment{
		Tick: uint64(s.server.World().Tick()), Level: v.Level, Seats: v.Seats, World: v.World,
		Paused: s.server.Paused(), At: time.Now(),
	}, nil
}

// Moment is the game as it is, and what is handed over.
func (r running) Moment(ctx context.Context) (*upgrade.Moment, error) {
	type got struct {
		m   *upgrade.Moment
		err error
	}
	g, err := Ask(ctx, r.server.Do, func() (g got) {
		g.m, g.err = r.moment()
		return g
	})
	if err = errors.Join(err, g.err); err != nil {
		return nil, err
	}
	m := g.m
	m.Declared, m.Build = r.title.Game.Declared().Text(), recording.Build().String()
	m.Key, m.Upgrades = r.upgrades.key, r.upgrades.done.Load()
	if m.Handed, err = r.share(); err != nil {
		for _, h := range m.Handed {
			upgrade.CloseFD(h.FD)
		}
		return nil, fmt.Errorf("what is open cannot be handed over: %w", err)
	}
	return m, nil
}

// share gives descriptors of all that is handed over. On an error those so far are given, too.
func (s *Server) share() (list []upgrade.Handed, err error) {
	add := func(role upgrade.Role, address string, fd int, e error) {
		if e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", role, e))
			return
		}
		list = append(list, upgrade.Handed{Role: role, Address: address, FD: fd})
	}
	socket := func(role upgrade.Role, a net.Addr, x any) {
		c, ok := x.(syscall.Conn)
		if !ok {
			err = errors.Join(err, fmt.Errorf("%s: it is no socket of the system", role))
			return
		}
		fd, e := upgrade.Share(c)
		add(role, a.String(), fd, e)
	}
	fd, e := upgrade.Share(s.keep.keeper.Lock())
	add(upgrade.Lock, "", fd, e)
	fd, e = s.upgrades.listener.Share()
	add(upgrade.Control, "", fd, e)
	fd, e = udp.Share(s.socket)
	add(upgrade.UDP, s.socket.LocalAddr().String(), fd, e)
	if l := s.site.Listener; l != nil {
		socket(upgrade.HTTP, l.Addr(), l)
	}
	if s.admin != nil && s.admin.site.Listener != nil {
		socket(upgrade.Admin, s.admin.site.Listener.Addr(), s.admin.site.Listener)
	}
	if c := s.upgrades.handed; c != nil {
		socket(upgrade.WebTransport, c.LocalAddr(), c)
	}
	return list, err
}

// Stop stops the game between two ticks.
func (r running) Stop(f func(*upgrade.Moment) bool) (err error) {
	do := r.server.Do(context.Background(), func() {
		var m *upgrade.Moment
		if m, err = r.moment(); err != nil {
			return
		}
		if !f(m) {
			r.keep.keeper.GoOn()
			return
		}
		r.upgrades.gone.Store(true)
		r.meters.SetReady(false)
		// Who asks from now on is to be answered by the other.
		r.upgrades.alive.Go(r.site.Close)
		r.server.Replaced("")
	})
	if do != nil { // it was not called
		return upgrade.ErrEnding
	}
	return err
}

// Settle has the whole world be durable, and what outlives it.
func (r running) Settle(until time.Time) error {
	k, w := r.keep.keeper, r.server.World()
	for before, handed := k.Numbers(), false; ; time.Sleep(time.Millisecond) {
		n := k.Numbers()
		tokens := k.SettleTokens()
		if handed && tokens && n.Chapters > before.Chapters && n.Durable >= uint64(w.Tick()) {
			return r.clerk.Settle(until)
		}
		if n.AtRisk || n.Errors > before.Errors {
			return fmt.Errorf("the disk fails, or does not keep up; tick %d is safe: the log says "+
				"more", n.Durable)
		}
		if time.Now().After(until) {
			return fmt.Errorf("the disk is too slow to write the world in time; tick %d is safe",
				n.Durable)
		}
		if !handed {
			before, handed = n, k.Save(w, r.keep.list(r.server))
		}
	}
}

// CloseFD closes a descriptor.
func (r running) CloseFD(fd int) { upgrade.CloseFD(fd) }

// upgraded adds how this server was upgraded.
func (m *Metrics) upgraded(s *Server) {
	if s.keep == nil {
		return
	}
	u := &s.upgrades
	m.Count("upgrades_total", "How often a new program has taken the place of the one before, up "+
		"to this one.", u.done.Load())
	m.Count("upgrade_failures_total", "Programs that wanted this one's place, and failed.",
		u.refusals.Load())
	m.Gauge("upgrade_still_seconds", "For how long the world stood still in the last upgrade.",
		time.Duration(u.lastStill.Load()).Seconds())
}
