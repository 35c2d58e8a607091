//go:build !js

package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/lab/tunnel/report"
)

const reportLong = `Write what {program} lab run found as a report: which architecture to choose on
which network, and why, in plain words; a picture of the trade; a page for each
architecture; and its worst moments, each with the command that shows it as a film.

FILE ends in .html for one page that needs nothing else, in .md for Markdown, or in
.json for programs; several may be given. Without a FILE the words are printed.

--weight says what counts for your game: responsiveness, consistency, hits,
bandwidth, processor, faults, each 1 or so at first.`

// reportRun is {program} lab report.
type reportRun struct {
	game, dir, from string
	weights         []string
}

func reportVerb(p *host.Program) *cobra.Command {
	var r reportRun
	cmd := &cobra.Command{
		Use: "report [FILE...]", Short: "Which architecture to choose, with the evidence",
		Long: reportLong,
		Example: "  {program} lab report\n  {program} lab report report.html report.md\n" +
			"  {program} lab report --weight bandwidth=4 --weight faults=0 report.html",
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(p, cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&r.game, "game", "", "the game (default: the first that takes commands)")
	f.StringVar(&r.dir, "dir", "", "where lab run keeps what it measured")
	f.StringVar(&r.from, "from", "", "a `FILE` that lab run --json printed, in place of the last")
	f.StringArrayVar(&r.weights, "weight", nil, "what a `GROUP=NUMBER` of axes counts")
	return cmd
}

func (r *reportRun) run(p *host.Program, cmd *cobra.Command, files []string) error {
	weights, err := parseWeights(r.weights)
	if err != nil {
		return cli.Usagef("--weight: %w", err)
	}
	for _, f := range files {
		if ext := filepath.Ext(f); ext != ".html" && ext != ".md" && ext != ".json" {
			return cli.Usagef("%s: a report ends in .html, .md or .json", f)
		}
	}
	result, err := r.load(p)
	if err != nil {
		return err
	}
	advice := result.Advise(weights)
	for _, f := range files {
		if err := write(f, result, advice, result.Worst(p.Name)); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), f)
	}
	if len(files) == 0 {
		for _, w := range advice.Words {
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n", w)
		}
	}
	return nil
}

// load reads what was found.
func (r *reportRun) load(p *host.Program) (*tunnel.Result, error) {
	path := r.from
	if path == "" {
		dir, err := keepIn(r.dir)
		if err != nil {
			return nil, err
		}
		name := r.game
		for _, t := range p.Titles {
			if name == "" && t.Game.Commands() != nil {
				name = t.Name()
			}
		}
		if r.game != "" {
			if _, err := p.Title(r.game); err != nil {
				return nil, cli.Usagef("--game: %w", err)
			}
		}
		path = lastOf(dir, name)
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("nothing is known of %s yet: %s lab run --game %[1]s finds out",
				name, "{program}")
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return tunnel.ReadResult(path, b)
}

// write writes a report as a whole.
func write(path string, r *tunnel.Result, a *tunnel.Advice, worst []tunnel.Worst) (err error) {
	var b []byte
	switch filepath.Ext(path) {
	case ".md":
		b = report.Markdown(r, a, worst)
	case ".html":
		b, err = report.HTML(r, a, worst)
	default:
		b, err = json.MarshalIndent(struct {
			Result *tunnel.Result `json:"result"`
			Advice *tunnel.Advice `json:"advice"`
			Worst  []tunnel.Worst `json:"worst_incidents"`
		}{r, a, worst}, "", "\t")
	}
	if err != nil {
		return err
	}
	return tunnel.WriteFile(path, b)
}

// parseWeights reads GROUP=NUMBER. A group is known by how its name begins.
func parseWeights(list []string) (map[tunnel.Group]float64, error) {
	weights := map[tunnel.Group]float64{}
	for _, text := range list {
		name, number, ok := strings.Cut(text, "=")
		v, err := strconv.ParseFloat(number, 64)
		if !ok || err != nil || v < 0 || v > 1000 {
			return nil, fmt.Errorf("%q: write a group and a number from 0 to 1000, such as "+
				"bandwidth=2", text)
		}
		found := false
		var names []string
		for _, g := range tunnel.Groups() {
			names = append(names, string(g))
			if name != "" && strings.HasPrefix(string(g), name) {
				weights[g], found = v, true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no group %q; there are %s", name,
				strings.Join(names, ", "))
		}
	}
	return weights, nil
}
