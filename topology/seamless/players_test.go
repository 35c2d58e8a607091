package seamless

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// join lets players in by a server.
func (s *sim) join(x *simulated, count int) (list []world.Player) {
	s.t.Helper()
	for i := range count {
		x.ask(&request{nonce: uint64(x.opt.Self)<<32 | uint64(i) | s.rand.Uint64()<<40,
			then: func(who world.Player) { list = append(list, who) }})
	}
	s.until("players have joined", 10*time.Second, func() bool { return len(list) == count })
	return list
}

// has says in which zone a player's purse is, and where there.
func (s *sim) has(who world.Player) (at zone.ID, p *purse) {
	for z, b := range s.owned() {
		for id, x := range world.All[purse](b.w) {
			if b.w.Owner(id) == who && !b.w.Ghost(id) {
				if p != nil {
					s.t.Errorf("player %d has two purses", who)
				}
				at, p = z, x
			}
		}
	}
	return at, p
}

// Players join by one server, and what they command moves them over all borders, wherever they are.
// When they have left nothing of theirs is anywhere.
func TestPlayers(t *testing.T) {
	s := newSim(t, 4, goldTitle(), 4, goldReach)
	for range 3 {
		s.start(nil)
	}
	s.at(150)
	gate := s.start(func(o *Options) { o.Zones = -1 })
	players := s.join(gate, 8)
	seen := map[world.Player]bool{}
	for _, who := range players {
		if seen[who] || who == world.Nobody {
			t.Errorf("two players have the number %d", who)
		}
		seen[who] = true
	}
	steer := true
	corner := func(k int, who world.Player) (x, y int32) {
		return []int32{-1, 1, 1, -1}[(k+int(who))%4], []int32{-1, -1, 1, 1}[(k+int(who))%4]
	}
	round := 0
	gate.end.Every(16*ms, func() {
		for _, who := range players {
			if x, y := corner(round, who); steer {
				gate.command(who, []int32{x, y})
			}
		}
	})
	for round = range 5 {
		s.until("all are in their corners", 20*time.Second, func() bool {
			for _, who := range players {
				_, p := s.has(who)
				x, y := corner(round, who)
				if p == nil || !p.in(x, y) {
					return false
				}
			}
			return true
		})
	}
	steer = false
	gone := 0
	for _, who := range players {
		gate.ask(&request{who: who, then: func(world.Player) { gone++ }})
	}
	s.until("players have left", 10*time.Second, func() bool { return gone == len(players) })
	s.until("nothing is left of them", 10*time.Second, func() bool {
		for _, b := range s.owned() {
			for range b.w.Players {
				return false
			}
			if len(b.players.trails) > 0 {
				return false
			}
		}
		return true
	})
	for _, who := range players {
		if z, p := s.has(who); p != nil {
			t.Errorf("player %d still has a purse in zone %d", who, z)
		}
	}
	again := s.join(gate, 1)
	if seen[again[0]] {
		t.Errorf("number %d was given to another at once", again[0])
	}
}
