package sitting

import (
	"slices"
	"strconv"

	"github.com/coeval-dev/coeval/lab/blind"
	"github.com/coeval-dev/coeval/lab/tunnel"
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
	Unit  string     `json:"unit"`
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

// felt are the axes that a person may feel.
var felt = []string{"own_ms", "others_ms", "rollbacks", "rollback_deepest", "corrections", "still",
	"off_others_mean", "hits_denied"}

// Figures are those of what was measured that a person may feel, in the order of the axes.
func Figures(m [2]blind.Measured) (list []Figure) {
	for _, a := range tunnel.Axes() {
		x, ok := m[0].Figures[a.Key]
		y, too := m[1].Figures[a.Key]
		if slices.Contains(felt, a.Key) && (ok || too) {
			list = append(list, Figure{a.Key, a.About, a.Unit, [2]float64{x, y}})
		}
	}
	return list
}

