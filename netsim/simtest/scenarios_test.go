package simtest

import (
	"fmt"
	"strings"
	"testing"
)

// count is a scenario that adds up what it is told.
func count() func(Line, *strings.Builder) {
	sum := 0
	return func(l Line, out *strings.Builder) {
		switch l.Verb {
		case "add":
			sum += l.Int(0) * l.Number("times", 1)
		case "say":
			fmt.Fprintln(out, sum)
		}
	}
}

func TestScenarioSaysWhatHappens(t *testing.T) {
	const text = "# A remark.\n\nadd 2\nadd 3 times=4\n----\nok\n\nsay\n----\n14\n"
	if got := playScenario(t, text, count()); got != text {
		t.Errorf("happened:\n%s", got)
	}
	wrong := strings.Replace(text, "14", "15", 1)
	got := playScenario(t, wrong, count())
	if got != text {
		t.Errorf("what the file expects changed what happened:\n%s", got)
	}
	const want = "say\n---- wanted\n15\n---- happened\n14\n\n"
	if d := difference(wrong, got); d != want {
		t.Errorf("a difference is shown as:\n%s", d)
	}
}
