//go:build !js

package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/keeping"
	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/host/internal/upgrade"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// This file is how a server takes the place of one that runs. See package upgrade for who decides.

// UpgradeOptions say how a server takes the place of the one that keeps its game in the same
// folder.
type UpgradeOptions struct {
	// On has it do so, if there is one.
	On bool
	// Within is for how long the world may stand still. Default: 1 s.
	Within time.Duration
}

// A successor is what a server has of the one whose place it takes. Nil takes nobody's.
type successor struct {
	up    *upgrade.Successor
	log   *slog.Logger
	title *game.Title
	old   *world.Declared
	final *upgrade.Moment // what the game was last
	moved bool            // the first tick was computed
	over  bool            // nothing is to be said any more
}

// succeed finds the server whose place is to be taken, and tries whether its game can be gone on
// with.
func succeed(ctx context.Context, o *Options) (_ *successor, err error) {
	if !o.Upgrade.On {
		return nil, nil
	}
	if o.Keep.Dir == "" {
		return nil, cli.Usagef("--upgrade goes with --keep, the folder of the server whose place " +
			"is to be taken")
	}
	if keeping.Free(o.Keep.Dir) {
		o.Log.Info("no server runs that keeps its game there, so this one starts as usual",
			"folder", o.Keep.Dir)
		return nil, nil
	}
	ch, err := upgrade.Dial(o.Keep.Dir)
	if err != nil {
		return nil, fmt.Errorf("a program runs that keeps its game in %s, and its place cannot be "+
			"taken: %w: stop it, and start this one then", o.Keep.Dir, err)
	}
	g := o.Server.Title.Game
	s := &successor{log: o.Log, title: o.Server.Title}
	s.up, err = upgrade.Ask(ctx, ch, upgrade.Hello{
		Game: g.Name(), Declarations: fmt.Sprintf("%016x", g.Hash()),
		Build: recording.Build().String(), Within: o.Upgrade.Within,
	}, upgrade.HoldBaton)
	if err != nil {
		return nil, s.say(err)
	}
	if err := s.try(ctx, o); err != nil {
		s.refuse(err)
		return nil, s.say(err)
	}
	return s, nil
}

// say makes an error one for people.
func (s *successor) say(err error) error {
	var r *upgrade.Refusal
	if errors.As(err, &r) {
		return fmt.Errorf("the server that runs does not give up its place: %w", err)
	}
	return fmt.Errorf("the server that runs goes on, as this one cannot take its place: %w", err)
}

// waitFree is how long a folder may take to be free after its server has ended the upgrade.
const waitFree = 5 * time.Second

// alone says what to do after an attempt to take another's place: nothing is wrong if the other has
// ended meanwhile, since its folder can then be opened as usual.
func (o *Options) alone(ctx context.Context, err error) error {
	var r *upgrade.Refusal
	ending := errors.As(err, &r) && strings.Contains(r.Why, upgrade.ErrEnding.Error())
	if !o.Upgrade.On || !ending && !errors.Is(err, upgrade.ErrGone) {
		return err
	}
	for end := time.Now().Add(waitFree); !keeping.Free(o.Keep.Dir); {
		if ctx.Err() != nil || time.Now().After(end) {
			return err
		}
		time.Sleep(lookAgain)
	}
	return nil
}

// try loads the game as it was at a moment, plays it for some ticks, and looks at what can be known
// to be wrong.
func (s *successor) try(ctx context.Context, o *Options) (err error) {
	m := s.up.Trial
	if o.Record != "" {
		if _, err := os.Stat(o.Record); err == nil {
			return fmt.Errorf("%s is already there; name another file to record to", o.Record)
		}
	}
	old, report, err := m.Try(s.title)
	if err != nil {
		return err
	}
	s.old = old
	if err := upgrade.CheckStore(ctx, s.title.Game, o.Store); err != nil {
		return err
	}
	changes := 0
	if report != nil {
		changes = len(report.Changes)
	}
	s.log.Info("the game of the server that runs can be gone on with", "tick", m.Tick,
		"changes", changes, "seats", len(m.Seats), "build", m.Build)
	return nil
}

// openKept opens the folder, or has it be handed over later.
func (s *Server) openKept(o *Options) (k *keptGame, err error) {
	u := s.successor
	if u == nil {
		k, err = openKept(o)
	} else if o.Keep.Log = o.Log; len(o.Server.Keys) == 0 {
		o.Open = true // as the one before was
	}
	if err != nil || k == nil && u == nil {
		return nil, err
	}
	if u != nil {
		k = &keptGame{dir: o.Keep.Dir}
		if k.keeper, err = keeping.Succeed(u.title.Game, o.Keep); err != nil {
			return nil, err
		}
		o.Server.Conn.Used, o.Server.Conn.Wall = k.keeper.Used(), k.keeper.Wall()
		if len(o.Server.Keys) == 0 && k.keeper.HasKey() {
			key, err := k.keeper.Key()
			if err != nil {
				return nil, err
			}
			o.Server.Keys = append(o.Server.Keys, key)
		}
		if err := u.sameKey(o); err != nil {
			return nil, err
		}
	}
	s.upgrades.key = upgrade.KeySum(o.Server.Keys[0])
	return k, nil
}

// sameKey says whether tickets of before will be good.
func (s *successor) sameKey(o *Options) error {
	for _, k := range o.Server.Keys {
		if bytes.Equal(upgrade.KeySum(k), s.up.Trial.Key) {
			return nil
		}
	}
	return errors.New("the server that runs has another key, so players could not come back: " +
		"give it by --key")
}

// ports takes the sockets over, or opens those that the other has not.
func (s *successor) ports(listen, web string) (link.Link, net.Listener, error) {
	if s == nil {
		return OpenPorts(listen, web)
	}
	h := s.up.Trial.Find(upgrade.UDP)
	if h == nil {
		return nil, nil, errors.New("the server that runs hands over no socket for players")
	}
	if !fits(listen, h.Address) {
		return nil, nil, fmt.Errorf("players of the server that runs could not come back: it "+
			"listens at %s, and this one is to listen at %s; give the same --listen", h.Address,
			listen)
	}
	l, err := udp.Adopt(s.adopt(h), udp.Options{Stamps: true})
	if err != nil || web == "none" {
		return l, nil, err
	}
	asked := web
	if asked == "" {
		asked = h.Address
	}
	w, err := s.listener(upgrade.HTTP, asked)
	if err == nil && w == nil {
		w, err = ListenHTTP(web, l)
	}
	if err != nil {
		_ = l.Close()
		return nil, nil, err
	}
	return l, w, nil
}

// adopt gives a descriptor, which is the caller's from now on.
func (s *successor) adopt(h *upgrade.Handed) int {
	fd := h.FD
	h.FD = -1
	return fd
}

// listener is a listener that the other has at an address, or nil.
func (s *successor) listener(r upgrade.Role, asked string) (net.Listener, error) {
	h := s.up.Trial.Find(r)
	if h == nil || !fits(asked, h.Address) {
		return nil, nil
	}
	return upgrade.FileListener(s.adopt(h))
}

// operators takes over the port at which operators are answered.
func (s *successor) operators(a *Admin) (err error) {
	if s != nil && a != nil && a.opt.Listen != "" {
		a.handed, err = s.listener(upgrade.Admin, a.opt.Listen)
	}
	return err
}

// fits says whether what listens at one address is what somebody asks for by another.
func fits(asked, have string) bool {
	a, err := net.ResolveTCPAddr("tcp", asked)
	h, e := netip.ParseAddrPort(have)
	if err != nil || e != nil {
		return false
	}
	if a.Port != 0 && a.Port != int(h.Port()) {
		return false
	}
	if len(a.IP) == 0 || a.IP.IsUnspecified() {
		return h.Addr().IsUnspecified()
	}
	ip, ok := netip.AddrFromSlice(a.IP)
	return ok && ip.Unmap() == h.Addr().Unmap()
}

// last says that all else is open, and has the server be made from what the game was last. It gives
// the socket for WebTransport, if there is one.
func (s *successor) last(ctx context.Context, srv *Server, o *Options) (*net.UDPConn, error) {
	if s == nil {
		return nil, nil
	}
	if srv.page != nil { // browsers need not wait for it
		if err := srv.page.client.Make(ctx); err != nil {
			return nil, err
		}
	}
	var err error
	if s.final, err = s.up.Ready(ctx); err != nil {
		return nil, s.say(err)
	}
	w, report, err := s.final.Load(s.title, s.old)
	if err != nil {
		return nil, fmt.Errorf("the last world cannot be loaded: %w", err)
	}
	found := &keep.Kept{Snapshot: s.final.Snapshot(w), From: w.Tick(), Converted: report}
	srv.keep.keeper.Found(found)
	o.Server.Resume = &server.Saved{Level: s.final.Level, World: w.Host().Save(nil),
		Seats: s.final.Seats}
	h := s.up.Trial.Find(upgrade.WebTransport)
	if h == nil || o.WebTransport == "" || o.WebTransport == "none" ||
		!o.anyPort && !fits(o.WebTransport, h.Address) {
		return nil, nil
	}
	c, err := upgrade.FilePacketConn(s.adopt(h))
	if err != nil {
		return nil, err
	}
	return c.(*net.UDPConn), nil
}

// take has this program be the one that computes.
func (s *successor) take(srv *Server) error {
	if s == nil {
		return nil
	}
	safe, err := s.up.Take()
	if err != nil {
		err = s.say(err)
		s.refuse(err)
		return err
	}
	// From here on it is this program's, unless it says otherwise before anything is computed.
	lock := os.NewFile(uintptr(s.adopt(s.up.Trial.Find(upgrade.Lock))), "lock")
	if err := srv.keep.keeper.Assume(lock, srv.server.World(), safe); err != nil {
		s.refuse(err)
		_ = lock.Close()
		return err
	}
	s.over = true
	s.up.Going()
	if !safe {
		s.log.Error("the server before has died, or hangs, before its last world was durable; " +
			"this one has it")
	}
	if h := s.up.Trial.Find(upgrade.Control); h != nil {
		l, err := upgrade.AdoptListener(srv.keep.dir, s.adopt(h))
		if srv.upgrades.listener = l; err != nil {
			srv.upgrades.listener = nil // it is opened anew
		}
	}
	s.closeRest()
	srv.upgrades.done.Store(s.up.Trial.Upgrades + 1)
	if s.final.Paused {
		srv.server.SetPaused(true, "")
	}
	s.log.Info("going on with the game of the server before", "tick", s.final.Tick, "seats",
		len(s.final.Seats), "level", s.final.Level.Name)
	return nil
}

// ticked is told each tick, and says of the first for how long the world stood still.
func (s *successor) ticked(srv *Server, w *world.World) {
	if s == nil || s.moved {
		return
	}
	s.moved = true
	still := time.Since(s.final.At)
	srv.upgrades.lastStill.Store(int64(still))
	s.log.Info("the world moves again", "tick", uint64(w.Tick()), "stood_still",
		still.Round(time.Microsecond).String(), "milliseconds", float64(still.Microseconds())/1000)
}

// refuse tells the other to go on, unless this program has the game or has said so before.
func (s *successor) refuse(why error) {
	if s == nil || s.over {
		return
	}
	s.over = true
	s.up.Refuse(why)
	s.closeRest()
}

// closeRest closes what was handed over and is not used.
func (s *successor) closeRest() {
	for i := range s.up.Trial.Handed {
		upgrade.CloseFD(s.adopt(&s.up.Trial.Handed[i]))
	}
}
