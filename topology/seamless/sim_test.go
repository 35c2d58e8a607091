package seamless

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

const ms = time.Millisecond

// sim is a cluster in virtual time: servers without goroutines, over a simulated network, with a
// store that is slow.
type sim struct {
	t     *testing.T
	title *game.Title
	net   *netsim.Net
	kept  *kept
	rand  *rand.Rand
	all   []*simulated
	epoch time.Time
	plan  *Plan
	news  map[zone.NoticeKind]int
	// hashes are those of zones after ticks, by whoever computed them.
	hashes map[string]uint64
	game   map[string]int // events of the game, by zone and number

	ordered int
	crash   *crash
	// mistakes says that things go wrong on purpose.
	mistakes bool
}

// simulated is one of its servers.
type simulated struct {
	*node
	end  *netsim.Endpoint
	work *worker
	dead bool
	// replaced says that another server was started for it.
	replaced bool
	stands   time.Duration // until when it does nothing
	batch    [64]link.Datagram
	out      []link.Datagram
	told     map[zone.ID]world.Tick
}

func newSim(t *testing.T, seed uint64, title *game.Title, zones int, reach float64) *sim {
	t.Helper()
	conditions := netsim.LAN
	if seed%3 == 0 {
		conditions = netsim.WiFi // late and lost
	}
	s := &sim{t: t, title: title, kept: newKept(), news: map[zone.NoticeKind]int{},
		hashes: map[string]uint64{}, game: map[string]int{},
		net:  netsim.New(netsim.Options{Seed: seed, Conditions: conditions}),
		rand: rand.New(rand.NewPCG(seed, 1))}
	t.Logf("seed %d", seed)
	var err error
	s.plan, err = Found(t.Context(), FoundOptions{Title: title, Cluster: s.kept, Zones: zones,
		Reach: reach, Level: game.Level{Name: title.Levels.First(), Seed: seed, Secret: seed + 1}})
	if err != nil {
		t.Fatal(err)
	}
	h, _, err := readHeader(t.Context(), s.kept.Map())
	if err != nil {
		t.Fatal(err)
	}
	s.epoch = time.Unix(0, h.Zero)
	return s
}

// start adds a server.
func (s *sim) start(change func(*Options)) *simulated {
	s.t.Helper()
	x := &simulated{told: map[zone.ID]world.Tick{}}
	x.end = s.net.Endpoint(fmt.Sprint("server ", len(s.all)))
	o := &Options{Title: s.title, Cluster: s.kept, Link: x.end, Keys: []token.Key{{7}},
		Self: zone.ServerID(len(s.all) + 1), Seed: [32]byte{byte(len(s.all) + 1)}, virtual: true}
	o.News = func(n News) {
		s.news[n.Kind]++
		if n.Kind == zone.Gone {
			s.t.Log("GONE", n.Zone, n.Tick)
		}
		if n.Err != nil {
			s.t.Log(n.Zone, n.Tick, n.Err)
		}
	}
	o.Event = func(z zone.ID, number uint64, e world.Emitted, _ []byte) {
		s.game[fmt.Sprint(z, " ", number, " ", e.By, e.Tick, e.Ordinal)]++
	}
	if change != nil {
		change(o)
	}
	if err := o.fill(); err != nil {
		s.t.Fatal(err)
	}
	h, _, err := readHeader(s.t.Context(), s.kept.Map())
	if err != nil {
		s.t.Fatal(err)
	}
	if x.node, err = newNode(s.net.Now(), o, h, s.epoch); err != nil {
		s.t.Fatal(err)
	}
	x.work = newWorker(s.kept, func() {})
	x.end.Every(4*ms, func() { s.turn(x) })
	s.all = append(s.all, x)
	return x
}

// turn lives for a moment.
func (s *sim) turn(x *simulated) {
	if x.dead || x.stands > s.net.Now() {
		return
	}
	now := s.net.Now()
	for {
		k, err := x.end.Receive(x.batch[:])
		if err != nil {
			s.t.Fatal(err)
		}
		x.receive(now, x.batch[:k])
		if k < len(x.batch) {
			break
		}
	}
	x.turn(now)
	s.compare(x)
	for _, t := range x.tasks(nil) {
		dies, done := s.crash.strikes(x, &t)
		if dies && !done {
			x.kill()
			return
		}
		var r result
		if t.Kind == zone.Append {
			r = x.work.append([]task{t})[0]
		} else {
			r = x.work.one(&t)
		}
		if dies {
			x.kill()
			return
		}
		s.answered(x, time.Duration(1+s.rand.IntN(6))*ms, &r)
	}
	x.out = x.flush(now, x.out[:0])
	if _, err := link.SendAll(x.end, x.out); err != nil {
		s.t.Fatal(err)
	}
}

// answered tells a server what came of something, after a while.
func (s *sim) answered(x *simulated, after time.Duration, r *result) {
	x.end.After(after, func() {
		switch now := s.net.Now(); {
		case x.dead:
		case x.stands > now:
			s.answered(x, x.stands-now, r)
		default:
			x.done(now, r)
			s.turn(x)
		}
	})
}

// compare looks whether whoever computes a tick comes to the same.
func (s *sim) compare(x *simulated) {
	for _, v := range x.zones.Zones() {
		b := v.Body.(*body)
		if x.told[v.Zone] == b.w.Tick() {
			continue
		}
		x.told[v.Zone] = b.w.Tick()
		if v.Tick > v.Durable {
			continue // it may never have happened
		}
		key, hash := fmt.Sprint(v.Zone, " ", b.w.Tick()), b.Hash()
		if was, ok := s.hashes[key]; ok && was != hash && !s.mistakes {
			s.t.Errorf("zone and tick %s: two servers came to different worlds", key)
		}
		s.hashes[key] = hash
	}
}

// kill ends a server without a word.
func (x *simulated) kill() {
	x.dead = true
	x.work.cancel()
}

// owned says which living server has each zone.
func (s *sim) owned() map[zone.ID]*body {
	list := map[zone.ID]*body{}
	for _, x := range s.all {
		if x.dead {
			continue
		}
		for _, v := range x.zones.Zones() {
			if list[v.Zone] == nil || list[v.Zone].w.Tick() < world.Tick(v.Tick) {
				list[v.Zone] = v.Body.(*body)
			}
		}
	}
	return list
}

// until runs until a condition holds.
func (s *sim) until(what string, most time.Duration, f func() bool) {
	s.t.Helper()
	if !s.net.RunUntil(most, f) {
		s.t.Fatalf("after %v it was still waited until %s", most, what)
	}
}

// at runs until all zones have come to a tick.
func (s *sim) at(tick world.Tick) {
	s.t.Helper()
	s.until(fmt.Sprint("all zones are at tick ", tick), time.Minute, func() bool {
		all := s.owned()
		for _, b := range all {
			if b.w.Tick() < tick {
				return false
			}
		}
		return len(all) == len(s.now().All())
	})
}
