package world

import "strconv"

// A Tick is the number of a simulation step. A new world is at tick 0; each Step leads to the next.
type Tick uint64

// A Player is the number by which a world knows one person who plays. Numbers are handed out by
// whoever runs the world, the lowest free one first.
type Player uint16

// Nobody is the Player that no one is: who owns what belongs to the game itself.
const Nobody Player = 0

// An ID names an entity, and never another one: not a later one in its place, not one on another
// server of a cluster. The zero ID names none.
//
// It is made of the number of the entity's class, the number of the allocator that gave it out, an
// index, and a generation that grows each time the index is used again. An identifier of a local
// entity, which Local tells, names nothing on other machines. Entities step in order of identifier:
// class by class in the order of the game's definition, and within one by index.
type ID uint64

// None is the ID that no entity has: for "no target", and for events that are about no entity.
const None ID = 0

const (
	generationBits = 24
	indexBits      = 20
	allocatorBits  = 12
	classBits      = 8

	// Where a generation ends the index is given up; 2^24 uses at one each tick are three days.
	lastGeneration = 1<<generationBits - 1
	maxIndex       = 1 << indexBits
	maxClasses     = 1<<classBits - 1
)

// Predicted is the allocator of partial worlds. What a client spawns ahead of its server cannot
// have the identifier that the server will give it; from this allocator it gets one that no server
// gives out.
const Predicted = 1<<allocatorBits - 1

// MaxEntities is the most entities that a class may be allowed to have.
const MaxEntities = maxIndex

// MakeID puts an ID together of its parts, for programs that carry identifiers in a form of their
// own. Parts that are too large make None.
func MakeID(class, allocator, index, generation int) ID {
	if uint(class) >= 1<<classBits || uint(allocator) >= 1<<allocatorBits ||
		uint(index) >= maxIndex || uint(generation) > lastGeneration {
		return None
	}
	return makeID(class, uint16(allocator), index, uint32(generation))
}

func makeID(class int, allocator uint16, index int, generation uint32) ID {
	return ID(class)<<(allocatorBits+indexBits+generationBits) |
		ID(allocator)<<(indexBits+generationBits) | ID(index)<<generationBits | ID(generation)
}

// Class is the number of the entity's class: its index in Game.Classes.
func (id ID) Class() int { return int(id >> (allocatorBits + indexBits + generationBits)) }

// Allocator is the number of the allocator that gave the ID out.
func (id ID) Allocator() int { return int(id.allocator()) }

func (id ID) allocator() uint16 {
	return uint16(id >> (indexBits + generationBits) & (1<<allocatorBits - 1))
}

// Index is the place among the entities of its class and allocator, small where there are few.
func (id ID) Index() int { return int(id >> generationBits & (maxIndex - 1)) }

// Generation counts the entities that had this place, from 1.
func (id ID) Generation() int { return int(id & lastGeneration) }

// String writes class.index.generation, with @allocator where that is not 0: what people compare in
// logs.
func (id ID) String() string {
	if id == None {
		return "none"
	}
	b := strconv.AppendInt(nil, int64(id.Class()), 10)
	b = append(b, '.')
	b = strconv.AppendInt(b, int64(id.Index()), 10)
	b = append(b, '.')
	b = strconv.AppendInt(b, int64(id.Generation()), 10)
	if a := id.Allocator(); a != 0 {
		b = append(b, '@')
		b = strconv.AppendInt(b, int64(a), 10)
	}
	return string(b)
}

// A Name tells where an entity or an event came from: it was the Ordinal-th (from 0) that By caused
// at Tick. A client that predicts cannot know the identifier its server will choose, but it knows
// the name, and finds its own by it when the real one arrives.
type Name struct {
	By      ID // who was stepping; None for what the game's hooks do
	Tick    Tick
	Ordinal uint16
}
