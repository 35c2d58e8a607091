// Package page makes the pages of experiments: one file that needs nothing else, for light and for
// dark screens, and for paper.
//
//	lab/tunnel, lab/tunnel/film     what a page shows, and its own script
//	lab/page                        how pages look, and what their scripts share      <- here
package page

import (
	"bytes"
	_ "embed" // what pages share
	"html/template"
)

var (
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// A Page is what stands in a file. Text is a template of html/template, in which {{.Data}} is Data,
// {{.Style}} and {{.Script}} are those that all pages share and the page's own after them, and
// {{.Content}} is the page's content as a script reads it.
type Page struct {
	Text          string
	Style, Script string
	Data          any
	// Content is JSON.
	Content []byte
}

// HTML is the page.
func (p *Page) HTML() ([]byte, error) {
	t, err := template.New("page").Parse(p.Text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		Data    any
		Style   template.CSS
		Script  template.JS
		Content template.JS
	}{p.Data, template.CSS(style + p.Style), template.JS(script + p.Script),
		template.JS(p.Content)})
	return b.Bytes(), err
}
