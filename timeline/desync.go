package timeline

import (
	"fmt"

	"github.com/coeval-dev/coeval/world"
)

// A DesyncError says that two copies of a world were told the same and came to different ends: the
// game's rules depend on something else than the world and its inputs. No timeline can keep such a
// game consistent.
type DesyncError struct {
	Game string
	// where it was seen: the first field that differs, if that could be found
	Difference world.Difference
}

func (e *DesyncError) Error() string {
	return fmt.Sprintf(
		"timeline: game %q is not deterministic: %v; look for state outside of entities, clocks, "+
			"map iteration and global randomness: coeval vet and coeval desync help",
		e.Game, &e.Difference)
}

// Try runs a game for a while and takes it back again and again. It refuses one that is not
// deterministic, by a *DesyncError that names the first field that differs: call it before a game
// is put on mirrors.
func Try(g *world.Game, o world.CheckOptions) error {
	d, err := world.CheckRollback(g, o)
	if err != nil {
		return err
	}
	if d != nil {
		return &DesyncError{Game: g.Name(), Difference: *d}
	}
	return nil
}

// search is for how many ticks the field is looked for in which a game that is not deterministic
// differs from itself.
const search = 64

// Desync finds out what it is that two copies differ in, by computing the next ticks twice.
func (c *Core) Desync(w *world.World, a, b uint64) error {
	e := &DesyncError{Game: c.Game.Name()}
	x, y := w.Host().Clone(), w.Host().Clone()
	for range search {
		n := x.Tick() + 1
		if n > c.Book.End() {
			break
		}
		in := c.Book.At(n)
		// What the game reports about itself is not the question here.
		_ = x.Host().Step(in)
		_ = y.Host().Step(in)
		if d := world.Differ(x, y); d != nil {
			e.Difference = *d
			return e
		}
	}
	e.Difference = world.Difference{
		Tick: w.Tick(), Field: "hash of the world", A: fmt.Sprintf("%016x", a),
		B: fmt.Sprintf("%016x", b)}
	return e
}
