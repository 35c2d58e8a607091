package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/topology/server"
)

// line is what the format lets a line be, as its grammar says.
var line = regexp.MustCompile(`^(# (HELP|TYPE) [a-zA-Z_:][a-zA-Z0-9_:]* .*|` +
	`[a-zA-Z_:][a-zA-Z0-9_:]*(\{[a-zA-Z_][a-zA-Z0-9_]*="([^"\\\n]|\\[\\n"])*"\})? ` +
	`([-+]?[0-9.]+(e[-+]?[0-9]+)?|[-+]Inf|NaN))$`)

// TestExposition: what Prometheus is told is in its format, each name is declared once and before
// its numbers, and buckets of a histogram add up.
func TestExposition(t *testing.T) {
	m := NewMeters(pong.Game, func(_ context.Context, m *Metrics) error {
		m.Count("things_total", "Things.", 1<<60)
		m.Gauge("ratio", "A ratio.", 0.25)
		Counts(m, "odd_total", "By odd labels.", "of", map[string]int{"a\"b\\c\nd": 3, "": 1})
		return nil
	})
	for range 10 {
		m.Ticked(server.Times{})
	}
	a := httptest.NewRecorder()
	m.Handler().ServeHTTP(a, httptest.NewRequest("GET", "/metrics", nil))
	if kind := a.Header().Get("Content-Type"); kind != textFormat {
		t.Error(kind)
	}
	body := a.Body.String()
	declared := map[string]bool{}
	for s := bufio.NewScanner(strings.NewReader(body)); s.Scan(); {
		text := s.Text()
		if !line.MatchString(text) {
			t.Errorf("no line of the format: %q", text)
		}
		if rest, ok := strings.CutPrefix(text, "# TYPE "); ok {
			name, _, _ := strings.Cut(rest, " ")
			if declared[name] {
				t.Errorf("%s is declared twice", name)
			}
			declared[name] = true
		} else if !strings.HasPrefix(text, "#") {
			name, _, _ := strings.Cut(strings.NewReplacer("{", " ", "_bucket", "", "_sum", "",
				"_count{", " ").Replace(text), " ")
			if !declared[name] && !declared[strings.TrimSuffix(name, "_count")] {
				t.Errorf("%q is of no declared name", text)
			}
		}
	}
	for _, want := range []string{
		"coeval_things_total 1.152921504606847e+18\n", "coeval_ratio 0.25\n",
		`coeval_odd_total{of="a\"b\\c\nd"} 3` + "\n", `coeval_odd_total{of=""} 1` + "\n",
		`coeval_tick_seconds_bucket{le="+Inf"} 10` + "\n", "coeval_tick_seconds_count 10\n",
		"# TYPE coeval_tick_seconds histogram\n", "go_goroutines ", "process_start_time_seconds ",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	// A server that does not answer has no numbers of its own.
	no := func(context.Context, *Metrics) error { return errors.New("no") }
	silent := NewMeters(pong.Game, no)
	if text := silent.Text(); !bytes.Contains(text, []byte("go_goroutines")) ||
		bytes.Contains(text, []byte("coeval_things")) {
		t.Errorf("%s", text)
	}
}

// TestHistogram: each is counted in the first bucket that it does not exceed, and in all above.
func TestHistogram(t *testing.T) {
	h := newHistogram("x", "X.", 1, 2, 4)
	for _, v := range []float64{0.5, 1, 1.5, 3, 9} {
		h.observe(v)
	}
	var b bytes.Buffer
	h.write(&b)
	want := "# HELP x X.\n# TYPE x histogram\n" + `x_bucket{le="1"} 2` + "\n" +
		`x_bucket{le="2"} 3` + "\n" + `x_bucket{le="4"} 4` + "\n" + `x_bucket{le="+Inf"} 5` +
		"\nx_sum 15\nx_count 5\n"
	if b.String() != want {
		t.Errorf("%s", &b)
	}
}
