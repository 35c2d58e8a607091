package replica

import "testing"

// TestHandleStandsAgain plays a run in which a handle came to stand for an entity once more, and
// the client had never heard of what it stood for in between: so the client took it for passed
// over, and did not show the entity any more.
func TestHandleStandsAgain(t *testing.T) {
	const seed = 0x26 // found by TestTakenBack
	m := newMirror(t, Options{Strategy: Quake3}, seed, 5)
	first := newGuest(m.site, 1, seed)
	first.loss, first.delay, first.every = 0.1, 2, 2
	g := newGuest(m.site, 2, seed)
	g.loss, g.ackLoss, g.delay, g.jitter, g.every = 0.4, 0.1, 3, 12, 1
	for i := range 300 {
		if i < 240 {
			m.advance(1, 0.2)
		} else {
			m.advance(0, 0)
		}
		first.tick()
		g.tick()
	}
	g.loss, g.ackLoss, g.jitter = 0, 0, 0
	for n := 0; !g.exact(); n++ {
		if n > 200 {
			t.Fatal(g.wrong())
		}
		m.publish(m.w.Tick())
		g.tick()
	}
}

// TestSpoiledPacketNamesWhatIsHeld spoils packets bit by bit: whatever they come to, the client
// reports on nothing that it was not told of before.
func TestSpoiledPacketNamesWhatIsHeld(t *testing.T) {
	for strategy := range strategyNames {
		s := newSite(t, Options{Strategy: Strategy(strategy)}, 8, 3)
		g := newGuest(s, 1, 8)
		for range 30 {
			s.step()
			g.tick()
		}
		if len(g.down) == 0 {
			t.Fatal("nothing is under way")
		}
		data := g.down[0].data
		for bit := range 8 * len(data) {
			spoiled := append([]byte(nil), data...)
			spoiled[bit/8] ^= 1 << (bit % 8)
			g.r.asked = false
			_ = g.r.Packet(spoiled)
			for _, m := range g.r.Outgoing() {
				if err := g.s.Message(m); err != nil {
					t.Fatalf("%v, bit %d: %x: %v", Strategy(strategy), bit, m, err)
				}
			}
		}
	}
}
