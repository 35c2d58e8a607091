package paperlab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/lab/paperlab"
)

// cheap are those that take next to no time.
var cheap = []string{"gamenet", "crimp", "reckoning", "circling"}

func names(t *testing.T) []string {
	if os.Getenv("COEVAL_SOAK") == "" {
		return cheap
	}
	var list []string
	for _, e := range paperlab.Experiments() {
		list = append(list, e.Name)
	}
	return list
}

// TestPapers: every experiment finds what is known of it, says what differs, and repeats from its
// seed.
func TestPapers(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays many matches")
	}
	o := paperlab.Options{Title: arena.Title, Names: names(t), Quick: true, Seed: 3}
	run := func() (*paperlab.Result, string) {
		r, err := paperlab.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r.Findings)
		if err != nil {
			t.Fatal(err)
		}
		return r, string(text)
	}
	r, first := run()
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	for _, f := range r.Findings {
		if len(f.Tables) == 0 || len(f.Differs) == 0 || f.Source == "" ||
			!slices.Equal(f.Seeds, []uint64{3, 4}) {
			t.Errorf("%s: %d tables, %d remarks, source %q, seeds %v", f.Name, len(f.Tables),
				len(f.Differs), f.Source, f.Seeds)
		}
		for _, x := range f.Tables {
			for _, row := range x.Rows {
				if len(row) != len(x.Heads) {
					t.Errorf("%s, %s: %d cells under %d heads: %q", f.Name, x.Title, len(row),
						len(x.Heads), row)
				}
			}
		}
	}
	if _, again := run(); again != first {
		t.Errorf("a second run differs:\n%s\n%s", first, again)
	}
	var page bytes.Buffer
	if err := r.Markdown(&page, "coeval lab paper"); err != nil {
		t.Fatal(err)
	}
	for _, name := range o.Names {
		if !strings.Contains(page.String(), "## "+name+"\n") ||
			!strings.Contains(page.String(), "`coeval lab paper "+name+"`") {
			t.Errorf("the page lacks %s", name)
		}
	}
}

// TestTree: the known answer of the tree fails if the server does not go back in time.
func TestTree(t *testing.T) {
	r, err := paperlab.Run(t.Context(), paperlab.Options{Title: arena.Title,
		Names: []string{"circling"}, Quick: true, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Findings[0].Tables[0].Rows {
		hits := row[len(row)-2]
		if (hits != "0") != strings.HasPrefix(row[0], "Half-Life") {
			t.Errorf("%s: %s hits a minute", row[0], hits)
		}
	}
}

// TestMistakes: what cannot be done is said.
func TestMistakes(t *testing.T) {
	for want, o := range map[string]paperlab.Options{
		`no experiment "alchemy"`: {Title: arena.Title, Names: []string{"alchemy"}},
		"seeds is 65":             {Title: arena.Title, Seeds: 65},
		"who is where":            {Title: stack.Title, Names: []string{"reckoning"}},
	} {
		if _, err := paperlab.Run(t.Context(), o); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := paperlab.Run(ctx, paperlab.Options{Title: arena.Title,
		Names: []string{"lockstep"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
