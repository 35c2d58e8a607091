package peers_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/world"
)

// knock is another game's command.
type knock struct{ Loud bool }

func (k *knock) Sync(s *bits.Sync) { s.Bool(&k.Loud) }

var (
	others  = world.Define("knockers", world.Commands[knock]())
	version = world.Define("walkers", world.Commands[knock]())
)

// TestRefused has those knock who cannot take part. Each is told why, and the others play on.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o *peers.Options)
		why    string
	}{
		"another game": {func(o *peers.Options) { o.Game, o.Input = others, nil }, `"knockers"`},
		"another version": {
			func(o *peers.Options) { o.Game, o.Input = version, nil }, "same program"},
		"a full match":   {nil, "seats are taken"},
		"another secret": {func(o *peers.Options) { o.Secret[0] ^= 1 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			seats := 3
			if c.change == nil {
				seats = 2
			}
			tb := newTable(t, netsim.New(netsim.Options{Seed: 1}),
				peers.Match{Start: 2, Seats: seats})
			tb.sit("ann", nil)
			tb.sit("bob", nil)
			tb.until("both play", 5*time.Second, tb.allPlay)
			late := tb.sit("eve", c.change)
			late.end.After(0, func() {})
			tb.net.RunUntil(5*time.Second, func() bool { return late.Err() != nil })
			var refused *peers.RefusedError
			if c.why != "" &&
				(!errors.As(late.Err(), &refused) || !strings.Contains(refused.Why, c.why)) {
				t.Errorf("refused with %v, want a word of %q", late.Err(), c.why)
			}
			if late.Phase() == peers.Playing {
				t.Error("it was let in")
			}
			late.crash()
			tb.failed = nil
			tb.goesOn(100, 5*time.Second)
		})
	}
}

// TestExpired: after the invitation has expired no door lets anybody new in, neither to play nor to
// watch, and who was in comes back.
func TestExpired(t *testing.T) {
	tb := newTable(t, netsim.New(netsim.Options{Seed: 2}), peers.Match{Start: 3, Seats: 6})
	const lasts = 6
	expires := func(o *peers.Options) { o.Expires = o.Wall + lasts }
	for _, name := range []string{"ann", "bob", "cid"} {
		tb.sit(name, expires)
	}
	tb.until("all play", 5*time.Second, tb.allPlay)
	dan := tb.sit("dan", expires)
	tb.until("dan plays", 5*time.Second, tb.allPlay)
	tb.run(lasts*time.Second - tb.net.Now() + time.Second)
	player := dan.Player()
	dan.crash()
	for _, watch := range []bool{false, true} {
		late := tb.sit(fmt.Sprint("late ", watch), func(o *peers.Options) { o.Watch = watch })
		tb.net.RunUntil(5*time.Second, func() bool { return late.Err() != nil })
		var refused *peers.RefusedError
		if !errors.As(late.Err(), &refused) || !strings.Contains(refused.Why, "has expired") {
			t.Errorf("refused with %v", late.Err())
		}
		late.crash()
		tb.failed = nil
	}
	dan.restart()
	tb.until("dan is back", 10*time.Second, tb.allPlay)
	if dan.Player() != player {
		t.Errorf("dan was player %d and is %d", player, dan.Player())
	}
	tb.goesOn(60, 5*time.Second)
}

// TestLeave has the leader leave, and then another. The others go on without a stop.
func TestLeave(t *testing.T) {
	tb := four(t, 3, peers.Match{Grace: time.Second})
	for i := range 2 {
		s := tb.seats[i]
		s.Leave()
		tb.run(600 * time.Millisecond)
		s.crash()
		before := tb.seats[3].Stats().Waited
		tb.goesOn(120, 4*time.Second)
		if w := tb.seats[3].Stats().Waited - before; w > 400*time.Millisecond {
			t.Errorf("the others waited for %v", w)
		}
	}
	n := 0
	for range world.All[body](tb.seats[3].World()) {
		n++
	}
	if n != 2 {
		t.Errorf("there are %d bodies, want 2", n)
	}
}

// TestDoom plays in DOOM's way, over a line that loses some.
func TestDoom(t *testing.T) {
	tb := newTable(t, netsim.New(netsim.Options{Seed: 1}), peers.Match{Start: 3, Doom: true})
	tb.path = netsim.WiFi
	for i := range 3 {
		tb.sit(fmt.Sprint("p", i), func(o *peers.Options) { o.Style = peers.Style{Delay: 1} })
	}
	tb.until("all play", 10*time.Second, tb.allPlay)
	tb.goesOn(300, 60*time.Second)
}

// TestNoise has strangers send what they like, and send again what they have copied. Nothing
// comes of it.
func TestNoise(t *testing.T) {
	tb := four(t, 4, peers.Match{})
	eve := tb.net.Endpoint("eve")
	r := tb.net.Rand()
	var copied [][]byte
	tb.net.SetTrace(func(e netsim.Event) {
		if len(copied) < 2000 && len(e.Data) > 0 {
			copied = append(copied, append([]byte(nil), e.Data...))
		}
	})
	tb.run(time.Second)
	tb.net.SetTrace(nil)
	eve.Every(5*time.Millisecond, func() {
		for _, s := range tb.seats {
			b := make([]byte, 1+r.IntN(200))
			r.Fill(b)
			b[0] = []byte{0x01, 0x03, 0x20, 0x21, 0x60, 0x61, 0x80, 0xc0}[r.IntN(8)]
			out := []link.Datagram{{Addr: s.end.PublicAddr(), Data: b}}
			if len(copied) > 0 {
				out = append(out,
					link.Datagram{Addr: s.end.PublicAddr(), Data: copied[r.IntN(len(copied))]})
			}
			_, _ = eve.Send(out)
		}
	})
	before := tb.seats[0].Stats().Waited
	tb.goesOn(300, 8*time.Second)
	if len(copied) == 0 {
		t.Error("nothing was copied")
	}
	if w := tb.seats[0].Stats().Waited - before; w > second/2 {
		t.Errorf("it made them wait for %v", w)
	}
	for _, s := range tb.seats {
		if s.Stats().Returns > 0 || s.Stats().Differed > 0 {
			t.Errorf("%s: %+v", s.name, s.Stats())
		}
	}
}

const second = time.Second
