package server

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A shelf is where levels are kept.
type shelf map[game.LevelHash]game.Level

func (s shelf) Load(h game.LevelHash) []byte { return bytes.Clone(s[h].Data) }
func (s shelf) Keep(l game.Level)            { s[l.Hash()] = l }

// TestChangeOfLevel: everyone stays connected, those who lack the data are sent it, and the new
// world is shown as exactly as the old one.
func TestChangeOfLevel(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		s, err := newSim(n, Options{Title: near(100), Level: Level{Name: "first"}})
		if err != nil {
			return err
		}
		defer s.close()
		second := Level{Name: "second", Seed: 5, Data: bytes.Repeat([]byte{77, 1, 2}, 20000)}
		kept := shelf{}
		has := s.join("has", 1, netsim.WiFi, client.Options{Store: shelf{second.Hash(): second}})
		lacks := s.join("lacks", 2, netsim.LTE, client.Options{Store: kept})
		slow := s.join("slow", 3, netsim.Modem, client.Options{})
		has.fires = true
		if !s.playing(20 * time.Second) {
			s.fail("not all are playing")
			return s.err
		}
		if err := s.server.Change(second); err != nil {
			return err
		}
		n.Run(2 * time.Second)
		if has.Level().Name != "second" || has.Phase() != client.Playing ||
			slow.Phase() != client.Loading {
			s.fail("has is %v in %q, slow is %v", has.Phase(), has.Level().Name, slow.Phase())
		}
		if has.Truth().Tick() == 0 {
			s.fail("who has the level waits for those who do not")
		}
		late := s.join("late", 4, netsim.WiFi, client.Options{}) // while others are still loading
		if !n.RunUntil(60*time.Second, func() bool {
			return slow.Phase() == client.Playing && lacks.Phase() == client.Playing &&
				late.Phase() == client.Playing
		}) {
			s.fail("slow is %v, lacks %v, late %v", slow.Phase(), lacks.Phase(), late.Phase())
		}
		if l := kept[second.Hash()]; l.Name != "second" || !bytes.Equal(l.Data, second.Data) {
			s.fail("the data that came was not kept")
		}
		n.Run(2 * time.Second)
		for _, b := range s.clients {
			stones := 0
			for range world.All[stone](s.server.World()) {
				stones++
			}
			if got := world.StateOf[tally](b.Truth()); got.Stones != 77 || stones != 77 ||
				b.ended != nil {
				s.fail("%s: %+v, %d stones on the server, %v", b.end.Name(), *got, stones, b.ended)
			}
		}
		if st := s.server.Stats(); st.LevelsSent != 3 || s.count(WentAway) > 0 {
			s.fail("the level was sent %d times, to three who lacked it", st.LevelsSent)
		}
		// And back, with nothing to send, twice in one tick.
		if err := errors.Join(s.server.Change(Level{Name: "third"}),
			s.server.Change(Level{Name: "fourth"})); err != nil {
			return err
		}
		if !n.RunUntil(20*time.Second, func() bool {
			for _, b := range s.clients {
				if b.Level().Name != "fourth" || b.Phase() != client.Playing {
					return false
				}
			}
			return true
		}) {
			s.fail("not all are in the fourth level")
		}
		n.Run(2 * time.Second)
		return s.settle(3 * time.Second)
	})
}

// TestSidesChatNamesAndPauses is a conversation.
func TestSidesChatNamesAndPauses(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		s, err := newSim(n, Options{Title: near(100), Spectators: 1, Players: 2, Rules: Rules{
			Chat: func(_ *Seat, line string) (string, error) {
				if strings.Contains(line, "cheat") {
					return "", errors.New("mind your words")
				}
				return line, nil
			},
			Name: func(_ *Seat, name string) (string, error) {
				if name == "admin" {
					return "", errors.New("no")
				}
				return name, nil
			},
			Pause: func(x *Seat, _ bool) error {
				if x.Name != "ada" {
					return errors.New("only ada may")
				}
				return nil
			},
		}})
		if err != nil {
			return err
		}
		defer s.close()
		ada := s.join("a", 1, netsim.Cable, client.Options{Name: "ada"})
		n.Run(time.Second)
		bob := s.join("b", 2, netsim.Cable, client.Options{Name: "admin"})
		n.Run(time.Second)
		third := s.join("c", 3, netsim.Cable, client.Options{})
		eve := s.join("d", 4, netsim.Cable, client.Options{Name: "eve", Spectate: true})
		n.Run(3 * time.Second)
		want := func(ok bool, format string, args ...any) {
			if !ok {
				s.fail(format, args...)
			}
		}
		var end *client.EndError
		want(errors.As(third.ended, &end) && end.Reason == wire.ReasonNoSeat,
			"the third of two players: %v", third.ended)
		want(eve.Player() == world.Nobody && eve.Phase() == client.Playing && eve.snaps > 10,
			"eve is player %d, %v", eve.Player(), eve.Phase())
		want(bob.Name() == "player 2", "bob is called %q", bob.Name())
		ada.Say("hello\x1b[2J there")
		ada.Say("cheat")
		bob.Rename("bob")
		bob.SetPaused(true)
		eve.SetSpectating(false) // no seat is free
		n.Run(time.Second)
		heard := func(b *bot, k client.WordKind, text string) bool {
			for _, w := range b.told {
				if w.Kind == k && strings.Contains(w.Text, text) {
					return true
				}
			}
			return false
		}
		want(heard(bob, client.Chat, "hello [2J there") && heard(eve, client.Chat, "hello"),
			"bob heard %v", bob.told)
		want(heard(ada, client.Notice, "mind your words") && !heard(bob, client.Chat, "cheat"),
			"ada heard %v", ada.told)
		want(bob.Name() == "bob", "bob is called %q", bob.Name())
		want(heard(bob, client.Notice, "only ada may") && !s.server.Paused(), "bob heard %v",
			bob.told)
		want(heard(eve, client.Notice, "all seats"), "eve heard %v", eve.told)

		ada.SetPaused(true)
		n.Run(time.Second)
		at := s.server.World().Tick()
		n.Run(5 * time.Second)
		want(s.server.World().Tick() == at && heard(bob, client.Pause, "ada") && bob.Paused(),
			"the pause: tick %d and %d, %v", at, s.server.World().Tick(), bob.told)
		ada.SetPaused(false)
		n.Run(2 * time.Second)
		want(s.server.World().Tick() > at+60 && heard(eve, client.Proceed, "ada"),
			"it does not go on: %v", eve.told)

		// Bob goes to watch, which eve does not want any more.
		before := bob.worlds
		bob.SetSpectating(true) // eve has the only seat of those who watch
		n.Run(time.Second)
		want(heard(bob, client.Notice, "no room") && bob.Player() == 2, "bob heard %v", bob.told)
		bob.Leave()
		n.Run(time.Second)
		want(errors.Is(bob.ended, errLeft) && s.server.Seat(2) == nil, "bob: %v", bob.ended)
		eve.SetSpectating(false)
		n.Run(2 * time.Second)
		want(eve.Player() == 2 && eve.worlds == before+1 && walkerOf(s.server.World(), 2) != nil,
			"eve is player %d", eve.Player())
		eve.SetSpectating(true)
		n.Run(2 * time.Second)
		want(eve.Player() == world.Nobody && walkerOf(s.server.World(), 2) == nil,
			"eve is player %d", eve.Player())

		s.server.Kick(s.server.Seat(4), "good night")
		n.Run(time.Second)
		want(errors.As(eve.ended, &end) && end.Reason == wire.ReasonKicked &&
			end.Note == "good night" && s.server.Seat(4) == nil, "eve: %v", eve.ended)
		if err := s.settle(time.Second); err != nil {
			return err
		}
		s.server.Shutdown("back in five minutes")
		n.Run(time.Second)
		want(errors.As(ada.ended, &end) && end.Reason == conn.ReasonClosing &&
			end.Note == "back in five minutes", "ada: %v", ada.ended)
		want(s.server.Done(), "the server is not done")
		return s.err
	})
}

type otherWalker struct{ walker }

func (x *otherWalker) Sync(s *bits.Sync) {
	s.Vec2(&x.Pos, -3000, 2000, 1.0/16)
	s.Int(&x.Steps, 0, 1<<20)
	s.Int(&x.Shots, 0, 1<<20)
}

// TestOtherVersionsAreRefused: with what differs, in words.
func TestOtherVersionsAreRefused(t *testing.T) {
	other := world.Define("yard", world.Class[otherWalker](world.ClassOptions{Name: "walker"}),
		world.Commands[walk]())
	simtest.Run(t, 2, func(n *netsim.Net) error {
		s, err := newSim(n, Options{})
		if err != nil {
			return err
		}
		defer s.close()
		join := func(name string, id uint64, title *game.Title) *error {
			end := n.Endpoint(name)
			n.Connect(end, s.end, netsim.WiFi)
			c, err := client.New(client.Options{Title: title, Link: end, Token: s.token(id),
				Conn: conn.Options{Seed: seedOf(n.Seed(), byte(id))}})
			if err != nil {
				s.fail("%v", err)
				return new(error)
			}
			ended := new(error)
			end.Every(time.Second/60, func() {
				if *ended == nil {
					*ended = c.Frame(n.Now(), nil).Err
				}
			})
			return ended
		}
		rules := join("rules", 1, &game.Title{Game: other})
		options := join("options", 2, &game.Title{Game: yard, NoRelay: true})
		n.Run(10 * time.Second)
		var version *client.VersionError
		if !errors.As(*rules, &version) || !strings.Contains(version.Error(), "Pos") ||
			!strings.Contains(version.Error(), "bird") {
			s.fail("the other rules: %v", *rules)
		}
		if !errors.As(*options, &version) || version.Difference != "" ||
			!strings.Contains(version.Error(), "the same title") {
			s.fail("the other options: %v", *options)
		}
		if s.count(Refused) != 2 || s.server.Population().Connections != 0 {
			s.fail("%v, %+v", s.news, s.server.Population())
		}
		return s.err
	})
}

// TestAdmission: the game's rules are asked, and the reason is told.
func TestAdmission(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		s, err := newSim(n, Options{Rules: Rules{Admit: func(v Visitor) error {
			if v.Client == 13 {
				return errors.New("thirteen is not welcome")
			}
			return nil
		}}})
		if err != nil {
			return err
		}
		defer s.close()
		bad := s.join("bad", 13, netsim.Cable, client.Options{})
		good := s.join("good", 1, netsim.Cable, client.Options{})
		n.Run(3 * time.Second)
		var end *client.EndError
		if !errors.As(bad.ended, &end) || end.Reason != wire.ReasonRules ||
			end.Note != "thirteen is not welcome" {
			s.fail("%v", bad.ended)
		}
		if good.Phase() != client.Playing {
			s.fail("good is %v", good.Phase())
		}
		return s.err
	})
}

// TestTwoLinksOneSeat: the same person comes by another link; the old connection is ended, the seat
// is the same.
func TestTwoLinksOneSeat(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 1})
	one, two, home := n.Endpoint("one"), n.Endpoint("two"), n.Endpoint("home")
	s, err := New(Options{Title: &game.Title{Game: yard}, Links: []link.Link{one, two},
		Conn: conn.Options{Wall: wall}})
	must(t, err)
	defer s.Close()
	join := func(l *netsim.Endpoint) *client.Client {
		tok, err := s.Token(7, nil, time.Hour)
		must(t, err)
		tok.Servers = nil
		c, err := client.New(client.Options{Title: &game.Title{Game: yard}, Link: home, Token: tok,
			Servers: addrs(l)})
		must(t, err)
		return c
	}
	var err1, err2 error
	a := join(one)
	for range 60 {
		n.Run(yard.TickLength())
		err1 = a.Frame(n.Now(), nil).Err
		must(t, s.Tick(n.Now()))
	}
	if a.Phase() != client.Playing || err1 != nil {
		t.Fatalf("%v, %v", a.Phase(), err1)
	}
	home = n.Endpoint("away")
	b := join(two)
	for range 120 {
		n.Run(yard.TickLength())
		err1, err2 = a.Frame(n.Now(), nil).Err, b.Frame(n.Now(), nil).Err
		must(t, s.Tick(n.Now()))
	}
	var end *client.EndError
	if b.Phase() != client.Playing || err2 != nil || b.Player() != a.Player() ||
		!errors.As(err1, &end) || end.Reason != conn.ReasonReplaced {
		t.Errorf("%v, %v, player %d; the first %v", b.Phase(), err2, b.Player(), err1)
	}
	if p := s.Population(); p.Players != 1 || p.Connections != 1 {
		t.Errorf("%+v", p)
	}
	ledger := s.Ledger()
	if ledger.Total() != s.Counters().SentBytes {
		t.Errorf("%d bytes are booked, and %d were sent", ledger.Total(), s.Counters().SentBytes)
	}
}

type giant struct{ Blob [400]int }

func (x *giant) Sync(s *bits.Sync) {
	for i := range x.Blob {
		s.Int(&x.Blob[i], 0, 1<<30)
	}
}

func (x *giant) Step(w *world.World, me world.ID) {
	for i := range x.Blob {
		x.Blob[i] = w.Rand().IntN(1 << 30)
	}
}

// TestGiantsAreReported: an entity that fits into no packet is named by its class; in production
// the others are shown all the same.
func TestGiantsAreReported(t *testing.T) {
	giants := world.Define("giants", world.Class[giant](), world.Class[walker](),
		world.Commands[walk](),
		world.OnStart(func(w *world.World) { world.Spawn(w, giant{}) }),
		world.OnJoin(func(w *world.World, p world.Player) {
			w.SetOwner(world.Spawn(w, walker{}), p)
		}))
	for _, develop := range []bool{false, true} {
		t.Run(fmt.Sprint("develop=", develop), func(t *testing.T) {
			n := netsim.New(netsim.Options{Seed: 1})
			s, err := newSim(n, Options{Title: &game.Title{Game: giants}, Develop: develop})
			must(t, err)
			defer s.close()
			a := s.join("a", 1, netsim.LAN, client.Options{})
			n.Run(3 * time.Second)
			if develop {
				if s.err == nil || !strings.Contains(s.err.Error(), "class giant") {
					t.Errorf("%v", s.err)
				}
				return
			}
			must(t, s.err)
			if s.count(GameError) != 1 || !errors.Is(s.news[len(s.news)-1].Err, ErrTooLarge) {
				t.Errorf("%v", s.news)
			}
			if walkerOf(a.Truth(), 1) == nil || a.snaps < 30 {
				t.Errorf("the walker is not shown, in %d snapshots", a.snaps)
			}
		})
	}
}

// TestIdleClientsCostLittle: in a world in which nothing happens a client who does nothing is sent
// at most 60 bytes a second, and one that only watches sends as little.
func TestIdleClientsCostLittle(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 1})
	s, err := newSim(n, Options{Title: yardTitle(0, 200, 0)})
	must(t, err)
	defer s.close()
	player := s.join("player", 1, netsim.Cable, client.Options{})
	player.quiet = true
	watcher := s.join("watcher", 2, netsim.Cable, client.Options{Spectate: true})
	n.Run(5 * time.Second)
	const seconds = 20
	before := [2]conn.Ledger{player.Ledger(), watcher.Ledger()}
	n.Run(seconds * time.Second)
	after := [2]conn.Ledger{player.Ledger(), watcher.Ledger()}
	must(t, s.err)
	for i, name := range []string{"the player", "the spectator"} {
		down := float64(after[i].Received-before[i].Received) / seconds
		up := float64(after[i].Total()-before[i].Total()) / seconds
		t.Logf("%s: %.1f bytes a second down, %.1f up", name, down, up)
		if down > 60 || up > 80 {
			t.Errorf("%s: %.1f bytes a second down, %.1f up", name, down, up)
		}
	}
	if got := s.server.Seat(1).Commands(); got.Repeated > 10 {
		t.Errorf("%d commands of one who rests are taken for missing", got.Repeated)
	}
	player.makeMove = func(world.Tick) walk { return walk{X: 1} }
	n.Run(time.Second)
	if steps := walkerOf(s.server.World(), 1).Steps; steps < 50 {
		t.Errorf("%d steps in the second after the rest", steps)
	}
	player.makeMove = nil
	n.Run(3 * time.Second)
	at := walkerOf(s.server.World(), 1).Steps
	n.Run(time.Second)
	if steps := walkerOf(s.server.World(), 1).Steps; steps != at {
		t.Errorf("%d more steps after the player let go", steps-at)
	}
}
