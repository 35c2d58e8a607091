package arena

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest/rooms"
)

// A Map is the ground a match is played on: what never changes, and so is never sent. It is made by
// Parse, is the same on every machine that parsed the same text, and must not be changed. One unit
// is one character of the text, about a metre; X grows to the right and Y downward, as in the text.
type Map struct {
	Name  string // what it is called on command lines, such as "cellar"
	Title string // what players read
	By    string // who made it

	Width, Height int // in cells; what lies outside is solid

	Spawns  []Spawn
	Items   []Item
	Rooms   []Room
	Portals []Portal
	Doors   []int     // the portals that have a door, by number of door
	Walls   []Segment // where solid meets open, joined to long lines: for drawing and for shadows
	Floors  []Rect    // the open ground, as rectangles of one row each, pits left out
	Pits    []Rect    // ground that shots and eyes pass over, but no one walks on

	text   []byte
	hash   uint64
	cells  []Cell
	room   []int16    // by cell: the room, or that on the lower side of a portal; -1 for none
	portal []int16    // by cell: the portal that it is part of, or -1
	mask   []uint8    // by cell: which neighbours stop a walker
	doors  [][2]int16 // by cell: the doors that someone in it may touch, or -1

	// What not all need is worked out when it is first asked for: before a world begins.
	nav  func() *nav
	plan func() (*rooms.Plan, error)
}

// A Cell is what stands at one character of a map.
type Cell uint8

// The kinds of cells.
const (
	Void  Cell = iota // outside: solid, and not worth drawing
	Wall              // stops everything
	Floor             // stops nothing; doorways are floor too
	Pit               // stops walkers, but neither shots nor sight
)

// A Spawn is a place where players appear.
type Spawn struct {
	Pos  det.Vec2
	Team int // 0 for anyone
}

// An Item is a place where something to pick up appears.
type Item struct {
	Pos  det.Vec2
	Kind Kind
}

// A Room is a part of the map that portals divide from the rest.
type Room struct {
	Bounds  Rect
	Cells   int
	Portals []int
}

// A Portal is an opening between two rooms: a row of cells in a wall, with a door in it or not. The
// line in the middle of the row is where one room ends and the other begins.
type Portal struct {
	Rooms  [2]int   // the one at smaller coordinates first
	P, Q   det.Vec2 // the line, from smaller to larger coordinates
	Across bool     // the line is vertical, so that one walks along X to pass
	Door   int      // number of the door, or -1
}

// Mid is the middle of the opening.
func (p *Portal) Mid() det.Vec2 { return p.P.Lerp(p.Q, 0.5) }

// A Segment is a piece of wall: a line along an axis, from smaller to larger coordinates.
type Segment struct {
	P, Q det.Vec2
	Out  det.Vec2 // of length one, away from what is solid
}

// A Rect is a rectangle with sides along the axes.
type Rect struct{ Min, Max det.Vec2 }

// Hash names the map: the same text has the same hash, whatever its line ends, and no two maps are
// known to share one. It is what worlds keep.
func (m *Map) Hash() uint64 { return m.hash }

// Text is what Parse makes the same map of: for a server to send to a client that lacks it.
func (m *Map) Text() []byte { return m.text }

func hashText(text []byte) uint64 {
	sum := sha256.Sum256(text)
	return max(1, binary.LittleEndian.Uint64(sum[:])) // zero is no map
}

// Cell gives what is at a cell. Outside of the map everything is Void.
func (m *Map) Cell(x, y int) Cell {
	if uint(x) >= uint(m.Width) || uint(y) >= uint(m.Height) {
		return Void
	}
	return m.cells[y*m.Width+x]
}

// at is the index of the cell around a point, or -1 outside.
func (m *Map) at(p det.Vec2) int {
	x, y := det.Int32(det.Floor(p.X)), det.Int32(det.Floor(p.Y))
	if uint32(x) >= uint32(m.Width) || uint32(y) >= uint32(m.Height) {
		return -1
	}
	return int(y)*m.Width + int(x)
}

// RoomAt gives the room that a point is in, or -1 for what is inside of a wall or outside. A
// doorway belongs half to one room, half to the other.
func (m *Map) RoomAt(p det.Vec2) int {
	i := m.at(p)
	if i < 0 {
		return -1
	}
	if n := m.portal[i]; n >= 0 {
		o := &m.Portals[n]
		if o.Across && p.X >= o.P.X || !o.Across && p.Y >= o.P.Y {
			return o.Rooms[1]
		}
		return o.Rooms[0]
	}
	return int(m.room[i])
}

// Walkable says whether the middle of a walker may be in a cell.
func (m *Map) Walkable(x, y int) bool { return m.Cell(x, y) == Floor }

// opaque says whether a cell stops shots and sight.
func (c Cell) opaque() bool { return c == Void || c == Wall }

// Bits of Map.mask, by where the neighbour is.
const (
	maskN = 1 << iota // at smaller Y
	maskS
	maskW // at smaller X
	maskE
	maskNW
	maskNE
	maskSW
	maskSE
)
