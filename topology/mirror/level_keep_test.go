package mirror

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/keep/keeptest"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// turning plays one case by its seed: while another level is asked for of mirrors that keep the
// game, one of them, the überserver, most or all of them crash, at a moment after it was asked. It
// says whether the new level has come of it, or the old one: the same on all.
func turning(seed uint64, after time.Duration) (turned bool, err error) {
	n := netsim.New(netsim.Options{Seed: seed})
	r := n.Rand()
	v := survivors(n, 3, 0)
	defer v.close()
	n.Run(time.Duration(1000+r.IntN(2000)) * time.Millisecond)
	players := map[uint64]world.Player{}
	for c, h := range v.machines[0].mirror.roll.registry.clients {
		players[c] = h.player
	}
	now := v.machines[0].mirror.in.stamp
	v.until(20*time.Second, "it is on all disks who plays", func() bool { return v.safe >= now })
	wanted, asks := server.Level{Name: "two", Seed: 2, Secret: seed + 1}, v.machines[r.IntN(3)]
	for end := n.Now() + after; n.Now() < end; n.Run(min(20*time.Millisecond, end-n.Now())) {
		if _, err := asks.mirror.Change(wanted); err != nil {
			v.fail("%v", err)
		}
	}
	disks := map[*machine]*keeptest.Disk{}
	order := shuffled(r, 3)[:1+r.IntN(3)]
	if r.Chance(0.3) { // the überserver alone
		order = nil
		for i, s := range v.machines {
			if s.mirror.leads() {
				order = []int{i}
			}
		}
	}
	known, base := v.safe, world.Tick(0) // what was told to the operator is kept
	for _, s := range v.machines {
		base = max(base, s.mirror.Base())
	}
	for _, i := range order {
		s := v.machines[i]
		if disks[s] = v.crash(s); r.Chance(0.3) {
			n.Run(time.Duration(r.IntN(200)) * time.Millisecond)
		}
	}
	for _, i := range shuffled(r, 3) {
		if disk := disks[v.machines[i]]; disk != nil {
			n.Run(time.Duration(r.IntN(1500)) * time.Millisecond)
			v.bringUp(v.machines[i], disk)
		}
	}
	v.until(60*time.Second, "all serve again in one level", v.agreed)
	v.settles(10 * time.Second)
	if v.err != nil {
		return false, v.err
	}
	turned = v.in(wanted)
	if base != 0 && known > base && !turned {
		v.fail("the level that began at tick %d is gone, and tick %d was safe", base, known)
	}
	for _, s := range v.machines {
		for c, p := range players {
			if h := s.mirror.roll.registry.clients[c]; h == nil || h.player != p ||
				!s.mirror.line.Settled().Present(p) {
				v.fail("%s: client %d is %+v, and was player %d", s.name, c, h, p)
			}
		}
	}
	v.changesTo(v.machines[r.IntN(3)], server.Level{Name: "three", Secret: seed + 5})
	v.settles(10 * time.Second)
	return turned, v.err
}

// TestLevelAndCrashes plays many. COEVAL_CASE is the first, COEVAL_UNTIL the one to end before.
func TestLevelAndCrashes(t *testing.T) {
	cases := uint64(10)
	if soak {
		cases = 400
	}
	first, _ := strconv.ParseUint(os.Getenv("COEVAL_CASE"), 10, 64)
	if until, err := strconv.ParseUint(os.Getenv("COEVAL_UNTIL"), 10, 64); err == nil {
		cases = until
	}
	turned, failed := 0, 0
	for i := first; i < cases && failed < 8; i++ {
		after := time.Duration(i*37%110) * 20 * time.Millisecond
		new, err := turning(i+1, after)
		if err != nil {
			t.Error(fmt.Errorf("case %d, %v after it was asked: %w", i, after, err))
			failed++
		}
		if new {
			turned++
		}
	}
	if t.Logf("%d of %d went on in the new level", turned, cases-first); cases-first >= 10 &&
		(turned == 0 || turned == int(cases-first)) {
		t.Error("it is always the same")
	}
}
