package mirrorlab

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// players are those of a session that play on mirrors, or on one plain server.
type players struct {
	*session.Session
	o      *Options
	guests []*guest
	of     map[*session.Guest]*guest
}

func newPlayers(ctx context.Context, o *Options, seed uint64) *players {
	return &players{
		Session: session.New(ctx, o.subject, seed, ""), o: o, of: map[*session.Guest]*guest{}}
}

// options are those of a server for clients, whatever it is.
func (s *players) options(seats int, numbers ...int) server.Options {
	o := s.Server(seats, s.seed(numbers...))
	o.Spectators, o.SnapshotRate = -1, s.o.SnapshotRate
	return o
}

// seed makes one for a piece of the run that has these numbers.
func (s *players) seed(numbers ...int) (out [32]byte) {
	binary.BigEndian.PutUint64(out[:], s.Net.Seed()+1)
	for i, n := range numbers {
		binary.BigEndian.PutUint32(out[8+4*i:], uint32(n)+1)
	}
	return out
}

// A guest is a player's machine, with a client that predicts.
type guest struct {
	session.Guest
	all   *players
	home  int        // which of the servers it came to
	gone  bool       // its client has ended
	known world.Tick // the newest snapshot before this frame's

	came time.Duration // when it came into the game
	last time.Duration // when there were news of the own body
	tick world.Tick    // and of which tick

	// Hooks, each of which may be missing: commands that it gives, packets of news, news with the
	// own body in them, and whether the server took back something about this player between two
	// snapshots.
	gave  func(u *guest, t world.Tick, image []int32)
	told  func(u *guest, s *replica.Snapshot)
	news  func(u *guest, w *world.World)
	back  func(u *guest, from, to world.Tick) bool
	seen  map[world.Player]world.Tick // the newest command of others that was shown
	after recovery
	from  guestTotals
}

// guestTotals are what grows, of one client.
type guestTotals struct {
	Snapshots, Repeated, Commands, Down, Up uint64
}

// invite makes a client of a server. Its frames are in step with no one else's.
func (s *players) invite(home int, to netip.AddrPort, connect func(*netsim.Endpoint)) *guest {
	i := len(s.guests)
	u := &guest{all: s, home: home, seen: map[world.Player]world.Tick{}}
	s.guests, s.of[&u.Guest] = append(s.guests, u), u
	s.Join(&u.Guest, session.Seat{
		Name: fmt.Sprint("player", i+1), To: to, Connect: connect, Frame: u.frame,
		Seed:   func() [32]byte { return s.seed(3, i) },
		Offset: session.Offset(s.Title.Game.TickLength(), i, s.o.Mirrors*s.o.Players),
		Client: client.Options{Tap: tap{u}},
	})
	return u
}

// A tap watches what comes to a guest's client, and what it makes.
type tap struct{ u *guest }

func (t tap) Snapshot(s *replica.Snapshot) {
	if t.u.told != nil {
		t.u.told(t.u, s)
	}
}

func (t tap) Command(tick world.Tick, image []int32) {
	if t.u.gave != nil {
		t.u.gave(t.u, tick, image)
	}
}

// look is called with the newest state after each frame.
func (u *guest) look(w *world.World) {
	if w.Tick() <= u.tick {
		return
	}
	for id := range w.Host().Of(u.Body) {
		if w.Owner(id) == u.Client.Player() {
			u.last, u.tick = u.Net.Now(), w.Tick()
			if u.news != nil {
				u.news(u, w)
			}
			return
		}
	}
}

// plays says whether there were news of the own body lately.
func (u *guest) plays() bool {
	return u.Client.Phase() == client.Playing && u.last > 0 &&
		u.Net.Now()-u.last < 250*time.Millisecond
}

// watches says whether it has been in the game for long and has no body: a title may have fewer
// bodies than players, as pong has two paddles.
func (u *guest) watches() bool {
	return u.Client.Phase() == client.Playing && u.last == 0 && u.Net.Now()-u.came > 2*time.Second
}

// frame is what a player's program does at each tick of its own.
func (u *guest) frame() {
	if u.gone {
		return
	}
	v := u.Client.Frame(u.Net.Now(), u.Command)
	if v.Ended {
		u.gone = true
		if u.all.o.Fault == NoFault {
			u.Fail(fmt.Errorf("%s: %w", u.End.Name(), v.Err))
		}
		return
	}
	if v.Began {
		u.Begun(v.Me)
		u.came = u.Net.Now()
	}
	if v.Truth != nil {
		u.look(v.Truth)
	}
	if !v.Fresh {
		return
	}
	known := u.Client.Predict().Known()
	u.Look(v.World, correctionFrom,
		func() bool { return u.back != nil && u.back(u, u.known, known) })
	u.known = known
}

// totals are what a client's counters are now.
func (u *guest) totals() guestTotals {
	st, n := u.Client.Stats(), u.End.Counters()
	return guestTotals{st.Snapshots, st.Repeated, st.Commands, n.ReceivedBytes, n.SentBytes}
}

// allPlay says whether every client is shown its own body, but for those who get none.
func (s *players) allPlay() bool {
	return !slices.ContainsFunc(s.guests, func(u *guest) bool { return !u.plays() && !u.watches() })
}

// begin starts to count.
func (s *players) begin() {
	for _, u := range s.guests {
		u.from = u.totals()
	}
}

// sum is what the clients met since begin.
func (s *players) sum() Kept {
	minutes := (s.Net.Now() - s.Since).Minutes() * float64(len(s.guests))
	each := func(n int) float64 { return float64(n) / minutes }
	var all guestTotals
	for _, u := range s.guests {
		all = lab.Sum(all, lab.Less(u.totals(), u.from))
	}
	seconds := 60 * minutes
	return Kept{
		All: each(s.Causes.All), TakenBack: each(s.Causes.TakenBack), Struck: each(s.Causes.Struck),
		Contact: each(s.Causes.Contact),
		Rest:    each(s.Causes.Rest()), Ahead: s.Ahead / float64(max(s.Looks, 1)), Minutes: minutes,
		Snapshots: float64(all.Snapshots) / seconds, Late: lab.Per(all.Repeated, all.Commands),
		Down: float64(all.Down) * 8 / 1000 / seconds, Up: float64(all.Up) * 8 / 1000 / seconds,
	}
}
