package world

import (
	"errors"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/bits"
)

// Inputs are all that comes into a world from outside for one tick: who joins, who leaves, what
// players command and were shown, and what the game has declared beside that: knobs, answers,
// messages and content. From the same world and the same inputs comes the same world. They can be
// written and read by their Sync method, kept, and used again.
type Inputs struct {
	game    *Game
	joins   []Player // each of these in order
	leaves  []Player
	players []Player // who has a command, with the commands in a row of the same length
	row     commandTable
	sights  []saw  // what was shown with the commands, of the same length or empty
	told    []told // in order
	acts    acts   // of other worlds, in order
	actions []actionTable
	pen     *pen // to read them with
	moved   commandTable
	sync    bits.Sync
}

// NewInputs makes inputs for a game's worlds, empty.
func (g *Game) NewInputs() *Inputs {
	g.prepare()
	in := &Inputs{game: g}
	if g.commands != nil {
		in.row = g.commands.newTable()
	}
	return in
}

// Reset empties the inputs, for use in another tick.
func (in *Inputs) Reset() {
	in.joins, in.leaves, in.players = in.joins[:0], in.leaves[:0], in.players[:0]
	in.sights = in.sights[:0]
	in.acts.reset()
	clear(in.told)
	in.told = in.told[:0]
	if in.row != nil {
		in.row.resize(0)
	}
}

// CopyFrom makes the inputs equal to others of the same game.
func (in *Inputs) CopyFrom(from *Inputs) error {
	if in.game != from.game {
		return in.game.stranger(from)
	}
	in.joins = append(in.joins[:0], from.joins...)
	in.leaves = append(in.leaves[:0], from.leaves...)
	in.players = append(in.players[:0], from.players...)
	in.sights = append(in.sights[:0], from.sights...)
	in.told = append(in.told[:0], from.told...) // what was told is never changed
	in.acts.copyFrom(&from.acts)
	if in.row != nil {
		in.row.copyFrom(from.row)
	}
	return nil
}

func (g *Game) stranger(in *Inputs) error {
	return fmt.Errorf(
		"world: these are inputs of game %q, not %q; make them by NewInputs of the same Game",
		in.game.name, g.name)
}

// Join lets a player in at the beginning of the tick. Joining twice is joining once.
func (in *Inputs) Join(p Player) { in.joins = include(in.joins, p) }

// Leave lets a player go at the beginning of the tick. Who leaves and joins in one tick leaves
// first.
func (in *Inputs) Leave(p Player) { in.leaves = include(in.leaves, p) }

func include(list []Player, p Player) []Player {
	if i, found := slices.BinarySearch(list, p); !found && p != Nobody {
		list = slices.Insert(list, i, p)
	}
	return list
}

// Joins lists who joins, in order.
func (in *Inputs) Joins() []Player { return in.joins }

// Leaves lists who leaves, in order.
func (in *Inputs) Leaves() []Player { return in.leaves }

// Players lists whose commands are there, in order.
func (in *Inputs) Players() []Player { return in.players }

// Give sets a player's command. It is quantised, so that a player beside the world has no finer aim
// than one far away. The error is that of a type that is not the game's command.
func Give[C any](in *Inputs, p Player, c C) error {
	t, ok := in.row.(*commandsOf[C])
	if !ok {
		return fmt.Errorf("world: %T is not the command of game %q", c, in.game.name)
	}
	i := in.need(p)
	if i < 0 {
		return errNobody
	}
	t.row[i] = c
	return t.class.layout.Quantise(&in.sync, t.syncer(i))
}

// Given is the command that Give set, and whether there is one.
func Given[C any](in *Inputs, p Player) (c C, ok bool) {
	t, ok := in.row.(*commandsOf[C])
	if !ok {
		return c, false
	}
	i, found := in.find(p)
	if !found {
		return c, false
	}
	return t.row[i], true
}

// find is where a player's command stands.
func (in *Inputs) find(p Player) (int, bool) { return slices.BinarySearch(in.players, p) }

var (
	errNobody = errors.New(
		"world: player 0 is nobody and gives no commands; players count from 1")
	errNoCommands = errors.New("world: the game has no commands")
)

// need makes room for a player's command.
func (in *Inputs) need(p Player) int {
	if p == Nobody {
		return -1
	}
	i, found := in.find(p)
	if !found {
		in.players = slices.Insert(in.players, i, p)
		in.row.insert(i)
		if len(in.sights) > 0 {
			in.sights = slices.Insert(in.sights, i, saw{})
		}
	} else if len(in.sights) > 0 {
		in.sights[i] = saw{} // it was seen with another command
	}
	return i
}

// Command gives a player's command to be written, or nil if there is none: for programs that do not
// know its type.
func (in *Inputs) Command(p Player) bits.Syncer {
	i, found := in.find(p)
	if !found {
		return nil
	}
	return in.row.syncer(i)
}

// GiveFrom sets a player's command by reading it. On an error the player has none.
func (in *Inputs) GiveFrom(p Player, r *bits.Reader) error {
	return in.give(p, func(c bits.Syncer) error {
		in.sync.StartRead(r)
		c.Sync(&in.sync)
		return in.sync.Err()
	})
}

// GiveImage sets a player's command from an image, as Game.Commands describes it. On an error the
// player has none.
func (in *Inputs) GiveImage(p Player, image []int32) error {
	return in.give(p,
		func(c bits.Syncer) error { return in.game.commands.layout.Unpack(&in.sync, c, image) })
}

// give sets a player's command by a function that reads it.
func (in *Inputs) give(p Player, read func(bits.Syncer) error) error {
	if in.row == nil {
		return errNoCommands
	}
	i := in.need(p)
	if i < 0 {
		return errNobody
	}
	in.row.wipe(i)
	err := read(in.row.syncer(i))
	if err != nil {
		in.drop(i)
	}
	return err
}

// Image makes the image of a player's command, and says whether there is one.
func (in *Inputs) Image(p Player, image []int32) bool {
	c := in.Command(p)
	return c != nil && in.game.commands.layout.Pack(&in.sync, c, image) == nil
}

// Repeat makes a player's command what is left of it when the next one is missing and it is used
// again: its levels, without its edges. It says whether there is one.
func (in *Inputs) Repeat(p Player) bool {
	i, found := in.find(p)
	if found {
		in.row.repeat(i)
	}
	return found
}

func (in *Inputs) drop(i int) {
	for j := i; j+1 < len(in.players); j++ {
		in.row.set(j, in.row, j+1)
	}
	in.players = slices.Delete(in.players, i, i+1)
	if len(in.sights) > 0 {
		in.sights = slices.Delete(in.sights, i, i+1)
	}
	in.row.resize(len(in.players))
}

// Sync writes all of the inputs or reads them, for traces and for machines that exchange them.
func (in *Inputs) Sync(s *bits.Sync) {
	in.joins = syncPlayers(s, in.joins)
	in.leaves = syncPlayers(s, in.leaves)
	in.syncTold(s)
	in.syncActs(s)
	if in.row == nil {
		return
	}
	in.players = syncPlayers(s, in.players)
	if s.Reading() {
		in.row.resize(0)
		in.row.resize(len(in.players))
	}
	for i := range in.players {
		in.row.syncer(i).Sync(s)
	}
	in.syncSights(s)
	if s.Err() != nil && s.Reading() {
		in.Reset()
	}
}

// syncSights takes what was shown with the commands, in a game that rewinds.
func (in *Inputs) syncSights(s *bits.Sync) {
	if in.game.rewinds == 0 {
		return
	}
	if some := len(in.sights) > 0; !s.Bool(&some) {
		in.sights = in.sights[:0]
		return
	}
	if s.Reading() {
		in.sights = slices.Grow(in.sights[:0], len(in.players))[:len(in.players)]
		clear(in.sights)
	}
	for i := range in.sights {
		if s.Bool(&in.sights[i].given) {
			in.sights[i].Sync(s)
			s.Refuse(in.game.CheckSight(&in.sights[i].Sight))
		}
	}
}

// syncPlayers takes a list of players in ascending order. Most often there is nobody, or the
// numbers follow each other; that takes a bit. Every list has one form.
func syncPlayers(s *bits.Sync, list []Player) []Player {
	some, n := len(list) > 0, uint16(len(list))
	if s.Bool(&some) {
		s.Uint16(&n, 1, 1<<16-1)
	} else {
		n = 0
	}
	if s.Reading() {
		list = list[:0]
	}
	var last uint16
	for i := 0; i < int(n) && s.Err() == nil; i++ {
		p := last + 1
		if !s.Reading() {
			p = uint16(list[i])
		}
		next := p == last+1
		if s.Bool(&next); next {
			p = last + 1
		} else {
			s.Uint16(&p, last+2, 1<<16-1)
		}
		last = p
		if s.Reading() {
			list = append(list, Player(p))
		}
	}
	return list
}

// admit takes a tick's inputs into the world.
func (w *World) admit(in *Inputs) {
	for p := range w.repeated {
		w.repeated[p] = w.present[p]
	}
	if in != nil {
		for _, p := range in.leaves {
			w.leave(p)
		}
		for _, p := range in.joins {
			w.join(p)
		}
		w.hear(in)
		for i, p := range in.players {
			if w.settings.Partial {
				w.join(p) // who commands is there, though no one saw him come
			}
			if int(p) < len(w.present) && w.present[p] {
				w.commands.set(int(p), in.row, i)
				w.repeated[p] = false
				w.see(p, in, i)
			}
		}
	}
	if w.commands == nil {
		return
	}
	for p, again := range w.repeated {
		if again {
			w.see(Player(p), nil, -1)
			w.commands.repeat(p)
		}
	}
}

func (w *World) join(p Player) {
	if w.Present(p) {
		return
	}
	w.admitOne(p)
	w.repeated[p] = true
	if w.game.join != nil && !w.settings.Partial {
		w.game.join(w, p)
	}
}

// admitOne notes that a player is there, without a command yet.
func (w *World) admitOne(p Player) {
	for int(p) >= len(w.present) {
		w.present = append(w.present, false)
		w.repeated = append(w.repeated, false)
	}
	w.present[p] = true
	w.needSights()
	if w.commands != nil {
		w.commands.resize(len(w.present))
	}
}

func (w *World) leave(p Player) {
	if !w.Present(p) {
		return
	}
	switch {
	case w.settings.Partial:
	case w.game.leave != nil:
		w.game.leave(w, p)
	default:
		for id := range w.Entities() {
			if w.Owner(id) == p && !w.Ghost(id) {
				w.Remove(id)
			}
		}
	}
	if !w.settings.Partial {
		for _, f := range w.game.left {
			f(w, p)
		}
	}
	w.unseat(p)
}

// unseat has a player be there no more.
func (w *World) unseat(p Player) {
	w.present[p], w.repeated[p] = false, false
	if len(w.sights) > 0 {
		w.sights[p] = Sight{}
	}
	if w.commands != nil {
		w.commands.wipe(int(p))
	}
	n := len(w.present)
	for n > 0 && !w.present[n-1] {
		n--
	}
	w.present, w.repeated = w.present[:n], w.repeated[:n]
	w.needSights()
	if w.commands != nil {
		w.commands.resize(n)
	}
}

// Present says whether a player is in the game; in a partial world, whether a command of that
// player has been seen, or a join.
func (w *World) Present(p Player) bool { return int(p) < len(w.present) && w.present[p] }

// Repeated says whether a player's command was missing at this tick, so that the last one was used
// again.
func (w *World) Repeated(p Player) bool { return int(p) < len(w.repeated) && w.repeated[p] }

// Players goes through the players in order.
func (w *World) Players(yield func(Player) bool) {
	for p, here := range w.present {
		if here && !yield(Player(p)) {
			return
		}
	}
}
