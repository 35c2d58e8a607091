package seamless

import (
	"time"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// ZoneNumbers are how one zone of a server does.
type ZoneNumbers struct {
	Zone zone.ID
	// Tick is the last that was computed, Durable the last that the journal has. Behind is how many
	// ticks are due that are not computed.
	Tick, Durable world.Tick
	Behind        world.Tick
	Epoch         uint64
	Entities      int
	Ghosts        int
	Players       int
	// GhostAge is how many ticks old the oldest is of what zones nearby show.
	GhostAge world.Tick
	// Busy is which part of a tick's time a tick takes, on average over about a second, Worst the
	// longest of the last 600 at least, and Over how many took longer than their time.
	Busy  float64
	Worst time.Duration
	Over  uint64
	// Thin is by how many halvings the zone has lowered the rates at which it shows what is far.
	Thin int
	// Ages counts what other zones showed by how many ticks old it was when it was taken into a
	// tick, beyond the one tick that it takes; the last is for all that was older.
	Ages [agesCounted]uint64
	// Waiting is how many actions and events wait for room to leave.
	Waiting int
	// Rules counts ticks in which the rules did something wrong, and Undone what was taken back of
	// what they did to ghosts. Wrong is the last of it.
	Rules  uint64
	Undone int
	Wrong  error
	// Refused counts entities that were sent back as there was no room here, Large ticks in which
	// one could not leave as it is too large, Strange what came and cannot be, Dropped actions that
	// were given up.
	Refused, Large, Strange, Dropped uint64
}

// Numbers are how a server does.
type Numbers struct {
	Zones []ZoneNumbers
	// Protocol counts what package zone has met, hand-overs and how late they were among it.
	Protocol zone.Stats
	// Lines count what passes between servers.
	Lines LineStats
	// JournalDelay is how long it took until a tick was durable: the mean and the longest of the
	// last second.
	JournalDelay, JournalWorst time.Duration
	// LateTicks counts ticks that were computed after the one behind them was due.
	LateTicks uint64
	// Others is how many other servers there are, Strange what they said that makes no sense.
	Others  int
	Strange uint64
}

// meter measures.
type meter struct {
	zones   map[zone.ID]*metered
	players int
	late    uint64
	strange uint64

	from         time.Duration // of the second that is measured
	sum, worst   time.Duration
	count        int
	delay, depth time.Duration // of the last one
}

// metered is when the ticks of a zone were computed that are not durable.
type metered struct {
	tick, durable zone.Tick
	at            []time.Duration // of those behind durable
}

func (m *meter) open() { m.zones = map[zone.ID]*metered{} }

// look takes note of where the zones are.
func (m *meter) look(n *node) {
	m.players = 0
	views := n.zones.Zones()
	for _, v := range views {
		m.players += v.Body.(*body).census.players
		z := m.zones[v.Zone]
		if z == nil || v.Tick < z.tick || v.Durable < z.durable {
			z = &metered{tick: v.Tick, durable: v.Durable}
			m.zones[v.Zone] = z
			if v.Durable < v.Tick {
				z.durable = v.Tick
			}
		}
		due := n.zones.Due(n.now)
		for z.tick < v.Tick {
			z.tick++
			z.at = append(z.at, n.now)
			if z.tick < due {
				m.late++
			}
		}
		for z.durable < v.Durable && len(z.at) > 0 {
			d := n.now - z.at[0]
			z.durable++
			z.at = append(z.at[:0], z.at[1:]...)
			m.sum, m.worst, m.count = m.sum+d, max(m.worst, d), m.count+1
		}
	}
	if len(m.zones) > len(views) {
		for id := range m.zones {
			if n.body(id) == nil {
				delete(m.zones, id)
			}
		}
	}
	if n.now-m.from >= time.Second {
		m.delay, m.depth = m.sum/time.Duration(max(m.count, 1)), m.worst
		m.from, m.sum, m.worst, m.count = n.now, 0, 0, 0
	}
}

// numbers sums up.
func (n *node) numbers() Numbers {
	m := &n.meter
	x := Numbers{Protocol: n.zones.Stats(), Lines: n.lines.stats, JournalDelay: m.delay,
		JournalWorst: m.depth, LateTicks: m.late, Strange: m.strange,
		Others: len(n.directory.others(n, false))}
	due := world.Tick(n.zones.Due(n.now))
	for _, v := range n.zones.Zones() {
		b := v.Body.(*body)
		z := ZoneNumbers{Zone: v.Zone, Tick: world.Tick(v.Tick), Durable: world.Tick(v.Durable),
			Epoch: v.Epoch, Entities: b.census.entities, Ghosts: b.census.ghosts,
			Players: b.census.players, Ages: b.ages, Waiting: len(b.out.acts) + len(b.out.events),
			Rules: b.faults.rules, Undone: b.w.Host().Undone(), Wrong: b.faults.last,
			Refused: b.faults.refused, Large: b.faults.large, Strange: b.faults.strange,
			Dropped: b.faults.dropped, Busy: b.pace.busy, Worst: max(b.pace.worst, b.pace.past),
			Over: b.pace.over, Thin: b.pace.thin}
		if due > z.Tick {
			z.Behind = due - z.Tick
		}
		for _, view := range b.views {
			if b.isNear(view.zone) && view.tick < z.Tick {
				z.GhostAge = max(z.GhostAge, z.Tick-view.tick)
			}
		}
		x.Zones = append(x.Zones, z)
	}
	return x
}
