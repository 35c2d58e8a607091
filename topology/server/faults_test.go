package server

import (
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/replica"
	_ "github.com/coeval-dev/coeval/replica/doom3"
	_ "github.com/coeval-dev/coeval/replica/quake3"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// conditions parses what a test says of a network.
func conditions(t testing.TB, text string) netsim.Conditions {
	t.Helper()
	c, err := netsim.ParseConditions(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestLossAndHeal: with 40 % of all packets lost everything that is shown is still true; two
// seconds, forty snapshots, after the network heals everyone sees everything as it is.
func TestLossAndHeal(t *testing.T) {
	if testing.Short() {
		t.Skip("it is slow, and nothing in it runs at once that does not elsewhere")
	}
	bad := conditions(t,
		"latency=40ms jitter=longtail:10ms loss=40% duplicate=2% reorder=5%/30ms corrupt=1%")
	simtest.Run(t, 2, func(n *netsim.Net) error {
		s, err := newSim(n, Options{Title: near(100)})
		if err != nil {
			return err
		}
		defer s.close()
		for i := range 4 {
			b := s.join(string(rune('a'+i)), uint64(i+1), netsim.Cable, client.Options{})
			b.fires = true
		}
		if !s.playing(5 * time.Second) {
			s.fail("not all are playing")
			return s.err
		}
		for _, b := range s.clients {
			n.Connect(b.end, s.end, bad)
		}
		n.Run(20 * time.Second)
		late := s.join("late", 9, bad, client.Options{})
		n.Run(10 * time.Second)
		for _, b := range s.clients {
			if b.ended != nil || b != late && (b.checked < 100 || len(b.saved) < 20) {
				s.fail("%s: ended %v, %d updates, %d saved events", b.end.Name(), b.ended,
					b.checked, len(b.saved))
			}
			n.Connect(b.end, s.end, netsim.Cable)
		}
		n.Run(time.Second)
		if !s.playing(5 * time.Second) { // the late one may have had no luck until now
			s.fail("late is %v", late.Phase())
		}
		return s.settle(time.Second)
	})
}

// TestStalls: clients and the server stand still for seconds, one after the other. No one is
// dropped, nor taken for hostile.
func TestStalls(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		s, err := newSim(n, Options{Title: near(100)})
		if err != nil {
			return err
		}
		defer s.close()
		a := s.join("a", 1, netsim.WiFi, client.Options{})
		b := s.join("b", 2, netsim.LTE, client.Options{})
		a.fires = true
		if !s.playing(5 * time.Second) {
			s.fail("not all are playing")
			return s.err
		}
		for _, e := range []*netsim.Endpoint{a.end, s.end, b.end, s.end} {
			n.Run(2 * time.Second)
			e.Pause()
			n.Run(time.Duration(1+n.Rand().IntN(6)) * time.Second)
			e.Resume()
		}
		n.Run(time.Second)
		n.Cut(a.end, s.end)
		n.Run(4 * time.Second)
		n.Heal(a.end, s.end)
		n.Run(3 * time.Second)
		if len(s.news) != 3 || a.Stats().Returns+b.Stats().Returns != 0 {
			s.fail("someone did not stay: %v", s.news)
		}
		if st := s.server.Stats(); st.Offences[BadCommand]+st.Offences[SecondMind]+
			st.Offences[BadControl]+st.Offences[BadState] != 0 {
			s.fail("someone was taken for hostile: %v", st.Offences)
		}
		return s.settle(time.Second)
	})
}

// shifted is a clock that is wrong, and does not listen to what the server says of it.
func (b *bot) shifted(shift int) func(time.Duration) world.Tick {
	return func(now time.Duration) world.Tick {
		const ahead = 6 // as suits a good network
		return world.Tick(max(int(now/yard.TickLength())+ahead+shift, 0))
	}
}

func walkerOf(w *world.World, p world.Player) *walker {
	for id, x := range world.All[walker](w) {
		if w.Owner(id) == p {
			return x
		}
	}
	return nil
}

// TestCommandsOutOfTime: early ones wait, late ones count for nothing, those of the distant future
// are refused; the server goes on either way.
func TestCommandsOutOfTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it is slow, and nothing in it runs at once that does not elsewhere")
	}
	simtest.Run(t, 2, func(n *netsim.Net) error {
		s, err := newSim(n, Options{})
		if err != nil {
			return err
		}
		defer s.close()
		early := s.join("early", 1, netsim.Cable, client.Options{})
		early.target = early.shifted(40)
		late := s.join("late", 2, netsim.Cable, client.Options{})
		late.target = late.shifted(-20)
		far := s.join("far", 3, netsim.Cable, client.Options{})
		far.target = far.shifted(1000)
		never := s.join("never", 4, netsim.Cable, client.Options{})
		never.target = func(time.Duration) world.Tick { return 0 }
		good := s.join("good", 5, netsim.Cable, client.Options{})
		for _, b := range s.clients {
			b.makeMove = func(world.Tick) walk { return walk{X: 1} }
		}
		n.Run(3 * time.Second)
		w := s.server.World()
		for _, x := range []struct {
			b         *bot
			steps     bool
			least     uint64
			what      string
			of        func(CommandCounts) uint64
			mayBeGone bool
		}{
			{early, true, 100, "taken", func(c CommandCounts) uint64 { return c.Taken }, false},
			{good, true, 100, "taken", func(c CommandCounts) uint64 { return c.Taken }, false},
			{late, false, 100, "late", func(c CommandCounts) uint64 { return c.Late }, false},
			{far, false, 10, "future", func(c CommandCounts) uint64 { return c.Future }, true},
			{never, false, 100, "repeated", func(c CommandCounts) uint64 { return c.Repeated },
				false},
		} {
			if x.mayBeGone && x.b.ended != nil {
				continue
			}
			if x.b.ended != nil {
				s.fail("%s ended: %v", x.b.end.Name(), x.b.ended)
				continue
			}
			seat := s.server.Seat(x.b.id)
			if got := x.of(seat.Commands()); got < x.least {
				s.fail("%s: %d commands were %s, want at least %d: %+v", x.b.end.Name(), got,
					x.what, x.least, seat.Commands())
			}
			if steps := walkerOf(w, x.b.Player()).Steps; (steps > 60) != x.steps {
				s.fail("%s: %d steps", x.b.end.Name(), steps)
			}
		}
		n.Run(8 * time.Second)
		// Who goes on asking for the distant future is dropped at last, and told why.
		var end *client.EndError
		if e, ok := far.ended.(*client.EndError); !ok || e.Reason != wire.ReasonHostile {
			s.fail("far ended with %v, %v: %v", end, far.ended, s.server.Stats().Offences)
		}
		return s.settle(time.Second)
	})
}

// TestLevelsAreRepeatedAndEdgesAreNot: a player whose commands stop coming walks on for half a
// second, and then stands still; it never fires again.
func TestLevelsAreRepeatedAndEdgesAreNot(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		s, err := newSim(n, Options{Neutral: 500 * time.Millisecond})
		if err != nil {
			return err
		}
		defer s.close()
		a := s.join("a", 1, netsim.LAN, client.Options{})
		asked := 0
		a.makeMove = func(world.Tick) walk { asked++; return walk{X: 1, Fire: true} }
		n.Run(2 * time.Second)
		n.Cut(a.end, s.end)
		n.Run(50 * time.Millisecond)
		before := *walkerOf(s.server.World(), a.Player())
		n.Run(3 * time.Second)
		after := *walkerOf(s.server.World(), a.Player())
		if d := after.Steps - before.Steps; d < 25 || d > 32 {
			s.fail("%d more steps after the last command, want about 30", d)
		}
		if d := after.Shots - before.Shots; d > 3 {
			s.fail("%d more shots after the last command", d)
		}
		if after.Shots > asked {
			s.fail("%d shots, and only %d were asked for", after.Shots, asked)
		}
		n.Heal(a.end, s.end)
		n.Run(time.Second)
		if last := walkerOf(s.server.World(), a.Player()); last.Steps <= after.Steps {
			s.fail("the player does not go on after the network healed")
		}
		return s.settle(time.Second)
	})
}

// TestCrashAndReturn: who crashes comes back to the same player by the ticket, or by a new token,
// within a while; afterwards it is someone new.
func TestCrashAndReturn(t *testing.T) {
	if testing.Short() {
		t.Skip("it is slow, and nothing in it runs at once that does not elsewhere")
	}
	simtest.Run(t, 2, func(n *netsim.Net) error {
		s, err := newSim(n, Options{Title: near(100), KeepSeat: 20 * time.Second})
		if err != nil {
			return err
		}
		defer s.close()
		a := s.join("a", 1, netsim.WiFi, client.Options{})
		s.join("b", 2, netsim.WiFi, client.Options{}).fires = true
		if !s.playing(5 * time.Second) {
			s.fail("not all are playing")
			return s.err
		}
		n.Run(time.Second)
		first := a.Player()
		steps := walkerOf(s.server.World(), first).Steps
		ticket, ok := a.Ticket()
		if !ok {
			s.fail("no ticket")
			return s.err
		}
		for i, quick := range []bool{true, false} {
			a.end.Restart(500 * time.Millisecond)
			tok := ticket
			if i == 1 {
				tok = s.token(1)
			}
			if !quick {
				n.Run(14 * time.Second) // until the server has noticed
				if s.count(WentAway) == 0 || !s.server.Seat(1).Away() {
					s.fail("the server has not noticed: %v", s.news)
				}
			} else {
				n.Run(600 * time.Millisecond)
			}
			a.snaps = 0
			a.start(client.Options{Servers: []netip.AddrPort{s.end.PublicAddr()}}, tok)
			a.resume()
			s.playing(15 * time.Second)
			if a.Player() != first || a.Phase() != client.Playing || a.snaps == 0 {
				s.fail("round %d: came back as player %d, %v: %v, want %d", i, a.Player(),
					a.Phase(), a.ended, first)
				return s.err
			}
			if got := walkerOf(s.server.World(), first).Steps; got < steps {
				s.fail("the player begins anew, with %d steps", got)
			}
		}
		n.Run(5 * time.Second)
		steps = walkerOf(s.server.World(), first).Steps
		// Too late: the seat is given up.
		a.end.Restart(40 * time.Second)
		n.Run(41 * time.Second)
		if s.server.Seat(1) != nil || walkerOf(s.server.World(), first) != nil ||
			s.count(Left) != 1 {
			s.fail("the seat is kept for ever: %v", s.news)
		}
		a.snaps = 0
		a.start(client.Options{}, s.token(1))
		a.resume()
		if !s.playing(15 * time.Second) {
			s.fail("nobody new is let in")
			return s.err
		}
		if a.Phase() != client.Playing || walkerOf(s.server.World(), a.Player()).Steps >= steps {
			s.fail("someone new is %v as player %d", a.Phase(), a.Player())
		}
		return s.settle(time.Second)
	})
}

// resume drives a bot again after its machine was restarted, which stopped its timers.
func (b *bot) resume() {
	b.end.Every(yard.TickLength(), func() {
		if b.ended == nil {
			b.ended = b.frame()
		}
	})
}

// TestClientComesBackByItself: a client that was cut off for longer than the timeout returns to its
// player without anyone's doing.
func TestClientComesBackByItself(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		s, err := newSim(n, Options{Title: near(100)})
		if err != nil {
			return err
		}
		defer s.close()
		a := s.join("a", 1, netsim.LTE, client.Options{})
		n.Run(3 * time.Second)
		p := a.Player()
		n.Cut(a.end, s.end)
		n.Run(18 * time.Second)
		n.Heal(a.end, s.end)
		n.Run(5 * time.Second)
		if a.ended != nil || a.Phase() != client.Playing || a.Player() != p ||
			a.Stats().Returns == 0 || s.count(Returned) != 1 {
			s.fail("%v, %v, player %d, %d returns: %v", a.ended, a.Phase(), a.Player(),
				a.Stats().Returns, s.news)
		}
		return s.settle(time.Second)
	})
}

// TestManyJoinAtOnce: two hundred people come within a second, and those who play already notice
// nothing.
func TestManyJoinAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it is slow, and nothing in it runs at once that does not elsewhere")
	}
	many := 80
	if soak() {
		many = 200
	}
	simtest.Run(t, 1, func(n *netsim.Net) error {
		s, err := newSim(n, Options{Players: 256, Title: near(60)})
		if err != nil {
			return err
		}
		defer s.close()
		first := s.join("first", 1000, netsim.Cable, client.Options{})
		if !s.playing(3 * time.Second) {
			s.fail("the first does not play")
			return s.err
		}
		n.Run(2 * time.Second)
		before := first.Stats()
		for i := range many {
			n.After(time.Duration(i)*5*time.Millisecond, func() {
				s.join("c"+string(rune('a'+i/26))+string(rune('a'+i%26)), uint64(i+1), netsim.Cable,
					client.Options{})
			})
		}
		n.Run(3 * time.Second)
		if got := s.server.Population().Players; got != many+1 || s.err != nil {
			s.fail("%d players", got)
		}
		for _, b := range s.clients {
			if b.Phase() != client.Playing || b.snaps == 0 {
				s.fail("%s is %v", b.end.Name(), b.Phase())
			}
		}
		after := first.Stats()
		if d := after.Snapshots - before.Snapshots; d < 57 {
			s.fail("the first got %d snapshots in three seconds", d)
		}
		if d := after.Repeated - before.Repeated; d > 2 {
			s.fail("%d commands of the first were missing", d)
		}
		return s.settle(time.Second)
	})
}

// TestStrategies: the ways of Quake III and DOOM III to make snapshots are as true, over a network
// that loses a tenth, for those who play and those who watch.
func TestStrategies(t *testing.T) {
	for _, strategy := range []replica.Strategy{replica.Coeval, replica.Quake3, replica.Doom3} {
		t.Run(strategy.String(), func(t *testing.T) {
			lossy := conditions(t, "wifi loss=10%")
			simtest.Run(t, 1, func(n *netsim.Net) error {
				s, err := newSim(n, Options{Title: near(100), Strategy: strategy})
				if err != nil {
					return err
				}
				defer s.close()
				a := s.join("a", 1, lossy, client.Options{})
				s.join("b", 2, lossy, client.Options{})
				s.join("c", 3, lossy, client.Options{Spectate: true})
				a.fires = true
				if !s.playing(15 * time.Second) {
					s.fail("not all are playing")
					return s.err
				}
				n.Run(15 * time.Second)
				s.join("late", 4, lossy, client.Options{})
				n.Run(10 * time.Second)
				for _, b := range s.clients {
					if b.ended != nil || b.snaps < 100 || b.Stats().Bad > 0 {
						s.fail("%s: %v, %d snapshots, %+v", b.end.Name(), b.ended, b.snaps,
							b.Stats())
					}
				}
				return s.settle(5 * time.Second)
			})
		})
	}
}
