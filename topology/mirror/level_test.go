package mirror

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// changes asks a mirror until another level has begun on all that run.
func (f *fleet) changesTo(at *machine, l server.Level) {
	f.until(heal, "level "+l.Name+" begins on all", func() bool {
		if at.dead || at.ended != nil {
			at = f.alive()[0]
		}
		if _, err := at.mirror.Change(l); err != nil && !errors.Is(err, errIdle) {
			f.fail("%v", err)
		}
		return f.in(l)
	})
}

// in says whether all mirrors that run, and all who play, are in a level.
func (f *fleet) in(l server.Level) bool {
	for _, s := range f.alive() {
		m := s.mirror
		if m.levels.next != 0 || !sameLevel(&m.show.level, &l) || m.Server() == nil ||
			m.Server().Level().Secret != l.Secret {
			return false
		}
	}
	for _, b := range f.bots {
		if b.ended == nil && b.Level().Name != l.Name {
			return false
		}
	}
	return true
}

// agreed says whether all mirrors that run are in one level, whichever.
func (f *fleet) agreed() bool {
	list := f.alive()
	return f.whole() && f.in(list[0].mirror.show.level)
}

var foundry = server.Level{Name: "foundry", Seed: 7, Secret: 11}

// TestLevel: another level begins on all mirrors with one tick. Players stay connected and play on
// in it as who they were. Who comes later, a player or a mirror, comes into it; and another may
// follow.
func TestLevel(t *testing.T) {
	simtest.Alone(t, 3, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 2, road, Options{})
		defer f.close()
		n.Run(time.Second)
		asked := n.Now()
		f.changesTo(f.machines[1], foundry)
		took := n.Now() - asked
		base := f.machines[0].mirror.Base()
		for _, s := range f.machines {
			if s.mirror.Base() != base || base == 0 {
				f.fail("%s: the world began at tick %d, and on another at %d", s.name,
					s.mirror.Base(), base)
			}
			if s.mirror.stats.Rejoins != 0 {
				f.fail("%s has joined anew", s.name)
			}
		}
		f.recovers(true)
		if w := f.machines[2].mirror.line.Leading(); f.err == nil {
			now := world.Tick(f.machines[2].mirror.Now() / f.machines[2].mirror.game.TickLength())
			if at := base + w.Tick(); at+30 < now || at > now+2 {
				f.fail("the world is at tick %d of the group, and %d is due", at, now)
			}
			if want := 6; len(f.machines[2].mirror.roll.registry.clients) != want {
				f.fail("not all have their players")
			}
		}
		late := f.play(900, f.machines[2], near)
		f.launch("d", road)
		f.until(heal, "a mirror comes in", f.agreed)
		f.until(heal, "who came later plays", late.plays)
		f.machines[0].kill()
		f.until(heal, "the others go on", func() bool { return f.whole() && f.allPlay() })
		f.changesTo(f.machines[3], server.Level{Name: "duel", Seed: 3, Secret: 9})
		f.recovers(true)
		t.Logf("seed %d: the level began %v after it was asked for", n.Seed(), took)
		return f.err
	})
}

// TestLevelOfEachTimeline: each kind of timeline that has a window begins another level, and the
// others say that they cannot.
func TestLevelOfEachTimeline(t *testing.T) {
	for _, kind := range kinds.Names() {
		t.Run(kind, func(t *testing.T) {
			simtest.Alone(t, 1, func(n *netsim.Net) error {
				f := fleetOf(n, 3, 1, road, Options{Timeline: kind, Delays: kindDelays[kind]})
				defer f.close()
				if kinds.Trails(kind) || kind == "timewarp" {
					f.changesTo(f.machines[2], foundry)
				} else if _, err := f.machines[2].mirror.Change(foundry); !errors.Is(err,
					ErrCannotChange) {
					f.fail("%v", err)
				}
				f.recovers(true)
				return f.err
			})
		})
	}
}

// TestLevelAndUberDies: the überserver dies at each moment after it is asked for another level. All
// mirrors are in the old one, or all in the new.
func TestLevelAndUberDies(t *testing.T) {
	old, turned := 0, 0
	for step := range 18 {
		after := time.Duration(step) * 90 * time.Millisecond
		t.Run(after.String(), func(t *testing.T) {
			simtest.Alone(t, 1, func(n *netsim.Net) error {
				f := fleetOf(n, 3, 1, road, Options{})
				defer f.close()
				end := n.Now() + after
				for n.Now() < end {
					_, _ = f.machines[1].mirror.Change(foundry)
					n.Run(min(30*time.Millisecond, end-n.Now()))
				}
				f.machines[0].kill()
				f.until(heal, "the others agree", f.agreed)
				if n.Run(forgetLevel); f.err == nil && f.in(foundry) {
					turned++
				} else {
					old++
				}
				f.changesTo(f.machines[2], server.Level{Name: "range", Seed: 5, Secret: 13})
				f.recovers(true)
				return f.err
			})
		})
	}
	t.Logf("%d stayed in the old level, %d went on in the new", old, turned)
	if old+turned > 0 && (old == 0 || turned == 0) { // with -short none is played
		t.Error("it is always the same")
	}
}

// TestLevelAndFaults: mirrors die, the überserver above all, and lines are cut, at any moment while
// another level is asked for, by more than one. All mirrors agree on which it is in the end, and on
// every world.
func TestLevelAndFaults(t *testing.T) { simtest.Alone(t, 12, levelAndFaults) }

func levelAndFaults(n *netsim.Net) error {
	r := n.Rand()
	c := apart(time.Duration(5+r.IntN(60))*time.Millisecond,
		time.Duration(r.IntN(15))*time.Millisecond, float64(r.IntN(6))/100)
	f := fleetOf(n, 3+r.IntN(2), 1, c, Options{})
	defer f.close()
	for round := range 4 {
		f.shake(r.IntN(3))
		if r.Chance(0.5) {
			f.shake(r.IntN(3))
		}
		n.Run(time.Duration(r.IntN(600)) * time.Millisecond)
		wanted := []server.Level{{Name: "foundry", Secret: uint64(2*round + 1)},
			{Name: "range", Secret: uint64(2*round + 2)}}
		both := r.Chance(0.3)
		for end := n.Now() + time.Duration(r.IntN(3000))*time.Millisecond; n.Now() < end; {
			list := f.alive()
			for i, l := range wanted {
				if i == 0 || both {
					_, _ = list[(i+round)%len(list)].mirror.Change(l)
				}
			}
			if r.Chance(0.01) { // somebody has other wishes
				_ = list[0].mirror.SetPaused(r.Chance(0.5), "tea")
			}
			n.Run(30 * time.Millisecond)
		}
		for _, s := range f.machines {
			if s.dead {
				s.start()
			}
		}
		f.until(heal, "all are back", f.agreed)
		n.Run(3 * time.Second) // a pause that was asked for may have been on its way for long
		f.pauses(f.alive()[0], false)
		f.settles(heal)
		if f.err != nil {
			return f.err
		}
	}
	n.Run(forgetLevel) // what was asked may have been on its way for long
	f.changesTo(f.machines[0], foundry)
	f.recovers(true)
	return f.err
}

// TestLevelAndPartitions: one mirror is cut off, the überserver or another, while somebody wants
// another level, and is in the level of the others when it is back.
func TestLevelAndPartitions(t *testing.T) {
	simtest.Alone(t, 6, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 1, road, Options{})
		defer f.close()
		for round := range 2 {
			lone := n.Rand().IntN(3)
			rest := make([]*netsim.Endpoint, 0, 2)
			for i, s := range f.machines {
				if i != lone {
					rest = append(rest, s.between)
				}
			}
			one := []*netsim.Endpoint{f.machines[lone].between}
			n.After(time.Duration(n.Rand().IntN(1500))*time.Millisecond,
				func() { n.Partition(one, rest) })
			l := server.Level{Name: "foundry", Secret: uint64(round + 1)}
			at := f.machines[(lone+n.Rand().IntN(2))%3]
			for range 20 + n.Rand().IntN(200) {
				_, _ = at.mirror.Change(l)
				n.Run(30 * time.Millisecond)
			}
			n.HealPartition(one, rest)
			f.until(heal, "all are back", f.agreed)
			f.changesTo(at, l)
		}
		f.recovers(true)
		return f.err
	})
}

// yards is a game whose levels are files: what they say becomes the hash of the world. One of them
// cannot be played.
var yards = &game.Title{
	Game: world.Define("yards", world.Class[tally](), world.State[yard](), world.Commands[push](),
		world.Rate(20), world.OnJoin(func(w *world.World, p world.Player) {
			w.SetOwner(world.Spawn(w, tally{}), p)
		})),
	Levels: game.Levels{Names: []string{"lawn"}, Settings: func(l game.Level) (world.Settings,
		error) {
		sum := 0
		for _, b := range l.Data {
			sum = (sum*31 + int(b)) % (1 << 20)
		}
		return world.Settings{States: []bits.Syncer{&yard{sum}}}, nil
	}, Read: func([]byte) (string, error) { return "file", nil }},
}

type yard struct{ Sum int }

func (y *yard) Sync(s *bits.Sync) { s.Int(&y.Sum, 0, 1<<20-1) }

func (y *yard) Step(w *world.World, _ world.ID) {
	if y.Sum == int('!') && w.Tick() == 3 {
		panic("it rains")
	}
}

// TestLevelOfAFile: a level that is a large file comes to all mirrors, with loss, and to one that
// comes when it was told already. One with which the game panics is refused and changes nothing.
func TestLevelOfAFile(t *testing.T) {
	simtest.Alone(t, 2, func(n *netsim.Net) error {
		o := Options{}
		o.Server.Title = yards
		f := newFleet(n, o)
		defer f.close()
		c := apart(30*time.Millisecond, 5*time.Millisecond, 0.05)
		for i := range 3 {
			f.launch(string(rune('a'+i)), c)
			n.Run(100 * time.Millisecond)
		}
		f.until(20*time.Second, "all serve", f.whole)
		bad := server.Level{Name: "bad", Data: []byte("!")}
		var err error
		f.until(heal, "the bad level is refused", func() bool {
			_, err = f.machines[1].mirror.Change(bad)
			return err != nil
		})
		if !errors.Is(err, ErrLevel) || !strings.Contains(err.Error(), "it rains") {
			f.fail("%v", err)
		}
		file := server.Level{Name: "file", Secret: 4, Data: make([]byte, 300_000)}
		for i := range file.Data {
			file.Data[i] = byte(n.Rand().IntN(256))
		}
		late := false
		f.until(time.Minute, "the file begins everywhere", func() bool {
			_, err := f.machines[1].mirror.Change(file)
			if err != nil {
				f.fail("%v", err)
			}
			if o := f.machines[1].mirror.levels.wanting; !late && o != nil && o.sent > 100_000 {
				late = true
				f.launch("d", c)
			}
			return late && f.whole() && f.in(file)
		})
		f.settles(10 * time.Second)
		if f.err == nil && f.machines[3].mirror.Server().World().Tick() == 0 {
			f.fail("the world stands still")
		}
		return f.err
	})
}

// TestLevelRefused: what makes no sense is not done, and says so.
func TestLevelRefused(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 4})
	f := fleetOf(n, 3, 1, road, Options{})
	defer f.close()
	m, u := f.machines[1].mirror, f.machines[0].mirror
	if _, err := m.Change(server.Level{Name: "atlantis"}); !errors.Is(err, ErrLevel) {
		t.Errorf("a level that there is not: %v", err)
	}
	f.pauses(f.machines[1], true)
	if _, err := m.Change(foundry); !errors.Is(err, ErrPaused) {
		t.Errorf("a group that is paused: %v", err)
	}
	f.pauses(f.machines[1], false)
	changes := u.levels.changes
	f.changesTo(f.machines[1], foundry)
	u.hearLevel(2, &item{kind: itemLevel, what: levelAsk, client: u.levels.id, load: changes})
	if u.levels.next != 0 {
		t.Error("what was asked before another was decided counts")
	}
	before := u.stats.Refusals
	u.hearLevel(2, &item{kind: itemLevel, what: levelAt, epoch: u.roll.epoch, tick: 60 << 20})
	if u.stats.Refusals != before+1 || u.levels.next != 0 {
		t.Errorf("who is not überserver begins a level")
	}
	m.hearLevel(1, &item{kind: itemLevel, what: levelAt, epoch: m.roll.epoch, tick: 61})
	if m.levels.next != 0 {
		t.Errorf("a level begins within a second")
	}
	f.until(10*time.Second, "it halts", func() bool {
		if err := m.Halt(time.Second); err != nil {
			f.fail("%v", err)
		}
		return m.Halting().Final
	})
	s, err := m.Final()
	if err != nil || s.World.Tick() != m.Halting().Tick || s.Base != m.Base() || s.Base == 0 {
		t.Errorf("the last world: %v", err)
	}
	if _, err := m.Change(server.Level{Name: "range"}); !errors.Is(err, ErrHalts) {
		t.Errorf("a group that halts: %v", err)
	}
	f.until(10*time.Second, "it goes on", func() bool { return m.Halting().Tick == 0 })
	f.recovers(true)
	if f.err != nil {
		t.Error(f.err)
	}
}

// TestLevelsInARow: one level follows soon after another, so that ticks of the same numbers come
// again. Nobody is taken for one who changes what they have commanded.
func TestLevelsInARow(t *testing.T) { simtest.Alone(t, 8, levelsInARow) }

func levelsInARow(n *netsim.Net) error {
	f := fleetOf(n, 2, 2, apart(20*time.Millisecond, 2*time.Millisecond, 0), Options{})
	defer f.close()
	for i := range 10 {
		f.changesTo(f.machines[i%2], server.Level{Name: foundry.Name, Secret: uint64(i + 1)})
		if n.Rand().Chance(0.3) {
			f.until(heal, "all play", f.allPlay)
		}
	}
	f.recovers(true)
	return f.err
}
