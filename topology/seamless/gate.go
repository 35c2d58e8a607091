package seamless

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// A Gate is what a gateway sees of a world in zones, and says to it: one world, as of one tick,
// made of what the zones in view show; the commands of its players, which find their zones; who
// they are. Its methods belong to the goroutine that polls its Member.
type Gate struct {
	n     *node
	opt   *GateOptions
	level game.Level
	w     *world.World
	sight sight
	watch wish
	tale  tale
	who   guests
	due   outgoing
	stats GateStats
}

// GateOptions are for Options.Gate.
type GateOptions struct {
	// Public is where clients reach the gateway, and Room how many players it takes: other gateways
	// tell their clients.
	Public netip.AddrPort
	Room   int
	// Reach is how far players see, along each axis. Default: Title.Sight.Reach; where there is
	// none either, a gateway is shown the whole world.
	Reach float64

	level game.Level
}

// GateStats count what a gate has met.
type GateStats struct {
	Feeds, FeedBytes uint64 // that came from zones
	Jumps            uint64 // ticks that were never shown, as they were lost
	Ages             [agesCounted]uint64
	// Events that were provisional, and what became of them.
	Provisional, Confirmed, Retracted uint64
	// LateCommands came to their zone when the tick was computed, as that has said.
	LateCommands uint64
	Refused      uint64 // entities for which there was no room
	Strange      uint64 // what zones showed that cannot be
}

const (
	// standsStill is after what time without a word a zone is taken to stand still.
	standsStill = 250 * time.Millisecond
	// laggard is by how many ticks the world here waits for a zone that is behind the others.
	laggard = 4
)

func newGate(n *node) (*Gate, error) {
	o := n.opt
	g := &Gate{n: n, opt: o.Gate, level: o.Gate.level}
	s, err := o.Title.Settings(g.level)
	if err != nil {
		return nil, err
	}
	s.Partial = true
	if g.w, err = o.Title.Game.TryNew(s); err != nil {
		return nil, fmt.Errorf("seamless: %w", err)
	}
	for id := range g.w.Entities() { // where the game is now, zones say
		g.w.Host().Drop(id)
	}
	g.sight.open()
	g.watch.open(o, n.head.Plan)
	g.tale.open()
	g.who.open()
	g.due.open()
	return g, nil
}

// Level is what the world started from, as clients make its beginning.
func (g *Gate) Level() game.Level { return g.level }

// World is what zones have shown, as of its tick. It is partial, and good until Advance.
func (g *Gate) World() *world.World { return g.w }

// Ready says whether home has shown itself, so that there is something to see.
func (g *Gate) Ready() bool {
	v := g.sight.find(g.n.head.Plan.Home)
	return v != nil && v.tick > 0
}

// Shown is how many entities zones show here.
func (g *Gate) Shown() int { return len(g.sight.all) }

// Plan is how space is divided.
func (g *Gate) Plan() *Plan { return g.n.head.Plan }

// Stats give the totals so far.
func (g *Gate) Stats() GateStats { return g.stats }

// Open is the first tick for which commands still come in time. It never goes back.
func (g *Gate) Open() world.Tick {
	t := world.Tick(g.n.zones.Due(g.n.now+g.due.margin)) + 1
	g.due.opened = max(g.due.opened, t)
	return g.due.opened
}

// Advance brings the world to the newest tick that all zones in view have shown, and says whether
// it is another one than before. A zone that says nothing for a quarter of a second is not waited
// for, nor is more than a few ticks.
func (g *Gate) Advance() bool {
	to := g.reach()
	if to <= g.w.Tick() {
		return false
	}
	if to != g.w.Tick()+1 {
		g.stats.Jumps++
		g.sight.jumped = true
	}
	g.w.Host().Turn(to)
	for _, v := range g.sight.views {
		g.apply(v, to)
	}
	g.expire()
	g.publish(to)
	g.watch.update(g)
	g.acknowledge()
	return true
}

// reach is the tick to which the world can go.
func (g *Gate) reach() world.Tick {
	now, newest, least := g.n.now, world.Tick(0), world.Tick(0)
	for _, v := range g.sight.views {
		if now-v.heard > standsStill {
			continue
		}
		newest = max(newest, v.latest)
		if v.shows() && (least == 0 || v.latest < least) {
			least = v.latest
		}
	}
	if least == 0 {
		return newest
	}
	return max(least, newest-min(newest, laggard))
}

// Standing lists the zones that say nothing, and so stand still as far as can be seen from here.
func (g *Gate) Standing() (list []zone.ID) {
	for _, id := range g.n.head.Plan.Zones() {
		if v := g.sight.find(id); v == nil || g.n.now-v.heard > 2*standsStill {
			list = append(list, id)
		}
	}
	return list
}

// Leading is what became known since the last call, for replica.Publisher.PublishLeading.
func (g *Gate) Leading() replica.Leading {
	l := replica.Leading{Again: g.sight.jumped, Settled: g.tale.settled, Events: g.tale.out}
	g.sight.jumped, g.tale.out = false, nil
	return l
}

// A GateInfo is another gateway.
type GateInfo struct {
	Name    string
	Address netip.AddrPort
	Players int
	Room    int
}

// Others lists the other gateways of which the map has had word lately.
func (g *Gate) Others() (list []GateInfo) {
	for _, x := range g.n.directory.known {
		i := &x.info
		if i.Gate.IsValid() && g.n.now-x.since < 3*g.n.opt.Silence {
			list = append(list, GateInfo{i.Name, i.Gate, i.Players, i.Room})
		}
	}
	slices.SortFunc(list, func(a, b GateInfo) int { return a.Address.Compare(b.Address) })
	return list
}

// take takes what another server says to a gateway.
func (g *Gate) take(from zone.ServerID, kind byte, r *reader) {
	switch kind {
	case saysFeed:
		g.fed(from, r)
	case saysSeated:
		g.seated(r)
	case saysUnseated:
		g.unseated(r)
	case saysChat:
		g.spoken(r)
	}
}

// outgoing are the commands of this gateway's players.
type outgoing struct {
	margin time.Duration // by how much commands leave before their tick is computed
	easeAt time.Duration
	opened world.Tick
	of     map[world.Player]*sender
	buf    []byte
}

// sender is what one player commanded last, and where it went.
type sender struct {
	last  [3][]byte // the newest first
	zone  zone.ID   // where the player's body is shown
	tick  world.Tick
	was   zone.ID // and was before, until a tick
	until world.Tick
	// about are the other zones that the player may be in at any moment.
	about []zone.ID
}

const (
	leastMargin = 3 * time.Millisecond
	// bothTicks is for how many ticks commands go to the old zone of a player as well.
	bothTicks = 30
)

func (o *outgoing) open() { o.margin, o.of = leastMargin, map[world.Player]*sender{} }

func (o *outgoing) find(who world.Player) *sender {
	s := o.of[who]
	if s == nil {
		s = &sender{}
		o.of[who] = s
	}
	return s
}

// shown notes in which zone what a player moves about in was shown.
func (o *outgoing) shown(who world.Player, in zone.ID, t world.Tick) {
	s := o.find(who)
	if t < s.tick {
		return
	}
	if s.zone != in {
		s.was, s.until = s.zone, t+bothTicks
	}
	s.zone, s.tick = in, t
}

// Command brings what a player of this gateway does at a tick, with what was shown, to the zone
// where the player is; to those where the player may be when it counts; and to the one where the
// player was, for a moment. Each message has the last
// few, so that one that is lost is not missed.
func (g *Gate) Command(who world.Player, t world.Tick, image []int32, seen *world.Sight) {
	s := g.due.find(who)
	s.last[0], s.last[1], s.last[2] = s.last[2], s.last[0], s.last[1]
	s.last[0] = writeIntent(s.last[0][:0], t, image, seen)
	b := g.due.buf[:0]
	for i := len(s.last) - 1; i >= 0; i-- {
		if len(s.last[i]) > 0 {
			b = putBytes(b, s.last[i])
		}
	}
	g.due.buf = b
	to := cmp.Or(s.zone, g.n.asking.where[who], g.n.head.Plan.Home)
	g.n.bring(brought{origin: g.n.opt.Self, to: to, who: who, command: b, intents: true})
	if s.was != 0 && s.was != to && s.tick < s.until && !slices.Contains(s.about, s.was) {
		g.n.bring(brought{origin: g.n.opt.Self, to: s.was, who: who, command: b, intents: true})
	}
	for _, z := range s.about {
		if z != to {
			g.n.bring(brought{origin: g.n.opt.Self, hops: staysThere, to: z, who: who, command: b,
				intents: true})
		}
	}
}

// lag adapts by how much commands leave early.
func (o *outgoing) lag(now, length time.Duration, late bool) {
	if late {
		o.margin, o.easeAt = min(o.margin+time.Millisecond, 2*length), now+10*time.Second
	} else if now >= o.easeAt {
		o.margin, o.easeAt = max(o.margin-time.Millisecond/4, leastMargin), now+time.Second
	}
}

// tend does what is due of a gate beside advancing.
func (g *Gate) tend() {
	g.who.tend(g)
	g.watch.tell(g)
	g.due.lag(g.n.now, g.n.opt.Title.Game.TickLength(), false)
}
