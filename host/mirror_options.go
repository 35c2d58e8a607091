//go:build !js

package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/mirror"
)

// readMirrorKey reads the key that lets mirrors in. Whoever can read it can join, and let anyone in as anybody: so it must be its owner's alone.
func readMirrorKey(name string) (token.Key, error) {
	key, err := cli.ReadKey(name)
	if errors.Is(err, token.ErrKey) {
		return key, fmt.Errorf("%w; copy the file of the mirror that founded the game as it is, or make a new one for all with: {program} token key --out mirrors.key", err)
	}
	if err != nil || runtime.GOOS == "windows" {
		return key, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return key, fmt.Errorf("read key: %w", err)
	}
	if open := info.Mode().Perm() & 0o077; open != 0 {
		return key, fmt.Errorf("others on this machine can get at the key in %s (its mode is %04o); close it with: chmod 600 %s", name, info.Mode().Perm(), name)
	}
	return key, nil
}

// mirrorDelays makes the delays of a timeline from what --delays and --window say.
func mirrorDelays(kind string, texts []string, window time.Duration) (d kinds.Delays, err error) {
	if !slices.Contains(kinds.Names(), kind) {
		return d, cli.Usagef("--timeline is %q: choose one of %s", kind, strings.Join(kinds.Names(), ", "))
	}
	var list []time.Duration
	for _, t := range texts {
		d, err := time.ParseDuration(strings.TrimSpace(t))
		if err != nil || d < 0 {
			return kinds.Delays{}, cli.Usagef("--delays has %q: write durations from 0 up, separated by commas, such as 0,100ms,1s", t)
		}
		list = append(list, d)
	}
	if window < 0 {
		return d, cli.Usagef("--window is %v: it must be above zero", window)
	}
	if window > 0 && kinds.Trails(kind) {
		if len(texts) == 0 {
			list = []time.Duration{0}
			if usual := 100 * time.Millisecond; window > usual {
				list = append(list, usual)
			}
		}
		if last := list[len(list)-1]; last > window {
			return d, cli.Usagef("--delays ends with %v, and --window is %v: a copy cannot be further behind than the window; leave one of them out, or make the window longer", last, window)
		} else if last < window {
			list = append(list, window)
		}
	}
	if d, err = kinds.DelaysOf(kind, list); err != nil {
		return d, cli.Usagef("--delays are impossible: %w", err)
	}
	switch {
	case window == 0:
	case !kinds.HasWindow(kind):
		return d, cli.Usagef("--window goes with the timelines auto, trailing, timewarp and ruled, not with %s", kind)
	case d.Window != 0 && d.Window != window:
		return d, cli.Usagef("--delays says that the window is %v, and --window %v: leave one of them out", d.Window, window)
	default:
		d.Window = window
	}
	return d, nil
}

// tryDelays finds out before anyone is asked whether a timeline can be made with these delays.
func tryDelays(t *game.Title, kind string, delays kinds.Delays) error {
	if delays.IsZero() {
		return nil
	}
	settings, err := t.Settings(game.Level{Name: t.Levels.First()})
	if err != nil {
		return err
	}
	w, err := t.Game.New(settings)
	if err != nil {
		return err
	}
	o := kinds.Options{Delays: delays, Mirrors: []member.ID{1}, Judge: true, Step: time.Microsecond, Copy: time.Microsecond}
	if _, err := kinds.Open(kind, w, o); err != nil {
		return cli.Usagef("--delays are impossible: %w", err)
	}
	return nil
}

// mirrorSockets are how a mirror is reached, and by what names others know that.
type mirrorSockets struct {
	players, mirrors link.Link
	web              net.Listener // nil if there is none
	address, public  netip.AddrPort
}

// openSockets opens both. On an error nothing is left open.
func (r *MirrorOptions) openSockets(ctx context.Context) (s mirrorSockets, err error) {
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.players, s.web, err = openPorts(r.Listen, r.HTTP); err != nil {
		return s, fmt.Errorf("for players: %w (that is --listen)", err)
	}
	if s.mirrors, err = udp.Listen(r.Mirrors, udp.Options{}); err != nil {
		return s, fmt.Errorf("for other mirrors: %w (that is --mirrors)", err)
	}
	if s.address, err = knownAs(ctx, "--address", r.Address, s.mirrors.LocalAddr()); err != nil {
		return s, err
	}
	if !s.address.IsValid() {
		return s, cli.Usagef("other mirrors must be told where this one is, and --mirrors %s listens on all addresses of this machine: give --address with one at which they reach it, such as --address 203.0.113.7", r.Mirrors)
	}
	if s.public, err = knownAs(ctx, "--public", r.Public, s.players.LocalAddr()); err != nil {
		return s, err
	}
	if !s.public.IsValid() {
		s.public = netip.AddrPortFrom(s.address.Addr(), s.players.LocalAddr().Port())
	}
	return s, nil
}

func (s *mirrorSockets) close() {
	if s.web != nil {
		_ = s.web.Close()
	}
	for _, l := range []link.Link{s.players, s.mirrors} {
		if l != nil {
			_ = l.Close() // nothing is expected of it
		}
	}
}

// knownAs is the address under which others know a socket: the one that was given, with the socket's port where it names none, or the socket's own. It is not valid
// if neither says.
func knownAs(ctx context.Context, flag, given string, own netip.AddrPort) (netip.AddrPort, error) {
	if given == "" {
		if own.Addr().IsUnspecified() {
			return netip.AddrPort{}, nil
		}
		return own, nil
	}
	host := strings.TrimSuffix(strings.TrimPrefix(given, "["), "]")
	if _, _, err := net.SplitHostPort(given); err != nil {
		given = net.JoinHostPort(host, fmt.Sprint(own.Port()))
	}
	a, err := udp.Resolve(ctx, given)
	if err != nil {
		return a, cli.Usagef("%s: %w", flag, err)
	}
	if a.Addr().IsUnspecified() {
		return a, cli.Usagef("%s is %v, at which no one can reach this machine: give one of its own addresses, such as 203.0.113.7", flag, a.Addr())
	}
	return a, nil
}

// askWhom finds the mirrors that --join names. One name that means nothing is no harm while another does.
func (r *MirrorOptions) askWhom(ctx context.Context, self netip.AddrPort) (list []netip.AddrPort, err error) {
	for _, name := range r.Join {
		a, e := udp.Resolve(ctx, strings.TrimSpace(name))
		switch {
		case e != nil:
			err = errors.Join(err, fmt.Errorf("--join %s: %w", name, e))
		case a == self:
			err = errors.Join(err, cli.Usagef("--join %s is this mirror itself: name another that runs, or found a game with --uber", name))
		case !slices.Contains(list, a):
			list = append(list, a)
		}
	}
	if len(list) > 0 {
		err = nil
	}
	return list, err
}

// options are what a mirror is made of, but for its sockets.
func (r *MirrorOptions) options(t *game.Title) (o mirror.Options, err error) {
	s := ServeOptions{
		Level: r.Level, Players: r.Players, Spectators: r.Spectators, Snapshots: r.Snapshots,
		Workers: r.Workers, KeepSeat: r.KeepSeat,
	}
	if o.Server, err = s.server(t); err != nil {
		return o, err
	}
	o.Keys, o.Found, o.Name, o.Timeline, o.Delays = []token.Key{r.Key}, r.Found, r.Name, r.Timeline, r.Delays
	return o, tryDelays(t, r.Timeline, o.Delays)
}

// unrecorded says whether there is something in the way of a recording.
func unrecorded(name string) error {
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("%s is already there; name another file to record to, or remove it", name)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--record: %w", err)
	}
	return nil
}
