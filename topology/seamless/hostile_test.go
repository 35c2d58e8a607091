package seamless

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// Somebody without the key sends garbage and what others have sent before, and runs a server with
// another key. Nobody takes it for a server, and no gold is lost.
func TestStrangers(t *testing.T) {
	s := newSim(t, 11, goldTitle(), 4, goldReach)
	for range 3 {
		s.start(nil)
	}
	s.at(200)
	thief := s.net.Endpoint("thief")
	victims := s.all[:3]
	var heard [][]byte
	thief.Every(10*ms, func() {
		for _, x := range victims {
			for _, d := range x.out {
				if len(heard) < 500 {
					heard = append(heard, bytes.Clone(d.Data))
				}
			}
			junk := make([]byte, s.rand.IntN(1200))
			for i := range junk {
				junk[i] = byte(s.rand.Uint32())
			}
			to := x.end.PublicAddr()
			_ = thief.SendTo(to, junk)
			if len(heard) > 0 {
				_ = thief.SendTo(to, heard[s.rand.IntN(len(heard))])
			}
		}
	})
	forger := s.start(func(o *Options) { o.Keys = []token.Key{{1}} })
	s.at(500)
	if n := forger.lines.stats.Received; n > 0 {
		t.Errorf("a server with another key was told %d things", n)
	}
	for _, x := range victims {
		x.turn(s.net.Now())
		if x.lines.stats.Open != 2 || x.meter.strange > 0 || x.zones.Stats().Malformed > 0 {
			t.Errorf("%+v, %d things were strange", x.lines.stats, x.meter.strange)
		}
	}
	if len(heard) == 0 {
		t.Error("nothing was said again")
	}
	forger.kill() // it has the map all the same, so it could have taken zones over
	s.at(goldShut + 200)
	s.audit(goldPurses, goldPurses*goldEach)
}

// One with the key says what makes no sense.
func TestNonsense(t *testing.T) {
	s := newSim(t, 12, goldTitle(), 2, goldReach)
	x := s.start(nil)
	s.at(120)
	r := rand.New(rand.NewPCG(12, 1))
	for range 20000 {
		b := make([]byte, r.IntN(40))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		if len(b) > 0 {
			b[0] %= saysWhere + 2
			if b[0] == saysJoin || b[0] == saysLeave {
				continue // which anyone with the key may ask
			}
		}
		x.take(77, b)
	}
	s.at(300)
	if len(s.owned()) != 2 {
		t.Error("the server lost its zones")
	}
}

// FuzzLook has zones look at anything.
func FuzzLook(f *testing.F) {
	title := goldTitle()
	where, err := placesOf(title)
	if err != nil {
		f.Fatal(err)
	}
	settings, _ := title.Settings(game.Level{Name: "100", Seed: 3})
	settings.Allocator = 1
	w, err := gold.New(settings)
	if err != nil {
		f.Fatal(err)
	}
	bounds, _ := where.extent(w)
	plan, err := Divide(bounds, 2, goldReach, 0)
	if err != nil {
		f.Fatal(err)
	}
	zones, err := split(title, where, plan, w)
	if err != nil {
		f.Fatal(err)
	}
	var out zone.Output
	zones[0].Step(&zone.Input{Tick: 1}, &out)
	f.Add(zones[0].Observe(2, 0, nil))
	f.Add([]byte{1, 2, 3})
	saved := zones[1].Save(nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		b := newBody(title, where, 2)
		if err := b.Load(saved); err != nil {
			t.Fatal(err)
		}
		var out zone.Output
		b.Step(&zone.Input{Tick: 1, Ghosts: []zone.Ghost{{From: 1, Tick: 1, Data: data}}}, &out)
		again := newBody(title, where, 2)
		if err := again.Load(b.Save(nil)); err != nil || again.Hash() != b.Hash() {
			t.Fatalf("what was saved after it cannot be loaded: %v", err)
		}
	})
}

// FuzzLoad loads anything.
func FuzzLoad(f *testing.F) {
	title := goldTitle()
	where, _ := placesOf(title)
	f.Add([]byte{savedVersion, 2, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = newBody(title, where, 2).Load(data)
	})
}

// A message in parts is whole in any order, and others between do no harm.
func TestMixer(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var from, to mixer
	for range 300 {
		message := make([]byte, r.IntN(9000))
		for i := range message {
			message[i] = byte(r.Uint32())
		}
		var parts [][]byte
		if !from.split(100+r.IntN(900), message, func(b []byte) bool {
			parts = append(parts, bytes.Clone(b))
			return true
		}) {
			continue // too many
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		lost := r.IntN(4) == 0
		if lost {
			parts = parts[1:]
		}
		var got []byte
		for _, p := range parts {
			switch r.IntN(9) {
			case 0:
				to.take(p[:r.IntN(partHead)])
			case 1:
				to.take([]byte{byte(r.Uint32()), byte(r.Uint32()), 7, 3, 1, 2, 3})
			}
			if m := to.take(p); m != nil {
				got = bytes.Clone(m)
			}
		}
		if !lost && len(parts) > 1 && got != nil && !bytes.Equal(got, message) {
			t.Fatalf("%d bytes in %d parts came as %d", len(message), len(parts), len(got))
		}
	}
}

type nowhere struct{ N int }

func (n *nowhere) Sync(s *bits.Sync) { s.Int(&n.N, 0, 9) }

// What cannot be run says why.
func TestRefusals(t *testing.T) {
	flat := &game.Title{Game: world.Define("flat", world.Class[nowhere]())}
	_, err := Found(t.Context(), FoundOptions{Title: flat, Cluster: newKept(), Zones: 2, Reach: 1})
	if err == nil || !strings.Contains(err.Error(), "has a place") {
		t.Errorf("a title without places: %v", err)
	}
	_, err = Found(t.Context(), FoundOptions{Title: goldTitle(), Cluster: newKept(), Zones: 2})
	if err == nil || !strings.Contains(err.Error(), "Reach") {
		t.Errorf("a title without a reach: %v", err)
	}
	k := newKept()
	o := FoundOptions{Title: goldTitle(), Cluster: k, Zones: 2, Reach: 1}
	if _, err = Found(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if _, err = Found(t.Context(), o); err != ErrFounded {
		t.Errorf("a second world: %v", err)
	}
	if _, err := New(Options{Title: goldTitle(), Cluster: k}); err == nil {
		t.Error("a server without a link")
	}
	h, _, _ := readHeader(t.Context(), k.Map())
	other := &game.Title{Game: world.Define("gold", world.Class[purse]())}
	if err := h.check(other); err == nil {
		t.Error("another version of the game")
	}
}

// A zone whose game panics takes no other with it, and is not begun again for ever.
func TestPanic(t *testing.T) {
	s := newSim(t, 13, goldTitle(), 3, goldReach)
	for range 2 {
		s.start(nil)
	}
	s.at(150)
	purseBomb = s.owned()[2].w.Tick() + 30
	defer func() { purseBomb = 0 }()
	s.until("zone 2 is halted", time.Minute, func() bool { return s.news[zone.Halted] > 0 })
	tick := s.owned()[1].w.Tick()
	s.until("the others go on", 10*time.Second, func() bool {
		all := s.owned()
		return len(all) == 2 && all[1].w.Tick() > tick+200 && all[3].w.Tick() > tick+200
	})
}
