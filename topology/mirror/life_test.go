package mirror

import (
	"fmt"
	"testing"
)

// TestLife: the ways through a mirror's life, and what users see.
func TestLife(t *testing.T) {
	for _, way := range []struct {
		to   []state
		want string
	}{
		{[]state{serving, leaving, out}, "serving leaving out"},
		{[]state{waiting, serving, cutOff, reunited, waiting, serving},
			"waiting serving suspended suspended waiting serving"},
		{[]state{waiting, cutOff, reunited, cutOff, reunited, serving},
			"waiting suspended suspended suspended suspended suspended"},
		{[]state{waiting, serving, spoiled, released, joining, waiting},
			"waiting serving serving serving joining waiting"},
		{[]state{serving, spoiled, cutOff, serving, joining},
			"serving serving suspended suspended joining"},
		// none of which is possible
		{[]state{waiting, released, reunited, joining}, "waiting waiting waiting waiting"},
		{[]state{serving, leaving, spoiled, joining, failing, serving, out, joining},
			"serving leaving leaving leaving leaving leaving out out"},
	} {
		var l life
		got := ""
		for _, s := range way.to {
			l.to(s)
			got += fmt.Sprint(l.phase, " ")
		}
		if got != way.want+" " {
			t.Errorf("%v: %s; want %s", way.to, got, way.want)
		}
	}
}
