package world

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/coeval-dev/coeval/bits"
)

// Commands declares what players command: one C a player and tick. When a player's command does not
// arrive in time the last one is used again, without its edges: fields tagged `world:"edge"`, such
// as Fire or Use, mean one moment and become zero. All others are levels, such as Move or Aim, and
// go on.
//
// Clients predict what they see of other players by the levels of these players' commands. Edges
// are told to nobody else; nor are levels tagged `world:"private"`, which only whoever decides
// needs, such as a team's plan.
func Commands[C any, P Synced[C]]() Declaration {
	return func(g *Game) error {
		if g.commands != nil {
			return errors.New(
				"Commands is given twice; put all that a player can command into one struct")
		}
		typ := reflect.TypeFor[C]()
		fail := func(err error) error { return fmt.Errorf("commands %s: %w", typ.Name(), err) }
		layout, err := bits.NewLayout(P(nil))
		if err != nil {
			return fail(err)
		}
		sh, err := examine(typ, layout.Schema(), roleEdge, rolePrivate)
		if err != nil {
			return fail(err)
		}
		if sh.deep {
			return fail(
				fmt.Errorf("field %s holds a %s; commands are plain values, so use an array",
					sh.deepPath, sh.deepKind))
		}
		c := &commandClass{layout: layout, fields: sh.fields, edges: sh.edges,
			private: sh.private}
		c.newTable = func() commandTable {
			return &commandsOf[C]{class: c, syncs: func(v *C) bits.Syncer { return P(v) }}
		}
		g.commands = c
		return nil
	}
}

// A commandClass describes a game's commands.
type commandClass struct {
	layout   *bits.Layout
	fields   []leaf
	edges    []leaf
	private  []leaf
	newTable func() commandTable
}

// A commandTable is a row of commands, whatever their type.
type commandTable interface {
	size() int64 // of a command
	resize(n int)
	insert(i int)
	set(i int, from commandTable, j int)
	repeat(i int)              // takes the edges out
	relayed(i int) bits.Syncer // what others may know of it, good until the next call
	wipe(i int)
	copyFrom(from commandTable)
	syncer(i int) bits.Syncer
}

// commandsOf is a commandTable of type C.
type commandsOf[C any] struct {
	class *commandClass
	syncs func(*C) bits.Syncer
	row   []C
	spare C // for relayed
}

func (t *commandsOf[C]) size() int64 { return int64(unsafe.Sizeof(*new(C))) }

func (t *commandsOf[C]) resize(n int) {
	for len(t.row) < n {
		t.row = append(t.row, *new(C))
	}
	clear(t.row[n:])
	t.row = t.row[:n]
}

func (t *commandsOf[C]) insert(i int) {
	t.row = slices.Insert(t.row, i, *new(C))
}

func (t *commandsOf[C]) set(i int, from commandTable, j int) {
	t.row[i] = from.(*commandsOf[C]).row[j]
}
func (t *commandsOf[C]) wipe(i int) { t.row[i] = *new(C) }
func (t *commandsOf[C]) copyFrom(from commandTable) {
	t.row = append(t.row[:0], from.(*commandsOf[C]).row...)
}
func (t *commandsOf[C]) syncer(i int) bits.Syncer { return t.syncs(&t.row[i]) }

func (t *commandsOf[C]) repeat(i int) {
	blankOut(unsafe.Pointer(&t.row[i]), t.class.edges)
}

func (t *commandsOf[C]) relayed(i int) bits.Syncer {
	t.spare = t.row[i]
	blankOut(unsafe.Pointer(&t.spare), t.class.edges)
	blankOut(unsafe.Pointer(&t.spare), t.class.private)
	return t.syncs(&t.spare)
}

// blankOut makes fields of a command zero.
func blankOut(command unsafe.Pointer, fields []leaf) {
	for _, l := range fields {
		if l.kind == reflect.String {
			*(*string)(unsafe.Add(command, l.offset)) = ""
			continue
		}
		clear(unsafe.Slice((*byte)(unsafe.Add(command, l.offset)), l.size))
	}
}

// Command is what the owner of an entity commands this tick. An entity that no one owns gets the
// zero C.
func Command[C any](w *World, me ID) C { return CommandOf[C](w, w.Owner(me)) }

// CommandOf is what a player commands this tick, or the zero C if there is no such player.
func CommandOf[C any](w *World, p Player) C {
	t, ok := w.commands.(*commandsOf[C])
	if !ok {
		w.fail(fmt.Sprintf("%T", *new(C)), None,
			errors.New("it is not the game's command; declare it by world.Commands"))
		return *new(C)
	}
	if int(p) >= len(t.row) {
		return *new(C)
	}
	return t.row[p]
}

// CommandImage makes the image of what a player commanded in the last tick, given or repeated, as
// Game.Commands describes it, and says whether the player is there: for programs that relay or
// compare commands without knowing their type.
func (w Host) CommandImage(p Player, image []int32) bool {
	return w.commands != nil && w.Present(p) &&
		w.game.commands.layout.Pack(&w.sync, w.commands.syncer(int(p)), image) == nil
}

// RelayImage is CommandImage for what other players may know of a command: its levels, without
// edges and without what is private. It is all that prediction needs, since what was done for a
// moment is not done again.
func (w Host) RelayImage(p Player, image []int32) bool {
	return w.commands != nil && w.Present(p) &&
		w.game.commands.layout.Pack(&w.sync, w.commands.relayed(int(p)), image) == nil
}
