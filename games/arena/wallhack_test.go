package arena

import (
	"os"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

const (
	// wallhackReach is how near an estimate has to be: two and a half bodies.
	wallhackReach = 2.0
	// wallhackGain is by how much, of a hundred, estimates may be better that use all that a client
	// is sent, than those of its own eyes and ears.
	wallhackGain = 2.0
)

// TestWallHack plays each map with bots. Some of the clients cheat: they estimate where those are
// who are hidden from them, not in their view at that tick. One estimate is fed with everything
// that the client is sent, commands and events and images; the other only with the images of what
// is in view, what may be heard, and the map. The first must be hardly better than the second.
func TestWallHack(t *testing.T) {
	for _, c := range []struct {
		level          string
		players, ticks int
	}{{"duel", 4, 2400}, {"foundry", 10, 800}, {"maze", 14, 400}} {
		t.Run(c.level, func(t *testing.T) {
			h, least := newHunt(t, c.level, c.players, 3), 500
			switch {
			case testing.Short(): // there is one goroutine
				c.ticks, least = c.ticks/10, 50
			case os.Getenv("COEVAL_SOAK") != "":
				c.ticks = 5 * 60 * rate
			}
			for range c.ticks {
				h.tick()
			}
			all, own := h.found[1].share(), h.found[0].share()
			t.Logf("%s: hidden players found within %v units, of %d: %.1f %% with all that is "+
				"sent, %.1f %% by eyes, ears and the map; seed %d", c.level, wallhackReach,
				h.found[0].tries, all, own, huntSeed)
			if h.found[0].tries < least {
				t.Errorf("only %d were looked for", h.found[0].tries)
			}
			if all > own+wallhackGain {
				t.Errorf("a client that uses all it is sent finds %.1f %% of those hidden from "+
					"it, and only %.1f %% by what it sees and hears", all, own)
			}
		})
	}
}

const huntSeed = 31

// A tally is how many of the hidden were found.
type tally struct{ tries, hits int }

func (n *tally) share() float64 { return 100 * float64(n.hits) / float64(max(n.tries, 1)) }

// A hunt is a match of bots, of whom the first few cheat.
type hunt struct {
	t      *testing.T
	w      *world.World
	in     *world.Inputs
	bots   []*Bot
	pub    *replica.Publisher
	views  game.Views
	find   *interest.Finder
	worker *replica.Worker
	spies  []*cheat
	bodies map[world.Player]world.ID
	found  [2]tally // by their own view, and by everything
}

// A cheat is one of them, with what it was sent.
type cheat struct {
	h     *hunt
	me    world.Player
	s     *replica.Sender
	r     *replica.Receiver
	w     *world.World
	view  interest.View
	eye   interest.Observer
	spies [2]*spy
	sent  uint64
	sync  bits.Sync
	in    *world.Inputs // to read commands by
}

func newHunt(t *testing.T, level string, players, cheats int) *hunt {
	t.Helper()
	h := &hunt{t: t, in: Game.NewInputs(), find: interest.NewFinder(),
		bodies: map[world.Player]world.ID{}}
	l := game.Level{Name: level, Seed: huntSeed, Secret: huntSeed + 1}
	settings, err := Title.Settings(l)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	endless(&settings)
	h.w, err = Game.New(settings)
	check(err)
	p, err := Title.Protocol(replica.Coeval)
	check(err)
	h.pub, err = replica.NewPublisher(p, h.w)
	check(err)
	h.views, err = Title.NewViews(h.w, l)
	check(err)
	h.worker = replica.NewWorker(p)
	for i := range players {
		h.in.Join(world.Player(i + 1))
		h.bots = append(h.bots, NewBot(uint64(huntSeed+i)))
	}
	for i := range cheats {
		c := &cheat{h: h, me: world.Player(i + 1), in: Game.NewInputs()}
		for k := range c.spies {
			c.spies[k] = &spy{greedy: k == 1, of: map[world.Player]*estimate{}, seed: huntSeed}
		}
		c.s = replica.NewSender(h.pub, replica.SenderOptions{Player: c.me})
		c.r = replica.NewReceiver(p, replica.ReceiverOptions{Tick: h.w.Tick()})
		s := settings
		s.Partial, s.States = true, nil
		c.w, err = Game.New(s)
		check(err)
		h.spies = append(h.spies, c)
	}
	return h
}

// tick plays a tick. Each cheat is sent a snapshot at every third.
func (h *hunt) tick() {
	for i, b := range h.bots {
		p := world.Player(i + 1)
		if h.w.Present(p) {
			if err := world.Give(h.in, p, b.Think(h.w, p)); err != nil {
				h.t.Fatal(err)
			}
		}
	}
	if err := h.w.Host().Step(h.in); err != nil {
		h.t.Fatal(err)
	}
	h.in.Reset()
	if err := h.pub.Publish(h.w); err != nil {
		h.t.Fatal(err)
	}
	if err := h.views.Follow(h.w); err != nil {
		h.t.Fatal(err)
	}
	for id := range world.All[Fighter](h.w) {
		h.bodies[h.w.Owner(id)] = id
	}
	m := world.StateOf[Match](h.w)
	for i, c := range h.spies {
		for _, y := range c.spies {
			for p := range h.bodies {
				y.about(p, m.level).advance(&m.work.scene, now(h.w))
			}
		}
		if int(h.w.Tick())%3 == i%3 {
			c.serve()
			c.measure(m)
		}
	}
}

// serve sends a snapshot, which always arrives, and has the estimates take it in.
func (c *cheat) serve() {
	h := c.h
	index, rules := h.views.Sight(h.w, c.me, &c.eye)
	if h.find.Update(&c.view, index, rules, c.eye) {
		c.s.Look(&c.view)
	}
	c.s.Encode(h.worker, replica.Room{Packet: 1150, Budget: 1 << 14})
	for _, m := range c.s.Messages() {
		if err := c.r.Message(m); err != nil {
			h.t.Fatal(err)
		}
	}
	for i := range c.s.Staged() {
		c.sent++
		c.s.Sent(i, c.sent)
		if err := c.r.Packet(c.s.Packet(i)); err != nil {
			h.t.Fatal(err)
		}
		c.s.Arrived(c.sent)
	}
	m := world.StateOf[Match](h.w).level
	for _, e := range c.r.Events() {
		c.event(m, &e, c.spies[1])
		if err := e.Deliver(c.w); err != nil {
			h.t.Fatal(err)
		}
	}
	for s := c.r.Next(); s != nil; s = c.r.Next() {
		c.snapshot(m, s)
	}
	for _, y := range c.spies {
		y.see(c.w, m)
	}
}

func (c *cheat) snapshot(m *Map, s *replica.Snapshot) {
	c.w.Host().SetTick(s.Tick)
	for _, u := range s.Updates {
		if u.What != replica.Held {
			c.w.Host().Drop(u.ID)
		} else if err := c.w.Host().Put(u.ID, u.Entry, u.Image); err != nil {
			c.h.t.Fatal(err)
		}
	}
	for i := range s.Events {
		for _, y := range c.spies {
			c.event(m, &s.Events[i], y)
		}
	}
	for _, r := range s.Commands {
		e := c.spies[1].about(r.Player, m)
		if e.driven = r.Image != nil; e.driven {
			if err := c.in.GiveImage(r.Player, r.Image); err != nil {
				c.h.t.Fatal(err)
			}
			e.cmd, _ = world.Given[Command](c.in, r.Player)
		}
	}
}

func (c *cheat) event(m *Map, e *replica.Event, y *spy) {
	if e.Retracted {
		return
	}
	v := Game.Events()[e.Kind].New()
	c.sync.StartRead(e.Fields())
	v.Sync(&c.sync)
	if err := c.sync.Err(); err != nil {
		c.h.t.Fatal(err)
	}
	at := det.Vec2{}
	if p := world.Get[Pickup](c.h.w, e.About); p != nil {
		at = p.Pos // the map says so
	}
	y.hear(m, c.me, c.h.w.Owner(e.About), v, at)
}

// measure looks how near the estimates of those are who are hidden and alive.
func (c *cheat) measure(m *Match) {
	h := c.h
	me := world.Get[Fighter](h.w, h.bodies[c.me])
	if me == nil {
		return
	}
	for p := world.Player(1); int(p) <= len(h.bots); p++ {
		id := h.bodies[p]
		f := world.Get[Fighter](h.w, id)
		if p == c.me || f == nil || c.view.Has(id) {
			continue
		}
		for k, y := range c.spies {
			e := y.about(p, m.level)
			e.unseen(&m.work.scene, me.Pos)
			if f.Alive() {
				h.found[k].tries++
				if e.best().Sub(f.Pos).LenSq() < wallhackReach*wallhackReach {
					h.found[k].hits++
				}
			}
		}
	}
}
