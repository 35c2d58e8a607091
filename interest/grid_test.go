package interest

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
	"pgregory.net/rapid"
)

// However large cells are, and wherever borders fall, a search finds what is within its distance
// and nothing else.
func TestNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		ix := NewIndex(Options{Cell: rapid.SampledFrom([]float64{1, 3, 7.7}).Draw(t, "cell"),
			Cubes: rapid.Bool().Draw(t, "cubes")})
		or := &oracle{entities: map[world.ID]Traits{}}
		r := det.At(seed, 0, 0)
		for n := range 400 {
			v := Traits{
				Pos:   det.Vec3{X: r.Range(-20, 20), Y: r.Range(-20, 20), Z: r.Range(-3, 3)},
				Speed: float64(r.IntN(2) * 40)}
			ix.Set(entity(n), v)
			or.entities[entity(n)] = v
		}
		for range 20 {
			or.near(t, ix, det.Vec3{X: r.Range(-25, 25), Y: r.Range(-25, 25), Z: r.Range(-4, 4)},
				r.Range(0, 15))
		}
	})
}

// A distance whose square is too small for a number counts as none, on either side of a border.
func TestNearTiny(t *testing.T) {
	ix := NewIndex(Options{})
	ix.Set(entity(1), at(0))
	found := false
	ix.Near(det.Vec3{X: -1e-162}, 0, func(world.ID, *Traits) bool { found = true; return false })
	if !found {
		t.Error("not found")
	}
}

// Cells keep their numbers, signs included.
func TestKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(-axisMax, axisMax)
		x, y, z := n.Draw(t, "x"), n.Draw(t, "y"), n.Draw(t, "z")
		if x1, y1, z1 := unpack(key(x, y, z)); x1 != x || y1 != y || z1 != z {
			t.Fatalf("%d %d %d became %d %d %d", x, y, z, x1, y1, z1)
		}
	})
}

// When the last thing of its kind goes, or becomes of another kind, who saw it is told, though no
// search goes there any more.
func TestLastOfLevel(t *testing.T) {
	for name, change := range map[string]func(ix *Index){
		"removed": func(ix *Index) { ix.Remove(entity(1)) },
		"never":   func(ix *Index) { ix.Set(entity(1), Traits{Never: true}) },
		"moved": func(ix *Index) {
			ix.Set(entity(1), Traits{Pos: det.Vec3{X: 1e6}, Sound: 20, Nimbus: 900})
		},
	} {
		for n, s := range []Source{&Radius{Enter: 5}, &Sound{}} {
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				ix, f, v := NewIndex(Options{}), NewFinder(), View{}
				r := &Rules{Sources: []Source{s}}
				ix.Set(entity(1), Traits{Pos: det.Vec3{X: 3}, Sound: 9})
				for range 3 {
					f.Update(&v, ix, r, Observer{RoundTrip: time.Second})
				}
				if !v.steady || len(v.Entries()) != 1 {
					t.Fatal("it is not there to begin with")
				}
				change(ix)
				if !f.Update(&v, ix, r, Observer{RoundTrip: time.Second}) ||
					len(v.Entries()) != 0 || len(v.Left())+len(v.Removed()) != 1 {
					t.Error("it is still shown")
				}
			})
		}
	}
}

// A Limit whose choice is not shown for another reason chooses again, although nothing moves.
func TestSettle(t *testing.T) {
	ix, f, v := NewIndex(Options{}), NewFinder(), View{}
	r := &Rules{
		Sources: []Source{
			&Where{Of: &Limit{Of: &Radius{Enter: 1, Leave: 100}, Max: 1}, In: &Radius{Enter: 2}}}}
	ix.Set(entity(1), at(0))
	f.Update(&v, ix, r, Observer{})
	// still chosen by the Limit, which holds it, but out of the other radius
	ix.Set(entity(1), at(3))
	ix.Set(entity(2), Traits{Pos: det.Vec3{X: 0.9}, Importance: 0.9})
	f.Update(&v, ix, r, Observer{})
	if len(v.Entries()) != 0 {
		t.Fatal(ids(&v))
	}
	f.Update(&v, ix, r, Observer{})
	if !v.Has(entity(2)) {
		t.Error("the second is not shown")
	}
}
