package game

import (
	"testing"

	"github.com/coeval-dev/coeval/det"
)

// TestAimed: a second stick goes before the pointer, and that before where the player pushes.
func TestAimed(t *testing.T) {
	var in Input
	for _, x := range []struct {
		set  func()
		want det.Vec2
	}{
		{func() {}, det.Vec2{}},
		{func() { in.Stick = det.Vec2{Y: 0.5} }, det.Vec2{Y: 1}},
		{func() { in.Pointer.Offset = det.Vec2{X: -7} }, det.Vec2{X: -1}},
		{func() { in.Aim = det.Vec2{X: 0.25} }, det.Vec2{X: 1}},
	} {
		if x.set(); in.Aimed() != x.want {
			t.Errorf("%+v: %v, want %v", in, in.Aimed(), x.want)
		}
	}
}
