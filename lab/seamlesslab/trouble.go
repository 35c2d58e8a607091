//go:build !js

package seamlesslab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab"
)

// Outages are for how long zones stood still after faults of a kind.
type Outages struct {
	What   string  `json:"what" head:"what happened"`
	Times  int     `json:"times" head:"times"`
	Zones  int     `json:"zones" head:"zones"`
	Median float64 `json:"p50_s" head:"stood still, median" as:"?%.2f s"`
	P95    float64 `json:"p95_s" head:"- p95" as:"?%.2f s"`
	Most   float64 `json:"most_s" head:"- the longest" as:"?%.2f s"`
	Stuck  int     `json:"stuck" head:"that did not go on"`

	all  []time.Duration
	want float64
}

// A fault is one thing that can go wrong with processes.
type fault struct {
	what string
	want float64 // seconds until zones go on, at p95; 0 for none
	// do does it, and says which zones have to go on, and since when they stand still. What is to
	// follow is in trouble.after.
	do     func(t *trouble) (zones []uint32, since time.Time, err error)
	broker bool // it needs several brokers
	stops  bool // it needs that processes can be made to stand still
	rare   bool
}

// trouble is what goes wrong in a session.
type trouble struct {
	*session
	ctx    context.Context
	chance *rand.Rand
	after  []func() error // when zones have gone on
}

var kinds = []fault{
	{what: "a server is killed", want: 1.5, do: (*trouble).killServer},
	{what: "a server stands still", do: (*trouble).stopServer, stops: true},
	{what: "a server is cut from the others", do: (*trouble).cutLinks},
	{what: "a server is cut from the brokers", do: (*trouble).cutBrokers},
	{what: "a server is cut from all", do: (*trouble).cutAll},
	{what: "a broker is killed", do: (*trouble).killBroker, broker: true},
	{what: "a server and a broker are killed", want: 10, do: (*trouble).killBoth, broker: true},
	{what: "all are killed, and started from disk", want: 10, do: (*trouble).killAll, rare: true},
}

// trouble has faults happen, one after the other, and says how long zones stood still.
func (s *session) trouble(ctx context.Context, faults int, p lab.Progress) ([]Outages, error) {
	t := &trouble{session: s, ctx: ctx, chance: rand.New(rand.NewPCG(s.o.Seed, 24))}
	var able []int
	for i := range kinds {
		k := &kinds[i]
		if (k.stops && !canStop) || k.broker && s.o.Nodes < 3 || k.rare {
			continue
		}
		able = append(able, i)
	}
	list := make([]Outages, len(kinds))
	for n := range faults {
		if s.o.Game == "" && s.tick() >= uint64(s.spec.Quiet) {
			s.note("%d of %d faults happened; then all purses stood still", n, faults)
			break
		}
		i := able[n%len(able)]
		if n%20 == 19 || n == faults-1 && faults > len(able) {
			i = len(kinds) - 1
		}
		p.Tell(0.1+0.8*float64(n)/float64(faults), kinds[i].what)
		next := time.Now().Add(s.o.Every)
		if err := t.one(&kinds[i], &list[i]); err != nil {
			return t.sum(list), fmt.Errorf("%s: %w", kinds[i].what, err)
		}
		if err := sleep(ctx, time.Until(next)); err != nil {
			return t.sum(list), err
		}
	}
	return t.sum(list), nil
}

// note adds to what is told at the end.
func (s *session) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.news = append(s.news, fmt.Sprintf(format, args...))
}

// sum makes figures of what was measured.
func (t *trouble) sum(list []Outages) (out []Outages) {
	for i := range list {
		o := &list[i]
		if o.Times == 0 {
			continue
		}
		o.What, o.want, o.Zones = kinds[i].what, kinds[i].want, len(o.all)
		o.Median, o.P95, o.Most = seconds(o.all, 0.5), seconds(o.all, 0.95), seconds(o.all, 1)
		out = append(out, *o)
	}
	return out
}

// one does a fault, and waits until zones go on and all is as before.
func (t *trouble) one(f *fault, o *Outages) error {
	t.mu.Lock()
	t.steps = t.steps[:0]
	t.mu.Unlock()
	t.after = nil
	zones, since, err := f.do(t)
	if err != nil {
		return err
	}
	o.Times++
	stood := map[uint32]time.Duration{}
	err = t.wait(t.ctx, "zones go on", time.Minute, func() bool {
		for _, x := range t.steps {
			if _, ok := stood[x.Zone]; !ok && x.At.After(since) && slices.Contains(zones, x.Zone) {
				stood[x.Zone] = x.At.Sub(since)
			}
		}
		return len(stood) == len(zones)
	})
	o.Stuck += len(zones) - len(stood)
	for _, d := range stood {
		o.all = append(o.all, d)
	}
	if err != nil {
		return err
	}
	for _, do := range t.after {
		if err := do(); err != nil {
			return err
		}
	}
	return t.wait(t.ctx, "all is as before", time.Minute, func() bool {
		for _, p := range slices.Concat(t.servers, t.brokers) {
			if p.killed || p.last.At.IsZero() {
				return false
			}
		}
		return t.steady()
	})
}

// kill ends a process.
func (s *session) kill(p *process) {
	s.mu.Lock()
	p.killed = true
	s.mu.Unlock()
	p.kill()
}

// some is a server that has zones, with these, or any.
func (t *trouble) some() (i int, zones []uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.chance.IntN(len(t.servers))
	for k := range t.servers {
		i = (at + k) % len(t.servers)
		if zones = t.zonesOf(i); len(zones) > 0 {
			break
		}
	}
	return i, zones
}

// span draws a length of time.
func (t *trouble) span(least, most time.Duration) time.Duration {
	return least + time.Duration(t.chance.Int64N(int64(most-least)))
}

// again starts a server or a broker again.
func (t *trouble) again(start func(context.Context, int) error, i int) {
	t.after = append(t.after, func() error { return start(t.ctx, i) })
}

func (t *trouble) killServer() ([]uint32, time.Time, error) {
	i, zones := t.some()
	now := time.Now()
	t.kill(t.servers[i])
	t.again(t.startServer, i)
	return zones, now, nil
}

// stopServer has a server stand still for so long that others take its zones, as a rule.
func (t *trouble) stopServer() ([]uint32, time.Time, error) {
	i, zones := t.some()
	now, p := time.Now(), t.servers[i].cmd.Process
	if err := stop(p); err != nil {
		return nil, now, err
	}
	if err := sleep(t.ctx, t.span(500*time.Millisecond, 4*time.Second)); err != nil {
		return nil, now, err
	}
	return zones, now, resume(p)
}

// cutLinks cuts a server from the others. Its zones go on, without hand-overs.
func (t *trouble) cutLinks() ([]uint32, time.Time, error) {
	i, _ := t.some()
	d := t.span(500*time.Millisecond, 4*time.Second)
	t.servers[i].tell(order{CutLinks: d})
	return nil, time.Now(), sleep(t.ctx, d)
}

// cutBrokers cuts a server from what is kept. The others hear it, so that its zones stay with it.
// Without buddies nothing of them becomes durable meanwhile; with them they do not stand still.
func (t *trouble) cutBrokers() ([]uint32, time.Time, error) {
	i, zones := t.some()
	d := t.span(500*time.Millisecond, 4*time.Second)
	now := time.Now()
	t.servers[i].tell(order{CutBrokers: d})
	if t.o.Buddies {
		return nil, now, sleep(t.ctx, d)
	}
	return zones, now, nil
}

func (t *trouble) cutAll() ([]uint32, time.Time, error) {
	i, zones := t.some()
	d := t.span(2*time.Second, 5*time.Second)
	now := time.Now()
	t.servers[i].tell(order{CutBrokers: d, CutLinks: d})
	return zones, now, nil
}

func (t *trouble) killBroker() ([]uint32, time.Time, error) {
	i := t.chance.IntN(len(t.brokers))
	now := time.Now()
	t.kill(t.brokers[i])
	t.again(t.startBroker, i)
	// Which zones stand still depends on which streams this one led. It is waited for what comes.
	return nil, now, sleep(t.ctx, 3*time.Second)
}

func (t *trouble) killBoth() ([]uint32, time.Time, error) {
	i, zones := t.some()
	k := t.chance.IntN(len(t.brokers))
	now := time.Now()
	t.kill(t.servers[i])
	t.kill(t.brokers[k])
	t.again(t.startServer, i)
	t.again(t.startBroker, k)
	return zones, now, nil
}

// killAll ends everything, and starts it again from what brokers have on disk.
func (t *trouble) killAll() ([]uint32, time.Time, error) {
	for _, p := range slices.Concat(t.servers, t.brokers) {
		t.kill(p)
	}
	now := time.Now()
	for i := range t.brokers {
		if err := t.startBroker(t.ctx, i); err != nil {
			return nil, now, err
		}
	}
	for i := range t.servers {
		if err := t.startServer(t.ctx, i); err != nil {
			return nil, now, err
		}
	}
	return t.zones, now, nil
}
