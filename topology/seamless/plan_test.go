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
