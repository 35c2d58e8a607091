package ruled

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	mathbits "math/bits"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A Ruling is what the judge says about a tick: all that came into the world, in as few bits as it
// takes, and a digest of what strictly happened. It means something only after the rulings for all
// ticks before it.
type Ruling struct {
	Term uint32 // of the judge; it counts the changes of judge
	Tick world.Tick
	// Joins and Leaves are who came and went, in order of player.
	Joins, Leaves []world.Player
	// Commands are those that were executed, in order of player. A player who is there and not
	// listed had none in time, so that the last one was repeated.
	Commands []Executed
	// Digest tells by the strict events of the tick whether another machine came to the same; 0 if
	// there were none.
	Digest uint32

	// Tellings are the inputs of other kinds, in order.
	Tellings []Telling

	changes []Change // of all commands
	game    *world.Game
	schema  *bits.Schema
}

// A Telling is an input of another kind than commands, as world.Inputs.Tell takes it.
type Telling struct {
	Told world.Told
	Data []byte
}

// Executed is a command in a Ruling, as what differs from the player's command of the tick before.
type Executed struct {
	Player  world.Player
	Changes []Change
	// Sight is what the player was shown with it, if Shown says that this is known.
	Sight world.Sight
	Shown bool
}

// A Change is one number of a command's image that is another than before.
type Change struct {
	Slot  uint16
	Value int32
}

// MaxRuling is how many bytes a ruling may take at most.
const MaxRuling = 1 << 20

// maskSlots is up to how many numbers of an image a bit for each says which have changed; of more,
// those that have are listed.
const maskSlots = 64

func (r *Ruling) reset(g *world.Game) {
	*r = Ruling{
		Joins: r.Joins[:0], Leaves: r.Leaves[:0], Commands: r.Commands[:0], changes: r.changes[:0],
		Tellings: r.Tellings[:0], game: g, schema: g.Commands()}
}

// copyFrom makes a ruling the same as another, in memory of its own.
func (r *Ruling) copyFrom(o *Ruling) {
	r.reset(o.game)
	r.Term, r.Tick, r.Digest = o.Term, o.Tick, o.Digest
	r.Joins, r.Leaves = append(r.Joins, o.Joins...), append(r.Leaves, o.Leaves...)
	r.Tellings = append(r.Tellings, o.Tellings...)
	for i := range o.Commands {
		c := r.execute(o.Commands[i].Player, o.Commands[i].Changes...)
		c.Sight, c.Shown = o.Commands[i].Sight, o.Commands[i].Shown
	}
}

// execute adds a command.
func (r *Ruling) execute(p world.Player, changes ...Change) *Executed {
	at := len(r.changes)
	// where this moves to new memory, earlier commands keep the old
	r.changes = append(r.changes, changes...)
	r.Commands = append(r.Commands,
		Executed{Player: p, Changes: r.changes[at:len(r.changes):len(r.changes)]})
	return &r.Commands[len(r.Commands)-1]
}

// executed says whether a command of a player was executed.
func (r *Ruling) executed(p world.Player) bool {
	_, found := slices.BinarySearchFunc(r.Commands, p,
		func(e Executed, p world.Player) int { return cmp.Compare(e.Player, p) })
	return found
}

// Equal says whether two rulings say the same.
func (r *Ruling) Equal(o *Ruling) bool {
	return r.Term == o.Term && r.Tick == o.Tick && r.Digest == o.Digest &&
		slices.Equal(r.Joins, o.Joins) && slices.Equal(r.Leaves, o.Leaves) &&
		slices.EqualFunc(r.Commands, o.Commands,
			func(a, b Executed) bool {
				return a.Player == b.Player && slices.Equal(a.Changes, b.Changes) &&
					a.Shown == b.Shown && a.Sight == b.Sight
			}) &&
		slices.EqualFunc(r.Tellings, o.Tellings,
			func(a, b Telling) bool { return a.Told == b.Told && bytes.Equal(a.Data, b.Data) })
}

// Append writes the ruling behind b, to be sent to the other mirrors. It is for rulings that a
// Timeline made or ParseRuling read. As bits, in the order of package bits:
//
//	Uvarint            the term
//	Uvarint            the tick
//	players            who joined: for each a one and as Uvarint how many numbers lie between it and the one before (or 0); then a zero
//	players            who left, likewise
//	runs               whose commands follow: for each run of players whose numbers follow each other a one, as Uvarint how many numbers
//	                   lie before it (and beyond the one that ended the last run), and as Uvarint its length less one; then a zero
//	commands           for each of them a bit that says whether anything changed; if so, with at most 64 numbers in an image a bit for each, otherwise for
//	                   each that changed how many lie between it and the last, as Uvarint, and a bit that says whether more follow; then the new values, each as in an image's range
//	sights             where the game rewinds: for each of the commands a bit that says whether a sight is said, and the sight
//	tellings           where the game declares inputs: as Uvarint how many, and each: its key, and its bytes
//	1 bit, or 33       zero if nothing strict happened, or one and the digest
func (r *Ruling) Append(b []byte) []byte {
	most := 2*80 + 21*(len(r.Joins)+len(r.Leaves)) + (41+1+maskSlots)*len(r.Commands) +
		(21+32)*len(r.changes) + 33 + 3 + r.moreBits()
	b = slices.Grow(b, most/8+1)
	var w bits.Writer
	w.Reset(b[len(b):cap(b)])
	w.WriteUvarint(uint64(r.Term))
	w.WriteUvarint(uint64(r.Tick))
	writePlayers(&w, r.Joins)
	writePlayers(&w, r.Leaves)
	r.writeRuns(&w)
	for i := range r.Commands {
		r.writeChanges(&w, r.Commands[i].Changes)
	}
	if r.more() {
		r.writeMore(&w)
	}
	w.WriteBool(r.Digest != 0)
	if r.Digest != 0 {
		w.WriteBits(uint64(r.Digest), 32)
	}
	return b[:len(b)+len(w.Bytes())]
}

func writePlayers(w *bits.Writer, list []world.Player) {
	last := world.Nobody
	for _, p := range list {
		w.WriteBool(true)
		w.WriteUvarint(uint64(p - last - 1))
		last = p
	}
	w.WriteBool(false)
}

func (r *Ruling) writeRuns(w *bits.Writer) {
	free := uint64(1) // the first player that the next run may begin with
	for i := 0; i < len(r.Commands); {
		from, n := uint64(r.Commands[i].Player), 1
		for i+n < len(r.Commands) && uint64(r.Commands[i+n].Player) == from+uint64(n) {
			n++
		}
		w.WriteBool(true)
		w.WriteUvarint(from - free)
		w.WriteUvarint(uint64(n - 1))
		free = from + uint64(n) + 1
		i += n
	}
	w.WriteBool(false)
}

func (r *Ruling) writeChanges(w *bits.Writer, changes []Change) {
	w.WriteBool(len(changes) > 0)
	if len(changes) == 0 {
		return
	}
	if n := len(r.schema.Slots); n <= maskSlots {
		mask := uint64(0)
		for _, c := range changes {
			mask |= 1 << c.Slot
		}
		w.WriteBits(mask, n)
	} else {
		next := 0
		for i, c := range changes {
			w.WriteUvarint(uint64(int(c.Slot) - next))
			w.WriteBool(i < len(changes)-1)
			next = int(c.Slot) + 1
		}
	}
	for _, c := range changes {
		s := &r.schema.Slots[c.Slot]
		w.WriteBits(uint64(int64(c.Value)-int64(s.Min)), width(s))
	}
}

// width is how many bits a number of an image takes.
func width(s *bits.Slot) int { return mathbits.Len32(uint32(int64(s.Max) - int64(s.Min))) }

var errRuling = errors.New("timeline: not a ruling of this game")

// ParseRuling reads what Append wrote. The data may come from anyone: it takes no more memory than
// a few times its length, and everything is checked but whether the game knows such commands, which
// shows when they are executed.
func ParseRuling(g *world.Game, b []byte) (*Ruling, error) {
	r := new(Ruling)
	if err := r.Parse(g, b); err != nil {
		return nil, err
	}
	return r, nil
}

// Parse is ParseRuling into a ruling that was used before, whose memory it uses again. After an
// error there is nothing in it of use.
func (r *Ruling) Parse(g *world.Game, b []byte) error {
	r.reset(g)
	if len(b) > MaxRuling {
		return fmt.Errorf("%w: it has %d bytes, and %d are allowed", errRuling, len(b), MaxRuling)
	}
	var in bits.Reader
	in.Reset(b)
	term, tick := in.ReadUvarint(), in.ReadUvarint()
	r.Term, r.Tick = uint32(term), world.Tick(tick)
	ok := uint64(r.Term) == term && tick > 0
	r.Joins, ok = readPlayers(&in, r.Joins, ok)
	r.Leaves, ok = readPlayers(&in, r.Leaves, ok)
	ok = r.readRuns(&in, ok)
	for i := range r.Commands {
		ok = ok && r.readChanges(&in, &r.Commands[i])
	}
	ok = ok && (!r.more() || r.readMore(&in))
	if in.ReadBool() {
		r.Digest = uint32(in.ReadBits(32))
		ok = ok && r.Digest != 0
	}
	if err := in.Finish(); err != nil {
		return fmt.Errorf("%w: %w", errRuling, err)
	}
	if !ok {
		return fmt.Errorf("%w: there is something in it that no judge would have written",
			errRuling)
	}
	return nil
}

const lastPlayer = 1<<16 - 1

func readPlayers(in *bits.Reader, list []world.Player, ok bool) ([]world.Player, bool) {
	last := uint64(0)
	for ok && in.ReadBool() {
		more := in.ReadUvarint()
		if more >= lastPlayer || last+more+1 > lastPlayer {
			return list, false
		}
		last += more + 1
		list = append(list, world.Player(last))
	}
	return list, ok
}

func (r *Ruling) readRuns(in *bits.Reader, ok bool) bool {
	free := uint64(1)
	for ok && in.ReadBool() {
		before, n := in.ReadUvarint(), in.ReadUvarint()+1
		// Each of them has at least a bit of its own.
		if r.schema == nil || before > lastPlayer || n == 0 || n > lastPlayer || free+before+
			n-1 > lastPlayer || len(r.Commands)+int(n) > in.Left() {
			return false
		}
		from := free + before
		for p := from; p < from+n; p++ {
			r.Commands = append(r.Commands, Executed{Player: world.Player(p)})
		}
		free = from + n + 1
	}
	return ok
}

func (r *Ruling) readChanges(in *bits.Reader, c *Executed) bool {
	if !in.ReadBool() {
		return true
	}
	at, slots := len(r.changes), r.schema.Slots
	if len(slots) <= maskSlots {
		for mask := in.ReadBits(len(slots)); mask != 0; mask &= mask - 1 {
			r.changes = append(r.changes, Change{Slot: uint16(mathbits.TrailingZeros64(mask))})
		}
	} else {
		next := uint64(0)
		for more := true; more; {
			gap := in.ReadUvarint()
			if gap >= uint64(len(slots)) || next+gap >= uint64(len(slots)) {
				return false
			}
			r.changes = append(r.changes, Change{Slot: uint16(next + gap)})
			next += gap + 1
			more = in.ReadBool()
		}
	}
	c.Changes = r.changes[at:len(r.changes):len(r.changes)]
	for i := range c.Changes {
		s := &slots[c.Changes[i].Slot]
		v := int64(s.Min) + int64(in.ReadBits(width(s)))
		if v > int64(s.Max) {
			return false
		}
		c.Changes[i].Value = int32(v)
	}
	return len(c.Changes) > 0
}
