package seamless

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// fleet is some servers over real sockets, in this process.
type fleet struct {
	t    *testing.T
	ctx  context.Context
	kept *kept
	wait sync.WaitGroup
	all  []*member

	mu     sync.Mutex
	halted []error
	events map[eventKey]int
}

type eventKey struct {
	zone   zone.ID
	number uint64
}

type member struct {
	*Server
	link link.Link
	end  context.CancelFunc
	dead bool
}

func newFleet(t *testing.T, zones int, level string) *fleet {
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	f := &fleet{t: t, ctx: ctx, kept: newKept(), events: map[eventKey]int{}}
	t.Cleanup(func() {
		cancel()
		f.wait.Wait()
		for _, m := range f.all {
			_ = m.link.Close()
		}
	})
	_, err := Found(ctx, FoundOptions{Title: goldTitle(), Cluster: f.kept, Zones: zones,
		Reach: goldReach, Level: game.Level{Name: level, Seed: 5, Secret: 6}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fleet) start(change func(*Options)) *member {
	f.t.Helper()
	l, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	o := Options{Title: goldTitle(), Cluster: f.kept, Link: l, Keys: []token.Key{{9}}, HashEvery: 1,
		Silence: 600 * time.Millisecond}
	o.News = func(n News) {
		if n.Kind == zone.Halted || n.Kind == zone.Failed {
			f.mu.Lock()
			f.halted = append(f.halted, n.Err)
			f.mu.Unlock()
		}
	}
	o.Event = func(z zone.ID, number uint64, _ world.Emitted, _ []byte) {
		f.mu.Lock()
		f.events[eventKey{z, number}]++
		f.mu.Unlock()
	}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, end := context.WithCancel(f.ctx)
	m := &member{Server: s, link: l, end: end}
	f.all = append(f.all, m)
	f.wait.Go(func() {
		if err := s.Run(ctx); err != nil && !errors.Is(err, link.ErrClosed) {
			f.t.Error(err)
		}
	})
	return m
}

// cut ends a server without a word to anyone.
func (m *member) cut() {
	m.dead = true
	_ = m.link.Close()
}

// until polls until a condition holds.
func (f *fleet) until(what string, ok func() bool) {
	f.t.Helper()
	for !ok() {
		if !pause(f.ctx, 20*time.Millisecond) {
			f.t.Fatalf("it was still waited until %s", what)
		}
	}
}

// each looks at all zones, each by the server that steps it.
func (f *fleet) each(look func(m *member, z zone.ID, b *body)) {
	for _, m := range f.all {
		if m.dead {
			continue
		}
		_ = m.Do(f.ctx, func() {
			if m.node == nil {
				return
			}
			for _, v := range m.node.zones.Zones() {
				look(m, v.Zone, v.Body.(*body))
			}
		})
	}
}

// at says whether all of so many zones have come to a tick.
func (f *fleet) at(zones int, tick world.Tick) func() bool {
	return func() bool {
		n := 0
		f.each(func(_ *member, _ zone.ID, b *body) {
			if b.w.Tick() >= tick {
				n++
			}
		})
		return n == zones
	}
}

// sums counts what is there.
func (f *fleet) sums() (purses, sum, gave, given int) {
	f.each(func(_ *member, _ zone.ID, b *body) {
		for id, p := range world.All[purse](b.w) {
			if !b.w.Ghost(id) {
				purses, sum, gave = purses+1, sum+p.Gold, gave+p.Gave
			}
		}
		if b.home() {
			given = world.StateOf[bank](b.w).Given
		}
	})
	return purses, sum, gave, given
}

// Real servers run a world; one is cut off, and its zones go on elsewhere, where each tick of its
// journal comes to the hash that it came to before. No gold is lost, and each gift is told of once.
func TestServerIsCut(t *testing.T) {
	t.Parallel()
	const zones = 4
	f := newFleet(t, zones, "200")
	for range 3 {
		f.start(nil)
	}
	f.until("all zones are stepped", f.at(zones, 60))
	var victim *member
	for _, m := range f.all {
		x, err := m.Numbers(f.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(x.Zones) > 0 && victim == nil {
			victim = m
		}
	}
	victim.cut()
	f.until("all zones are past the end", f.at(zones, 230))
	f.until("nothing is on its way", func() bool {
		n, gold, gave, given := f.sums()
		return n == goldPurses && gold == goldPurses*goldEach && gave == given
	})
	_, _, gave, _ := f.sums()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.halted) > 0 {
		t.Error("zones failed: ", f.halted)
	}
	if gave == 0 || len(f.events) != gave {
		t.Errorf("%d gifts, and %d events that tell of one", gave, len(f.events))
	}
	replayed := uint64(0)
	for _, m := range f.all {
		if !m.dead {
			x, _ := m.Numbers(f.ctx)
			replayed += x.Protocol.Replayed
		}
	}
	if replayed == 0 {
		t.Error("nothing was computed again")
	}
	t.Logf("%d gifts, %d ticks computed again", gave, replayed)
}

// A server that is stopped gives its zones to others before it goes; and players come and go over a
// server that has no zones.
func TestServerLeaves(t *testing.T) {
	t.Parallel()
	const zones = 3
	f := newFleet(t, zones, "100000")
	first := f.start(nil)
	f.until("the first has all zones", func() bool {
		return f.at(zones, 1)() && len(f.owned(first)) == zones
	})
	gate := f.start(func(o *Options) { o.Zones = -1 })
	var players []world.Player
	for range 3 {
		who, err := gate.Join(f.ctx)
		if err != nil {
			t.Fatal(err)
		}
		players = append(players, who)
	}
	second := f.start(nil)
	f.until("they know each other", func() bool {
		x, err := first.Numbers(f.ctx)
		return err == nil && x.Others == 2 && x.Lines.Open == 2
	})
	first.end()
	f.until("the second has all zones", func() bool { return len(f.owned(second)) == zones })
	first.dead = true
	for _, who := range players {
		x, y := int32(int(who)%2*2-1), int32(int(who)/2%2*2-1)
		f.until("a player is in its corner", func() bool {
			for _, who := range players {
				gate.Command(who, []int32{int32(int(who)%2*2 - 1), int32(int(who)/2%2*2 - 1)})
			}
			ok := false
			f.each(func(_ *member, _ zone.ID, b *body) {
				for id, p := range world.All[purse](b.w) {
					ok = ok || b.w.Owner(id) == who && !b.w.Ghost(id) && p.in(x, y)
				}
			})
			return ok
		})
		if err := gate.Leave(f.ctx, who); err != nil {
			t.Fatal(err)
		}
	}
	f.until("they are gone", func() bool { n, _, _, _ := f.sums(); return n == goldPurses })
}

// owned lists the zones of a server.
func (f *fleet) owned(m *member) (list []zone.ID) {
	_ = m.Do(f.ctx, func() { list = m.Zones() })
	return list
}

// A world that nobody has run for long goes on from where it was, and does not hurry after all that
// time.
func TestWorldStoodStill(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 2, "100")
	m := f.kept.Map()
	h, rev, err := readHeader(f.ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	h.Zero -= int64(time.Hour)
	data, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Set(f.ctx, worldKey, data, rev); err != nil {
		t.Fatal(err)
	}
	f.start(nil)
	f.start(nil)
	f.until("the world goes on", f.at(2, 60))
	f.each(func(_ *member, z zone.ID, b *body) {
		if b.w.Tick() > 100000 {
			t.Errorf("zone %d is at tick %d", z, b.w.Tick())
		}
	})
}
