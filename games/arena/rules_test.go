package arena

import (
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

func TestTheGameIsDeclaredRight(t *testing.T) {
	if err := Game.Err(); err != nil {
		t.Fatal(err)
	}
	if Game.Rate() != rate {
		t.Error("rate", Game.Rate())
	}
	for n, name := range []string{
		classMatch: "Match", classFighter: "Fighter", classShot: "Shot", classPickup: "Pickup",
		classDoor: "Door", classSheet: "Sheet"} {
		if got := Game.Classes()[n].Name(); got != name {
			t.Errorf("class %d is %s, not %s", n, got, name)
		}
	}
}

// Everyone comes up to speed, stops, and slides along walls instead of sticking to them.
func TestWalking(t *testing.T) {
	mapOf(t, "test-hall", hall)
	s := on(t, "test-hall", Options{}, 1)
	f := s.put(1, 5, 3.5)
	s.hold(1, Command{X: Push}, 60)
	if f.Vel.X != TopSpeed || f.Pos.X < 12 || f.Pos.Y != 3.5 {
		t.Errorf("after a second of running: %+v", f)
	}
	s.hold(1, Command{}, 30)
	if f.Vel != (det.Vec2{}) {
		t.Errorf("half a second after letting go it still moves: %+v", f)
	}
	s.put(1, 5, 3.5)
	s.hold(1, Command{X: Push, Y: Push}, 60)
	if want := 6 - Radius; det.Abs(f.Pos.Y-want) > 0.01 || f.Vel.X < 6 || f.Vel.Y != 0 {
		t.Errorf("along the wall: %+v", f)
	}
	s.hold(1, Command{X: -Push, Y: -Push}, 200)
	if want := 1 + Radius; f.Pos != (det.Vec2{X: want, Y: want}) {
		t.Errorf("in the corner: %+v, want %v", f.Pos, want)
	}
	// Diagonals are not faster.
	s.put(1, 5, 1.6)
	s.hold(1, Command{X: Push, Y: Push}, 15)
	if v := f.Vel.Len(); v > TopSpeed+0.1 {
		t.Errorf("%v is too fast", v)
	}
}

// Whatever players press, no one gets into a wall or a pit, and no one stands in another for long.
func TestNoOneLeavesTheGround(t *testing.T) {
	for _, name := range []string{"duel", "foundry"} {
		s := on(t, name, Options{Kills: -1}, 8)
		m := world.StateOf[Match](s.w).Level()
		rand := world.RandomInputs(Game, 3, 8)
		for range 1500 {
			rand(s.w.Tick()+1, s.in)
			s.step(1)
			for id, f := range world.All[Fighter](s.w) {
				if i := m.at(f.Pos); i < 0 || m.cells[i] != Floor {
					t.Fatalf("%s, tick %d: %v is at %v, in a wall", name, s.w.Tick(), id, f.Pos)
				}
				for other, o := range world.All[Fighter](s.w) {
					if d := o.Pos.Sub(f.Pos).Len(); other != id && f.Alive() && o.Alive() &&
						d < Radius && f.Life != 1 {
						t.Fatalf("%s, tick %d: %v and %v are %v apart", name, s.w.Tick(), id, other,
							d)
					}
				}
			}
		}
	}
}

func TestFightersCollide(t *testing.T) {
	mapOf(t, "test-hall", hall)
	s := on(t, "test-hall", Options{}, 2)
	a, b := s.put(1, 8, 3.5), s.put(2, 12, 3.5)
	for range 90 {
		s.give(1, Command{X: Push})
		s.step(1)
		if gap := b.Pos.X - a.Pos.X; gap < 2*Radius-0.02 {
			t.Fatalf("they are %v apart", gap)
		}
	}
	if b.Pos.X < 14 {
		t.Errorf("the one who stood was not pushed: %v", b.Pos)
	}
}

// Bolts hurt whom they meet, and only walls make sparks.
func TestBlaster(t *testing.T) {
	mapOf(t, "test-hall", hall)
	s := on(t, "test-hall", Options{}, 2)
	s.put(1, 5, 3.5)
	b := s.put(2, 12, 3.5)
	s.hold(1, Command{Fire: true}, 1)
	if got := events[Fired](s.w); len(got) != 1 || got[0].Weapon != Blaster ||
		world.Count[Shot](s.w) != 1 {
		t.Fatal(got)
	}
	hurt := 0
	for range 40 {
		s.step(1)
		for _, d := range events[Damaged](s.w) {
			hurt++
			if d.By != 1 || d.Amount != Arms[Blaster].Damage ||
				det.Abs(float64(d.From.Sub(det.Pi))) > 0.2 {
				t.Errorf("%+v", d)
			}
		}
		if len(events[Spark](s.w)) != 0 {
			t.Error("sparks from a fighter")
		}
	}
	if hurt != 1 || b.Health != Healthy-Arms[Blaster].Damage || b.Pos.X <= 12 ||
		world.Count[Shot](s.w) != 0 {
		t.Errorf("hurt %d times, %+v", hurt, b)
	}
	s.hold(1, Command{Aim: det.Pi / 2, Fire: true}, 1)
	sparks := 0
	for range 20 {
		s.step(1)
		for _, e := range events[Spark](s.w) {
			sparks++
			if det.Abs(float64(e.Out.Sub(-det.Pi/2))) > 0.2 || det.Abs(e.At.Y-6) > 0.1 {
				t.Errorf("%+v", e)
			}
		}
	}
	if sparks != 1 {
		t.Error(sparks, "sparks")
	}
	// It fires again only when it is ready.
	fired := 0
	for range 60 {
		s.hold(1, Command{Fire: true, Aim: det.Pi / 2}, 1)
		fired += len(events[Fired](s.w))
	}
	if want := 60/int(Arms[Blaster].Reload) + 1; fired > want || fired < want-1 {
		t.Errorf("%d bolts in a second, want %d", fired, want)
	}
}

// A rocket's burst hurts less further away, throws outward, and stops at walls.
func TestBurst(t *testing.T) {
	mapOf(t, "test-two", twoRooms)
	s := on(t, "test-two", Options{}, 4)
	places := []det.Vec2{{X: 8, Y: 4.5}, {X: 7, Y: 5.5}, {X: 5.6, Y: 6}, {X: 10.45, Y: 6.2}}
	own, near, far, behind := s.put(1, 0, 0), s.put(2, 0, 0), s.put(3, 0, 0), s.put(4, 0, 0)
	place := func() {
		for i, f := range []*Fighter{own, near, far, behind} {
			f.Pos, f.Vel = places[i], det.Vec2{}
		}
	}
	place()
	for range drawTime + 1 {
		s.hold(1, Command{Fire: true, Weapon: Launcher, Aim: det.Pi / 2}, 1)
	}
	if n := world.Count[Shot](s.w); n != 1 {
		t.Fatalf("%d rockets", n)
	}
	var burst []Explosion
	for range 30 {
		place()
		if s.step(1); len(events[Explosion](s.w)) > 0 {
			burst = events[Explosion](s.w)
			break
		}
	}
	if len(burst) != 1 || burst[0].At.Sub(det.Vec2{X: 8, Y: 7}).Len() > 0.1 {
		t.Fatalf("%+v", burst)
	}
	lost := func(f *Fighter) int { return Healthy - f.Health }
	if !(lost(near) > lost(far) && lost(far) > 0) || lost(behind) != 0 {
		t.Errorf("lost %d near, %d far, %d behind the wall", lost(near), lost(far), lost(behind))
	}
	if near.Vel.X >= 0 || far.Vel.X >= 0 || behind.Vel != (det.Vec2{}) ||
		near.Vel.Len() <= far.Vel.Len() {
		t.Errorf("thrown by %v near, %v far, %v behind the wall", near.Vel, far.Vel, behind.Vel)
	}
	if own.Vel.Y >= 0 || lost(own) == 0 {
		t.Errorf("who fired it: %+v", own)
	}
	twin := det.Clamp((Splash-own.Pos.Sub(burst[0].At).Len())/(Splash-Radius), 0,
		1) * float64(Arms[Launcher].Damage)
	if float64(lost(own)) > twin*0.6+1 {
		t.Errorf("who fired it lost %d; half of %v would do", lost(own), twin)
	}
}

// A beam meets the first in its way, and neither walls nor shut doors let it pass.
func TestRail(t *testing.T) {
	mapOf(t, "test-two", twoRooms)
	s := on(t, "test-two", Options{}, 3)
	shoot := func(aim det.Angle) []Damaged {
		f := s.body(1)
		f.Weapon, f.Ready, f.Slugs = Rail, 0, 5
		s.give(1, Command{Fire: true, Weapon: Rail, Aim: aim})
		s.step(1)
		if got := events[Beam](s.w); len(got) != 1 {
			t.Fatalf("%d beams", len(got))
		}
		return events[Damaged](s.w)
	}
	s.put(1, 2, 2)
	first, second := s.put(2, 5, 2), s.put(3, 8, 2)
	if d := shoot(0); len(d) != 1 || first.Health != Healthy-Arms[Rail].Damage ||
		second.Health != Healthy {
		t.Errorf("%+v %d %d", d, first.Health, second.Health)
	}
	s.put(1, 2, 2)
	s.put(2, 14, 2)
	s.put(3, 2, 6)
	if d := shoot(0); len(d) != 0 {
		t.Errorf("through a wall: %+v", d)
	}
	// The door is at the height of 3 to 5, and shut by now.
	s.step(60)
	s.put(1, 2, 4)
	s.put(2, 14, 4)
	if d := shoot(0); len(d) != 0 {
		t.Errorf("through a door: %+v", d)
	}
	s.put(1, 7.5, 4)
	s.step(30)
	s.put(1, 7.5, 4)
	if d := shoot(0); len(d) != 1 {
		t.Errorf("not through an open door")
	}
}

// TestRewind: a shot hits where the shooter saw another, be it a beam or something that flies, and
// not through walls.
func TestRewind(t *testing.T) {
	mapOf(t, "test-two", twoRooms)
	for _, weapon := range []Weapon{Rail, Blaster, Launcher} {
		// The other stood at a place for a while, and goes away just before the shot arrives.
		shoot := func(was, is det.Vec2, ago uint16) bool {
			s := on(t, "test-two", Options{}, 2)
			f := s.put(1, 2, 2)
			f.Weapon, f.Ready, f.Rockets, f.Slugs = weapon, 0, 5, 5
			s.put(2, was.X, was.Y)
			s.hold(2, Command{Aim: 1}, 40) // what a tick changes is remembered
			s.put(2, is.X, is.Y)
			for i := range 12 {
				c := Command{Fire: i == 0, Weapon: weapon}
				s.give(1, c)
				if err := s.in.Show(1, world.Sight{Ago: ago}); err != nil {
					t.Fatal(err)
				}
				s.step(1)
			}
			return s.body(2).Health < Healthy
		}
		in, beside, behind := det.Vec2{X: 5, Y: 2}, det.Vec2{X: 6, Y: 6}, det.Vec2{X: 14, Y: 2}
		if shoot(in, beside, 0) {
			t.Errorf("%v: it hits where no one is", weapon)
		}
		if !shoot(in, beside, 16*20) {
			t.Errorf("%v: it does not hit where the other was", weapon)
		}
		if shoot(behind, beside, 16*20) {
			t.Errorf("%v: it hits through a wall where the other was", weapon)
		}
	}
}

// Who is dead waits, comes back on demand, and is someone new to whoever draws it.
func TestDeath(t *testing.T) {
	mapOf(t, "test-hall", hall)
	s := on(t, "test-hall", Options{}, 2)
	s.put(1, 5, 3.5)
	victim := s.put(2, 9, 3.5)
	victim.Health = 5
	life := victim.Life
	var killed []Killed
	s.give(1, Command{Fire: true})
	for range 30 {
		s.step(1)
		killed = append(killed, events[Killed](s.w)...)
	}
	if len(killed) != 1 || killed[0] != (Killed{Victim: 2, By: 1, Weapon: Blaster}) ||
		victim.Alive() {
		t.Fatalf("%+v", killed)
	}
	if a, b := s.sheet(1), s.sheet(2); a.Kills != 1 || a.Deaths != 0 || b.Kills != 0 ||
		b.Deaths != 1 {
		t.Errorf("%+v %+v", a, b)
	}
	s.hold(2, Command{Fire: true, X: Push}, 40)
	if victim.Alive() || victim.Vel != (det.Vec2{}) {
		t.Error("it came back too soon, or walks")
	}
	s.hold(2, Command{Fire: true}, comeBack)
	if !victim.Alive() || victim.Health != Healthy || victim.Life != life+1 {
		t.Errorf("it did not come back: %+v", victim)
	}
	// Who does nothing comes back as well, later.
	victim.Health = 0
	victim.Back = now(s.w) + 10
	s.step(100)
	if victim.Alive() {
		t.Error("it came back unasked")
	}
	s.step(comeAnyway)
	if !victim.Alive() {
		t.Error("it never came back")
	}
}

// A client predicts hits, but leaves deaths to its server.
func TestClientsPredictNoDeath(t *testing.T) {
	mapOf(t, "test-hall", hall)
	s := on(t, "test-hall", Options{}, 2)
	s.step(1) // from here on, images follow what a test changes
	s.put(1, 5, 3.5).Weapon = Rail
	s.put(2, 9, 3.5).Health = 5
	s.step(1)
	client, err := Game.New(world.Settings{Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	client.Host().SetTick(s.w.Tick())
	for n := range Game.Classes() {
		for id := range s.w.Host().Of(n) {
			if err := client.Host().Put(id, s.w.Host().Entry(id),
				s.w.Host().Image(id)); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.in.Join(1)
	s.in.Join(2)
	s.give(1, Command{Fire: true, Weapon: Rail})
	if err := client.Host().Step(s.in); err != nil {
		t.Fatal(err)
	}
	s.step(1)
	for id, f := range world.All[Fighter](s.w) {
		if got := world.Get[Fighter](client, id); s.w.Owner(id) == 2 &&
			(f.Health != 0 || got.Health != 1) {
			t.Errorf("the server has %d health, the client predicts %d", f.Health, got.Health)
		}
	}
	if len(events[Killed](client)) != 0 || len(events[Damaged](client)) != 1 ||
		len(events[Killed](s.w)) != 1 {
		t.Error("a client announces a death, or no hit")
	}
}

func TestAccidentsCountAgainstOne(t *testing.T) {
	mapOf(t, "test-hall", hall)
	s := on(t, "test-hall", Options{}, 1)
	f := s.put(1, 5, 1.6)
	f.Health, f.Weapon = 1, Launcher
	s.give(1, Command{Fire: true, Aim: -det.Pi / 2, Weapon: Launcher})
	s.step(20)
	if f.Alive() || s.sheet(1).Kills != -1 || s.sheet(1).Deaths != 1 {
		t.Errorf("%+v %+v", f, s.sheet(1))
	}
}

func TestTeams(t *testing.T) {
	s := on(t, "foundry", Options{Teams: true}, 4)
	for p, want := range map[world.Player]int{1: 1, 2: 2, 3: 1, 4: 2} {
		if s.sheet(p).Team != want || s.body(p).Team != want {
			t.Errorf("player %d is in team %d", p, s.sheet(p).Team)
		}
	}
	mate, enemy := s.put(3, 25, 14), s.put(2, 27, 14)
	f := s.put(1, 23, 14)
	f.Weapon = Rail
	hit := func(o *Fighter) bool { return o.Health < Healthy }
	s.give(1, Command{Fire: true, Weapon: Rail})
	s.step(1)
	if hit(mate) || hit(enemy) {
		t.Error("a friend is in the way and was hurt, or was shot through")
	}
	mate.Pos.Y, f.Ready = 12, 0
	s.give(1, Command{Fire: true, Weapon: Rail})
	s.step(1)
	if !hit(enemy) {
		t.Error("the enemy was not hurt")
	}
	m := world.StateOf[Match](s.w)
	enemy.Health, enemy.Pos, f.Ready = 1, det.Vec2{X: 26, Y: 14}, 0
	s.give(1, Command{Fire: true, Weapon: Rail})
	s.step(1)
	if m.Score != [2]int{1, 0} {
		t.Errorf("score %v", m.Score)
	}
}

// Pickups are taken by who has use for them, and come back.
func TestPickups(t *testing.T) {
	mapOf(t, "test-two", twoRooms)
	s := on(t, "test-two", Options{}, 2)
	f := s.put(1, 1.5, 6.5)
	s.step(1)
	if len(events[PickedUp](s.w)) != 0 {
		t.Error("someone in good health took a pack")
	}
	f.Health = 60
	s.put(2, 1.5, 5.7).Health = 10 // further away
	s.step(1)
	if got := events[PickedUp](s.w); len(got) != 1 || got[0] != (PickedUp{SmallPack, 1}) ||
		f.Health != 85 {
		t.Errorf("%+v, %d", got, f.Health)
	}
	s.step(int(gifts[SmallPack].again) - 1)
	if f.Health != 85 {
		t.Error("it was there again too soon")
	}
	s.put(2, 15, 2)
	s.step(2)
	if f.Health != Healthy {
		t.Errorf("it is not there again: %d", f.Health)
	}
	for k := SmallPack; k < kinds; k++ {
		var g Fighter
		if !g.wants(k) || gifts[k].again == 0 {
			t.Error("no one wants", k)
		}
		for range 50 {
			g.take(k)
		}
		if g.wants(k) || g.Health > MaxHealth || g.Rockets > maxRockets || g.Slugs > maxSlugs {
			t.Errorf("too much of %d: %+v", k, g)
		}
	}
}

// Doors open for who comes, shut behind, and stop walkers, shots and sight while they are shut.
func TestDoors(t *testing.T) {
	mapOf(t, "test-two", twoRooms)
	s := on(t, "test-two", Options{}, 1)
	var d *Door
	for _, each := range world.All[Door](s.w) {
		d = each
	}
	s.put(1, 2, 2)
	var scene Scene
	scene.Look(s.w)
	a, b := det.Vec2{X: 7, Y: 4}, det.Vec2{X: 12, Y: 4.2}
	if d.Open != 0 || scene.Clear(a, b) {
		t.Fatal("it is open")
	}
	if p, _ := scene.walk(a, det.Vec2{X: 9}, det.Vec2{X: 6}); p.X > 9.5-doorHalf-Radius+0.001 {
		t.Errorf("walked through to %v", p)
	}
	f := s.put(1, 5, 4)
	opened := 0
	for range 90 {
		s.hold(1, Command{X: Push}, 1)
		for _, e := range events[DoorMoved](s.w) {
			if e.Opening {
				opened++
			}
		}
	}
	if f.Pos.X < 14 || opened != 1 {
		t.Errorf("it did not open in time: %+v, %d", f.Pos, opened)
	}
	scene.Look(s.w)
	s.put(1, 18, 2)
	s.step(60)
	scene.Look(s.w)
	if d.Open != 0 || scene.Clear(a, b) {
		t.Error("it did not shut")
	}
	scene.Open[0] = 1 // a crack in the middle
	if !scene.Clear(det.Vec2{X: 7, Y: 4}, det.Vec2{X: 12, Y: 4}) ||
		scene.Clear(det.Vec2{X: 7, Y: 4.4}, det.Vec2{X: 12, Y: 4.4}) {
		t.Error("one sees through a crack, and only through it")
	}
}
