package lab

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

type reportRow struct {
	Name  string  `json:"name" head:"what it is called"`
	Count int     `head:"how many"`
	Share float64 `head:"share" as:"%.1f %%"`
	Maybe float64 `head:"speed- up" as:"?%.2f"`
	Good  bool    `head:"good"`
	List  []int   `head:"list"`
	*reportMore
}

type reportMore struct {
	Inner struct {
		Deep float64 `head:"deep" as:"%+.2f ms"`
	}
}

func reported(width int, say func(r *Report)) string {
	var out bytes.Buffer
	r := NewReport(&out, width)
	say(r)
	return out.String()
}

// TestReport: heads and formats come from tags, empty columns are left out, and what is too wide is
// split with its keys repeated.
func TestReport(t *testing.T) {
	rows := []reportRow{
		{Name: "a", Count: 7, Share: 0.125, Good: true, List: []int{1, 2}}, {
			Name: "second", Count: 12, Share: 1}}
	const all = "Name | Count: number, Share, Maybe, Good, List, Inner.Deep"
	got := reported(100, func(r *Report) {
		r.Say("Two rows.")
		r.Add("Below.")
		r.Table(rows, all)
	})
	want := `Two rows.
Below.

what
it is
called  number    share  good  list
a            7   12.5 %   yes  1, 2
second      12  100.0 %    NO
`
	if got != want {
		t.Errorf("in 100 columns:\n%s\nwant\n%s", got, want)
	}
	got = reported(40,
		func(r *Report) { r.Table(rows, all+", Count: number of them, Share: of all") })
	first, second, split := strings.Cut(got, "\n\n")
	if !split || !strings.Contains(first, "1, 2") || !strings.HasPrefix(second, "what ") ||
		!strings.HasSuffix(second, "\nsecond      12  100.0 %\n") {
		t.Errorf("in 40 columns:\n%s", got)
	}
	rows[0].reportMore = &reportMore{}
	rows[0].Inner.Deep = 1.5
	got = reported(100, func(r *Report) { r.Figures(rows, "Name | Maybe, Share, Inner.Deep") })
	want = `              a   second
share    12.5 %  100.0 %
deep   +1.50 ms
`
	if got != want {
		t.Errorf("on its side:\n%s\nwant\n%s", got, want)
	}
	names := ""
	for name, group := range Groups(rows,
		func(r *reportRow) string { return fmt.Sprint(r.Count > 3) }) {
		names += fmt.Sprint(name, len(group))
	}
	if names != "true2" {
		t.Error(names)
	}
}

// TestReportFits: nothing that can be wrapped or split is wider than the terminal, and nothing is
// lost.
func TestReportFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(40, 200).Draw(t, "width")
		words := rapid.SliceOfN(rapid.StringMatching(`[a-zµ]{1,12}`), 1, 40)
		var rows []reportRow
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			text := strings.Join(words.Draw(t, "words"), " ")
			rows = append(rows,
				reportRow{Name: text, Count: rapid.IntRange(0, 1e9).Draw(t, "count"), Share: 0.5})
		}
		columns := "Name | " +
			strings.Repeat("Count: a rather long head, Share, ",
				rapid.IntRange(1, 8).Draw(t, "columns"))
		got := reported(width, func(r *Report) {
			r.Say("%s", rows[0].Name)
			r.Table(rows, columns)
		})
		for line := range strings.Lines(got) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
				t.Fatalf("a line of %d in %d columns:\n%s", n, width, got)
			}
		}
		for _, row := range rows {
			for word := range strings.FieldsSeq(row.Name) {
				if !strings.Contains(got, word) {
					t.Fatalf("%q is lost:\n%s", word, got)
				}
			}
			if !strings.Contains(got, fmt.Sprint(row.Count)) {
				t.Fatalf("%d is lost:\n%s", row.Count, got)
			}
		}
	})
}
