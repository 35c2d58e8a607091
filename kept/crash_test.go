package kept_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/keep/keeptest"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/kept/kepttest"
	"github.com/coeval-dev/coeval/world"
)

// TestCrashes has machines go off between the asking, the execution and the answer of trades, with
// a store that is away or silent at times, with and without a folder that the world is kept in, and
// with desks that lead one after the other without knowing. Whatever happens, no trade is executed
// twice, none that was is lost, and nothing comes from nowhere.
func TestCrashes(t *testing.T) {
	seeds := uint64(25)
	if os.Getenv("COEVAL_SOAK") != "" {
		seeds = 10000
	}
	var all crashTally
	for seed := uint64(1); seed <= seeds; seed++ {
		c := newCrashing(t, seed, &all)
		c.run()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d games, %d crashes: %d trades executed, %d asked again, %d shown as done, "+
		"%d refused by another session, %d times another desk led; answers were forgotten %d "+
		"times, and %d of %d are left", seeds, all.crashes, all.trades, all.again, all.shown,
		all.lost, all.led, all.prunes, all.answers, all.named)
	if all.prunes == 0 || all.answers >= all.named || all.trades == 0 || all.again == 0 ||
		all.shown == 0 || all.led == 0 {
		t.Errorf("nothing was tried: %+v", all)
	}
}

type crashTally struct {
	crashes, trades, shown, led int
	again, lost, prunes         uint64
	answers, named              int // that are left, and that there were
}

const crashPlayers = 3

// crashing is one game through several machines.
type crashing struct {
	t     *testing.T
	all   *crashTally
	rand  det.Rand
	store *kepttest.Store
	led   bool // by decrees, as mirrors do

	disk   *keeptest.Disk // nil without
	folder *keep.Folder
	world  *world.World
	in     *world.Inputs
	desks  []*clerkOf
	epoch  uint64
	worlds uint64

	done   map[kept.Name]bool // committed, and whether something was traded
	bought map[int]int        // by buyer, what was committed
}

// A clerkOf is a desk with the job that is being done for it.
type clerkOf struct {
	desk  *kept.Desk
	job   *kept.Job
	left  int // ticks until it is done
	ran   bool
	err   error
	blind int // ticks for which it does not know that another leads
}

func newCrashing(t *testing.T, seed uint64, all *crashTally) *crashing {
	c := &crashing{t: t, all: all, rand: det.At(seed, 5, 0), store: kepttest.New(seed),
		done: map[kept.Name]bool{}, bought: map[int]int{}}
	c.store.Committed = func(name kept.Name, answer []byte) {
		if _, twice := c.done[name]; twice {
			t.Errorf("%+v was executed twice", name)
		}
		if strings.Contains(string(answer), "the answer is forgotten") {
			t.Errorf("%+v is refused for an answer that was forgotten", name)
		}
		if c.done[name] = false; name.Ordinal == 1<<16-1 {
			return // an account was claimed
		}
		if c.done[name] = answer[1] == 0; c.done[name] { // nobody has refused it
			c.bought[lastTrade.buyer]++
			c.all.trades++
		}
	}
	c.led = c.rand.Chance(0.4)
	if !c.led && c.rand.Chance(0.6) {
		c.disk = keeptest.New(seed)
	}
	return c
}

func (c *crashing) run() {
	for range 4 {
		c.start()
		for range 20 + c.rand.IntN(60) {
			c.store.Set(kepttest.Faults{Away: c.rand.Range(0, 0.4), Silent: c.rand.Range(0, 0.3),
				Twice: 0.2})
			c.step(true)
			if c.t.Failed() || c.disk != nil && c.disk.Killed() {
				break
			}
		}
		c.crash()
		if c.t.Failed() {
			return
		}
	}
	c.start()
	c.store.Set(kepttest.Faults{})
	for range 100 { // until all is quiet
		c.step(false)
	}
	c.check()
}

// start starts a program: with the world that was kept, or with a new one.
func (c *crashing) start() {
	c.in, c.world, c.desks = market.NewInputs(), nil, nil
	if c.disk != nil {
		f, err := keep.Open(c.disk, market, keep.Options{})
		if err != nil {
			c.t.Fatal(err)
		}
		found, err := f.Recover()
		if err != nil {
			c.t.Fatal(err)
		}
		if c.folder = f; found != nil {
			c.world = found.World
		}
	}
	if c.world == nil {
		w, err := market.New(world.Settings{Seed: c.rand.Uint64()})
		if err != nil {
			c.t.Fatal(err)
		}
		c.world = w
	}
	if c.disk != nil {
		if err := c.folder.Begin(c.snapshot()); err != nil {
			c.t.Fatal(err)
		}
	}
	c.add()
}

func (c *crashing) snapshot() *keep.Snapshot {
	return &keep.Snapshot{World: c.world, Level: game.Level{Name: "market"}}
}

// add has another desk lead. The one before may not know it for a while.
func (c *crashing) add() {
	c.worlds++
	d, err := kept.NewDesk(market, kept.Options{World: 100 + c.worlds, Every: 3, Batch: 2,
		Prune: 1 + int(c.worlds%7), Led: c.led})
	if err != nil {
		c.t.Fatal(err)
	}
	c.store.Set(kepttest.Faults{})
	if err := d.Open(context.Background(), c.store); err != nil {
		c.t.Fatal(err)
	}
	if c.led {
		for _, x := range c.desks {
			x.blind = c.rand.IntN(8)
		}
		c.epoch++
		d.SetEpoch(true, c.epoch)
	}
	c.desks = append(c.desks, &clerkOf{desk: d})
}

// step plays a tick, and lets time go by for the jobs.
func (c *crashing) step(play bool) {
	c.in.Reset()
	for _, x := range c.desks {
		if err := x.desk.Tell(c.in); err != nil {
			c.t.Fatal(err)
		}
	}
	if play {
		c.play()
	}
	if err := c.world.Host().Step(c.in); err != nil {
		c.t.Fatal(err)
	}
	for _, e := range world.Events[sold](c.world) {
		if e.Why == "" {
			c.all.shown++
		}
	}
	for id, x := range world.All[trader](c.world) {
		if p := int(c.world.Owner(id)); x.Loaded() && x.Bought > c.bought[p] {
			c.t.Errorf("player %d is shown %d trades, of which %d are durable", p, x.Bought,
				c.bought[p])
		}
	}
	durable := c.keep()
	if c.led && play && c.rand.Chance(0.05) {
		c.all.led++
		c.add()
	}
	for i, x := range c.desks {
		if i < len(c.desks)-1 {
			if x.blind--; x.blind < 0 {
				x.desk.SetEpoch(false, 0)
			}
		}
		x.desk.Tick(c.world)
		if i == len(c.desks)-1 {
			x.desk.Meet(c.world, func(yield func(world.Player, string) bool) {
				for p := range c.world.Players {
					if !yield(p, fmt.Sprintf("account %d", p)) {
						return
					}
				}
			})
		}
		c.work(x, durable)
	}
}

// play has players come, leave and trade.
func (c *crashing) play() {
	r := &c.rand
	for p := world.Player(1); p <= crashPlayers; p++ {
		switch here := c.world.Present(p); {
		case !here && r.Chance(0.3):
			c.in.Join(p)
		case here && r.Chance(0.02):
			c.in.Leave(p)
		case here && r.Chance(0.3):
			o := order{Buy: uint16(1 + r.IntN(crashPlayers)), Ware: uint8(r.IntN(4)),
				Price: r.IntN(4)}
			if err := world.Give(c.in, p, o); err != nil {
				c.t.Fatal(err)
			}
		}
	}
}

// keep keeps the tick in the folder, if there is one, and says which tick is safe.
func (c *crashing) keep() world.Tick {
	if c.disk == nil {
		return c.world.Tick()
	}
	if err := c.folder.Frame(&keep.Frame{Tick: c.world.Tick(), Inputs: c.in}); err == nil &&
		c.rand.Chance(0.3) {
		_ = c.folder.Sync()
	}
	return c.folder.Durable()
}

// work lets a store do a job: it takes some ticks, and is done somewhere in them.
func (c *crashing) work(x *clerkOf, durable world.Tick) {
	if x.job == nil {
		if x.job = x.desk.Take(durable); x.job == nil {
			return
		}
		x.left, x.ran = c.rand.IntN(4), false
	}
	if !x.ran && (x.left == 0 || c.rand.Chance(0.4)) {
		x.ran, x.err = true, x.job.Run(context.Background(), c.store)
	}
	if x.left--; x.ran && x.left < 0 {
		x.desk.Done(x.job, x.err)
		x.job = nil
	}
}

// crash ends the program. What it has on its way to the store may still arrive.
func (c *crashing) crash() {
	c.all.crashes++
	for _, x := range c.desks {
		if x.job != nil && !x.ran && c.rand.Chance(0.5) {
			_ = x.job.Run(context.Background(), c.store)
		}
		s := x.desk.Stats()
		c.all.again, c.all.lost = c.all.again+s.Again, c.all.lost+s.Lost
		c.all.prunes += s.Prunes
	}
	if c.disk != nil {
		c.disk = c.disk.Crash(c.rand.Uint64())
	}
}

// check compares the store, and the world, with what was committed.
func (c *crashing) check() {
	c.all.answers, c.all.named = c.all.answers+c.store.Answers(), c.all.named+len(c.done)
	fresh := open(c.t, c.store, kept.Options{World: 1 << 40})
	fresh.join(1, 2, 3)
	gold, wares := 0, 0
	for p := world.Player(1); p <= crashPlayers; p++ {
		x := fresh.trader(p)
		gold += x.Gold
		for _, n := range x.Wares {
			wares += int(n)
		}
		if x.Bought != c.bought[int(p)] {
			c.t.Errorf("account %d has %d trades, and %d were committed", p, x.Bought,
				c.bought[int(p)])
		}
		if _, here := world.Owned[trader](c.world, p); here != nil {
			if here.Loaded() && (here.Gold != x.Gold || here.Wares != x.Wares) {
				c.t.Errorf("player %d has %+v, and the store %+v", p, *here, *x)
			}
			if id, _ := world.Owned[trader](c.world, p); kept.Pending(c.world, id) {
				c.t.Errorf("player %d waits for ever", p)
			}
		}
	}
	if gold != 10*crashPlayers || wares != 12*crashPlayers {
		c.t.Errorf("%d gold and %d wares, of %d and %d", gold, wares, 10*crashPlayers,
			12*crashPlayers)
	}
}
