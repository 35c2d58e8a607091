package seamless

import (
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/netsim"
)

// A server is started where another was that has died, which the map still lists: only the one
// that is there is connected to, whatever their numbers are and in whichever order they are read.
func TestSameAddress(t *testing.T) {
	end := netsim.New(netsim.Options{Seed: 1}).Endpoint("one")
	o := &Options{Self: 1, Link: end, Keys: []token.Key{{7}}, Seed: [32]byte{1}}
	addr := netip.MustParseAddrPort("10.0.0.5:4400")
	for _, dead := range []struct {
		id    int
		first bool
	}{{5, true}, {5, false}, {9, true}, {9, false}} {
		l, err := openLines(o, "world", 1_700_000_000)
		if err != nil {
			t.Fatal(err)
		}
		old, now := l.need(5), l.need(9)
		if dead.id == 9 {
			old, now = now, old
		}
		l.know(old.id, addr, 10)
		l.tend(0)
		if dead.first {
			l.know(now.id, addr, 20)
		} else {
			l.know(now.id, addr, 20)
			l.know(old.id, addr, 10) // by one who has just come, and reads the whole list
		}
		for i := range 20 {
			l.tend(time.Duration(i) * redial)
			if i > 0 && now.client == nil || old.client != nil {
				t.Fatalf("%+v: after %d turns it connects to the one that has died", dead, i)
			}
		}
		l.know(old.id, netip.MustParseAddrPort("10.0.0.6:4400"), 30) // it was not dead after all
		l.tend(time.Minute)
		if old.client == nil || now.client == nil {
			t.Errorf("%+v: both are there, and not both are connected to", dead)
		}
	}
}
