package mirror

import (
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/world"
)

// inject has a mirror send a packet that it should not: one that its code would never make.
func (s *machine) inject(promise world.Tick, items ...item) {
	m := s.mirror
	p := header{promise: promise, have: min(promise, m.holds()), count: m.in.count}
	b := p.append(nil)
	for i := range items {
		var err error
		if b, err = m.codec.append(b, promise, &items[i]); err != nil {
			s.fail("%v", err)
		}
	}
	seq, err := m.group.node.Send(m.clock.steady, b)
	if err != nil {
		s.fail("%v", err)
	}
	m.in.sent = seq
}

// TestMirrorSpeaksForOthers: what a mirror commands for players that are not its own counts
// nowhere, and the worlds stay the same.
func TestMirrorSpeaksForOthers(t *testing.T) {
	simtest.Alone(t, 3, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 1, road, Options{})
		defer f.close()
		n.Run(time.Second)
		liar := f.machines[1].mirror
		var victim world.Player
		for _, h := range liar.roll.registry.list() {
			if h.owner() != liar.roll.self {
				victim = h.player
			}
		}
		before := f.machines[2].mirror.stats.Refused
		for range 20 {
			f.machines[1].inject(liar.in.promise,
				item{kind: itemGive, player: victim, tick: liar.decidable() + 1,
					image: neutralImage(liar.game)})
			n.Run(50 * time.Millisecond)
		}
		f.recovers(true)
		if got := f.machines[2].mirror.stats.Refused - before; got < 15 && f.err == nil {
			f.fail("only %d of 20 commands for another's player were refused", got)
		}
		return f.err
	})
}

// TestMirrorBreaksItsWord: a mirror that stamps ticks which it had promised to be over is dropped,
// and may join anew; it does so here, since it is only confused.
func TestMirrorBreaksItsWord(t *testing.T) {
	simtest.Alone(t, 3, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 1, road, Options{})
		defer f.close()
		n.Run(time.Second)
		liar := f.machines[1].mirror
		f.machines[1].inject(liar.in.promise-30,
			item{kind: itemGive, player: f.bots[1].Player(), tick: liar.in.promise - 20,
				image: neutralImage(liar.game)})
		id := liar.roll.self
		f.until(5*time.Second, "it is dropped", func() bool { return liar.roll.self != id })
		f.until(heal, "all mirrors serve in one group", f.whole)
		return f.err
	})
}

// TestMirrorIsNotUberserver: assignments by one that does not lead count nowhere.
func TestMirrorIsNotUberserver(t *testing.T) {
	simtest.Alone(t, 2, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 1, road, Options{})
		defer f.close()
		n.Run(time.Second)
		liar := f.machines[2].mirror
		h := liar.roll.registry.list()[0]
		f.machines[2].inject(liar.in.promise,
			item{kind: itemAssign, player: h.player, client: h.client, member: liar.roll.self,
				tick: liar.decidable() + 1, epoch: liar.roll.epoch, what: assignMove})
		f.recovers(true)
		for _, s := range f.machines[:2] {
			if s.mirror.roll.registry.players[h.player].owner() == liar.roll.self {
				f.fail("%s believes it", s.name)
			}
		}
		return f.err
	})
}

// TestLyingClock: a mirror tells the others a wrong time. They keep to their own, and the game goes
// on.
func TestLyingClock(t *testing.T) {
	if testing.Short() {
		t.Skip("it is one goroutine")
	}
	simtest.Alone(t, 3, func(n *netsim.Net) error {
		f := fleetOf(n, 4, 1, road, Options{})
		defer f.close()
		liar := f.machines[n.Rand().IntN(4)]
		liar.ahead = 120 * time.Millisecond
		start, groups := n.Now(), map[*machine]time.Duration{}
		for _, s := range f.machines {
			groups[s] = s.mirror.Now()
		}
		n.Run(10 * time.Second)
		for _, s := range f.machines {
			if d := s.mirror.Now() - groups[s] - (n.Now() - start); s != liar &&
				(d > 150*time.Millisecond || d < -150*time.Millisecond) {
				f.fail("%s was led %v astray", s.name, d)
			}
		}
		f.recovers(true)
		return f.err
	})
}

// TestRefusedAtTheDoor: another key, another game, nobody there: each ends with a reason that says
// what to do.
func TestRefusedAtTheDoor(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o *Options)
		want   string
	}{
		"key":      {func(o *Options) { o.Keys = []token.Key{{9}} }, "token"},
		"timeline": {func(o *Options) { o.Timeline = "ruled" }, "timeline"},
		"window":   {func(o *Options) { o.Delays.Window = 3 * time.Second }, "window"},
		"nobody":   {func(o *Options) { o.Ask = o.Ask[:1]; o.Ask[0] = netsimNowhere }, "answer"},
	} {
		t.Run(name, func(t *testing.T) {
			n := netsim.New(netsim.Options{Seed: 3})
			f := newFleet(n, Options{Patience: 3 * time.Second})
			defer f.close()
			f.launch("a", road)
			n.Run(300 * time.Millisecond)
			s := &machine{fleet: f, name: "b", between: n.Endpoint("mb"), public: n.Endpoint("sb")}
			n.Connect(s.between, f.machines[0].between, road)
			f.machines = append(f.machines, s)
			s.change = c.change
			s.start()
			f.until(20*time.Second, "it is turned away", func() bool { return s.ended != nil })
			if f.err != nil {
				t.Fatal(f.err)
			}
			if !strings.Contains(s.ended.Error(), c.want) {
				t.Errorf("it says %q, which does not speak of the %s", s.ended, c.want)
			}
		})
	}
}

func TestOptionsAreChecked(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 1})
	good := func() Options {
		f := newFleet(n, Options{})
		o := f.o
		o.Link, o.Address, o.Keys, o.Found = n.Endpoint("m"), n.Endpoint("m").PublicAddr(),
			[]token.Key{{1}}, true
		return o
	}
	for name, c := range map[string]func(o *Options){
		"Title":       func(o *Options) { o.Server.Title = nil },
		"no link":     func(o *Options) { o.Link = nil },
		"Address":     func(o *Options) { o.Address = netsimNowhere2 },
		"key":         func(o *Options) { o.Keys = nil },
		"nobody":      func(o *Options) { o.Found = false },
		"timeline":    func(o *Options) { o.Timeline = "warp" },
		"delays":      func(o *Options) { o.Delays.Lead = time.Second },
		"history":     func(o *Options) { o.History = time.Hour },
		"commands pa": func(o *Options) { o.SendEvery = time.Minute },
	} {
		o := good()
		c(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
