package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// TestRoster: everyone knows what everyone is called, also who comes later, and who was away while
// names changed; a crowd takes a few messages, and in a game at rest nothing is said.
func TestRoster(t *testing.T) {
	simtest.Run(t, 1, func(n *netsim.Net) error {
		s, err := newSim(n, Options{Title: near(100), Players: 80})
		if err != nil {
			return err
		}
		defer s.close()
		ann := s.join("ann", 1, netsim.WiFi, client.Options{Name: "Ann"})
		mute := s.join("mute", 2, netsim.Awful, client.Options{Name: " "})
		if !s.playing(20 * time.Second) {
			s.fail("not all are playing")
			return s.err
		}
		knows := func(c *bot, of *bot, name string) func() bool {
			return func() bool { return c.NameOf(of.Player()) == name }
		}
		expect := func(what string, so func() bool) {
			if !n.RunUntil(5*time.Second, so) {
				s.fail("%s: ann knows %q, mute %q", what, ann.NameOf(mute.Player()),
					mute.NameOf(ann.Player()))
			}
		}
		expect("who was there", knows(mute, ann, "Ann"))
		if got := ann.NameOf(mute.Player()); got != "" {
			s.fail("who has said no name is called %q", got)
		}
		if got := mute.NameOf(mute.Player()); got != fmt.Sprintf("player %d", mute.Player()) {
			s.fail("they call themselves %q", got)
		}
		mute.Rename("Mo")
		expect("another name", knows(ann, mute, "Mo"))
		for i := range 60 { // more than one message holds
			s.join(fmt.Sprint("many", i), uint64(10+i), netsim.LAN,
				client.Options{Name: strings.Repeat("x", 20) + fmt.Sprint(i)})
		}
		if !s.playing(20 * time.Second) {
			s.fail("not all are playing")
		}
		late := s.join("late", 99, netsim.WiFi, client.Options{Name: "Lou"})
		all := len(s.clients)
		for i, c := range s.clients[:all-1] {
			c.Rename(fmt.Sprint("other", i)) // all at once, and a tick tells a few of it
		}
		ticks, knew, most := uint64(0), map[*peer]uint64{}, 0
		expect("all of them", func() bool {
			if now := s.server.Stats().Ticks; now != ticks {
				told := 0
				for _, p := range s.server.order {
					if before, ok := knew[p]; ok && p.names != before {
						told++
					}
					knew[p] = p.names
				}
				if now == ticks+1 {
					most = max(most, told)
				}
				ticks = now
			}
			for _, c := range s.clients {
				for _, o := range s.clients {
					if c.NameOf(o.Player()) == "" || o.Player() == world.Nobody {
						return false
					}
				}
			}
			return ann.NameOf(s.clients[5].Player()) == "other5"
		})
		if most == 0 || most > namesTick {
			s.fail("a tick told %d clients of names, want 1 to %d", most, namesTick)
		}
		gone := late.Player()
		late.Leave()
		expect("who has gone", func() bool { return ann.NameOf(gone) == "" })
		return s.err
	})
}
