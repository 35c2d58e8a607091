package session_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// A sim is an arena's server on a simulated network.
type sim struct {
	net    *netsim.Net
	server *server.Server
	end    *netsim.Endpoint
	key    token.Key
	err    error
	issued byte
}

const wall = 1_700_000_000

func seedOf(n uint64, what byte) (s [32]byte) {
	for i := range 8 {
		s[i] = byte(n >> (8 * i))
	}
	s[31] = what
	return s
}

// shown is the arena in which everyone is shown everything.
var shown = &game.Title{
	Game: arena.Game, Levels: game.Levels{Settings: arena.LevelSettings}, Shots: arena.Title.Shots}

func newSim(n *netsim.Net, keep time.Duration) (*sim, error) {
	s := &sim{net: n, end: n.Endpoint("server"), key: token.Key(seedOf(n.Seed(), 9))}
	var err error
	s.server, err = server.New(server.Options{
		Title: shown, Level: server.Level{Name: "duel", Seed: 3},
		Links: []link.Link{s.end}, Keys: []token.Key{s.key}, Workers: 1, KeepSeat: keep,
		Conn: conn.Options{Seed: seedOf(n.Seed(), 1), Wall: wall},
	})
	if err != nil {
		return nil, err
	}
	s.end.Every(arena.Game.TickLength(), func() {
		if err := s.server.Tick(n.Now()); err != nil {
			s.fail("server: %v", err)
		}
	})
	return s, nil
}

func (s *sim) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("seed %d at %v: %s", s.net.Seed(), s.net.Now(),
			fmt.Sprintf(format, args...))
	}
}

// still is randomness for tests.
type still byte

func (r still) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r) + byte(i)
	}
	return len(b), nil
}

func (s *sim) token(client uint64) token.Token {
	s.issued++
	t, err := token.Issue(s.key,
		token.Grant{
			Protocol: token.ProtocolID("arena"), Client: client, Expires: wall + 3600,
			Servers: []netip.AddrPort{s.end.PublicAddr()}}, still(s.issued))
	if err != nil {
		s.fail("%v", err)
	}
	return t
}

// A player plays by a session, in the network's time.
type player struct {
	*session.Session
	sim    *sim
	end    *netsim.Endpoint
	keys   arena.Command
	asleep bool
	view   session.View
	events map[string]int

	frames, ticks int // drawn; and of them, with a new tick
	still, stood  int // without a new tick: now, and at most
	tick          world.Tick
}

func (s *sim) join(name string, client uint64, c netsim.Conditions, o session.Options) *player {
	p := &player{sim: s, end: s.net.Endpoint(name), events: map[string]int{}}
	s.net.Connect(p.end, s.end, c)
	o.Name = name
	o.Conn.Seed = seedOf(s.net.Seed(), byte(10+client))
	p.Session = session.New(o)
	p.Enter(session.Entry{Link: p.end, Token: s.token(client)})
	s.net.Every(arena.Game.TickLength(), func() {
		if !p.asleep {
			p.frame()
		}
	})
	return p
}

func (p *player) frame() {
	p.Frame(p.sim.net.Now(), func(*arena.Fighter) arena.Command { return p.keys })
	p.view = p.View()
	p.frames++
	if w := p.view.World; w != nil {
		if p.still++; w.Tick() != p.tick {
			p.tick, p.still = w.Tick(), 0
			p.ticks++
		}
		p.stood = max(p.stood, p.still)
	}
	if w := p.view.World; w != nil && p.view.Fresh {
		for range world.Events[arena.Spawned](w) {
			p.events["spawned"]++
		}
		for range world.Events[arena.Fired](w) {
			p.events["fired"]++
		}
	}
}

// me is the player's fighter, as it is shown.
func (p *player) me() *arena.Fighter {
	if p.view.World == nil {
		return nil
	}
	for id, f := range world.All[arena.Fighter](p.view.World) {
		if p.view.World.Owner(id) == p.view.Me {
			return f
		}
	}
	return nil
}

func (p *player) playing() bool { return p.Playing() && p.me() != nil && p.me().Alive() }

// wrapped is a network as a browser has it: each packet goes in one of QUIC, which is nearly twice
// as large.
func wrapped(c netsim.Conditions) netsim.Conditions {
	// bytes, in round figures: a packet of commands with UDP and IP, and what QUIC adds to it
	const plain, more = 58, 40
	c.Name += " in QUIC"
	for _, p := range []*netsim.Profile{&c.Up, &c.Down} {
		p.Rate, p.Queue = p.Rate*plain/(plain+more), p.Queue*plain/(plain+more)
	}
	return c
}

// TestAnswersInTheSameFrame presses keys in a room where nothing else happens, on every network:
// the fighter moves in the first frame, and where the server has it in the end is where it was
// shown.
func TestAnswersInTheSameFrame(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	for _, c := range append(netsim.Presets(), wrapped(netsim.Modem)) {
		t.Run(c.Name, func(t *testing.T) {
			simtest.Run(t, 4, func(n *netsim.Net) error {
				s, err := newSim(n, 0)
				if err != nil {
					return err
				}
				defer s.server.Close()
				p := s.join("ann", 1, c, session.Options{})
				if !n.RunUntil(60*time.Second, p.playing) {
					s.fail("never plays: %q", p.view.Status)
					return s.err
				}
				for i := range 4 {
					n.Run(3 * time.Second) // of which the server tells little, as nothing happens
					s.press(p, arena.Command{X: 4 - 8*int8(i%2), Y: 3 - 6*int8(i%2)}, time.Second)
				}
				n.Run(6 * time.Second)
				if !p.playing() {
					s.fail("lost the game: %q", p.view.Status)
					return s.err
				}
				if there := whereIs(s.server.World(), 1); there.Sub(p.me().Pos).Len() > 0.05 {
					s.fail("shown at %v, and is at %v", p.me().Pos, there)
				}
				return s.err
			})
		})
	}
}

// press waits until the fighter is at rest, holds keys for a while and expects the first frame to
// show it.
func (s *sim) press(p *player, keys arena.Command, hold time.Duration) {
	if !s.net.RunUntil(20*time.Second,
		func() bool { return p.playing() && p.me().Vel == det.Vec2{} }) {
		s.fail("does not come to rest: %q", p.view.Status)
		return
	}
	p.keys, p.frames, p.ticks = keys, 0, 0
	if !s.net.RunUntil(5*time.Second,
		func() bool { return p.me() != nil && p.me().Vel != det.Vec2{} }) {
		s.fail("does not move: %q", p.view.Status)
	} else if p.ticks > 1 || p.frames > 2 {
		// now and then there is a frame without a tick, where the clock goes a little slower
		s.fail("moved in frame %d after the key, which had %d ticks", p.frames, p.ticks)
	}
	s.net.Run(hold)
	p.keys = arena.Command{}
}

// TestTimeGoesOn changes from every network to every other while someone plays: there is no moment
// at which the fighter would not answer, and no command that the server refuses.
func TestTimeGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	all := append(netsim.Presets(), wrapped(netsim.Modem))
	for _, from := range all {
		t.Run(from.Name, func(t *testing.T) {
			simtest.Run(t, 2, func(n *netsim.Net) error {
				s, err := newSim(n, 0)
				if err != nil {
					return err
				}
				defer s.server.Close()
				p := s.join("ann", 1, from, session.Options{})
				if !n.RunUntil(60*time.Second, p.playing) {
					s.fail("never plays: %q", p.view.Status)
					return s.err
				}
				n.Run(3 * time.Second)
				for _, to := range all {
					for _, c := range []netsim.Conditions{to, from} {
						n.Connect(p.end, s.end, c)
						p.still, p.stood = 0, 0
						for i := range 4 {
							p.keys = arena.Command{
								X: int8(n.Rand().IntN(15)) - 7, Y: int8(n.Rand().IntN(15)) - 7}
							n.Run(time.Duration(n.Rand().IntN(2000)) * time.Millisecond)
							if p.keys = (arena.Command{}); i%2 == 0 {
								n.Run(2 * time.Second)
							}
						}
						refused := s.server.Stats().Commands.Future
						if p.view.Status != "" || p.stood > 2 || refused > 0 {
							s.fail("on %s, between %s and %s: stood still for %d frames, %d "+
								"commands refused; %q", c.Name, from.Name, to.Name, p.stood,
								refused, p.view.Status)
							return s.err
						}
					}
				}
				return s.err
			})
		})
	}
}

func whereIs(w *world.World, p world.Player) det.Vec2 {
	for id, f := range world.All[arena.Fighter](w) {
		if w.Owner(id) == p {
			return f.Pos
		}
	}
	return det.Vec2{}
}

// TestSleepAndReturn pauses a player for a minute, in which the server loses the connection, and
// expects the same player back.
func TestSleepAndReturn(t *testing.T) {
	simtest.Run(t, 3, func(n *netsim.Net) error {
		s, err := newSim(n, 5*time.Minute)
		if err != nil {
			return err
		}
		defer s.server.Close()
		p := s.join("ann", 1, netsim.WiFi, session.Options{})
		other := s.join("bob", 2, netsim.Cable, session.Options{})
		if !n.RunUntil(30*time.Second, func() bool { return p.playing() && other.playing() }) {
			s.fail("never plays: %q", p.view.Status)
			return s.err
		}
		n.Run(3 * time.Second)
		who := p.view.Me
		p.end.Pause()
		p.asleep = true
		n.Run(time.Minute)
		if s.server.Population().Away != 1 {
			s.fail("the server has not noticed: %+v", s.server.Population())
		}
		p.end.Resume()
		p.asleep = false
		if !n.RunUntil(60*time.Second,
			func() bool {
				return p.Playing() && p.view.Status == "" && s.server.Population().Away == 0
			}) {
			s.fail("did not come back: %q", p.view.Status)
			return s.err
		}
		n.Run(3 * time.Second)
		if p.view.Me != who || !p.Playing() {
			s.fail("came back as %v, was %v: %q", p.view.Me, who, p.view.Status)
		}
		return s.err
	})
}

// TestNamesArrive asks for names over a network that loses much, and changes one.
func TestNamesArrive(t *testing.T) {
	simtest.Run(t, 3, func(n *netsim.Net) error {
		s, err := newSim(n, 0)
		if err != nil {
			return err
		}
		defer s.server.Close()
		p := s.join("ann", 1, netsim.Awful, session.Options{})
		name := func() string {
			for id, sh := range world.All[arena.Sheet](s.server.World()) {
				if s.server.World().Owner(id) == 1 {
					return sh.Name
				}
			}
			return ""
		}
		if !n.RunUntil(90*time.Second, func() bool { return name() == "ann" }) {
			s.fail("is called %q: %q", name(), p.view.Status)
		}
		p.SetName(strings.Repeat("long ", 2000))
		if !n.RunUntil(60*time.Second,
			func() bool { return name() == "long long long" || name() == "long long long l" }) {
			s.fail("is called %q", name())
		}
		return s.err
	})
}

// TestWrongNameGoes foresees a name that the server never hears of: it is shown for a moment, and
// then the one that the server has, also where nothing else happens of which the server would tell.
func TestWrongNameGoes(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	for _, c := range []netsim.Conditions{netsim.Cable, netsim.Satellite, netsim.Awful} {
		for _, style := range []predict.Style{predict.Doom3, predict.Quake3} {
			t.Run(c.Name+" "+style.String(), func(t *testing.T) {
				simtest.Run(t, 3, func(n *netsim.Net) error {
					s, err := newSim(n, 0)
					if err != nil {
						return err
					}
					defer s.server.Close()
					p := s.join("ann", 1, c, session.Options{Style: style})
					shown := func() string {
						for id, sh := range world.All[arena.Sheet](p.view.World) {
							if p.view.World.Owner(id) == p.view.Me {
								return sh.Name
							}
						}
						return ""
					}
					if !n.RunUntil(60*time.Second,
						func() bool { return p.playing() && shown() == "ann" }) {
						s.fail("never plays: %q", p.view.Status)
						return s.err
					}
					n.Run(4 * time.Second)
					n.CutOneWay(p.end, s.end)
					p.keys = arena.Command{Verb: arena.Name, Text: "wrong"}
					foreseen := n.RunUntil(time.Second, func() bool { return shown() == "wrong" })
					p.keys = arena.Command{}
					n.Run(500 * time.Millisecond)
					n.Heal(p.end, s.end)
					if !foreseen ||
						!n.RunUntil(10*time.Second, func() bool { return shown() == "ann" }) {
						s.fail("foreseen %v, and still called %q", foreseen, shown())
						return s.err
					}
					n.Run(3 * time.Second)
					if shown() != "ann" {
						s.fail("called %q again", shown())
					}
					return s.err
				})
			})
		}
	}
}

// TestStylesWhilePlaying changes the style again and again; the game goes on, and each event is
// seen once.
func TestStylesWhilePlaying(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		s, err := newSim(n, 0)
		if err != nil {
			return err
		}
		defer s.server.Close()
		p := s.join("ann", 1, netsim.LTE, session.Options{Style: predict.HalfLife})
		if !n.RunUntil(30*time.Second, p.playing) {
			s.fail("never plays: %q", p.view.Status)
			return s.err
		}
		n.Run(2 * time.Second)
		if p.Style() != predict.HalfLife {
			s.fail("style %v", p.Style())
		}
		for i := range 12 {
			p.SetStyle(predict.Style(i % 3))
			p.keys = arena.Command{X: int8(i%3-1) * 7, Fire: true}
			n.Run(time.Second)
			if !p.Playing() || p.me() == nil {
				s.fail("lost the game in style %v: %q", p.Style(), p.view.Status)
				return s.err
			}
		}
		if p.events["fired"] < 40 ||
			p.events["fired"] > 12*60/int(arena.Arms[arena.Blaster].Reload)+20 {
			s.fail("%d shots were seen", p.events["fired"])
		}
		x := p.Numbers()
		if x.RoundTrip < 50*time.Millisecond || x.Snapshots == 0 || x.Received == 0 ||
			x.Sent == 0 || x.Bad != 0 {
			s.fail("numbers %+v", x)
		}
		return s.err
	})
}

// TestServerGone tells the player what happened, and tries again.
func TestServerGone(t *testing.T) {
	simtest.Run(t, 1, func(n *netsim.Net) error {
		s, err := newSim(n, 0)
		if err != nil {
			return err
		}
		defer s.server.Close()
		asked := make(chan struct{}, 100)
		p := s.join("ann", 1, netsim.LAN,
			session.Options{Join: func(context.Context) (session.Entry, error) {
				asked <- struct{}{}
				return session.Entry{}, errors.New("the server does not answer")
			}})
		if !n.RunUntil(30*time.Second, p.playing) {
			s.fail("never plays: %q", p.view.Status)
			return s.err
		}
		s.server.Shutdown("good night")
		if !n.RunUntil(30*time.Second,
			func() bool { return strings.Contains(p.view.Status, "good night") }) {
			s.fail("the player is told %q", p.view.Status)
		}
		n.Run(5 * time.Second)
		select {
		case <-asked: // in another goroutine, as it may take its time
		case <-time.After(time.Minute):
			s.fail("no one asked for another way in")
		}
		p.Close()
		if v := p.View(); v.World != nil || v.Status == "" {
			s.fail("goes on after Close: %q", v.Status)
		}
		return s.err
	})
}

func TestPractice(t *testing.T) {
	heard := 0
	p, err := session.NewPractice(session.PracticeOptions{Seed: 4, Bots: 3,
		Heard: func(*world.World) { heard++ }})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		p.Frame(time.Duration(i)*time.Second/30,
			func(*arena.Fighter) arena.Command { return arena.Command{X: 7} })
		if v := p.View(); v.World == nil || v.Me != 1 || v.Lead < 0 || v.Lead > 0.02 {
			t.Fatalf("%+v", v)
		}
	}
	if heard < 590 || heard > 610 {
		t.Errorf("%d ticks in ten seconds", heard)
	}
	p.Frame(time.Hour, func(*arena.Fighter) arena.Command { return arena.Command{} })
	if heard > 620 {
		t.Error("it tries to catch up with an hour of sleep")
	}
	if _, err := session.NewPractice(session.PracticeOptions{Map: "nowhere"}); err == nil {
		t.Error("a map that is not there")
	}
	seen := map[string]bool{}
	for i := range 60 {
		n := session.BotName(i)
		if seen[n] || n == "" || len(n) > arena.MaxName {
			t.Errorf("bot %d is called %q", i, n)
		}
		seen[n] = true
	}
}
