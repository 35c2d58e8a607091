package paperlab

import (
	"fmt"
	"io"
	"strings"

	"github.com/coeval-dev/coeval/lab"
)

// Report prints all findings.
func (r *Result) Report(p *lab.Report) {
	for _, f := range r.Findings {
		p.Say("%s: %s", f.Name, f.Title)
		p.Add("After %s.%s", f.Source, f.played())
		for _, t := range f.Tables {
			p.Say("%s", t.Title)
			p.Grid(t.Keys, t.Heads, t.Rows)
		}
		if len(f.Differs) > 0 {
			p.Say("What differs, and why")
			for _, text := range f.Differs {
				p.Add("- %s", text)
			}
		}
	}
}

// played says what was played, and with which seeds.
func (f *Finding) played() (text string) {
	if f.Game != "" {
		text = " Played: " + f.Game + "."
	}
	switch n := len(f.Seeds); {
	case n == 1:
		text += fmt.Sprintf(" Seed %d.", f.Seeds[0])
	case n > 1:
		text += fmt.Sprintf(" Seeds %d to %d; intervals are at 95 %%.", f.Seeds[0], f.Seeds[n-1])
	}
	return text
}

// Markdown writes the findings as a page has them, a section for each.
func (r *Result) Markdown(w io.Writer, command string) error {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "## %s\n\n%s. `%s %s`\n\nAfter %s.%s\n", f.Name, upper(f.Title), command,
			f.Name, f.Source, f.played())
		for _, t := range f.Tables {
			fmt.Fprintf(&b, "\n%s\n\n| %s |\n|%s\n", t.Title, strings.Join(t.Heads, " | "),
				strings.Repeat("---|", len(t.Heads)))
			for _, row := range t.Rows {
				fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
			}
		}
		if len(f.Differs) > 0 {
			b.WriteString("\nWhat differs, and why:\n\n")
		}
		for _, text := range f.Differs {
			fmt.Fprintf(&b, "- %s\n", text)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
