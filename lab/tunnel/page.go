package tunnel

import (
	_ "embed" // the page's parts
	"encoding/json"

	"github.com/coeval-dev/coeval/lab/page"
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
	Result *Result     `json:"result"`
	Advice *Advice     `json:"advice"`
	Worst  []Worst     `json:"worst"`
	Kinds  []KindEntry `json:"kinds"`
	Axes   []Axis      `json:"axes"`
}

// HTML is the report as a page that needs no network.
func (r *Result) HTML(a *Advice, worst []Worst) ([]byte, error) {
	data, err := json.Marshal(pageData{r.brief(), a, worst, incidentKinds, axes})
	if err != nil {
		return nil, err
	}
	p := page.Page{Text: pageText, Style: pageStyle, Script: scatterScript + pageScript,
		Content: data, Data: struct {
			Result *Result
			Advice *Advice
		}{r, a}}
	return p.HTML()
}

// brief is the result with one run of each in full, and of the others only what they came to.
func (r *Result) brief() *Result {
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
