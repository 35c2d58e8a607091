package trace

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A Record is one entry of a trace: a tick with what came in and a hash of what came of it, or a
// whole world at the end of a tick. It can be read without the game: commands are images, as
// Header.Commands describes them.
type Record struct {
	Tick          world.Tick
	Joins, Leaves []world.Player
	Players       []world.Player // whose commands are there, in order
	Sights        []Saw          // what each of them was shown, as far as it was said
	Tellings      []Telling      // what else came in

	// Hash is that of the world at the end of the tick, as far as the trace has it: its lowest
	// HashBits bits, which are 0, 8 or 64.
	Hash     uint64
	HashBits int
	// Attached is what the program that recorded has attached to it, or nil; see Writer.Attach. It
	// is good until the next record.
	Attached []byte

	images []int32
	slots  int
	state  *state
}

// Command is the image of the command of Players[i].
func (r *Record) Command(i int) []int32 {
	return r.images[i*r.slots : (i+1)*r.slots : (i+1)*r.slots]
}

// IsState says that the record is a whole world rather than a tick's inputs.
func (r *Record) IsState() bool { return r.state != nil }

// Given says that the world of a state record is not what came of the inputs before: the first of a
// trace, and what Writer.State wrote. A replay goes on from it.
func (r *Record) Given() bool { return r.state != nil && r.state.given }

// State is the world of a state record, as World.Save made it. It is good until the next record.
func (r *Record) State() ([]byte, error) {
	if r.state == nil {
		return nil, fmt.Errorf("trace: the record of tick %d holds inputs, not a state", r.Tick)
	}
	return r.state.unpack()
}

// Inputs fills in what came into the world at the tick.
func (r *Record) Inputs(in *world.Inputs) error {
	in.Reset()
	for _, p := range r.Joins {
		in.Join(p)
	}
	for _, p := range r.Leaves {
		in.Leave(p)
	}
	for i, p := range r.Players {
		if err := in.GiveImage(p, r.Command(i)); err != nil {
			return fmt.Errorf("trace: tick %d, player %d: %w", r.Tick, p, err)
		}
		if !r.Sights[i].Given {
			continue
		}
		if err := in.Show(p, r.Sights[i].Sight); err != nil {
			return fmt.Errorf("trace: tick %d, player %d: %w", r.Tick, p, err)
		}
	}
	for i := range r.Tellings {
		if err := in.Tell(r.Tellings[i].Told, r.Tellings[i].Data); err != nil {
			return fmt.Errorf("trace: tick %d: %w", r.Tick, err)
		}
	}
	return nil
}

// sameHash compares hashes as far as both are known.
func sameHash(a uint64, abits int, b uint64, bbits int) bool {
	n := min(abits, bbits)
	return (a^b)<<(64-n) == 0 || n == 0
}

func (r *Record) set(in *world.Inputs, slots int) error {
	r.Joins, r.Leaves, r.Players, r.images = r.Joins[:0], r.Leaves[:0], r.Players[:0], r.images[:0]
	r.Sights, r.Tellings = r.Sights[:0], r.Tellings[:0]
	r.slots, r.state = slots, nil
	if in == nil {
		return nil
	}
	r.Joins = append(r.Joins, in.Joins()...)
	r.Leaves = append(r.Leaves, in.Leaves()...)
	r.Players = append(r.Players, in.Players()...)
	r.images = slices.Grow(r.images, slots*len(r.Players))[:slots*len(r.Players)]
	for i, p := range r.Players {
		if !in.Image(p, r.Command(i)) {
			return fmt.Errorf("trace: the command of player %d at tick %d is not one of the game's",
				p, r.Tick)
		}
		s, given := in.Sight(p)
		r.Sights = append(r.Sights, Saw{s, given})
	}
	for t, data := range in.Tellings {
		r.Tellings = append(r.Tellings, Telling{t, data})
	}
	return nil
}

// FormatCommand writes a command for people to read: the fields that are not at rest, by name. The
// schema is that of the header.
func FormatCommand(schema *bits.Schema, image []int32) string {
	var b strings.Builder
	for i, v := range image {
		s := &schema.Slots[i]
		if v == s.Absent {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s.Name + "=" + formatNumber(s, v))
	}
	if b.Len() == 0 {
		return "at rest"
	}
	return b.String()
}

func formatNumber(s *bits.Slot, v int32) string {
	switch {
	case s.Kind == bits.KindBool:
		return strconv.FormatBool(v != 0)
	case (s.Kind == bits.KindString || s.Kind == bits.KindBytes) && s.Part > 0:
		return strconv.Quote(
			strings.TrimRight(string([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)}),
				"\x00"))
	case s.Scale != 0:
		return strconv.FormatFloat(math.Round(float64(v)*s.Scale*1e6)/1e6, 'g', -1, 64)
	}
	return strconv.Itoa(int(v))
}
