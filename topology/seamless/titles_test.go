package seamless

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/world"
)

// The bundled games run in zones, with bots, as they are, while a server dies: everyone is
// somewhere, and the rules do nothing to what is not theirs.
func TestTitles(t *testing.T) {
	for _, c := range []struct {
		title   *game.Title
		zones   int
		reach   float64
		players int
	}{{crowd.Title, 4, crowd.Sight, 30}, {arena.Title, 3, 20, 8}, {pong.Title, 2, 0.5, 2}} {
		t.Run(c.title.Name(), func(t *testing.T) {
			s := newSim(t, 21, c.title, c.zones, c.reach)
			bots := func(o *Options) { o.Bots = func(world.Player) bool { return true } }
			for range 3 {
				s.start(bots)
			}
			s.at(150)
			players := s.join(s.all[2], c.players)
			s.at(400)
			s.all[0].kill()
			s.at(700)
			for z, b := range s.owned() {
				if n := b.w.Host().Undone(); n > 0 || b.faults.strange > 0 || b.faults.rules > 0 {
					t.Errorf("zone %d: %d changes were undone; %+v", z, n, b.faults)
				}
			}
			if _, _, ok := c.title.Body(); !ok {
				return
			}
			s.until("everyone is somewhere", 5*time.Second, func() bool {
				all := map[world.Player]int{}
				for _, b := range s.owned() {
					for who := range b.w.Players {
						if b.players.here(who) {
							all[who]++
						}
					}
				}
				for _, who := range players {
					if all[who] != 1 {
						return false
					}
				}
				return len(all) == len(players)
			})
			t.Logf("%+v", s.stats())
		})
	}
}
