package replica

import (
	"testing"

	"github.com/coeval-dev/coeval/world"
)

// crowd is a site with clients who all walk about, driven without a network:
// every packet arrives after some ticks.
type crowd struct {
	*site
	guests []*guest
	flying [8][]arrival
	tick   int
}

type arrival struct {
	g       *guest
	carrier uint64
}

func newCrowd(b testing.TB, o Options, players, clients int) *crowd {
	c := &crowd{site: newSite(b, o, 1, players)}
	for i := range clients {
		g := newGuest(c.site, world.Player(i+1), 1)
		g.now = i
		c.guests = append(c.guests, g)
	}
	for range 200 {
		c.advance()
	}
	return c
}

// advance is one tick of a server.
func (c *crowd) advance() (entities int) {
	c.tick++
	c.step()
	for _, a := range c.flying[c.tick&7] {
		a.g.s.Arrived(a.carrier)
	}
	c.flying[c.tick&7] = c.flying[c.tick&7][:0]
	for _, g := range c.guests {
		if g.now++; g.now%3 == 0 {
			g.look()
			entities += g.encode(c)
		}
	}
	return entities
}

func (g *guest) encode(c *crowd) (entities int) {
	g.s.Encode(c.worker, Room{Packet: 1150, Budget: 2300})
	g.s.Messages()
	for i := range g.s.Staged() {
		entities += len(g.s.flights.staged[i].flight.Said)
		g.carrier++
		g.bytes += len(g.s.Packet(i))
		g.packets++
		g.s.Sent(i, g.carrier)
		at := (c.tick + 7) & 7
		c.flying[at] = append(c.flying[at], arrival{g, g.carrier})
	}
	return entities
}

// BenchmarkEncode is what a changed entity costs a server for each client that
// sees it, all included but the step of the game: interest, choice, coding and
// the handling of acknowledgements. B/snapshot is what compares strategies, as
// some send an entity more often than others; reliable messages are counted apart.
func BenchmarkEncode(b *testing.B) {
	for _, strategy := range everyStrategy {
		b.Run(strategy.String(),
			func(b *testing.B) { benchmarkEncode(b, Options{Strategy: strategy}) })
	}
}

// BenchmarkWithheld is the same where changes of walkers may stay untold: compare ns/op and
// B/snapshot, since what is not told takes time and is not counted as an entity.
func BenchmarkWithheld(b *testing.B) {
	b.Run("beyond", func(b *testing.B) { benchmarkEncode(b, Options{Classes: walkerBeyond}) })
	b.Run("takenover", func(b *testing.B) { benchmarkEncode(b, Options{Classes: walkerTakenOver}) })
}

func benchmarkEncode(b *testing.B, o Options) {
	c := newCrowd(b, o, 60, 60)
	for range 400 { // some keep twice 64 snapshots
		c.advance()
	}
	b.ReportAllocs()
	b.ResetTimer()
	entities, bytes, told, snapshots := 0, 0, 0, 0
	for _, g := range c.guests {
		bytes -= g.bytes
		told -= int(g.s.Ledger().Messages)
	}
	for range b.N {
		// The world stands still as far as the clock goes.
		b.StopTimer()
		c.tick++
		c.step()
		b.StartTimer()
		for _, a := range c.flying[c.tick&7] {
			a.g.s.Arrived(a.carrier)
		}
		c.flying[c.tick&7] = c.flying[c.tick&7][:0]
		for _, g := range c.guests {
			if g.now++; g.now%3 == 0 {
				g.s.Look(&g.view)
				entities += g.encode(c)
				snapshots++
			}
		}
	}
	for _, g := range c.guests {
		bytes += g.bytes
		told += int(g.s.Ledger().Messages)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(max(entities, 1)), "ns/entity")
	b.ReportMetric(float64(entities)/float64(b.N)/20, "entities/client")
	b.ReportMetric(float64(bytes)/float64(max(entities, 1)), "B/entity")
	b.ReportMetric(float64(bytes)/float64(max(snapshots, 1)), "B/snapshot")
	b.ReportMetric(float64(told)/float64(max(snapshots, 1)), "message-B/snapshot")
}
