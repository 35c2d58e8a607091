package seamless

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/zone"
)

// crash says when a server dies: before it does the nth thing to what is kept, counted from when it
// is armed, or right after it, so that it does not hear what came of it.
type crash struct {
	at    int
	after bool
	// planner has only what the server with home does for orders counted, otherwise all that any
	// server does.
	planner bool
	n       int
	hit     bool
}

// strikes says whether a server dies at what it is about to do, and whether that is done first.
func (c *crash) strikes(x *simulated, t *task) (dies, done bool) {
	if c == nil || c.hit || c.planner && !(t.own && x.planner.job != nil) {
		return false, false
	}
	if c.n++; c.n != c.at {
		return false, false
	}
	c.hit = true
	return true, c.after
}

// moves plays a world in which borders move, and a server dies at one step of that. It says whether
// that step came.
func moves(t *testing.T, seed uint64, c *crash, unfenced bool) bool {
	s := newSim(t, seed, goldTitle(), 3, goldReach)
	s.kept.unfenced = unfenced
	standby := func(o *Options) { o.Standby = seed%2 == 0 }
	for range 3 {
		s.start(standby)
	}
	s.at(150)
	s.crash = c
	cut := 40.0
	for _, o := range []Order{
		{Kind: Split, Zone: 2},
		{Kind: Move, Zone: 3, Server: s.all[1].opt.Self},
		{Kind: Shift, Zone: 1, Cut: &cut},
		{Kind: Merge, Zone: 2},
	} {
		key := s.order(o)
		s.until(fmt.Sprint("it is done: ", o.Kind), time.Minute, func() bool {
			for _, x := range s.all {
				if x.dead && !x.replaced {
					x.replaced = true
					s.start(standby)
				}
			}
			return s.answer(key).Over
		})
		if x := s.answer(key); x.Error != "" && o.Kind != Move && o.Kind != Shift {
			t.Errorf("crash %+v: %v: %s", c, o, x.Error)
		}
	}
	s.moved()
	if plan := s.now(); len(plan.Zones()) != 3 || len(plan.Spare) != 1 {
		t.Errorf("crash %+v: zones %v, spare %v", c, plan.Zones(), plan.Spare)
	}
	s.at(goldShut + 150)
	s.audit(goldPurses, goldPurses*goldEach)
	if s.news[zone.Halted] > 0 {
		t.Errorf("crash %+v: a zone was halted", c)
	}
	return c.hit
}

// crashes is how many steps to let a server die at.
var crashes = flag.Int("crashes", 12, "steps of moving borders at which a server dies")

// A server dies at a step of a split, a move, a shift or a merge: nothing is lost, and each is done
// once.
func TestBordersMoveCrash(t *testing.T) {
	hit, most := 0, *crashes
	for i := range most {
		c := &crash{at: 1 + i*60/most, after: i%2 == 0, planner: true}
		if moves(t, uint64(100+i), c, false) {
			hit++
		}
		if t.Failed() {
			return
		}
	}
	for i := range most / 2 {
		if moves(t, uint64(200+i), &crash{at: 1 + i*997/most, after: i%2 == 0}, false) {
			hit++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("a server died in %d of %d runs", hit, most+most/2)
	if hit < most/2 {
		t.Errorf("a server died in only %d of %d runs", hit, most+most/2)
	}
}

// A server stands still while borders move, and goes on when others have its zones. With a fence
// nothing comes of that. Without one, which is the control, things are lost or doubled, and the
// audit of these tests finds that.
func TestBordersMoveStill(t *testing.T) {
	for _, unfenced := range []bool{false, true} {
		found := 0
		for seed := uint64(1); seed <= 3; seed++ {
			found += still(t, 300+seed, unfenced)
		}
		t.Logf("unfenced %v: %d things are wrong", unfenced, found)
		if (found > 0) != unfenced {
			t.Errorf("unfenced %v: %d things are wrong", unfenced, found)
		}
	}
}

// still counts what is wrong after a server has stood still.
func still(t *testing.T, seed uint64, unfenced bool) int {
	s := newSim(t, seed, goldTitle(), 3, goldReach)
	s.kept.unfenced = unfenced
	s.mistakes = unfenced
	for range 3 {
		s.start(nil)
	}
	s.at(150)
	for _, o := range []Order{{Kind: Split, Zone: 2}, {Kind: Merge, Zone: 2},
		{Kind: Split, Zone: 3}} {
		s.order(o)
		s.net.Run(time.Second)
		var busiest *simulated
		for _, x := range s.all {
			if busiest == nil || len(x.zones.Zones()) > len(busiest.zones.Zones()) {
				busiest = x
			}
		}
		busiest.stands = s.net.Now() + 2500*time.Millisecond
		s.net.Run(4 * time.Second)
	}
	if !unfenced {
		s.at(goldShut + 300)
		s.audit(goldPurses, goldPurses*goldEach)
		return 0
	}
	s.net.Run(10 * time.Second)
	if s.news[zone.Halted] > 0 || !s.still(goldPurses, goldPurses*goldEach) {
		return 1
	}
	return 0
}
