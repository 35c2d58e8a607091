package world

import (
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
)

// CheckOptions say how a game is tried by CheckRollback, CheckHidden and CheckBorders. The zero
// value tries 600 ticks with two players who press everything.
type CheckOptions struct {
	Settings Settings
	// Ticks is how long to run. Default: 600.
	Ticks int
	// Back is how many ticks are gone back, or predicted, each time. Default: 8.
	Back int
	// Seed is what the players' commands, and what is hidden, hang on.
	Seed uint64
	// Players is how many there are, if Inputs is not set. Default: 2.
	Players int
	// Zones is among how many worlds CheckBorders divides it. Default: 4.
	Zones int
	// Inputs fills in what comes from outside for a tick. Default: RandomInputs.
	Inputs func(t Tick, in *Inputs)
}

func (o *CheckOptions) defaults(g *Game) error {
	if o.Ticks == 0 {
		o.Ticks = 600
	}
	if o.Back == 0 {
		o.Back = 8
	}
	if o.Players == 0 {
		o.Players = 2
	}
	if o.Zones == 0 {
		o.Zones = 4
	}
	if o.Zones < 2 || o.Zones > 256 {
		return fmt.Errorf("world: %d zones; choose 2 to 256", o.Zones)
	}
	if o.Ticks < 0 || o.Back < 1 || o.Players < 0 {
		return fmt.Errorf("world: %d ticks, %d back, %d players make no sense", o.Ticks, o.Back,
			o.Players)
	}
	if o.Inputs == nil {
		o.Inputs = RandomInputs(g, o.Seed, o.Players)
	}
	return g.Err()
}

// RandomInputs makes up players who press everything, for tests of any game: they hold each control
// for a while, now and then nothing arrives from one, and now and then one leaves and comes back.
// Where things can be rewound, players see them late; where there are knobs and messages, some
// come. The inputs of a tick depend only on the seed and the tick.
func RandomInputs(g *Game, seed uint64, players int) func(t Tick, in *Inputs) {
	const stay, away = 900, 60 // ticks
	var image []int32
	if s := g.Commands(); s != nil {
		image = make([]int32, len(s.Slots))
	}
	return func(t Tick, in *Inputs) {
		in.Reset()
		for p := Player(1); int(p) <= players; p++ {
			// Everyone keeps the same hours, a little later than the one before.
			at := (uint64(t) + (stay+away)*1000 - 1 - 17*uint64(p-1)) % (stay + away)
			switch {
			case t == 1 || at == 0:
				in.Join(p)
			case at == stay && t > stay:
				in.Leave(p)
			}
			if image == nil || det.Draw(seed, uint64(p), uint64(t), 0)%16 == 0 {
				continue
			}
			schema := g.Commands()
			for i := range image {
				s := &schema.Slots[i]
				hold := 2 + det.Draw(seed, uint64(p), uint64(i), 1)%10
				r := det.At(seed+1, uint64(p)<<16|uint64(i), uint64(t)/hold)
				image[i] = s.Min + int32(r.Uint64N(uint64(uint32(s.Max-s.Min))+1))
			}
			// Not every image is a command, such as one with text beyond its length; then this one
			// is lost.
			if in.GiveImage(p, image) == nil && g.rewinds > 0 {
				r := det.At(seed+2, uint64(p), uint64(t)/30)
				_ = in.Show(p, Sight{Ago: uint16(r.IntN(int(16 * g.rewinds)))})
			}
		}
		randomTellings(g, seed, t, in)
	}
}

// randomTellings makes up changes of knobs, and messages.
func randomTellings(g *Game, seed uint64, t Tick, in *Inputs) {
	for _, i := range g.inputs {
		r := det.At(seed+3, uint64(i.number), uint64(t))
		told := Told{Kind: uint16(i.number)}
		switch {
		case r.IntN(100) > 0:
			continue
		case i.source == FromElsewhere:
			told.From, told.Seq = 1, uint32(t)
		case i.source != FromOperator:
			continue // it would have to be what the game expects
		}
		v, image := i.fresh(), make([]int32, i.layout.Len())
		for k := range image {
			s := &i.layout.Schema().Slots[k]
			image[k] = s.Min + int32(r.Uint64N(uint64(uint32(s.Max-s.Min))+1))
		}
		var sync bits.Sync
		if i.layout.Unpack(&sync, v, image) != nil {
			continue // not every image is a value
		}
		if data, err := i.write(v); err == nil {
			_ = in.Tell(told, data) // it is one of the game's
		}
	}
}
