package sitting

import (
	"fmt"
	"strconv"

	"github.com/coeval-dev/coeval/lab/blind"
)

// A State is what the person may know now. Which side is which is in it when the test is over, and
// not before.
type State struct {
	blind.Moment
	// Pages tell trials by it: a number that grows with each match.
	Match int `json:"match"`
	// Error is what went wrong, or nothing.
	Error  string  `json:"error,omitempty"`
	Result *Result `json:"result,omitempty"`
}

// A Result is what came of a test that is over.
type Result struct {
	Words  []string  `json:"words"`
	Sides  [2]string `json:"sides"`
	About  [2]string `json:"about"`
	Trials []Told    `json:"trials"`
	// Figures are what was measured of each side.
	Figures []Figure `json:"figures"`
	Seed    string   `json:"seed"`
	File    string   `json:"file"`
}

// A Told is a trial, with what was hidden.
type Told struct {
	Order  []string `json:"order"` // of sides
	Answer string   `json:"answer"`
	// Counts says that the answer is right, or for the first side.
	Counts bool `json:"counts"`
}

// A Figure is what was measured of both sides.
type Figure struct {
	Key   string     `json:"key"`
	About string     `json:"about"`
	Sides [2]float64 `json:"sides"`
}

// State is what the person may know.
func (s *Sitting) State() State {
	st := State{Moment: s.procedure.Now(s.now), Match: s.matches}
	if s.err != nil {
		st.Error = "the match could not be played: start the trial again"
	}
	if s.o.Sheet.Full() {
		st.Error = ""
		st.Result = s.result()
	}
	return st
}

// Err is what went wrong, for whoever runs the test. It names the side.
func (s *Sitting) Err() error { return s.err }

func (s *Sitting) result() *Result {
	sheet := s.o.Sheet
	v := blind.Judge(sheet.Question, sheet.Count(), len(sheet.Answers))
	r := &Result{Words: v.Words(sheet.Question, sheet.Sides), Sides: sheet.Sides,
		Seed: strconv.FormatUint(sheet.Seed, 10), File: s.o.File, Figures: Figures(sheet.Measured)}
	for i, a := range s.o.Sides {
		r.About[i] = a.About
	}
	labels := sheet.Question.Labels()
	for i, answer := range sheet.Answers {
		t := Told{Answer: labels[answer], Counts: sheet.Success(i)}
		for _, side := range sheet.Order(i) {
			t.Order = append(t.Order, sheet.Sides[side])
		}
		r.Trials = append(r.Trials, t)
	}
	return r
}

// felt are the axes of the wind tunnel that a person may feel, in words.
var felt = []Figure{
	{Key: "own_ms", About: "own input is seen after, ms"},
	{Key: "others_ms", About: "others' input is seen after, ms"},
	{Key: "rollbacks", About: "rollbacks a second"},
	{Key: "rollback_deepest", About: "deepest rollback, ticks"},
	{Key: "corrections", About: "own body corrected, a minute"},
	{Key: "still", About: "the picture stands still, %"},
	{Key: "off_others_mean", About: "others shown off by, widths"},
	{Key: "hits_denied", About: "hits seen and denied, %"},
}

// Figures are what was measured of both sides, as far as a person may feel it.
func Figures(m [2]blind.Measured) (list []Figure) {
	for _, f := range felt {
		x, ok := m[0].Figures[f.Key]
		y, too := m[1].Figures[f.Key]
		if ok && too {
			f.Sides = [2]float64{x, y}
			list = append(list, f)
		}
	}
	return list
}

// Tell is State, for pages.
func (s *Sitting) Tell() any { return s.State() }

// Summary is what to say to whoever runs the test when it ends.
func (s *Sitting) Summary() []string {
	sheet := s.o.Sheet
	if !sheet.Full() {
		if len(sheet.Answers) == 0 {
			return []string{"no trial was answered, so there is nothing to say"}
		}
		return []string{blind.Unfinished(len(sheet.Answers), sheet.Trials),
			"Go on with --answers " + s.o.File + "."}
	}
	r := s.result()
	list := append([]string{}, r.Words...)
	for _, f := range r.Figures {
		list = append(list, fmt.Sprintf("%s: %.3g with %s, %.3g with %s", f.About, f.Sides[0],
			r.Sides[0], f.Sides[1], r.Sides[1]))
	}
	return append(list, "The answers are in "+s.o.File+".")
}
