package world

import (
	"cmp"
	"encoding/binary"
	"fmt"
	mathbits "math/bits"
	"slices"

	"github.com/coeval-dev/coeval/bits"
)

// This file is for servers that execute commands as they come, as QuakeWorld did: a player's body
// moves once for every command that has come, however many these are in a tick, and stands still in
// a tick for which none has. It is no business of the rules, which see one command at a time. As it
// comes from outside it is an input: Move and Still put it among what is told, under a kind of its
// own, so that recordings repeat it.

// maxMoves is how many commands of a player may be executed in a tick before the tick's own.
const maxMoves = 64

// moveKind is the kind of what Move and Still tell: the one after those that the game declares.
func (g *Game) moveKind() uint16 { return uint16(len(g.Inputs())) }

// Move has entities of a class that a player owns act on a command of their own before the tick
// begins, each by a step; those of a player are executed in the order in which they are given. The
// command of the tick itself is given by GiveImage as always.
func (in *Inputs) Move(p Player, class int, image []int32) error {
	if in.game.commands == nil {
		return errNoCommands
	}
	in.moves(1)
	if err := in.game.commands.layout.Unpack(&in.sync, in.moved.syncer(0), image); err != nil {
		return err
	}
	data := append(classBytes(class), make([]byte, 8*len(image)+8)...)
	var w bits.Writer
	w.Reset(data[2:])
	in.sync.StartWrite(&w)
	in.moved.syncer(0).Sync(&in.sync)
	if err := in.sync.Err(); err != nil {
		return err
	}
	t := Told{Kind: in.game.moveKind(), From: uint32(p), Seq: 1}
	for in.Telling(t) != nil {
		t.Seq++
	}
	return in.Tell(t, data[:2+len(w.Bytes())])
}

// Still has entities of a class that a player owns do without this tick's step.
func (in *Inputs) Still(p Player, class int) error {
	return in.Tell(Told{Kind: in.game.moveKind(), From: uint32(p)}, classBytes(class))
}

// classBytes are the number of a class, with which the bytes of both begin.
func classBytes(class int) []byte {
	return binary.LittleEndian.AppendUint16(make([]byte, 0, 8), uint16(class))
}

// moves gives room to read commands into.
func (in *Inputs) moves(n int) {
	if in.moved == nil {
		in.moved = in.game.commands.newTable()
	}
	in.moved.resize(0)
	in.moved.resize(n)
}

// checkMove says what is wrong with what Move or Still told, which may come from anyone.
func (g *Game) checkMove(t Told, data []byte) ([]byte, error) {
	bad := func(why string) ([]byte, error) {
		return nil, fmt.Errorf("%w: a move %s", ErrInput, why)
	}
	plain := Told{Kind: t.Kind, From: t.From, Seq: t.Seq}
	switch {
	case g.commands == nil:
		return bad("in a game without commands")
	case t != plain || t.From == 0 || t.From >= 1<<16 || t.Seq > maxMoves:
		return bad("of nobody, or too many of them")
	case len(data) < 2 || len(data) > maxTold:
		return bad("that is cut off or too long")
	}
	if c := int(binary.LittleEndian.Uint16(data)); c >= len(g.classes) || !g.classes[c].steps ||
		g.classes[c].state {
		return bad("of a class that does not step")
	}
	if t.Seq == 0 {
		if len(data) != 2 {
			return bad("that stands still, with a command")
		}
		return append([]byte(nil), data...), nil
	}
	table := g.commands.newTable()
	table.resize(1)
	if err := readCommand(table, 0, new(bits.Sync), data[2:]); err != nil {
		return nil, fmt.Errorf("%w: a move: %w", ErrInput, err)
	}
	return append([]byte(nil), data...), nil
}

// readCommand reads a command into a row.
func readCommand(t commandTable, i int, s *bits.Sync, data []byte) error {
	var r bits.Reader
	r.Reset(data)
	s.StartRead(&r)
	t.wipe(i)
	t.syncer(i).Sync(s)
	if err := s.Err(); err != nil {
		return err
	}
	return r.Finish()
}

// A stillness is whose entities of which class do not step in this tick.
type stillness struct {
	player Player
	class  int
}

// counts are how many things an entity has spawned and emitted in this tick, and done to others
// elsewhere: the ordinals of what comes next.
type counts struct{ spawns, emits, acts uint32 }

// ordinals are what an entity has done already, in moves and in actions of others on it, before its
// turn comes: what follows has other names.
type ordinals struct {
	id ID
	counts
}

// turns are what moves and actions make of a tick; they are forgotten with it.
type turns struct {
	counts // of the entity that is stepping
	// whether to look, when the next one steps, at what the last one did, and the next did before
	careful bool
	still   []stillness
	moves   []*told      // to be done when it is the turn of their class
	moved   []ordinals   // what was done, in order of ID
	own     commandTable // the command of the tick, while others are executed
}

func (t *turns) reset() { t.still, t.moves, t.moved = t.still[:0], t.moves[:0], t.moved[:0] }

// move notes what Move or Still told. Classes before it have had their turn when a class moves, as
// rules may count on.
func (w *World) move(t *told) {
	p, class := Player(t.From), int(binary.LittleEndian.Uint16(t.data))
	if !w.Present(p) {
		return
	}
	if t.Seq == 0 {
		w.turns.still = append(w.turns.still, stillness{p, class})
		return
	}
	w.turns.moves = append(w.turns.moves, t)
}

// executeMoves steps entities of a class with the commands that came beside those of the tick.
func (w *World) executeMoves(class int) {
	w.needOwn()
	for _, t := range w.turns.moves {
		p := int(t.From)
		if int(binary.LittleEndian.Uint16(t.data)) != class || !w.Present(Player(p)) {
			continue
		}
		w.turns.own.set(0, w.commands, p)
		if err := readCommand(w.commands, p, &w.sync, t.data[2:]); err != nil {
			w.fail("command", None, err) // it was checked when it came
		} else {
			w.tables[class].stepOwned(w, Player(p))
		}
		w.commands.set(p, w.turns.own, 0)
	}
	w.enter(None)
}

// isStill says whether an entity does not step in this tick.
func (w *World) isStill(id ID) bool {
	for _, s := range w.turns.still {
		if s.class == id.Class() && w.Owner(id) == s.player {
			return true
		}
	}
	return false
}

// done is what an entity has done in this tick already.
func (t *turns) done(id ID) counts {
	if i, found := t.find(id); found {
		return t.moved[i].counts
	}
	return counts{}
}

func (t *turns) find(id ID) (int, bool) {
	return slices.BinarySearchFunc(t.moved, id,
		func(o ordinals, id ID) int { return cmp.Compare(o.id, id) })
}

// note has names of an entity go on, in this tick, from where they are.
func (t *turns) note(id ID) {
	i, found := t.find(id)
	if !found {
		t.moved = slices.Insert(t.moved, i, ordinals{id: id})
	}
	t.careful = true
	t.moved[i].counts = t.counts
}

// stepOwned steps what a player owns, and quantises it as the end of a tick would.
func (t *table) stepOwned(w *World, p Player) {
	for _, b := range t.banks {
		for _, pg := range b.pages {
			if pg == nil {
				continue
			}
			for m := pg.live &^ (pg.born | pg.dying | pg.away); m != 0; m &= m - 1 {
				s := mathbits.TrailingZeros64(m)
				id := t.id(pg, s)
				if w.Owner(id) != p {
					continue
				}
				w.enter(id)
				t.class.kind.step(t.at(pg, s), w, id)
				w.turns.note(id)
				t.quantiseOne(w, pg, s)
				pg.touched |= 1 << s
			}
		}
	}
}
