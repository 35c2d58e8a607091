package server

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// TestEngineShowsAWorldThatIsTakenBack: the engine is given each command once and in time, its
// world is taken back all the time, and every client sees it as it is in the end.
func TestEngineShowsAWorldThatIsTakenBack(t *testing.T) {
	for _, c := range networks(netsim.Cable, netsim.WiFi, netsim.Awful) {
		t.Run(c.Name, func(t *testing.T) {
			simtest.Run(t, 2, func(n *netsim.Net) error {
				g, err := newLeague(n, 2, Options{Title: near(100)})
				if err != nil {
					return err
				}
				defer g.close()
				g.strict = true
				for i := range 4 {
					b := g.join(string(rune('a'+i)), uint64(i+1), c, g.members[i%2],
						client.Options{})
					b.moves = func(t world.Tick) walk {
						return walk{X: 1, Fire: uint64(t)%40 == b.id}
					}
				}
				if !g.playing(20 * time.Second) {
					g.fail("not all are playing")
					return g.err
				}
				n.Run(10 * time.Second)
				for _, b := range g.bots {
					counts := b.home().server.Seat(b.id).Commands()
					if counts.Taken < 100 || c.Name != netsim.Awful.Name &&
						(counts.Taken < 400 || counts.Repeated > counts.Taken/4) {
						g.fail("%s: %+v", b.end.Name(), counts)
					}
				}
				if err := g.settle(10 * time.Second); err != nil {
					return err
				}
				saved := g.bots[0].saved
				for _, b := range g.bots {
					if len(b.saved) < 20 || !slices.Equal(b.saved, saved) {
						g.fail("%s was told %d saved events, another %d", b.end.Name(),
							len(b.saved), len(saved))
					}
				}
				return g.err
			})
		})
	}
}

// TestEngineAnswersClaims: who is denied is told so, who gets no answer is turned away after a
// while, who leaves is released at once and who is lost after a minute. Spectators ask for nothing
// until they want to play.
func TestEngineAnswersClaims(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		g, err := newLeague(n, 1,
			Options{KeepSeat: 10 * time.Second, Limits: Limits{Greeting: 3 * time.Second}})
		if err != nil {
			return err
		}
		defer g.close()
		m := g.members[0]
		if err := m.server.Change(Level{Name: "other"}); err == nil ||
			!strings.Contains(err.Error(), "Engine") {
			g.fail("the level of an engine was changed: %v", err)
		}
		m.server.SetPaused(true, "test")
		if m.server.Paused() {
			g.fail("the world of an engine was paused")
		}
		m.deny = true
		denied := g.join("denied", 1, netsim.Cable, m, client.Options{})
		n.Run(2 * time.Second)
		m.deny, m.mute = false, true
		unheard := g.join("unheard", 2, netsim.Cable, m, client.Options{})
		n.Run(5 * time.Second)
		m.mute = false
		stays := g.join("stays", 3, netsim.Cable, m, client.Options{})
		leaves := g.join("leaves", 4, netsim.Cable, m, client.Options{})
		lost := g.join("lost", 5, netsim.Cable, m, client.Options{Return: -1})
		watches := g.join("watches", 6, netsim.Cable, m, client.Options{Spectate: true})
		n.Run(2 * time.Second)
		want := func(ok bool, format string, args ...any) {
			if !ok {
				g.fail(format, args...)
			}
		}
		var end *client.EndError
		want(errors.As(denied.ended, &end) && end.Reason == wire.ReasonRules &&
			end.Note == "not today", "who was denied: %v", denied.ended)
		want(errors.As(unheard.ended, &end) && end.Reason == wire.ReasonNoSeat,
			"who got no answer: %v", unheard.ended)
		want(slices.Equal(m.freed, []uint64{2}), "claims given up: %v", m.freed)
		want(stays.Phase() == client.Playing && stays.Player() != world.Nobody &&
			stays.Name() == "stays", "stays is %v, player %d, %q", stays.Phase(), stays.Player(),
			stays.Name())
		want(watches.Phase() == client.Playing && watches.Player() == world.Nobody && m.claims == 5,
			"watches is %v, there were %d claims", watches.Phase(), m.claims)
		watches.SetSpectating(false)
		leaves.Leave()
		n.Cut(lost.end, m.end)
		n.Run(12 * time.Second)
		want(watches.Player() != world.Nobody && watches.body() != nil,
			"who wanted to play is player %d", watches.Player())
		want(slices.Equal(m.freed, []uint64{2, 4}), "given up after one left: %v", m.freed)
		watches.SetSpectating(true)
		n.Run(15 * time.Second)
		want(slices.Equal(m.freed, []uint64{2, 4, 6, 5}), "given up in the end: %v", m.freed)
		want(watches.Player() == world.Nobody && m.w.Present(stays.Player()) &&
			!m.w.Present(lost.Player()), "who is there: %v", slices.Collect(m.w.Players))
		return g.settle(3 * time.Second)
	})
}

// TestEngineGrantsWhoIsGone: a seat for someone whose connection was lost while the engine thought
// about it is kept for them.
func TestEngineGrantsWhoIsGone(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		g, err := newLeague(n, 1, Options{Conn: shortTimeout})
		if err != nil {
			return err
		}
		defer g.close()
		m := g.members[0]
		g.decide = time.Second
		b := g.join("b", 1, netsim.Cable, m, client.Options{Conn: shortTimeout})
		if !n.RunUntil(5*time.Second, func() bool { return m.claims == 1 }) {
			g.fail("no claim")
		}
		n.Run(300 * time.Millisecond) // for the ticket to come
		n.Cut(b.end, m.end)
		n.Run(4 * time.Second)
		seat := m.server.Seat(1)
		if seat == nil || !seat.Away() {
			g.fail("no seat is kept: %+v", seat)
			return g.err
		}
		n.Heal(b.end, m.end)
		n.Run(4 * time.Second)
		if b.Phase() != client.Playing || b.Player() != seat.Player || m.claims != 1 {
			g.fail("%v (%v) as player %d, after %d claims", b.Phase(), b.ended, b.Player(),
				m.claims)
		}
		// What the engine says twice changes nothing, and what it gives to another is taken away
		// here.
		m.says = append(m.says, Decision{Kind: Grant, Client: 1, Player: seat.Player},
			Decision{Kind: Grant, Client: 2, Player: seat.Player, Name: "ghost"})
		n.Run(yard.TickLength())
		if m.server.Seat(1) != nil || m.server.SeatOf(seat.Player).Name != "ghost" {
			g.fail("two seats have one player")
		}
		return g.err
	})
}

// TestEngineOfAGameUnderWay: a server that is added later shows the game as it is, to those who
// come and to those who move there, who are told of all that was saved.
func TestEngineOfAGameUnderWay(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		g, err := newLeague(n, 1, Options{Title: near(100)})
		if err != nil {
			return err
		}
		defer g.close()
		b := g.join("b", 1, netsim.Cable, g.members[0], client.Options{})
		b.moves = func(t world.Tick) walk { return walk{X: 1, Fire: uint64(t)%40 == 0} }
		n.Run(6 * time.Second)
		m, err := g.add()
		if err != nil {
			return err
		}
		n.Run(time.Second)
		if len(b.Servers()) != 1 {
			g.fail("the client knows of %v", b.Servers())
		}
		g.members[0].server.Move(g.members[0].server.Seat(1), m.end.PublicAddr())
		late := g.join("late", 2, netsim.Cable, m, client.Options{})
		n.Run(4 * time.Second)
		if b.home() != m || b.Stats().Moves != 1 || b.begun != 1 || late.home() != m {
			g.fail("%d moves, %d worlds", b.Stats().Moves, b.begun)
		}
		if err := g.settle(4 * time.Second); err != nil {
			return err
		}
		if len(b.saved) < 10 || len(late.saved) != len(b.saved) {
			g.fail("one was told %d saved events, the other %d", len(b.saved), len(late.saved))
		}
		return g.err
	})
}
