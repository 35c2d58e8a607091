package tunnel

import (
	"bytes"
	_ "embed" // the page's parts
	"encoding/json"
	"html/template"
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

	page = template.Must(template.New("report").Parse(pageText))
)

// pageData is what the page shows.
type pageData struct {
	Result *Result `json:"result"`
	Advice *Advice `json:"advice"`
	Axes   []Axis  `json:"axes"`
}

// HTML is the report as a page that needs no network.
func (r *Result) HTML(a *Advice) ([]byte, error) {
	data, err := json.Marshal(pageData{r.brief(), a, axes})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = page.Execute(&b, struct {
		Result *Result
		Advice *Advice
		Style  template.CSS
		Script template.JS
		Data   template.JS
	}{r, a, template.CSS(pageStyle), template.JS(pageScript), template.JS(data)})
	return b.Bytes(), err
}

// brief is the result with one run of each in full, and of the others only what they came to.
func (r *Result) brief() *Result {
	short := *r
	short.Cells = nil
	for _, c := range r.Cells {
		if len(c.Samples) > 1 {
			c.Samples = c.Samples[:1]
		}
		short.Cells = append(short.Cells, c)
	}
	return &short
}
