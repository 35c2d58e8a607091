package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestSlowestAreTold(t *testing.T) {
	var s slowest
	for i := range 2 * slowCounted {
		s.add("p", &event{Test: fmt.Sprintf("Test%d", i), Elapsed: slowFrom + float64(i)})
	}
	s.add("p", &event{Test: "TestQuick", Elapsed: slowFrom / 2})
	s.add("p", &event{Test: "TestWhole/part", Elapsed: 1000})
	s.add("p", &event{Elapsed: 1000}) // a package
	var out bytes.Buffer
	s.print(&out)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != slowCounted+1 {
		t.Fatalf("%d lines: %s", len(lines), &out)
	}
	for i, line := range lines[1:] {
		want := fmt.Sprintf("p Test%d ", 2*slowCounted-1-i)
		if !strings.HasPrefix(strings.TrimSpace(line), want) {
			t.Errorf("line %d is %q, not of %s", i, line, want)
		}
	}
}
