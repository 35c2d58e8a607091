package mirror

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/keep/keeptest"
	"github.com/coeval-dev/coeval/membership"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// A diskKeeper keeps a mirror's game on a simulated disk. Frames are flushed now and then, and what
// must not be forgotten takes the disk a moment to write.
type diskKeeper struct {
	s      *machine
	disk   *keeptest.Disk
	folder *keep.Folder
	kept   *keep.Kept
	memory []byte
	stay   uint64
	base   world.Tick
	begun  bool

	asked, known uint64
	off          bool
}

// openKeeper opens a machine's disk as a program does that has just been started.
func openKeeper(s *machine, disk *keeptest.Disk) (*diskKeeper, error) {
	k := &diskKeeper{s: s, disk: disk}
	var err error
	if k.folder, err = keep.Open(disk, s.o.Server.Title.Game, keep.Options{}); err != nil {
		return nil, err
	}
	if k.memory, err = keep.Remembered(disk); err != nil || k.memory == nil {
		return k, err
	}
	m, err := membership.ReadMemory(k.memory)
	if err != nil {
		return nil, err
	}
	k.kept, err = k.folder.RecoverStay(m.Stay)
	return k, err
}

func (k *diskKeeper) Memory() []byte   { return k.memory }
func (k *diskKeeper) Kept() *keep.Kept { return k.kept }

func (k *diskKeeper) Begin(s *keep.Snapshot) error {
	if k.begun && (s.Stay != k.stay || s.Base != k.base) {
		k.folder.Abandon()
	}
	k.begun = true
	err := k.folder.Begin(s)
	if err == nil {
		k.stay, k.base = s.Stay, s.Base
	}
	return err
}

func (k *diskKeeper) Tick(w *world.World, in *world.Inputs, seats []keep.Seat) {
	r := k.s.net.Rand()
	if k.folder.Err() == nil {
		_ = k.folder.Frame(&keep.Frame{Tick: w.Tick(), Inputs: in, Hash: w.Hash(), Hashed: true,
			Seats: slices.Concat(vacated(seats), seats)})
		_ = k.folder.Write()
	}
	switch {
	case r.Chance(0.01) || k.folder.Err() != nil && r.Chance(0.1):
		_ = k.Begin(&keep.Snapshot{World: w, Level: k.s.mirror.show.level, Seats: seats,
			Stay: k.stay, Base: k.s.mirror.levels.base})
	case k.folder.Err() == nil && r.Chance(0.2):
		_ = k.folder.Sync()
	}
}

// vacated says of all places that nobody sits there, before it is said who does.
func vacated(seats []keep.Seat) (out []keep.Seat) {
	for p := range world.Player(8) {
		if !slices.ContainsFunc(seats, func(s keep.Seat) bool { return s.Player == p+1 }) {
			out = append(out, keep.Seat{Player: p + 1, Empty: true})
		}
	}
	return out
}

func (k *diskKeeper) Durable(stay uint64) world.Tick {
	if stay != k.stay {
		return 0
	}
	return k.base + k.folder.Durable()
}

// Hurry flushes what there is.
func (k *diskKeeper) Hurry() { _ = k.folder.Sync() }

func (k *diskKeeper) Safe(world.Tick) {}

func (k *diskKeeper) Remember(memory []byte) uint64 {
	k.asked++
	n := k.asked
	k.s.net.After(time.Duration(1+k.s.net.Rand().IntN(20))*time.Millisecond, func() {
		if !k.off && n > k.known && keep.Remember(k.disk, memory) == nil {
			k.known = n
		}
	})
	return n
}

func (k *diskKeeper) Remembered() uint64 { return k.known }

// A survivor is a fleet whose mirrors keep the game, with what they have said to be safe.
type survivor struct {
	*fleet
	keepers map[*machine]*diskKeeper
	safe    world.Tick
	played  map[moment]bool // all that was ever settled
	lies    float64
	revived []world.Tick
	lost    bool // disks that lie have lost everything
}

// A moment is a world at a tick.
type moment struct {
	tick world.Tick
	hash uint64
}

// survivors makes a fleet of mirrors that keep.
func survivors(n *netsim.Net, mirrors int, lies float64) *survivor {
	o := Options{HashEvery: 4}
	o.Server.Title = tallies
	o.Server.Level = server.Level{Name: "one", Seed: n.Seed()}
	v := &survivor{fleet: newFleet(n, o), keepers: map[*machine]*diskKeeper{}, lies: lies,
		played: map[moment]bool{}}
	for i := range mirrors {
		s := &machine{fleet: v.fleet, name: string(rune('a' + i)),
			between: n.Endpoint("m" + strconv.Itoa(i)), public: n.Endpoint("s" + strconv.Itoa(i))}
		for _, other := range v.machines {
			n.Connect(s.between, other.between, line)
		}
		v.machines = append(v.machines, s)
		v.bringUp(s, keeptest.New(n.Seed()<<8+uint64(i)))
		n.Run(50 * time.Millisecond)
		n.Every(150*time.Millisecond, func() { s.pushes(uint64(i + 1)) })
	}
	n.Every(20*time.Millisecond, v.look)
	v.until(15*time.Second, "all serve", v.whole)
	return v
}

// bringUp starts a machine with a disk.
func (v *survivor) bringUp(s *machine, disk *keeptest.Disk) {
	disk.Faults.Lie = v.lies
	k, err := openKeeper(s, disk)
	if err != nil && v.lies > 0 { // the operator gives it an empty folder
		disk = keeptest.New(uint64(v.net.Rand().IntN(1 << 30)))
		disk.Faults.Lie = v.lies
		k, err = openKeeper(s, disk)
	}
	if err != nil {
		v.fail("%s: its disk: %v", s.name, err)
		return
	}
	v.keepers[s] = k
	s.change = func(o *Options) {
		o.Keeper = k
		o.Server.Begun = func(w *world.World, _ server.Level) {
			if s.mirror != nil {
				v.played[moment{s.mirror.at(w), w.Hash()}] = true
			}
		}
		o.Settled = func(w *world.World, in *world.Inputs) {
			t := w.Tick()
			if s.mirror != nil {
				t = s.mirror.at(w)
			}
			v.played[moment{t, w.Hash()}] = true
			s.judge(w, in)
		}
		news := o.News
		o.News = func(n News) {
			if n.Kind == Revived {
				v.judgeRevival(s, n.Tick)
			}
			news(n)
		}
	}
	s.news = nil
	s.skew = -v.net.Now() // a program's time begins with it
	s.start()
}

// crash turns a machine off. Its disk is as the crash leaves it.
func (v *survivor) crash(s *machine) *keeptest.Disk {
	s.kill()
	v.keepers[s].off = true
	return v.keepers[s].disk.Crash(uint64(v.net.Rand().IntN(1 << 30)))
}

// look notes what mirrors say to be safe.
func (v *survivor) look() {
	for _, s := range v.alive() {
		v.safe = max(v.safe, s.mirror.Safe())
	}
}

// judgeRevival looks at a game that begins again.
func (v *survivor) judgeRevival(s *machine, t world.Tick) {
	v.revived = append(v.revived, t)
	if t < v.safe && v.lies == 0 {
		v.fail("%s begins again at tick %d, and %d was safe", s.name, t, v.safe)
	}
	k := v.keepers[s].kept
	if s.mirror != nil && s.mirror.keeping.kept != nil {
		k = s.mirror.keeping.kept // it may not have crashed at all
	}
	w := k.World
	if h, ok := v.hashes[t]; ok && h != w.Hash() && w.Tick() > 0 && v.lies == 0 {
		v.fail("%s begins again at tick %d with another world than was settled", s.name, t)
	}
	if t > 0 && !v.played[moment{t, w.Hash()}] {
		v.fail("%s begins again at tick %d with a world that nobody ever settled", s.name, t)
	}
	for _, other := range v.alive() {
		if other != s && other.mirror.leads() {
			v.fail("%s begins again, and %s leads", s.name, other.name)
		}
	}
	maps.DeleteFunc(v.hashes, func(u world.Tick, _ uint64) bool { return u > t })
	v.safe = min(v.safe, t)
	for _, other := range v.machines {
		other.settled = 0
	}
}

// TestAllDie: all mirrors die at one moment and come back as the same game.
func TestAllDie(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 1})
	v := survivors(n, 3, 0)
	defer v.close()
	n.Run(4 * time.Second)
	if v.safe == 0 {
		t.Fatal("nothing is safe after four seconds")
	}
	players := map[uint64]world.Player{}
	for c, h := range v.machines[0].mirror.roll.registry.clients {
		players[c] = h.player
	}
	if len(players) != 3 {
		t.Fatalf("%d players, want 3", len(players))
	}
	var disks []*keeptest.Disk
	for _, s := range v.machines {
		disks = append(disks, v.crash(s))
	}
	safe, before := v.safe, maps.Clone(v.hashes)
	n.Run(time.Second)
	for i, s := range v.machines {
		v.bringUp(s, disks[i])
	}
	v.until(20*time.Second, "all serve again", v.whole)
	v.settles(10 * time.Second)
	if v.err != nil {
		t.Fatal(v.err)
	}
	if len(v.revived) != 1 || v.revived[0] < safe {
		t.Fatalf("begun again at %v, and %d was safe", v.revived, safe)
	}
	if h, ok := before[v.revived[0]]; !ok || h != v.hashes[v.revived[0]] {
		t.Errorf("tick %d was settled otherwise", v.revived[0])
	}
	for _, s := range v.machines {
		for c, p := range players {
			if h := s.mirror.roll.registry.clients[c]; h == nil || h.player != p {
				t.Errorf("%s: client %d is %+v, and was player %d", s.name, c, h, p)
			}
		}
	}
}

// TestSomeStandStill: most mirrors die, and one of those comes back. Those that lived stand still,
// and go on with it: together they have all that could have been decided.
func TestSomeStandStill(t *testing.T) {
	cases := uint64(4)
	if soak {
		cases = 400
	}
	for seed := range cases {
		n := netsim.New(netsim.Options{Seed: seed + 1})
		r := n.Rand()
		count := 3 + 2*int(seed%2)
		v := survivors(n, count, 0)
		n.Run(4 * time.Second)
		order := shuffled(r, count)[:count/2+1]
		back := v.machines[order[0]]
		disk, lost := v.crash(back), map[*machine]bool{}
		for _, i := range order[1:] {
			n.Run(time.Duration(r.IntN(300)) * time.Millisecond)
			v.crash(v.machines[i])
			lost[v.machines[i]] = true
		}
		v.machines = slices.DeleteFunc(v.machines, func(s *machine) bool { return lost[s] })
		n.Run(time.Duration(r.IntN(20000)) * time.Millisecond)
		v.bringUp(back, disk)
		v.until(60*time.Second, "the rest serves", v.whole)
		v.settles(10 * time.Second)
		v.close()
		if v.err != nil {
			t.Errorf("seed %d: begun again at %v: %v", seed+1, v.revived, v.err)
		}
	}
}

// calamity plays one case by its seed: mirrors die at random moments, many at once or all; disks
// are as the crash left them, and may have lied; some come back late, over lines that may be cut.
func calamity(seed uint64, lies float64) (revivals int, err error) {
	n := netsim.New(netsim.Options{Seed: seed})
	r := n.Rand()
	v := survivors(n, 2+r.IntN(4), lies)
	defer v.close()
	for round := range 2 + r.IntN(2) {
		n.Run(time.Duration(r.IntN(5000)) * time.Millisecond)
		v.disaster(round)
		if v.lost {
			break
		}
		if v.err != nil {
			return len(v.revived), fmt.Errorf("round %d: %w", round, v.err)
		}
	}
	return len(v.revived), v.err
}

// foundAnew is what an operator does when disks have lost too much: all mirrors are stopped, and
// the one whose disk has the latest world goes on with that.
func (v *survivor) foundAnew() {
	disks := map[*machine]*keeptest.Disk{}
	best, latest := v.machines[0], world.Tick(0)
	for _, s := range v.machines {
		disks[s] = v.crash(s)
		if k, err := openKeeper(s, disks[s]); err == nil && k.kept != nil &&
			k.kept.Base+k.kept.World.Tick() >= latest {
			best, latest = s, k.kept.Base+k.kept.World.Tick()
		}
	}
	if latest == 0 { // nothing is left anywhere
		v.lost = true
		return
	}
	anew := v.o.Revival.Anew
	v.fleet.o.Revival.Anew = true
	v.bringUp(best, disks[best])
	v.fleet.o.Revival.Anew = anew
	if v.err != nil {
		return
	}
	v.judgeRevival(best, latest)
	for _, s := range v.machines {
		if s != best {
			v.bringUp(s, disks[s])
		}
	}
}

// shuffled are the numbers below one, in any order.
func shuffled(r *netsim.Rand, count int) []int {
	list := make([]int, count)
	for i := range list {
		j := r.IntN(i + 1)
		list[i], list[j] = list[j], i
	}
	return list
}

// disaster has some or all machines die, and come back.
func (v *survivor) disaster(round int) {
	r, count := v.net.Rand(), len(v.machines)
	die := 1 + r.IntN(count)
	if r.Chance(0.6) {
		die = count
	}
	order := shuffled(r, count)
	disks := map[*machine]*keeptest.Disk{}
	for _, i := range order[:die] {
		disks[v.machines[i]] = v.crash(v.machines[i])
		if r.Chance(0.5) {
			v.net.Run(time.Duration(r.IntN(400)) * time.Millisecond)
		}
	}
	cuts := lines{n: count}
	if r.Chance(0.5) {
		a, b := r.IntN(1<<30), r.IntN(1<<30)
		if cuts = undirected(count, uint64(a&b)); r.Chance(0.5) {
			cuts = directed(count, uint64(a&b))
		}
		v.apply(cuts, false)
	}
	for _, i := range shuffled(r, count) {
		s := v.machines[i]
		disk := disks[s]
		if disk == nil {
			continue
		}
		if r.Chance(0.5) {
			v.net.Run(time.Duration(r.IntN(4000)) * time.Millisecond)
		}
		if v.bringUp(s, disk); r.Chance(0.15) { // once more, wherever it has got to
			v.net.Run(time.Duration(r.IntN(7000)) * time.Millisecond)
			v.bringUp(s, v.crash(s))
		}
	}
	v.net.Run(time.Duration(r.IntN(4000)) * time.Millisecond)
	v.apply(cuts, true)
	if v.lies > 0 && !v.net.RunUntil(40*time.Second, v.whole) {
		if v.foundAnew(); v.lost {
			return
		}
	}
	v.until(60*time.Second, fmt.Sprintf("all serve again after disaster %d", round), v.whole)
	v.settles(10 * time.Second)
}

// TestCalamities plays many. COEVAL_CASE is the first, COEVAL_UNTIL the one to end before.
func TestCalamities(t *testing.T) {
	cases := uint64(2)
	if soak {
		cases = 2000
	}
	first, _ := strconv.ParseUint(os.Getenv("COEVAL_CASE"), 10, 64)
	if until, err := strconv.ParseUint(os.Getenv("COEVAL_UNTIL"), 10, 64); err == nil {
		cases = until
	}
	revivals, failed := 0, 0
	for i := first; i < cases && failed < 8; i++ {
		lies := 0.0
		if i%4 == 3 {
			lies = 0.3
		}
		count, err := calamity(i+1, lies)
		if revivals += count; err != nil {
			t.Errorf("case %d: %v", i, err)
			failed++
		}
		if soak && i%100 == 99 {
			t.Logf("up to case %d, %d revivals", i, revivals)
		}
	}
	if revivals == 0 {
		t.Error("no game ever began again")
	}
}
