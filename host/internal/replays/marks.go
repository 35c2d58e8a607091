//go:build !js

package replays

import (
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// Bounds of what is kept of a film for its time line.
const (
	mostMarks  = 4000
	mostHashes = 1 << 22
	columns    = 600 // of the time line
)

// A mark is something on the time line that one may want to jump to.
type mark struct {
	Tick world.Tick `json:"tick"`
	// Kind is what it is: incident, denied, kill, join, leave or told.
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// marks are what a survey has found so far. The film's lock guards them.
type marks struct {
	list   []mark
	counts map[string]int // how many there are of a kind, also where they are not in the list
	// how many events there were in a part of the film, by kind
	events [][]uint32
	first  world.Tick
	span   world.Tick // ticks in a column
	until  world.Tick // how far the survey has come
	hashes []uint32   // the lower half, by tick from first
	done   bool
	wrong  string // why it ended early
	apart  string // where the run here is not what was recorded
	errors string // what the game reported
}

// add marks a tick.
func (m *marks) add(t world.Tick, kind, format string, args ...any) {
	if m.counts == nil {
		m.counts = map[string]int{}
	}
	if m.counts[kind]++; m.counts[kind] > mostMarks/8 {
		return
	}
	m.list = append(m.list, mark{t, kind, fmt.Sprintf(format, args...)})
}

// begin sets how much of the film a column is.
func (m *marks) begin(g *world.Game, first, last world.Tick) {
	m.first, m.until = first, first
	m.span = max(1, (last-first)/columns+1)
	m.events = make([][]uint32, len(g.Events()))
	for i := range m.events {
		m.events[i] = make([]uint32, columns)
	}
}

// tick takes in what happened in a tick. What came in is not known of a branch.
func (m *marks) tick(t *game.Title, w *world.World, rec *trace.Record, hashed bool) {
	now := w.Tick()
	m.until = now
	if at := now - m.first; hashed && at < mostHashes {
		for world.Tick(len(m.hashes)) < at {
			m.hashes = append(m.hashes, 0)
		}
		if world.Tick(len(m.hashes)) == at {
			m.hashes = append(m.hashes, uint32(w.Hash())|1)
		}
	}
	column := min((now-m.first)/m.span, columns-1)
	w.Host().Happened(func(e world.Emitted, _ bits.Syncer) bool {
		m.events[e.Kind][column]++
		return true
	})
	hit := map[[2]world.Player]bool{}
	if t.Shots.Hits != nil {
		t.Shots.Hits(w, func(h game.Hit) bool {
			hit[[2]world.Player{h.By, h.Victim}] = true
			if h.Kill {
				m.add(now, "kill", "player %d kills player %d %s", h.By, h.Victim, h.Weapon)
			}
			return true
		})
	}
	if rec == nil {
		return
	}
	if rec.IsState() && rec.Given() && now > m.first {
		m.add(now, "incident", "the run went on from another world")
	}
	for _, p := range rec.Joins {
		m.add(now, "join", "player %d joins", p)
	}
	for _, p := range rec.Leaves {
		m.add(now, "leave", "player %d leaves", p)
	}
	for _, told := range rec.Tellings {
		name := "something"
		if kinds := t.Game.Inputs(); int(told.Kind) < len(kinds) {
			name = kinds[told.Kind].Name()
		}
		m.add(now, "told", "%s came in", name)
	}
	if t.Shots.Hits == nil {
		return
	}
	for i, p := range rec.Players {
		for _, c := range rec.Sights[i].Claims[:rec.Sights[i].Claimed] {
			if victim := w.Owner(c.Target); !hit[[2]world.Player{p, victim}] {
				m.add(now, "denied", "player %d saw itself hit %s (player %d), and did not", p,
					nameOf(t.Game, c.Target), victim)
			}
		}
	}
}

// nameOf is an entity with its class.
func nameOf(g *world.Game, id world.ID) string {
	if c := g.Classes(); id.Class() < len(c) {
		return fmt.Sprintf("%s %v", c[id.Class()].Name(), id)
	}
	return id.String()
}

// result takes in how the run went in all.
func (m *marks) result(r *trace.Replayed) {
	if r.Mismatch != nil {
		m.apart = r.Mismatch.String()
		m.list = append(m.list, mark{r.Mismatch.Tick, "incident",
			"from here on this program computes something else than was recorded: " + m.apart})
	}
	if r.Panic != nil {
		m.list = append(m.list, mark{r.Last, "incident", r.Panic.Error()})
	}
	if r.GameError != nil {
		m.errors = fmt.Sprintf("the game reported an error in %d ticks, first: %v", r.GameErrors,
			r.GameError)
	}
}
