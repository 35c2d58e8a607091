package mirror

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/keep/keeptest"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// This file measures trades on mirrors that keep: from the tick in which one is asked for to the
// tick in which its answer is an input.

// A booth sells to the next one, again and again.
type booth struct {
	kept.Mark `world:"server"`
	Gold      int
	Next      world.ID
	Turn      uint16
	// Asked is the tick of its last trade, and Answered that in which it was done.
	Asked, Answered world.Tick
}

func (b *booth) Sync(s *bits.Sync) {
	s.Int(&b.Gold, 0, 1<<20)
	bits.Integer(s, &b.Next, 0, 1<<64-1)
	s.Uint16(&b.Turn, 0, 1<<16-1)
	bits.Integer(s, &b.Asked, 0, 1<<64-1)
	bits.Integer(s, &b.Answered, 0, 1<<64-1)
}

func (b *booth) Kept(k *kept.Fields) {
	k.Thing()
	k.Keep(&b.Gold)
}

// Step asks for a trade now and then, at ticks that have nothing to do with packets and flushes.
func (b *booth) Step(w *world.World, me world.ID) {
	if b.Loaded() && (uint64(w.Tick())*7919+uint64(b.Turn)*104729)%97 == 0 &&
		kept.Ask(w, sale{me, w.Tick()}, me, b.Next) == nil {
		b.Asked = w.Tick()
	}
}

// A sale is named by who sells and when.
type sale struct {
	By world.ID
	At world.Tick
}

func (q *sale) Sync(s *bits.Sync) {
	bits.Integer(s, &q.By, 0, 1<<64-1)
	bits.Integer(s, &q.At, 0, 1<<64-1)
}

type saleDone struct{ Left int }

func (a *saleDone) Sync(s *bits.Sync) { s.Int(&a.Left, 0, 1<<20) }

// executes is told of each sale that the store executes.
var executes func(sale)

var booths = &game.Title{
	Game: world.Define("booths", world.Class[booth](),
		kept.Declare(kept.Request(
			func(d *kept.Deal, q *sale) (saleDone, error) {
				from, to := kept.Party[booth](d, 0), kept.Party[booth](d, 1)
				from.Gold, to.Gold = from.Gold+1, to.Gold-1
				executes(*q)
				return saleDone{to.Gold}, nil
			},
			func(w *world.World, q *sale, _ *saleDone, _ error) {
				if b := world.Get[booth](w, q.By); b != nil {
					b.Answered = w.Tick()
				}
			})),
		world.OnStart(func(w *world.World) {
			var list []world.ID
			for i := range uint16(64) {
				list = append(list, world.Spawn(w, booth{Gold: 1 << 19, Turn: i}))
			}
			for i := range list {
				world.Get[booth](w, list[i]).Next = list[i^1]
				if err := kept.LoadAs(w, list[i], strconv.Itoa(i)); err != nil {
					panic(err)
				}
			}
		})),
}

// A groupedKeeper flushes once a second, as mirrors do by default, and at once if it is told to.
type groupedKeeper struct {
	*diskKeeper
	flush time.Duration // how long a flush takes
	safe  func()
}

func (k *groupedKeeper) Safe(world.Tick) { k.safe() }

func (k *groupedKeeper) Tick(w *world.World, in *world.Inputs, _ []keep.Seat) {
	if k.folder.Frame(&keep.Frame{Tick: w.Tick(), Inputs: in}) != nil || k.folder.Write() != nil {
		panic("a simulated disk without faults fails")
	}
}

// Hurry flushes what there is.
func (k *groupedKeeper) Hurry() {
	k.s.net.After(k.flush, func() {
		if !k.off {
			_ = k.folder.Sync()
		}
	})
}

// A bargain is a trade, and when each part of it was done, in ticks after it was asked for.
type bargain struct {
	asked                             world.Tick
	settled, safe, executed, answered float64
}

// A bazaar is mirrors that keep, with desks and one store.
type bazaar struct {
	*survivor
	store   kept.Memory
	took    time.Duration // by the store for each job
	slow    time.Duration // by the disk of the last mirror for a flush, if it is slow
	desks   map[*machine]*kept.Desk
	open    map[sale]*bargain
	done    []bargain
	busy    map[*machine]bool
	hurried map[*machine]world.Tick
	once    map[sale]bool
}

// newBazaar starts it, with a path of such conditions between any two mirrors.
func newBazaar(n *netsim.Net, mirrors int, path netsim.Conditions, slow time.Duration) *bazaar {
	o := Options{HashEvery: 4}
	o.Server.Title, o.Server.Level = booths, server.Level{Name: "one", Seed: n.Seed()}
	b := &bazaar{slow: slow, desks: map[*machine]*kept.Desk{}, open: map[sale]*bargain{},
		busy: map[*machine]bool{}, once: map[sale]bool{},
		hurried: map[*machine]world.Tick{}, took: 2 * time.Millisecond}
	b.survivor = &survivor{fleet: newFleet(n, o), keepers: map[*machine]*diskKeeper{},
		played: map[moment]bool{}}
	for i := range mirrors {
		s := &machine{fleet: b.fleet, name: string(rune('a' + i)),
			between: n.Endpoint("m" + strconv.Itoa(i)), public: n.Endpoint("s" + strconv.Itoa(i))}
		for _, other := range b.machines {
			n.Connect(s.between, other.between, path)
		}
		b.machines = append(b.machines, s)
		b.join(s)
		n.Run(50 * time.Millisecond)
		n.Every(time.Second, func() { _ = b.keepers[s].folder.Sync() })
	}
	b.until(20*time.Second, "all serve", b.whole)
	return b
}

// join starts a mirror with a desk.
func (b *bazaar) join(s *machine) {
	k, err := openKeeper(s, keeptest.New(b.net.Seed()<<8+uint64(len(b.machines))))
	if err != nil {
		b.fail("%v", err)
		return
	}
	d, err := kept.NewDesk(booths.Game, kept.Options{Owner: s.name, World: 7, Led: true})
	if err != nil || d.Open(context.Background(), &b.store) != nil {
		b.fail("%v", err)
		return
	}
	b.keepers[s], b.desks[s] = k, d
	disk := &groupedKeeper{k, 2 * time.Millisecond, func() { b.work(s) }}
	if len(b.machines) == 3 && b.slow != 0 {
		disk.flush = b.slow
	}
	s.change = func(o *Options) {
		o.Keeper = disk
		o.Settled = func(w *world.World, in *world.Inputs) {
			s.judge(w, in)
			b.settled(s, w)
		}
		o.Server.Ticked = func(server.Times) { b.serve(s) }
	}
	s.start()
}

// now is the time of a machine's world in ticks.
func (b *bazaar) now(s *machine) float64 {
	return float64(s.mirror.Now()) / float64(booths.Game.TickLength())
}

// settled is told each settled world of a mirror.
func (b *bazaar) settled(s *machine, w *world.World) {
	d := b.desks[s]
	d.SetEpoch(s.mirror.Decree())
	b.follow(s, w)
	d.Tick(w)
	if t := d.Wanted(); t > b.hurried[s] {
		b.hurried[s] = t
		s.mirror.Hurry()
	}
	b.work(s)
}

// follow notes which requests the one who leads sees, and sees no more.
func (b *bazaar) follow(s *machine, w *world.World) {
	if !s.mirror.leads() {
		return
	}
	for id, x := range world.All[booth](w) {
		q := sale{id, x.Asked}
		if x.Asked == w.Tick() {
			b.open[q] = &bargain{asked: q.At, settled: b.now(s)}
		}
		if y := b.open[q]; y != nil && x.Answered > x.Asked {
			y.answered = float64(x.Answered)
			b.done = append(b.done, *y)
			delete(b.open, q)
		}
	}
}

// work has the store do one job after the other.
func (b *bazaar) work(s *machine) {
	d, safe := b.desks[s], s.mirror.Safe()
	for q, x := range b.open {
		if x.safe == 0 && q.At <= safe && s.mirror.leads() {
			x.safe = b.now(s)
		}
	}
	if b.busy[s] {
		return
	}
	j := d.Take(safe)
	if j == nil {
		return
	}
	b.busy[s] = true
	b.net.After(b.took, func() {
		b.busy[s] = false
		if s.dead {
			return
		}
		executes = func(q sale) { b.executes(s, q) }
		d.Done(j, j.Run(context.Background(), &b.store))
		b.serve(s)
		b.work(s)
	})
}

// executes looks whether all disks have what a trade follows from.
func (b *bazaar) executes(s *machine, q sale) {
	if b.once[q] {
		b.fail("%s executes a trade of tick %d again", s.name, q.At)
	}
	b.once[q] = true
	if x := b.open[q]; x != nil {
		x.executed = b.now(s)
	}
	for _, other := range b.alive() {
		if k := b.keepers[other]; k.folder.Durable() < q.At {
			b.fail("%s executes what was asked for in tick %d, and the disk of %s has %d",
				s.name, q.At, other.name, k.folder.Durable())
		}
	}
}

// serve tells the world what the store has answered.
func (b *bazaar) serve(s *machine) {
	if d := b.desks[s]; d != nil && d.Answers() && s.mirror != nil && s.mirror.Server() != nil {
		_ = s.mirror.Server().Tell(d.Tell)
	}
}

// A part of what trades take, in ticks, in order.
type part []float64

func (b *bazaar) part(of func(*bargain) float64) (p part) {
	for i := range b.done {
		p = append(p, of(&b.done[i]))
	}
	slices.Sort(p)
	return p
}

func (p part) p99() float64 { return p[len(p)*99/100] }

func (p part) String() string {
	return fmt.Sprintf("%6.1f %6.1f %6.1f", p[len(p)/2], p.p99(), p[len(p)-1])
}

// TestTrades: on mirrors that keep, a trade is answered within three ticks after it was settled,
// two of which are the way from one mirror to another, and executed only when all disks have it.
func TestTrades(t *testing.T) {
	seeds, length := uint64(1), 12*time.Second
	if soak {
		seeds, length = 10, time.Minute
	}
	for _, c := range []struct {
		mirrors int
		path    string
	}{
		{1, "latency=30ms"},
		{2, "latency=30ms"},
		{3, "latency=30ms"},
		{3, "latency=30ms jitter=4ms loss=2% duplicate=1% reorder=1%"},
	} {
		path, err := netsim.ParseConditions(c.path)
		if err != nil {
			t.Fatal(err)
		}
		var all bazaar
		for seed := range seeds {
			n := netsim.New(netsim.Options{Seed: 22 + seed})
			b := newBazaar(n, c.mirrors, path, 0)
			n.Run(length)
			b.close()
			if b.err != nil {
				t.Fatal(b.err)
			}
			all.done = append(all.done, b.done...)
		}
		if len(all.done) < 100 {
			t.Fatalf("%d mirrors, %s: %d trades", c.mirrors, c.path, len(all.done))
		}
		t.Logf("%d mirrors, %s, %d trades; ticks at p50, p99 and most:", c.mirrors, c.path,
			len(all.done))
		say := func(what string, of func(*bargain) float64) part {
			p := all.part(of)
			t.Logf("  %-26s %v", what, p)
			return p
		}
		say("from asked to settled", func(x *bargain) float64 {
			return x.settled - float64(x.asked)
		})
		say("then on all disks", func(x *bargain) float64 { return x.safe - x.settled })
		say("then executed", func(x *bargain) float64 { return x.executed - x.safe })
		say("then an input", func(x *bargain) float64 { return x.answered - x.executed })
		if p := say("from settled to an input", func(x *bargain) float64 {
			return x.answered - x.settled
		}); p.p99() > 3.01 {
			t.Errorf("%d mirrors, %s: %.1f ticks at p99", c.mirrors, c.path, p.p99())
		}
	}
}

// TestTradesWait: trades wait for a disk that is slow, and go on when the überserver dies; none is
// executed before all disks have it, and none twice.
func TestTradesWait(t *testing.T) {
	path, err := netsim.ParseConditions("latency=10ms jitter=4ms loss=2% duplicate=1% reorder=1%")
	if err != nil {
		t.Fatal(err)
	}
	n := netsim.New(netsim.Options{Seed: 23})
	b := newBazaar(n, 3, path, 300*time.Millisecond)
	defer b.close()
	n.Run(6 * time.Second)
	before := len(b.done)
	// most are early, as the disk was flushing for another when they were settled
	if p := b.part(func(x *bargain) float64 { return x.safe - x.settled }); p.p99() < 9 {
		t.Errorf("trades were safe %v ticks after they were settled, and a disk takes 18", p)
	}
	b.machines[0].kill()
	b.keepers[b.machines[0]].off = true
	n.Run(8 * time.Second)
	if b.err != nil {
		t.Fatal(b.err)
	}
	if after := len(b.done) - before; before < 30 || after < 30 {
		t.Errorf("%d trades before the überserver died, and %d after", before, after)
	}
}
