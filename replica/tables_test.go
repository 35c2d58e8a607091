package replica

import (
	"fmt"
	"testing"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// learn plays for a while with what is sent being gathered, and makes tables of that.
func learn(t testing.TB, s *site, guests []*guest, ticks int) *codec.Model {
	t.Helper()
	x := codec.NewSamples(s.p.Model().Schema(), 2<<20)
	s.worker.Learn(x, 2)
	for range ticks {
		s.step()
		for _, g := range guests {
			g.tick()
		}
	}
	s.worker.Learn(nil, 0)
	m, err := s.p.LoadTables(codec.Learn(x, codec.LearnOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// While clients go over from some tables to others, one by one and back, whatever is lost, late or
// out of order, everyone is shown what is so, and no packet is read by other tables than it was
// made with.
func TestTablesChangeWhilePacketsAreUnderWay(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			s := newSite(t, Options{}, seed, 6)
			var guests []*guest
			for i := range 3 {
				g := newGuest(s, world.Player(i+1), seed)
				g.loss, g.ackLoss = []float64{0, 0.1, 0.4}[int(seed)%3], 0.1
				g.delay, g.jitter = 1+int(seed)%9, []int{0, 4, 12}[i]
				guests = append(guests, g)
			}
			for number := uint8(1); number <= 5; number++ {
				m := learn(t, s, guests, 120)
				for _, g := range guests {
					g.r.SetTables(number, m)
				}
				for i, g := range guests {
					g.s.SetTables(number, m)
					if number == 4 && i == 1 {
						g.s.SetTables(0, nil)
					}
					for range 7 {
						s.step()
						for _, g := range guests {
							g.tick()
						}
					}
				}
			}
			for i, g := range guests {
				if want := uint8(5 % TableSets); g.s.Tables() != want {
					t.Errorf("guest %d is sent tables %d, not %d", i, g.s.Tables(), want)
				}
				g.loss, g.ackLoss, g.jitter = 0, 0, 0
				settle(t, g, 60)
				if n := g.r.Stats().Mismatch; n > 0 {
					t.Errorf("guest %d read %d packets by other tables than they were made with",
						i, n)
				}
			}
		})
	}
}

// What was learned takes fewer bytes than what nobody trained.
func TestLearnedTablesTakeFewerBytes(t *testing.T) {
	s := newSite(t, Options{}, 1, 6)
	g := newGuest(s, 1, 1)
	guests := []*guest{g}
	bytes := func() int {
		before := g.bytes
		for range 300 {
			s.step()
			g.tick()
		}
		return g.bytes - before
	}
	m := learn(t, s, guests, 600)
	untrained := bytes()
	g.r.SetTables(2, m)
	g.s.SetTables(2, m)
	learned := bytes()
	t.Logf("300 ticks take %d bytes untrained, %d learned", untrained, learned)
	if learned*10 > untrained*9 {
		t.Errorf("learned tables take %d bytes, untrained ones %d", learned, untrained)
	}
}

// A packet that names tables which are not here is refused, and told again.
func TestTablesThatAreNotHere(t *testing.T) {
	s := newSite(t, Options{}, 2, 6)
	g := newGuest(s, 1, 2)
	m := learn(t, s, []*guest{g}, 100)
	g.s.SetTables(3, m) // which the client was never told of
	for range 30 {
		s.step()
		g.tick()
	}
	if g.fails[ErrTables.Error()] == 0 {
		t.Fatalf("packets by tables that are not here gave %v", g.fails)
	}
	g.s.SetTables(0, nil)
	settle(t, g, 60)
}

func TestEncodingWithLearnedTablesAllocatesNothing(t *testing.T) {
	s := newSite(t, Options{}, 3, 6)
	g := newGuest(s, 1, 3)
	m := learn(t, s, []*guest{g}, 200)
	x := codec.NewSamples(s.p.Model().Schema(), 1<<16)
	s.worker.Learn(x, 1)
	numbers := []uint8{1, 2}
	for range 50 { // every shelf has grown
		s.step()
		g.tick()
	}
	g.look()
	i := 0
	n := testing.AllocsPerRun(100, func() {
		g.s.SetTables(numbers[i&1], m)
		i++
		g.s.Encode(s.worker, Room{Packet: 1150, Budget: 1150})
	})
	if n != 0 {
		t.Errorf("%v allocations for a snapshot", n)
	}
}
