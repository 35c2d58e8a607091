//go:build !js

package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/demo"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/blind"
	"github.com/coeval-dev/coeval/lab/blind/sitting"
)

func init() { demo.NewTest = newTest }

// mostSheet is how long a file with answers may be.
const mostSheet = 1 << 20

// newTest makes the blind test that a command line asks for, or goes on with that in its file.
func newTest(ctx context.Context, w demo.TestWish, out io.Writer) (demo.Test, error) {
	sides, asked, err := sitting.ParseSides(w.Pair)
	if err != nil {
		return nil, cli.Usagef("--blind: %w", err)
	}
	if w.Question != "" {
		asked = blind.Question(w.Question)
	}
	a := &answers{name: w.File}
	if a.name == "" {
		a.name = fmt.Sprintf("blind-%s-%s.json", w.Title.Name(),
			time.Now().Format("2006-01-02-150405"))
	}
	sheet, err := a.open(blind.Plan{Game: w.Title.Name(), Level: w.Level, Sides: sides.Names(),
		Question: asked, Trials: w.Trials, Interval: w.Interval.Milliseconds(), Network: w.Network,
		Players: w.Players}, w.Person)
	if err != nil {
		return nil, err
	}
	s, err := sitting.New(sitting.Options{Title: w.Title, Sides: sides, Sheet: sheet, Save: a.save,
		File: a.name})
	if err != nil {
		return nil, cli.Usagef("--blind %s: %w", w.Pair, err)
	}
	bar := cli.NewProgress(out)
	bar.Show(0.5, "trying both sides")
	err = s.Rehearse(ctx)
	bar.Clear()
	if err != nil {
		return nil, fmt.Errorf("--blind %s cannot be played here: %w", w.Pair, err)
	}
	left := sheet.Trials - len(sheet.Answers)
	each := time.Duration(asked.Intervals())*(w.Interval+blind.Pause) + 5*time.Second
	fmt.Fprintf(out, "%d of %d trials are left, which take about %v; answers are kept in %s\n",
		left, sheet.Trials, max(time.Minute, (time.Duration(left)*each).Round(time.Minute)), a.name)
	return s, nil
}

// answers are the file of a sheet.
type answers struct {
	name string
	last []byte // as it was read or written; nil if there is none
}

// open reads the sheet that is there, if it is of the same plan, or begins one.
func (a *answers) open(p blind.Plan, person string) (*blind.Sheet, error) {
	data, err := cli.ReadFile(a.name, mostSheet)
	if errors.Is(err, fs.ErrNotExist) {
		s, err := blind.NewSheet(p, person, cli.Draw())
		if err != nil {
			return nil, cli.Usagef("--blind: %w", err)
		}
		f, err := cli.CreateWhole(a.name)
		if err != nil {
			return nil, err
		}
		f.Abandon() // it could be written
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	a.last = data
	s, err := blind.ReadSheet(data)
	if err == nil {
		err = s.Continues(p)
	}
	if err == nil && person != "" && person != s.Person {
		err = fmt.Errorf("its answers are those of %q and not of %q", s.Person, person)
	}
	if err == nil && s.Full() {
		err = fmt.Errorf("its test is finished: {program} lab blind %s says what it shows", a.name)
	}
	if err != nil {
		return nil, cli.Usagef("--answers %s: %w; name another file for another test", a.name, err)
	}
	return s, nil
}

// save writes the sheet as a whole, unless somebody else has written there.
func (a *answers) save(s *blind.Sheet) error {
	if is, err := cli.ReadFile(a.name, mostSheet); err == nil && !bytes.Equal(is, a.last) {
		return fmt.Errorf("%s was changed by another program: end one of the two", a.name)
	}
	data, err := s.Data()
	if err != nil {
		return err
	}
	f, err := cli.CreateWhole(a.name)
	if err != nil {
		return err
	}
	if err := f.Commit(data); err != nil {
		return err
	}
	a.last = data
	return nil
}

const blindLong = `Say what the answers of blind tests show, which {program} demo --blind has kept.

Answers to the same question about the same two sides are added up, whoever gave them.
How often guessing gives as many is computed exactly, and so are the intervals, which
have the truth in them at least nineteen times in twenty (Clopper and Pearson). Where
several pairs were compared in one game, all of them are ranked (Bradley and Terry).

A test that was stopped before its last trial has no verdict, and counts for nothing
here. Decide how many persons there will be before you look, too.`

func blindVerb(*host.Program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "blind FILE...", Short: "What the answers of blind tests show", Long: blindLong,
		Example: "  {program} demo --blind rollback=0,4 --answers ann.json\n" +
			"  {program} lab blind ann.json bob.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("name the files with answers, which {program} demo --blind has " +
					"written")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error {
			r, err := pool(files)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
			}
			return printBlind(cmd.OutOrStdout(), r)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func pool(files []string) (*blind.Results, error) {
	var papers []blind.Paper
	for _, name := range files {
		data, err := cli.ReadFile(name, mostSheet)
		if err != nil {
			return nil, err
		}
		s, err := blind.ReadSheet(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		papers = append(papers, blind.Paper{File: name, Sheet: s})
	}
	return blind.Pool(papers), nil
}

// measuredRow is what was measured of both sides, for a table.
type measuredRow struct {
	About string  `head:"measured"`
	First float64 `as:"%.3g"`
	Other float64 `as:"%.3g"`
}

func printBlind(out io.Writer, r *blind.Results) error {
	p := lab.NewReport(out, cli.Width(out))
	for i := range r.Groups {
		g := &r.Groups[i]
		p.Say("%s, %s against %s on %s: %s", g.Game, g.Sides[0], g.Sides[1], g.Network,
			questions[g.Question])
		for _, w := range g.Words {
			p.Say("%s", w)
		}
		count := "Count:right"
		if g.Question == blind.Better {
			count = "Count:for " + g.Sides[0]
		}
		p.Table(g.Persons, "Person, File | Trials, "+count+", Chance")
		var rows []measuredRow
		for _, f := range sitting.Figures(g.Measured) {
			rows = append(rows, measuredRow{f.About, f.Sides[0], f.Sides[1]})
		}
		if len(rows) > 0 {
			p.Table(rows, "About | First:"+g.Sides[0]+", Other:"+g.Sides[1])
		}
	}
	for _, t := range r.Tables {
		p.Say("%s on %s, all that were compared, by how often each is preferred to one of middling "+
			"strength:", t.Game, t.Network)
		p.Table(t.Strengths, "Name | Rate, Within.Low, Within.High")
	}
	for _, l := range r.Left {
		p.Say("Left out: %s: %s", l.File, l.Why)
	}
	return p.Err()
}

var questions = map[blind.Question]string{
	blind.ABX: "can they be told apart?", blind.Better: "which is better?"}
