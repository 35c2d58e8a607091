package server

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A control watches whether what a player does has an effect: in how many ticks in a row the world
// had to make up its command.
type control struct {
	worst, now int
	from       world.Tick
	seen       world.Tick
}

// watch looks at each tick of the settled world.
func (k *control) watch(g *league, p world.Player) {
	for t := max(k.seen+1, k.from); t <= g.settled(); t++ {
		k.seen = t
		w := g.past[t%64]
		if w == nil || w.Tick() != t || !w.Present(p) {
			continue
		}
		if k.now++; !w.Repeated(p) {
			k.now = 0
		}
		k.worst = max(k.worst, k.now)
	}
}

// percentile of a list that is not empty.
func percentile(list []int, p int) int {
	slices.Sort(list)
	return list[min(len(list)*p/100, len(list)-1)]
}

// TestFailover: a server dies without a word. Its clients go on at another within two seconds, with
// the same body, nothing vanishes from view, and nothing is told twice.
func TestFailover(t *testing.T) {
	lossy := netsim.Cable
	lossy.Name, lossy.Up.Loss, lossy.Down.Loss = "lossy", 0.15, 0.15
	for _, c := range networks(netsim.Cable, netsim.WiFi, netsim.LTE, lossy) {
		t.Run(c.Name, func(t *testing.T) {
			var without []int
			simtest.Alone(t, 2, func(n *netsim.Net) error {
				g, err := newLeague(n, 3, Options{Title: near(100)})
				if err != nil {
					return err
				}
				defer g.close()
				var controls []*control
				for i := range 4 {
					b := g.join(string(rune('a'+i)), uint64(i+1), c, g.members[i%2],
						client.Options{})
					b.moves = func(t world.Tick) walk {
						return walk{X: 1, Fire: uint64(t)%40 == b.id}
					}
					k := &control{}
					controls = append(controls, k)
					b.frame = func() { k.watch(g, b.Player()) }
				}
				if !g.playing(20 * time.Second) {
					g.fail("not all are playing")
					return g.err
				}
				n.Run(3 * time.Second)
				players := map[*mover]world.Player{}
				for i, b := range g.bots {
					players[b] = b.Player()
					b.begun, b.blank = 0, 0
					*controls[i] = control{from: g.w.Tick()}
				}
				n.Run(time.Duration(n.Rand().IntN(1000)) * time.Millisecond)
				g.members[0].kill()
				n.Run(8 * time.Second)
				for i, b := range g.bots {
					dead := i%2 == 0
					switch {
					case b.ended != nil:
						g.fail("%s ended: %v", b.end.Name(), b.ended)
					case b.Phase() != client.Playing || b.home() == nil || b.home().dead:
						g.fail("%s is %v", b.end.Name(), b.Phase())
					case b.Player() != players[b]:
						g.fail("%s was player %d, and is %d", b.end.Name(), players[b], b.Player())
					case b.begun != 0 || b.blank != 0:
						g.fail("%s: %d worlds began anew, and %d frames were without the player",
							b.end.Name(), b.begun, b.blank)
					case dead && b.Stats().Moves == 0:
						g.fail("%s stayed where nobody is", b.end.Name())
					case !dead && b.Stats().Moves != 0:
						g.fail("%s left a server that works", b.end.Name())
					case dead && controls[i].worst > 120:
						g.fail("%s was without control for %d ticks", b.end.Name(),
							controls[i].worst)
					}
					if dead {
						without = append(without, controls[i].worst)
					}
				}
				if err := g.settle(5 * time.Second); err != nil {
					return err
				}
				for _, b := range g.bots {
					if !slices.Equal(b.saved, g.bots[1].saved) {
						g.fail("%s was told %d saved events, and %s %d", b.end.Name(), len(b.saved),
							g.bots[1].end.Name(), len(g.bots[1].saved))
					}
				}
				return g.err
			})
			if len(without) > 0 {
				t.Logf("ticks without control after a server died: median %d, p95 %d, most %d",
					percentile(without, 50), percentile(without, 95), slices.Max(without))
			}
		})
	}
}

// TestMoveOnPurpose: a client that is asked to goes on elsewhere without losing control for longer
// than a snapshot's interval in the median.
func TestMoveOnPurpose(t *testing.T) {
	for _, c := range networks(netsim.Cable, netsim.WiFi, netsim.LTE) {
		t.Run(c.Name, func(t *testing.T) {
			var without, dark []int
			simtest.Alone(t, 2, func(n *netsim.Net) error {
				g, err := newLeague(n, 2, Options{Title: near(100)})
				if err != nil {
					return err
				}
				defer g.close()
				g.ahead = 12
				b := g.join("b", 1, c, g.members[0], client.Options{})
				other := g.join("other", 2, c, g.members[1], client.Options{})
				if !g.playing(20 * time.Second) {
					g.fail("not all are playing")
					return g.err
				}
				n.Run(3 * time.Second)
				b.begun, b.blank, b.gap = 0, 0, 0
				k := &control{from: g.w.Tick()}
				b.frame = func() { k.watch(g, b.Player()) }
				for i := range 6 {
					at := g.members[(i+1)%2]
					b.home().server.Move(b.home().server.Seat(1), at.end.PublicAddr())
					if !n.RunUntil(5*time.Second,
						func() bool { return b.home() == at && b.Stats().Moves == uint64(i+1) }) {
						g.fail("move %d did not happen: %v, %d moves", i, b.Phase(),
							b.Stats().Moves)
						return g.err
					}
					n.Run(time.Second)
					without, dark = append(without, k.worst),
						append(dark, int(b.gap/yard.TickLength()))
					k.worst, b.gap = 0, 0
				}
				switch {
				case b.begun != 0 || b.blank != 0:
					g.fail("%d worlds began anew, and %d frames were without the player", b.begun,
						b.blank)
				case other.Stats().Moves != 0:
					g.fail("the other one moved, too")
				case len(g.members[0].freed)+len(g.members[1].freed) != 0:
					g.fail("the player was given up by a server that was left")
				}
				n.Run(6 * time.Second) // for servers to forget those who left
				for i, m := range g.members {
					if m.server.Population() != (Population{Players: 2 * i, Connections: 2 * i}) &&
						m.server.Population() != (Population{Players: 1, Connections: 1}) {
						g.fail("%s has %+v", m.end.Name(), m.server.Population())
					}
				}
				return g.settle(5 * time.Second)
			})
			if len(without) == 0 {
				return
			}
			t.Logf("ticks without control in a move: median %d, p95 %d, most %d; without a "+
				"snapshot: median %d, most %d",
				percentile(without, 50), percentile(without, 95), slices.Max(without),
				percentile(dark, 50), slices.Max(dark))
			if m := percentile(without, 50); m > 3 {
				t.Errorf("the median of ticks without control is %d, a snapshot's interval is 3", m)
			}
		})
	}
}

// TestDrain: before maintenance everyone goes elsewhere, newcomers too, and then the server stops
// without anyone noticing.
func TestDrain(t *testing.T) {
	simtest.Alone(t, 2, func(n *netsim.Net) error {
		g, err := newLeague(n, 3, Options{Title: near(100)})
		if err != nil {
			return err
		}
		defer g.close()
		for i := range 6 {
			g.join(string(rune('a'+i)), uint64(i+1), netsim.Cable, g.members[0],
				client.Options{Spectate: i == 5})
		}
		if !g.playing(20 * time.Second) {
			g.fail("not all are playing")
			return g.err
		}
		n.Run(2 * time.Second)
		g.members[0].server.Drain()
		n.Run(time.Second)
		late := g.join("late", 9, netsim.Cable, g.members[0], client.Options{})
		n.Run(4 * time.Second)
		for _, b := range g.bots {
			if b.ended != nil || b.Phase() != client.Playing || !b.Watching() &&
				b.home() == g.members[0] {
				g.fail("%s is %v: %v", b.end.Name(), b.Phase(), b.ended)
			}
		}
		if late.Stats().Moves != 1 {
			g.fail("the late one moved %d times", late.Stats().Moves)
		}
		for i, m := range g.members[1:] {
			if p := m.server.Population(); p.Players+p.Spectators < 1 || p.Away != 0 {
				g.fail("server %d has %+v", i+2, p)
			}
		}
		n.Run(4 * time.Second)
		if p := g.members[0].server.Population(); p.Players+p.Spectators+p.Connections != 0 {
			g.fail("the drained server has %+v", p)
		}
		g.members[0].server.Shutdown("maintenance")
		n.Run(3 * time.Second)
		g.members[0].kill()
		n.Run(3 * time.Second)
		return g.settle(3 * time.Second)
	})
}

// TestShutdownSendsEveryoneOn: who is told that the server stops does not wait until it is silent.
func TestShutdownSendsEveryoneOn(t *testing.T) {
	simtest.Alone(t, 2, func(n *netsim.Net) error {
		g, err := newLeague(n, 2, Options{Title: near(100)})
		if err != nil {
			return err
		}
		defer g.close()
		b := g.join("b", 1, netsim.Cable, g.members[0], client.Options{Silence: -1})
		if !g.playing(20 * time.Second) {
			g.fail("not playing")
			return g.err
		}
		n.Run(2 * time.Second)
		b.begun, b.blank = 0, 0
		g.members[0].server.Shutdown("for good")
		n.Run(1500 * time.Millisecond)
		if b.home() != g.members[1] || b.Phase() != client.Playing || b.Stats().Moves != 1 ||
			b.begun+b.blank != 0 {
			g.fail("%v at %v, %d moves, %d blank", b.Phase(), b.home().end.Name(), b.Stats().Moves,
				b.blank)
		}
		return g.settle(3 * time.Second)
	})
}

// TestSilenceThatPasses: a path that stands still for a while makes clients look elsewhere, and
// wherever they end up they play, once, in the same body.
func TestSilenceThatPasses(t *testing.T) {
	simtest.Alone(t, 4, func(n *netsim.Net) error {
		g, err := newLeague(n, 2+n.Rand().IntN(2), Options{Title: near(100)})
		if err != nil {
			return err
		}
		defer g.close()
		b := g.join("b", 1, netsim.WiFi, g.members[0], client.Options{})
		other := g.join("other", 2, netsim.WiFi, g.members[1], client.Options{})
		if !g.playing(20 * time.Second) {
			g.fail("not all are playing")
			return g.err
		}
		n.Run(2 * time.Second)
		player := b.Player()
		b.begun, b.blank = 0, 0
		for range 6 {
			at := g.members[n.Rand().IntN(len(g.members))]
			long := time.Duration(400+n.Rand().IntN(1500)) * time.Millisecond
			switch n.Rand().IntN(4) {
			case 0:
				n.Cut(b.end, at.end)
			case 1:
				n.CutOneWay(b.end, at.end)
			case 2:
				n.CutOneWay(at.end, b.end)
			case 3:
				for _, m := range g.members {
					n.Cut(b.end, m.end)
				}
				n.Run(long)
				for _, m := range g.members {
					n.Heal(b.end, m.end)
				}
				continue
			}
			n.Run(long)
			n.Heal(b.end, at.end)
			n.Run(time.Duration(n.Rand().IntN(2000)) * time.Millisecond)
		}
		n.Run(5 * time.Second)
		h := g.holders[1]
		if b.ended != nil || b.Phase() != client.Playing || b.Player() != player || h == nil ||
			h.player != player || b.Moving() {
			g.fail("%v (%v), player %d, was %d; %d moves, %d failed", b.Phase(), b.ended,
				b.Player(), player, b.Stats().Moves, b.Stats().Failed)
		}
		if b.begun+b.blank != 0 {
			g.fail("%d worlds began anew, %d frames without the player", b.begun, b.blank)
		}
		if other.Stats().Moves != 0 || other.ended != nil {
			g.fail("the other one moved")
		}
		seats := 0
		for _, m := range g.members {
			if m.server.Seat(1) != nil {
				seats++
			}
		}
		if seats != 1 {
			g.fail("the player has %d seats", seats)
		}
		return g.settle(8 * time.Second)
	})
}

// A tether is a link that reaches one address alone, as those of browsers do.
type tether struct {
	*netsim.Endpoint
	to netip.AddrPort
}

func (l tether) Send(batch []link.Datagram) (int, error) {
	for i := range batch {
		if batch[i].Addr != l.to {
			return i, link.ErrNoPeer
		}
		if err := l.SendTo(batch[i].Addr, batch[i].Data); err != nil {
			return i, err
		}
	}
	return len(batch), nil
}

// TestLinksThatReachOneServer: without a way to dial, the client stays where it is for as long as
// that works, and ends cleanly when it does not; with one, it goes on.
func TestLinksThatReachOneServer(t *testing.T) {
	for _, dials := range []string{"not", "fails", "works"} {
		t.Run(dials, func(t *testing.T) {
			simtest.Alone(t, 2, func(n *netsim.Net) error {
				g, err := newLeague(n, 2, Options{})
				if err != nil {
					return err
				}
				defer g.close()
				o := client.Options{Return: 4 * time.Second, Conn: shortTimeout}
				made := 0
				dial := func(p wire.Server) (link.Link, error) {
					made++
					if dials == "fails" {
						return nil, fmt.Errorf("no route to %v", p.Addr)
					}
					e := n.Endpoint(fmt.Sprintf("dialled%d", made))
					for _, m := range g.members {
						n.Connect(e, m.end, netsim.Cable)
					}
					return tether{e, p.Addr}, nil
				}
				if dials != "not" {
					o.Dial = dial
				}
				o.Link = tether{n.Endpoint("b"), g.members[0].end.PublicAddr()}
				b := g.join("b", 1, netsim.Cable, g.members[0], o)
				if !g.playing(20 * time.Second) {
					g.fail("not playing")
					return g.err
				}
				n.Run(time.Second)
				g.members[0].server.Move(g.members[0].server.Seat(1), g.members[1].end.PublicAddr())
				n.Run(3 * time.Second)
				at := g.members[0]
				if dials == "works" {
					at = g.members[1]
				}
				if b.home() != at || b.Phase() != client.Playing || b.Moving() {
					g.fail("%v at %s, moving %v", b.Phase(), b.home().end.Name(), b.Moving())
				}
				at.kill()
				n.Run(12 * time.Second)
				switch {
				case dials == "works":
					if made != 2 || b.home() != g.members[0] || b.Phase() != client.Playing {
						g.fail("%d links were made, %v at %s", made, b.Phase(), b.home().end.Name())
					}
				case b.ended == nil:
					g.fail("the client goes on, with nobody there: %v", b.Phase())
				}
				return g.err
			})
		})
	}
}
