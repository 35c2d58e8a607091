package mirror

import (
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// TestPrivateChat: what a player says to another alone is heard by that one, at whatever mirror,
// and by who said it; by nobody else. Limits of chat hold for it as well.
func TestPrivateChat(t *testing.T) {
	g := newGlobe(t, 101, 3, func(_ int, o *Options) {
		o.Server.Rules.Chat = func(_ *server.Seat, line string) (string, error) {
			return line + "!", nil
		}
	})
	defer g.end()
	for i := range 6 {
		g.play(uint64(i+1), g.machines[i%3], rough(20*time.Millisecond))
	}
	g.settleDown()
	from, near, far := g.bots[0], g.bots[3], g.bots[1]
	from.SayTo("meet me", near.Player(), far.Player())
	g.until(5*time.Second, "they hear it", func() bool {
		return len(near.heard) > 0 && len(far.heard) > 0 && len(from.heard) > 0
	})
	g.net.Run(2 * time.Second)
	to := []world.Player{near.Player(), far.Player()}
	for i, b := range g.bots {
		if b != from && b != near && b != far {
			if len(b.heard) != 0 {
				t.Errorf("player %d hears %v", i+1, b.heard)
			}
			continue
		}
		if len(b.heard) != 1 || b.heard[0].Text != "meet me!" || !slices.Equal(b.heard[0].To, to) ||
			b.heard[0].Player != from.Player() {
			t.Errorf("player %d hears %v", i+1, b.heard)
		}
	}
	for range 200 {
		from.SayTo("flood", far.Player())
	}
	g.net.Run(3 * time.Second)
	if n := len(far.heard); n > 60 {
		t.Errorf("%d lines of a flood were passed on", n)
	}
	if g.err != nil {
		t.Fatal(g.err)
	}
	// A line is for whoever has a name, as someone types it; the roster tells of those at the same
	// mirror.
	near.heard = nil
	near.Speak("@nobody of that name")
	g.net.Run(2 * time.Second)
	if n := len(g.bots[4].heard); n == 0 || len(g.bots[4].heard[n-1].To) != 0 {
		t.Error("a line for nobody is not for everyone")
	}
}
