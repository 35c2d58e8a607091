package replica

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/world"
)

// settle lets a guest run on until it is exact, with the world standing still,
// and says after how many snapshots.
func settle(t *testing.T, g *guest, most int) int {
	t.Helper()
	for n := 1; n <= most; n++ {
		for range g.every {
			g.tick()
		}
		if g.exact() {
			return n
		}
	}
	t.Fatalf("not exact after %d snapshots: %v, %+v", most, g.fails, g.r.Stats())
	return 0
}

// An image that went wrong in a client's memory is noticed by the hash, found
// by comparison, and only that entity is sent anew.
func TestRepairOfASpoiledBase(t *testing.T) {
	s := newSite(t, Options{}, 3, 4)
	g := newGuest(s, 1, 3)
	for range 60 {
		s.step()
		g.tick()
	}
	var spoiled []keptImage
	for h, e := range g.r.entities {
		if e != nil && e.what == Held && e.class == 1 && len(g.kept()[h]) > 4 {
			spoiled = g.kept()[h]
		}
	}
	if spoiled == nil {
		t.Fatal("no walker in view")
	}
	for i := range spoiled {
		spoiled[i].image[0] += 100
	}
	for range 120 {
		s.step()
		g.tick()
	}
	stats, ledger := g.r.Stats(), g.s.Ledger()
	if stats.Mismatch == 0 {
		t.Error("nobody noticed")
	}
	if stats.Repairs == 0 || ledger.Repairs != stats.Repairs {
		t.Errorf("the client asked for %d entities, the server sent %d anew", stats.Repairs,
			ledger.Repairs)
	}
	if stats.Repairs > 2 {
		t.Errorf("%d entities were asked for, to mend one", stats.Repairs)
	}
	settle(t, g, 5)
}

// A client that is wrong about everything is mended as well.
func TestRepairOfEverything(t *testing.T) {
	s := newSite(t, Options{}, 4, 4)
	g := newGuest(s, 1, 4)
	for range 60 {
		s.step()
		g.tick()
	}
	for _, images := range g.kept() {
		for i := range images {
			for j := range images[i].image {
				images[i].image[j] ^= 1
			}
		}
	}
	for range 240 {
		s.step()
		g.tick()
	}
	settle(t, g, 20)
}

// What a hostile client may say is refused, or harms no one but itself.
func TestHostileReports(t *testing.T) {
	s := newSite(t, Options{}, 5, 4)
	g, other := newGuest(s, 1, 5), newGuest(s, 2, 5)
	for range 60 {
		s.step()
		g.tick()
		other.tick()
	}
	for _, m := range [][]byte{
		nil,
		{0},
		{99},
		{messageReject},
		{messageReject, 3, 200, 1},           // more entities than a report may name
		{messageReject, 3, 1, 0xff, 0xff, 3}, // an entity that was never sent
		{messageFresh, 1, 0xff, 0xff, 3},     //
		{messageFresh, 1, 0, 0},              // too long
		{messageEvents, 1, 2, 3},             // what only a server says
		{messageFresh, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, //
	} {
		if err := g.s.Message(m); !errors.Is(err, ErrMessage) {
			t.Errorf("%x: %v", m, err)
		}
	}
	if err := g.s.Message([]byte{messageReject, 0xff, 0xff, 3, 0}); err != nil {
		t.Errorf("a packet that was never sent: %v", err)
	}
	// It may deny all that it got, over and over; it is told again.
	for i := range 50 {
		for p := range uint32(20) {
			m := append([]byte{messageReject}, byte(p), 0)
			if err := g.s.Message(m); err != nil {
				t.Fatal(err)
			}
		}
		g.s.Message([]byte{messageFresh, 3, 0, 1, 2})
		s.step()
		g.tick()
		other.tick()
		if i%10 == 0 && other.r.Stats().Rejected > 0 {
			t.Fatal("another client suffered")
		}
	}
	settle(t, other, 5)
}

// Bytes at will do no harm to a receiver, and are no snapshot.
func TestGarbagePackets(t *testing.T) {
	s := newSite(t, Options{}, 6, 4)
	g := newGuest(s, 1, 6)
	var packets [][]byte
	for range 90 {
		s.step()
		g.tick()
		for _, p := range g.down {
			packets = append(packets, p.data)
		}
	}
	good := 0
	for _, p := range packets {
		p = slices.Clone(p)
		p[g.rng.IntN(len(p))] ^= 1 << g.rng.IntN(8)
		if g.r.Packet(p) == nil {
			good++
		}
	}
	if good > len(packets)/50 {
		t.Errorf("%d of %d damaged packets were taken for good", good, len(packets))
	}
	for range 240 {
		s.step()
		g.tick()
	}
	settle(t, g, 20)
}

// An idle client in an idle world costs next to nothing.
func TestIdleCost(t *testing.T) {
	still := world.Define("still", world.Class[pebble2](), world.OnStart(func(w *world.World) {
		for range 100 {
			world.Spawn(w, pebble2{})
		}
	}))
	p, err := NewProtocol(still, Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := still.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	pub, err := NewPublisher(p, w)
	if err != nil {
		t.Fatal(err)
	}
	s, worker := NewSender(pub, SenderOptions{}), NewWorker(p)
	bytes, packets := 0, 0
	for range 60 * 10 {
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
		pub.Publish(w)
		s.Encode(worker, Room{Packet: 1150, Budget: 1150})
		for i := range s.Staged() {
			bytes += len(s.Packet(i))
			packets++
			s.Sent(i, uint64(packets))
			s.Arrived(uint64(packets))
		}
	}
	if packets > 11 || bytes > packets*9 {
		t.Errorf("%d packets of %d bytes in ten seconds", packets, bytes)
	}
	t.Logf("%d packets, %d bytes in ten seconds", packets, bytes)
}

type pebble2 struct{ pebble }

func (p *pebble2) Step(*world.World, world.ID) {}

// soaked is how many seeds a test tries: some, or many where COEVAL_SOAK is set.
func soaked(some, many int) int {
	if os.Getenv("COEVAL_SOAK") != "" {
		return many
	}
	return some
}

// Whoever asks for entities anew that were right, over and over, is sent them, and everything that
// comes can be read: what the server forgets it has the client leave alone, whatever of it is kept
// there, is under way or comes late.
func TestFreshOfWhatWasRight(t *testing.T) {
	for seed := range uint64(soaked(6, 200)) {
		s := newSite(t, Options{Strategy: Strategy(seed % 3)}, 20+seed, 4)
		g := newGuest(s, 1, 20+seed)
		g.loss, g.ackLoss, g.twice = 0.04*float64(seed%5), 0.05*float64(seed%2), 0.05
		g.delay, g.jitter = 1+int(seed%8), int(seed%5)*3
		for i := range 300 {
			s.step()
			g.tick()
			if i > 20 && g.rng.IntN(12) == 0 {
				m := []byte{messageFresh, byte(1 + g.rng.IntN(4))}
				for range m[1] {
					m = append(m, byte(g.rng.IntN(len(g.s.handles.list))))
				}
				if err := g.s.Message(m); err != nil {
					t.Fatal(err)
				}
			}
		}
		if st := g.r.Stats(); st.Rejected > 0 || g.s.Ledger().Repairs == 0 {
			t.Fatalf("seed %d: %v, %+v after %d repairs", seed, g.fails, st, g.s.Ledger().Repairs)
		}
		settle(t, g, 30)
	}
}

// Of what a receiver asks for anew, also twice while the first is under way, nothing is taken for a
// base that the server does not count on: packets wait for what was asked for, and none of them
// decodes to something else.
func TestFreshIsExact(t *testing.T) {
	for seed := range uint64(soaked(4, 200)) {
		s := newSite(t, Options{}, 30+seed, 4)
		g := newGuest(s, 1, 30+seed)
		g.loss, g.ackLoss = 0.05*float64(seed%3), 0.05*float64(seed%2)
		g.delay, g.jitter = 1+int(seed%8), int(seed%5)*3
		for i := range 400 {
			s.step()
			g.tick()
			if i > 10 && i < 300 && g.rng.IntN(10) == 0 {
				var list []int32
				for h, e := range g.r.entities {
					if e != nil && g.rng.IntN(3) == 0 {
						list = append(list, int32(h))
					}
				}
				g.r.fresh(list)
			}
		}
		delete(g.fails, ErrBase.Error())
		delete(g.fails, ErrStale.Error())
		delete(g.fails, errTwice.Error())
		if len(g.fails) > 0 {
			t.Fatalf("seed %d: %v, %+v", seed, g.fails, g.r.Stats())
		}
		settle(t, g, 30)
	}
}

// A client that doubts what it holds gets its answer also if it rejects more packets before the
// server comes to it. It would wait for it for ever.
func TestDoubtIsAnswered(t *testing.T) {
	s := newSite(t, Options{}, 7, 4)
	g := newGuest(s, 1, 7)
	for range 60 {
		s.step()
		g.tick()
	}
	for _, m := range [][]byte{{messageReject, 5, 2, 0, 1}, {messageReject, 6, 0}} {
		if err := g.s.Message(m); err != nil {
			t.Fatal(err)
		}
	}
	g.s.Encode(s.worker, g.room)
	if !slices.ContainsFunc(g.s.Messages(), func(m []byte) bool { return m[0] == messageBases }) {
		t.Error("no hashes for a client that asked for them and rejected another packet")
	}
}
