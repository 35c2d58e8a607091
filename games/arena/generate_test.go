package arena

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/coeval-dev/coeval/det"
)

// A plot says what map generate is to make. The zero value is a middling one.
type plot struct {
	Name, Title string
	Seed        uint64
	// Columns and Rows are how many rooms there are side by side and one below the other, before
	// some are joined. Default: 8 and 6. What does not fit into a map is left out.
	Columns, Rows int
}

// generate makes the text of a map: rooms of all sizes, some joined, with doors and open doorways
// between them, pillars, pits, and things to find. The same plot gives the same text. It is for
// large worlds and for load, where no one wants to draw a thousand rooms; the map "maze" was made
// by it.
func generate(p plot) []byte {
	p.Name = cmp.Or(p.Name, "generated")
	p.Title = cmp.Or(p.Title, p.Name)
	p.Columns, p.Rows = cmp.Or(p.Columns, 8), cmp.Or(p.Rows, 6)
	g := &generator{rand: det.At(p.Seed, 0, 0)}
	g.lines(min(p.Columns, 40), min(p.Rows, 50))
	g.carve()
	g.join()
	g.doorways()
	g.furnish()
	var b strings.Builder
	fmt.Fprintf(&b,
		"; Made by arena.Generate from seed %d: %d by %d rooms.\nname  %s\ntitle %s\n\nmap\n",
		p.Seed, p.Columns, p.Rows, p.Name, p.Title)
	for _, row := range g.cells {
		b.WriteString(strings.TrimRight(string(row), " "))
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// A generator draws one map. Rooms lie between lines of wall; lots are the fields of that grid, and
// a room is one lot or several.
type generator struct {
	rand   det.Rand
	xs, ys []int // where walls run
	cells  [][]byte
	room   []int // by lot: the lot that stands for its room
}

func (g *generator) lines(columns, rows int) {
	line := func(n, lo, hi int) []int {
		out := []int{0}
		for range n {
			gap := lo + g.rand.IntN(hi-lo+1)
			if g.rand.Chance(0.2) {
				gap = 3 // a corridor
			}
			if next := out[len(out)-1] + gap + 1; next < MaxSide {
				out = append(out, next)
			}
		}
		return out
	}
	g.xs, g.ys = line(columns, 6, 10), line(rows, 5, 8)
}

func (g *generator) columns() int { return len(g.xs) - 1 }
func (g *generator) rows() int    { return len(g.ys) - 1 }

// carve makes all lots empty rooms.
func (g *generator) carve() {
	for range g.ys[g.rows()] + 1 {
		g.cells = append(g.cells, []byte(strings.Repeat("#", g.xs[g.columns()]+1)))
	}
	for j := range g.rows() {
		for i := range g.columns() {
			g.room = append(g.room, len(g.room))
			g.clear(g.xs[i]+1, g.ys[j]+1, g.xs[i+1], g.ys[j+1])
		}
	}
}

func (g *generator) clear(x0, y0, x1, y1 int) {
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			g.cells[y][x] = '.'
		}
	}
}

// find gives the lot that stands for a lot's room.
func (g *generator) find(lot int) int {
	for g.room[lot] != lot {
		lot = g.room[lot]
	}
	return lot
}

// join takes away some walls, so that there are halls and corners.
func (g *generator) join() {
	for lot := range g.room {
		i, j := lot%g.columns(), lot/g.columns()
		if i+1 < g.columns() && g.rand.Chance(0.12) {
			g.room[g.find(lot+1)] = g.find(lot)
			g.clear(g.xs[i+1], g.ys[j]+1, g.xs[i+1]+1, g.ys[j+1])
		}
		if j+1 < g.rows() && g.rand.Chance(0.08) {
			g.room[g.find(lot+g.columns())] = g.find(lot)
			g.clear(g.xs[i]+1, g.ys[j+1], g.xs[i+1], g.ys[j+1]+1)
		}
	}
}

// doorways connects all rooms: first a tree, so that each can be reached, then some more, so that
// there are ways around.
func (g *generator) doorways() {
	type wall struct {
		lot    int
		across bool
	}
	var walls []wall
	for lot := range g.room {
		if lot%g.columns()+1 < g.columns() {
			walls = append(walls, wall{lot, true})
		}
		if lot/g.columns()+1 < g.rows() {
			walls = append(walls, wall{lot, false})
		}
	}
	g.rand.Shuffle(len(walls), func(i, j int) { walls[i], walls[j] = walls[j], walls[i] })
	reached := make([]int, len(g.room)) // as room, but for what can be walked to
	for i := range reached {
		reached[i] = g.find(i)
	}
	root := func(n int) int {
		for reached[n] != n {
			n = reached[n]
		}
		return n
	}
	for _, k := range walls {
		other := k.lot + 1
		if !k.across {
			other = k.lot + g.columns()
		}
		a, b := root(k.lot), root(other)
		if g.find(k.lot) == g.find(other) || a == b && !g.rand.Chance(0.3) {
			continue
		}
		if g.doorway(k.lot, k.across) {
			reached[b] = a
		}
	}
}

// doorway opens the wall to the right of a lot, or below it.
func (g *generator) doorway(lot int, across bool) bool {
	i, j := lot%g.columns(), lot/g.columns()
	lo, hi := g.xs[i]+1, g.xs[i+1]-1
	if across {
		lo, hi = g.ys[j]+1, g.ys[j+1]-1
	}
	wide := 1 + g.rand.IntN(2)
	if hi-lo-1 < wide {
		wide = 1
	}
	at := lo + 1 + g.rand.IntN(max(1, hi-lo-wide))
	tile := byte(':')
	if g.rand.Chance(0.4) {
		tile = '+'
	}
	for n := range wide {
		if across {
			g.cells[at+n][g.xs[i+1]] = tile
		} else {
			g.cells[g.ys[j+1]][at+n] = tile
		}
	}
	return true
}

// furnish puts pillars and pits into rooms that are wide enough, and things to find into most.
func (g *generator) furnish() {
	for lot := range g.room {
		i, j := lot%g.columns(), lot/g.columns()
		x0, x1, y0, y1 := g.xs[i]+1, g.xs[i+1], g.ys[j]+1, g.ys[j+1]
		w, h := x1-x0, y1-y0
		if w >= 6 && h >= 5 {
			switch tile := byte('#'); g.rand.IntN(5) {
			case 0:
				tile = '~'
				fallthrough
			case 1, 2:
				for y := y0 + 2; y < y1-2; y++ {
					for x := x0 + 2; x < x1-2; x++ {
						if (tile == '~' || (x-x0)%3 == 2 && (y-y0)%2 == 0) && g.rand.Chance(0.85) {
							g.cells[y][x] = tile
						}
					}
				}
			}
		}
		const things = "ssssshhhooggRGH"
		g.put(x0, y0, w, h, things[g.rand.IntN(5)]) // someone may appear in every room
		if g.rand.Chance(0.7) {
			g.put(x0, y0, w, h, things[5+g.rand.IntN(len(things)-5)])
		}
	}
}

// put places a thing on free ground along the walls, where no pit can be around it.
func (g *generator) put(x, y, w, h int, c byte) {
	for range 20 {
		dx, dy := g.rand.IntN(w), g.rand.IntN(h)
		if middle := dx >= 2 && dx < w-2 && dy >= 2 && dy < h-2; !middle &&
			g.cells[y+dy][x+dx] == '.' {
			g.cells[y+dy][x+dx] = c
			return
		}
	}
}
