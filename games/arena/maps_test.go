package arena

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write maps/maze.txt anew")
var pictures = flag.String("pictures", "", "a directory to draw the maps into")

var mazePlot = plot{Name: "maze", Title: "The Maze", Seed: 20, Columns: 24, Rows: 18}

// The large map is what the generator makes, so that it can be made larger.
func TestMazeIsGenerated(t *testing.T) {
	text := generate(mazePlot)
	if *update {
		if err := os.WriteFile("maps/maze.txt", text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := MapNamed("maze"); err != nil || !bytes.Equal(m.Text(), text) {
		t.Error("maps/maze.txt is not what generate makes; run go test ./games/arena -run "+
			"MazeIsGenerated -update", err)
	}
}

func TestGenerate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plot{Seed: rapid.Uint64().Draw(t, "seed"),
			Columns: rapid.IntRange(2, 16).Draw(t, "columns"),
			Rows:    rapid.IntRange(1, 12).Draw(t, "rows")}
		text := generate(p)
		m, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := Parse(generate(p)); again.Hash() != m.Hash() {
			t.Fatal("it is another map the second time")
		}
	})
}
