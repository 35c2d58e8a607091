package inspect_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/serve"
)

// What the dashboard for Grafana asks for is what a server tells, and by labels that it has.
func TestDashboard(t *testing.T) {
	data, err := os.ReadFile("../../../deploy/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(data, &d); err != nil || len(d.Panels) < 10 {
		t.Fatalf("%v: %d panels", err, len(d.Panels))
	}
	r := run(t, 2, serve.Options{})
	r.full(2)
	r.url = r.players
	code, text := r.get("/metrics", "")
	if code != 200 {
		t.Fatalf("%d %s", code, text)
	}
	told := "\n" + string(text)
	name := regexp.MustCompile(`\b(?:coeval|process|go)_[a-z_]+`)
	label := regexp.MustCompile(`by \(([a-z]+)\)|\{\{([a-z]+)\}\}`)
	for _, p := range d.Panels {
		for _, x := range p.Targets {
			for _, metric := range name.FindAllString(x.Expr, -1) {
				if !strings.Contains(told, "\n"+metric+"{") &&
					!strings.Contains(told, "\n"+metric+" ") {
					t.Errorf("%s: there is no %s", p.Title, metric)
				}
			}
			for _, m := range label.FindAllStringSubmatch(x.Expr+x.LegendFormat, -1) {
				l := m[1] + m[2]
				if l != "instance" && l != "le" &&
					!regexp.MustCompile(`\ncoeval_[a-z_]+\{`+l+`=`).MatchString(told) {
					t.Errorf("%s: nothing has the label %s", p.Title, l)
				}
			}
		}
	}
}
