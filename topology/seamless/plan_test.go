package seamless

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/det"
)

// Every place is in one zone, whose area it is in; and what is within reach of a place is near.
func TestPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		coordinate := rapid.Float64Range(-1000, 1000)
		draw := func(name string) det.Vec3 {
			return det.Vec3{X: coordinate.Draw(t, name+" x"), Y: coordinate.Draw(t, name+" y"),
				Z: coordinate.Draw(t, name+" z")}
		}
		a, b := draw("a"), draw("b")
		box := Box{det.Vec3{X: min(a.X, b.X), Y: min(a.Y, b.Y), Z: min(a.Z, b.Z)},
			det.Vec3{X: max(a.X, b.X), Y: max(a.Y, b.Y), Z: max(a.Z, b.Z)}}
		n := rapid.IntRange(1, 40).Draw(t, "zones")
		reach := rapid.Float64Range(0, 99).Draw(t, "reach")
		p, err := Divide(box, n, reach, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Zones()) != n {
			t.Fatalf("%d zones", len(p.Zones()))
		}
		again, err := parsePlan(p.data)
		if err != nil || string(again.data) != string(p.data) {
			t.Fatalf("a plan is not what was read of it: %v", err)
		}
		at := pointOf(draw("at"))
		in := p.zoneAt(&at)
		for i := range p.areas {
			x := &p.areas[i]
			switch d := x.beyond(&at); {
			case x.zone == in && d > 0:
				t.Fatalf("%v is in zone %d, and %v beyond it", at, in, d)
			case x.zone != in && d < 0:
				t.Fatalf("%v is in zone %d, and in zone %d", at, in, x.zone)
			case x.zone != in && d <= reach:
				k, _ := p.find(in)
				if !contains(p.areas[k].near, i) {
					t.Fatalf("zone %d is within %v of %v, and not near to zone %d", x.zone, d, at,
						in)
				}
			}
		}
	})
}

func contains(list []int, i int) bool {
	for _, x := range list {
		if x == i {
			return true
		}
	}
	return false
}

func TestPlanRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":  `{}`,
		"a circle": `{"Home":1,"Nodes":[{"Below":0,"Above":0}]}`,
		"twice":    `{"Home":1,"Nodes":[{"Below":1,"Above":2},{"Zone":1},{"Zone":1}]}`,
		"no home":  `{"Home":9,"Nodes":[{"Zone":1}]}`,
		"cut twice": `{"Home":1,"Nodes":[{"Below":1,"Above":2},{"Cut":5,"Below":3,"Above":4},
			{"Zone":1},{"Zone":2},{"Zone":3}]}`,
		"an axis": `{"Home":1,"Nodes":[{"Axis":3,"Below":1,"Above":2},{"Zone":1},{"Zone":2}]}`,
	} {
		if _, err := parsePlan([]byte(text)); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := Divide(Box{Hi: det.Vec3{X: math.NaN()}}, 2, 1, 0); err == nil {
		t.Error("bounds that are no number")
	}
}

// Borders move at random, and every place stays in one zone, whose area it is in.
func TestPlanChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := Divide(Box{Hi: det.Vec3{X: 100, Y: 60}}, rapid.IntRange(1, 9).Draw(t, "zones"),
			5, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 30).Draw(t, "changes") {
			zones := p.Zones()
			id := rapid.SampledFrom(zones).Draw(t, "zone")
			cut := rapid.Float64Range(-10, 110).Draw(t, "cut")
			var next *Plan
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				next, err = p.widen(p.Last+1, len(p.Keepers))
				if err == nil {
					next.Last++
				}
			case 1:
				if len(p.Spare) > 0 {
					next, err = p.split(id, rapid.IntRange(0, 1).Draw(t, "axis"), cut, p.Spare[0])
				}
			case 2:
				if with, ok := p.Sibling(id); ok {
					next, err = p.merge(id, with)
				}
			default:
				next, err = p.shift(id, cut)
			}
			if err != nil || next == nil {
				continue
			}
			if next.Version != p.Version+1 || len(next.All()) < len(p.All()) {
				t.Fatalf("zones %v of version %d became %v of %d", p.All(), p.Version, next.All(),
					next.Version)
			}
			p = next
			at := point{rapid.Float64Range(-20, 120).Draw(t, "x"),
				rapid.Float64Range(-20, 80).Draw(t, "y"), 0}
			in := 0
			for i := range p.areas {
				a := &p.areas[i]
				if a.lo[0] <= at[0] && at[0] < a.hi[0] && a.lo[1] <= at[1] && at[1] < a.hi[1] {
					if in++; p.zoneAt(&at) != a.zone {
						t.Fatalf("%v is in the area of %d, and in zone %d", at, a.zone,
							p.zoneAt(&at))
					}
				}
			}
			if in != 1 {
				t.Fatalf("%v is in %d areas", at, in)
			}
		}
	})
}
