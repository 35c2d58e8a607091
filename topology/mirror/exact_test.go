package mirror

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// TestExact: in the paper's form of the event-based protocol every move reaches the überserver over
// lines that lose one packet in ten, and what strictly happens is told by it; and when it dies
// another takes its place.
func TestExact(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays a match between mirrors")
	}
	simtest.Alone(t, 1, func(n *netsim.Net) error {
		f := fleetOf(n, 3, 2, apart(30*time.Millisecond, 5*time.Millisecond, 0.1),
			Options{Timeline: "ruled", Exact: true})
		defer f.close()
		n.Run(6 * time.Second)
		uber := f.machines[0].mirror
		if uber.roll.uber != uber.roll.self {
			return fmt.Errorf("the first mirror is not überserver")
		}
		told := uint64(0)
		for _, s := range f.machines[1:] {
			m := s.mirror
			x, got := &m.exact, uber.exact.got[m.roll.self]
			if waiting := len(x.moves); got < 300 || waiting > 120 {
				f.fail("mirror %s: %d moves came, and %d wait", s.name, got, waiting)
			}
			if at := got - x.first; at > uint32(len(x.moves)) {
				f.fail("mirror %s: %d moves came of %d", s.name, got, x.first+uint32(len(x.moves)))
			}
			st := m.Stats()
			told += st.Told
			if st.Untold > 0 {
				f.fail("mirror %s: %d events came of rulings and nobody told of them", s.name,
					st.Untold)
			}
		}
		if told == 0 {
			f.fail("no event was told")
		}
		f.machines[0].kill()
		f.recovers(true)
		return f.err
	})
}

// TestExactOnly: the form is that of one timeline.
func TestExactOnly(t *testing.T) {
	simtest.Alone(t, 1, func(n *netsim.Net) error {
		e := n.Endpoint("a")
		o := Options{Link: e, Address: e.PublicAddr(), Found: true, Exact: true,
			Timeline: "trailing"}
		o.Server.Title = arenaTitle
		o.Keys = append(o.Keys, [32]byte{1})
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "Options.Exact") {
			return fmt.Errorf("want that it is refused: %v", err)
		}
		return nil
	})
}
