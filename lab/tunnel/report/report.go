// Package report writes what the wind tunnel found for people to read: as a page that needs nothing
// else, and as Markdown. Package tunnel finds it, and says what it comes to.
//
//	lab/tunnel ── Result, Advice, Worst ──> report ── HTML, Markdown
//
// It stands apart so that a change of what is shown measures nothing anew: what was measured is
// good as long as the sources that it depends on are the same.
package report

import (
	_ "embed" // the page's parts
	"encoding/json"

	"github.com/coeval-dev/coeval/lab/page"
	"github.com/coeval-dev/coeval/lab/tunnel"
)

// The page is one file that needs nothing else: what was found stands in it as JSON, and a script
// of its own draws it.
var (
	//go:embed report.html
	pageText string
	//go:embed report.css
	pageStyle string
	//go:embed report.js
	pageScript string
	//go:embed scatter.js
	scatterScript string
)

// pageData is what the page shows.
type pageData struct {
	Result *tunnel.Result     `json:"result"`
	Advice *tunnel.Advice     `json:"advice"`
	Worst  []tunnel.Worst     `json:"worst"`
	Kinds  []tunnel.KindEntry `json:"kinds"`
	Axes   []tunnel.Axis      `json:"axes"`
}

// HTML is the report as a page that needs no network.
func HTML(r *tunnel.Result, a *tunnel.Advice, worst []tunnel.Worst) ([]byte, error) {
	data, err := json.Marshal(pageData{brief(r), a, worst, tunnel.IncidentKinds(), tunnel.Axes()})
	if err != nil {
		return nil, err
	}
	p := page.Page{Text: pageText, Style: pageStyle, Script: scatterScript + pageScript,
		Content: data, Data: struct {
			Result *tunnel.Result
			Advice *tunnel.Advice
		}{r, a}}
	return p.HTML()
}

// brief is the result with one run of each in full, and of the others only what they came to.
func brief(r *tunnel.Result) *tunnel.Result {
	short := *r
	short.Cells = nil
	for _, c := range r.Cells {
		if len(c.Samples) > 1 {
			c.Samples = c.Samples[:1:1]
		}
		short.Cells = append(short.Cells, c)
	}
	return &short
}
