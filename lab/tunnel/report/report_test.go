package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/lab/tunnel/report"
)

// made is a result of two architectures on one network.
func made() *tunnel.Result {
	cell := func(arch string, own, off float64) tunnel.Cell {
		c := tunnel.Cell{Arch: arch, Field: "far", Players: 4,
			Figures: map[string]tunnel.Figure{
				"own_ms":          tunnel.NewFigure([]float64{own, own + 1, own + 2}),
				"off_others_mean": tunnel.NewFigure([]float64{off, off, off})}}
		for i := range 3 {
			c.Samples = append(c.Samples, tunnel.Sample{Seed: uint64(i)})
		}
		return c
	}
	r := &tunnel.Result{Version: tunnel.Version, Game: "it's", Level: "one", Players: 4, Rate: 60,
		Seconds: 20, Warm: 5, Open: true, Seed: 1,
		Architectures: []tunnel.Entry{
			{Name: "server", Family: tunnel.ClientServer, About: "one <server>"},
			{Name: "peers", Family: tunnel.BetweenPeers, About: "no server"}},
		Networks: []tunnel.NetworkEntry{{Name: "far", Homes: "far away"}},
		Cells:    []tunnel.Cell{cell("server", 0, 0.2), cell("peers", 200, 0)}}
	r.Cells[0].Samples[2].Incidents = []tunnel.Incident{
		{Kind: tunnel.ShownOff, Player: 2, Other: 4, Bad: 4},
		{Kind: tunnel.StoodStill, Player: 2, Bad: 100}}
	return r
}

// TestReports: the page holds everything itself, whatever names are, and the same result gives the
// same bytes. The text says what to choose, and the command that shows what went worst.
func TestReports(t *testing.T) {
	r := made()
	a := r.Advise(nil)
	one, err := report.HTML(r, a, r.Worst("coeval"))
	if err != nil {
		t.Fatal(err)
	}
	two, _ := report.HTML(made(), made().Advise(nil), made().Worst("coeval"))
	if !bytes.Equal(one, two) {
		t.Error("two pages of one result differ")
	}
	text := string(one)
	for _, not := range []string{"<server>", "src=", "href=", "@import", "url("} {
		if strings.Contains(text, not) {
			t.Errorf("the page has %q in it", not)
		}
	}
	md := string(report.Markdown(r, a, r.Worst("coeval")))
	for _, want := range []string{"# it's in the wind tunnel", "## What to choose", "| others off",
		"Players do what bots did", "## The worst incidents", r.Worst("coeval")[0].Command,
		"player 2 and player 4", "picture stood still: 100 ms, player 2"} {
		if !strings.Contains(md, want) {
			t.Errorf("the text lacks %q:\n%s", want, md)
		}
	}
	r.Traces = []string{"match.trace"}
	if md := string(report.Markdown(r, a, nil)); !strings.Contains(md, "done in match.trace") {
		t.Error("it is not said that players do what was recorded")
	}
}

// The advice and the tables for people, as Markdown.
func Example() {
	r := made()
	text := report.Markdown(r, r.Advise(nil), r.Worst("coeval"))
	fmt.Println(string(text[:bytes.IndexByte(text, '\n')]))
	// Output: # it's in the wind tunnel
}
