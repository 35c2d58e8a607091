package blind_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/lab/blind"
)

func TestBadSheets(t *testing.T) {
	data, err := sheet(t, blind.ABX, 16, 9).Data()
	if err != nil {
		t.Fatal(err)
	}
	change := func(from, to string) string {
		text := strings.Replace(string(data), from, to, 1)
		if text == string(data) {
			t.Fatalf("there is no %q in %s", from, data)
		}
		return text
	}
	for text, want := range map[string]string{
		"":                                     "damaged",
		"{}":                                   "holds no answers",
		`{"version": 1}`:                       "damaged",
		`["version"]`:                          "damaged",
		change(`"version": 1`, `"version": 2`): "of version 2, and this program reads version 1",
		string(data[:len(data)/2]):             "damaged",
		string(data) + "{}":                    "damaged",
		change(`"answers": []`, `"answers": [2]`):                           "must be 0 or 1",
		change(`"trials": 16`, `"trials": 0`):                               "from 1 to 1000",
		change(`"trials": 16`, `"trials": 1e3000`):                          "damaged",
		change(`"abx"`, `"which"`):                                          "abx or better",
		change(`"quake3"`, `"coeval"`):                                      "must be two",
		change(`"pong"`, `"po\nng"`):                                        "is no name",
		change(`"interval_ms": 8000`, `"interval_ms": 9223372036854775807`): "intervals of",
		change(`"person"`, `"peeked"`):                                      "unknown field",
		strings.Repeat(" ", 1<<20) + string(data):                           "too long",
	} {
		if s, err := blind.ReadSheet([]byte(text)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v and %v, want %q", text, s, err, want)
		}
	}
	s := sheet(t, blind.ABX, 16, 9)
	other := s.Plan
	other.Trials, other.Network = 20, "lte"
	if err := s.Continues(other); err == nil ||
		!strings.Contains(err.Error(), "trials 16 and not 20, network cable and not lte") {
		t.Error(err)
	}
	if err := s.Continues(s.Plan); err != nil {
		t.Error(err)
	}
	s.Measured[0].Add(1, map[string]float64{"none": math.NaN(), "some": 3})
	s.Measured[0].Add(3, map[string]float64{"some": 7})
	if m := s.Measured[0]; m.Seconds != 4 || len(m.Figures) != 1 || m.Figures["some"] != 6 {
		t.Errorf("%+v", m)
	}
}

func FuzzSheet(f *testing.F) {
	data, err := sheet(f, blind.ABX, 3, 9).Data()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:100])
	f.Add(bytes.Replace(data, []byte(`"answers": []`), []byte(`"answers": [0,1,1]`), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := blind.ReadSheet(data)
		if err != nil {
			return
		}
		one, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		again, err := blind.ReadSheet(one)
		if err != nil {
			t.Fatalf("%v of what was written: %s", err, one)
		}
		if two, _ := again.Data(); !bytes.Equal(one, two) {
			t.Fatalf("%s\n%s", one, two)
		}
		for _, g := range blind.Pool([]blind.Paper{{File: "x", Sheet: s}}).Groups {
			if v := g.Verdict; !(v.Chance >= 0 && v.Chance <= 1) || v.Count > v.Trials {
				t.Fatalf("%+v", v)
			}
		}
		blind.NewProcedure(s).Now(0)
	})
}

// Sheets of one test are added up whichever side was named first; one that is not full, or there
// twice, is left out and that is said.
func TestPool(t *testing.T) {
	fill := func(q blind.Question, sides [2]string, n, answers int, seed uint64,
		person string, prefers string) blind.Paper {
		s := sheet(t, q, n, seed)
		s.Sides, s.Person = sides, person
		for i := range answers {
			order, choice := s.Order(i), 0
			switch {
			case q == blind.ABX && order[1] == order[2], q == blind.Better &&
				sides[order[1]] == prefers:
				choice = 1
			}
			s.Answers = append(s.Answers, choice)
		}
		for side := range sides {
			figure := map[string]float64{"rollbacks": float64(len(sides[side]))}
			s.Measured[side].Add(8, figure)
		}
		return blind.Paper{File: person + ".json", Sheet: s}
	}
	ab, ba := [2]string{"a", "bbb"}, [2]string{"bbb", "a"}
	ann := fill(blind.Better, ab, 10, 10, 1, "ann", "a")
	r := blind.Pool([]blind.Paper{
		ann, fill(blind.Better, ba, 10, 10, 2, "bob", "a"),
		fill(blind.Better, ab, 10, 10, 3, "cleo", "bbb"),
		fill(blind.Better, ab, 10, 9, 4, "dan", "a"),
		fill(blind.ABX, ab, 5, 5, 5, "eve", ""),
		{File: "copy.json", Sheet: ann.Sheet},
	})
	if len(r.Groups) != 2 || len(r.Left) != 2 || len(r.Tables) != 0 {
		t.Fatalf("%+v", r)
	}
	g := r.Groups[0]
	if g.Verdict.Count != 20 || g.Verdict.Trials != 30 || len(g.Persons) != 3 ||
		g.Persons[1].Count != 10 || g.Measured[1].Figures["rollbacks"] != 3 ||
		g.Measured[0].Seconds != 24 {
		t.Errorf("%+v", g)
	}
	if w := strings.Join(g.Words, " "); g.Verdict.Shown || !strings.Contains(w,
		"Alone, counting that 3 tried, these show a difference: ann, bob and cleo.") {
		t.Errorf("%v: %s", g.Verdict, w)
	}
	if !r.Groups[1].Verdict.Shown {
		t.Errorf("%+v", r.Groups[1])
	}
	if !strings.Contains(r.Left[0].Why, "stopped after 9 of 10 trials: no verdict") ||
		!strings.Contains(r.Left[1].Why, "the same test as ann.json") {
		t.Errorf("%+v", r.Left)
	}
	bc := [2]string{"bbb", "c"}
	r = blind.Pool([]blind.Paper{ann, fill(blind.Better, bc, 10, 10, 7, "bob", "c")})
	if len(r.Tables) != 1 || len(r.Tables[0].Strengths) != 3 ||
		r.Tables[0].Strengths[2].Name != "bbb" {
		t.Errorf("%+v", r.Tables)
	}
}
