package arena

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// On every map bots find each other, fight with all weapons, pick things up, and do not kill mostly
// themselves.
func TestBotsPlay(t *testing.T) {
	var by [weapons]int
	type match struct {
		name           string
		bots, ticks    int
		kills, pickups int // at least
	}
	matches := []match{
		{"duel", 4, 3600, 12, 20}, {"foundry", 12, 3600, 30, 50}, {"maze", 200, 300, 40, 150}}
	if soak {
		matches = append(matches, match{"maze", 200, 1200, 40, 150})
	}
	for _, x := range matches {
		if testing.Short() && x.bots > 20 {
			continue
		}
		s, err := Settings(x.name, Options{Seed: 3, Kills: -1, Time: -1})
		if err != nil {
			t.Fatal(err)
		}
		w, err := Game.New(s)
		if err != nil {
			t.Fatal(err)
		}
		kills, own, pickups, said := 0, 0, 0, 0
		play(t, w, x.bots, x.ticks, nil, func(w *world.World) {
			for _, k := range world.Events[Killed](w) {
				kills++
				by[k.Weapon]++
				if k.By == k.Victim {
					own++
				}
			}
			for range world.Events[PickedUp](w) {
				pickups++
			}
			for range world.Events[Said](w) {
				said++
			}
		})
		t.Logf("%s: %d kills (%d of themselves), %d pickups, %d lines said", x.name, kills, own,
			pickups, said)
		if kills < x.kills || pickups < x.pickups || own*4 > kills {
			t.Errorf("%s is no fun", x.name)
		}
		for _, s := range world.All[Sheet](w) {
			if s.Name == "" {
				t.Error("a bot without a name")
			}
		}
	}
	t.Logf("kills by blaster, rocket and rail: %v", by[1:])
	if min(by[Blaster], by[Launcher], by[Rail])*20 < by[Launcher] {
		t.Errorf("some weapon is of no use: %v", by)
	}
}

// Bots get everywhere: each walks from its place to a far one by the way that nav finds.
func TestBotsFindTheWay(t *testing.T) {
	for _, name := range []string{"duel", "foundry", "maze"} {
		m, err := MapNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		n := m.nav()
		var s Scene
		s.set(m)
		for i := range s.Open {
			s.Open[i] = DoorOpen
		}
		r := det.At(1, 2, 3)
		for range 40 {
			from, to := m.Spawns[r.IntN(len(m.Spawns))].Pos, m.Items[r.IntN(len(m.Items))].Pos
			var way route
			if !way.to(m, n, to) {
				t.Fatalf("%s: no way to %v", name, to)
			}
			at, vel, steps := from, det.Vec2{}, 0
			for ; at.Sub(to).LenSq() > 0.5 && steps < 6000; steps++ {
				dir := way.next(&s, n, at).Sub(at).Unit()
				at, vel = s.walk(at, dir.Mul(TopSpeed), dir.Mul(TopSpeed/60))
			}
			if steps == 6000 {
				t.Errorf("%s: from %v one comes only to %v, not to %v (%v)", name, from, at, to,
					vel)
			}
		}
	}
}

// The same bots do the same.
func TestBotsAreDeterministic(t *testing.T) {
	var hashes [2]uint64
	for i := range hashes {
		w, bots, _ := crowded(t, "foundry", 8)
		hashes[i] = w.Hash() ^ bots[3].turns
	}
	if hashes[0] != hashes[1] {
		t.Error("two matches of the same bots differ")
	}
}

// Skill pays.
func TestSkill(t *testing.T) {
	s, err := Settings("duel", Options{Seed: 1, Kills: -1, Time: -1})
	if err != nil {
		t.Fatal(err)
	}
	w, err := Game.New(s)
	if err != nil {
		t.Fatal(err)
	}
	bots := []*Bot{NewBotOf(5, 1), NewBotOf(5, 0), NewBotOf(6, 1), NewBotOf(6, 0)}
	in := Game.NewInputs()
	ticks := 4 * 3600
	if testing.Short() {
		ticks = 3600
	}
	for n := range ticks {
		think(t, w, bots, in)
		if n == 0 {
			for p := range bots {
				in.Join(world.Player(p + 1))
			}
		}
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
	}
	kills := map[bool]int{}
	for id, s := range world.All[Sheet](w) {
		kills[w.Owner(id)%2 == 1] += s.Kills
	}
	t.Logf("good %d, bad %d", kills[true], kills[false])
	if kills[true] < kills[false]*5/4 {
		t.Errorf("good bots made %d kills, bad ones %d", kills[true], kills[false])
	}
}

// Bots that are given what Interest shows to their clients, and nothing else, play as well.
func TestBotsPlayFromViews(t *testing.T) {
	s, err := Settings("foundry", Options{Seed: 8, Kills: -1, Time: -1})
	if err != nil {
		t.Fatal(err)
	}
	w, err := Game.New(s)
	if err != nil {
		t.Fatal(err)
	}
	const players = 8
	var bots [players]*Bot
	var clients [players]*world.World
	var views [players]interest.View
	for i := range bots {
		bots[i] = NewBot(uint64(i) + 1)
		if clients[i], err = Game.New(world.Settings{Seed: s.Seed, Partial: true}); err != nil {
			t.Fatal(err)
		}
	}
	it := newInterest()
	in, finder := Game.NewInputs(), interest.NewFinder()
	ticks, kills := 1800, 0
	if testing.Short() {
		ticks = 900
	}
	for n := range ticks {
		in.Reset()
		if err := it.Follow(w); err != nil {
			t.Fatal(err)
		}
		for i, b := range bots {
			p := world.Player(i + 1)
			if n == 0 {
				in.Join(p)
			}
			finder.Update(&views[i], it.Index, it.Rules, it.Observer(p, 0))
			show(t, clients[i], w, &views[i])
			if err := world.Give(in, p, b.Think(clients[i], p)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		kills += len(events[Killed](w))
	}
	t.Logf("%d kills in %d ticks", kills, ticks)
	if kills < ticks/200 {
		t.Errorf("only %d kills in %d ticks", kills, ticks)
	}
}

// show makes a client's world what its view shows.
func show(t testing.TB, client, w *world.World, v *interest.View) {
	for id := range client.Entities() {
		if !v.Has(id) {
			client.Host().Drop(id)
		}
	}
	client.Host().SetTick(w.Tick())
	match := world.MakeID(classMatch, 0, 0, 1)
	if err := client.Host().Put(match, w.Host().Entry(match), w.Host().Image(match)); err != nil {
		t.Fatal(err)
	}
	for _, e := range v.Entries() {
		if err := client.Host().Put(e.ID, w.Host().Entry(e.ID), w.Host().Image(e.ID)); err != nil {
			t.Fatal(err)
		}
	}
}

// In a whole world a bot sees no more than in its client's part of it.
func TestBotsSeeThroughNoWall(t *testing.T) {
	mapOf(t, "test-two", twoRooms)
	s := on(t, "test-two", Options{}, 2)
	b := NewBot(3)
	for range 120 {
		s.put(1, 2, 2)
		s.put(2, 12, 2) // behind the wall
		b.Think(s.w, 1)
		s.step(1)
		if b.enemy != world.None {
			t.Fatal("it sees through a wall")
		}
	}
	for range 20 {
		s.put(1, 2, 2)
		s.put(2, 7, 2)
		b.Think(s.w, 1)
		s.step(1)
	}
	if b.enemy == world.None {
		t.Error("it does not see what stands before it")
	}
}

// A tick of bots, their thoughts, and the views of their clients allocate nothing once all has been
// as large before.
func TestNoAllocations(t *testing.T) {
	w, bots, in := crowded(t, "foundry", 16)
	it := newInterest()
	finder, views := interest.NewFinder(), make([]interest.View, len(bots))
	tick := func() {
		think(t, w, bots, in)
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
	}
	follow := func() {
		if err := it.Follow(w); err != nil {
			t.Fatal(err)
		}
		for i := range views {
			finder.Update(&views[i], it.Index, it.Rules,
				it.Observer(world.Player(i+1), 100*time.Millisecond))
		}
	}
	for range 600 {
		tick()
		follow()
	}
	if n := testing.AllocsPerRun(300, tick); n > 0 {
		t.Errorf("%v allocations in a tick of 16 bots", n)
	}
	if n := testing.AllocsPerRun(300, func() { tick(); follow() }); n > 0 {
		t.Errorf("%v allocations in a tick with views", n)
	}
}
