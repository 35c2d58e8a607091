package clientserver

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// A repeatClock is a Repeater that says what the test wants. It makes one command at each tick, as far ahead as suits a good network.
type repeatClock struct{ say int }

func (c *repeatClock) Heard(time.Duration, *replica.Snapshot, conn.Quality) {}
func (c *repeatClock) Reset()                                               {}
func (c *repeatClock) Repeats() int                                         { return c.say }
func (c *repeatClock) Target(now time.Duration) world.Tick {
	return world.Tick((now+yard.TickLength()/2)/yard.TickLength()) + 6
}

// TestRepeater: a clock decides from packet to packet how many commands each carries, and the server finds as many that it has already.
func TestRepeater(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time, and nothing in it runs at once that does not elsewhere")
	}
	simtest.Run(t, 3, func(n *netsim.Net) error {
		s, err := newSim(n, Options{})
		if err != nil {
			return err
		}
		defer s.close()
		clock := &repeatClock{}
		a := s.join("a", 1, netsim.Perfect, ClientOptions{Clock: clock, Redundancy: 3})
		a.makeMove = func(world.Tick) walk { return walk{X: 1} }
		n.Run(2 * time.Second)
		for _, x := range []struct{ say, want int }{{1, 1}, {8, 8}, {2, 2}, {0, 3}, {-5, 3}, {100, maxRedundancy}} {
			clock.say = x.say
			n.Run(time.Second) // what was sent before has come
			before := s.server.Seat(1).Commands()
			n.Run(5 * time.Second)
			after := s.server.Seat(1).Commands()
			again, taken := after.Again-before.Again, after.Taken-before.Taken
			if want := uint64(x.want-1) * taken; taken < 200 || again != want {
				s.fail("a clock that says %d: of the commands %d are new and %d are not, want %d", x.say, taken, again, want)
			}
		}
		// Who rests says so in the end, and is believed, however many commands there are to a packet.
		a.makeMove = func(world.Tick) walk { return walk{} }
		n.Run(3 * time.Second)
		before := s.server.Seat(1).Commands()
		n.Run(3 * time.Second)
		if after := s.server.Seat(1).Commands(); after.Taken != before.Taken || after.Again != before.Again {
			s.fail("who rests sends commands: %+v, and before %+v", after, before)
		}
		return s.settle(time.Second)
	})
}
