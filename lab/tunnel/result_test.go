package tunnel

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFigure: the interval is that of Student, and says where it rests on too few.
func TestFigure(t *testing.T) {
	f := NewFigure([]float64{10, 12, 14})
	// the standard error of 10, 12 and 14 is 2 / sqrt(3), and with two degrees of freedom it counts
	// 4.303 times
	if want := 4.303 * 2 / math.Sqrt(3); f.Mean != 12 || math.Abs(f.High-12-want) > 1e-9 ||
		math.Abs(12-f.Low-want) > 1e-9 {
		t.Errorf("%+v, want 12 ± %v", f, want)
	}
	a := Axis{Floor: 1}
	if text := f.Text(a); !strings.HasSuffix(text, "(too few)") {
		t.Errorf("%q, whose interval is %v of it", text, f.Width(a))
	}
	if text := NewFigure([]float64{5, 5, 5}).Text(a); text != "5.00" {
		t.Errorf("three times five is %q", text)
	}
	if w := NewFigure([]float64{5}).Width(a); !math.IsInf(w, 1) {
		t.Errorf("of one run it is known to %v", w)
	}
	if w := NewFigure([]float64{0.001, 0.003}).Width(a); w > 0.1 {
		t.Errorf("what makes no difference is known to %v", w)
	}
}

// TestStore: what is kept is found again under its own key only, and what is damaged is not found.
func TestStore(t *testing.T) {
	s := NewStore(filepath.Join(t.TempDir(), "new"))
	if _, ok := s.Load("a"); ok {
		t.Error("there is something before anything was kept")
	}
	want := &Sample{Seed: 7, Figures: map[string]float64{"own_ms": 3}}
	if err := s.Save("a", want); err != nil {
		t.Fatal(err)
	}
	if got, ok := s.Load("a"); !ok || got.Seed != 7 || got.Figures["own_ms"] != 3 {
		t.Errorf("%v, %v", got, ok)
	}
	if _, ok := s.Load("b"); ok {
		t.Error("it is there under another key")
	}
	if err := os.WriteFile(s.path("a"), []byte(`{"version":1,"key":"a","samp`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Load("a"); ok {
		t.Error("half of a file is taken for a sample")
	}
	// A folder that cannot be written to is an error, and leaves nothing.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := NewStore(file).Save("a", want); err == nil {
		t.Error("it is kept in a file that is no folder")
	}
}

// made is a result in which peers have less delay and a server less that is wrong.
func made() *Result {
	r := &Result{Version: Version, Game: "test", Level: "one", Players: 4, Rate: 60, Seconds: 20,
		Architectures: []Entry{
			{Name: "server", Family: ClientServer, About: "one <server>"},
			{Name: "peers", Family: BetweenPeers, About: "no server"},
			{Name: "bad", Family: BetweenPeers, About: "worse than both"}},
		Networks: []NetworkEntry{{Name: "near"}, {Name: "far"}}}
	add := func(arch, field string, own, off float64) {
		c := Cell{Arch: arch, Field: field, Players: 4}
		for i := range 3 {
			jitter := float64(i) / 100
			c.Samples = append(c.Samples, Sample{Seed: uint64(i),
				Figures: map[string]float64{"own_ms": own + jitter, "off_others_mean": off}})
		}
		c.sum()
		r.Cells = append(r.Cells, c)
	}
	add("server", "near", 0, 0.2)
	add("peers", "near", 5, 0)
	add("bad", "near", 500, 3)
	add("server", "far", 0, 0.3)
	add("peers", "far", 200, 0)
	add("bad", "far", 900, 3)
	return r
}

// TestAdvice: the choice follows what was measured and what counts, and says so.
func TestAdvice(t *testing.T) {
	r := made()
	a := r.Advise(nil)
	if a.Networks[0].Choice != "peers" || a.Networks[1].Choice != "server" {
		t.Fatalf("chosen are %s and %s", a.Networks[0].Choice, a.Networks[1].Choice)
	}
	if len(a.Never) != 1 || a.Never[0] != "bad" {
		t.Errorf("never to choose are %v", a.Never)
	}
	text := strings.Join(a.Words, "\n")
	for _, want := range []string{"on near: peers", "on far: server", "Never bad",
		"knows the whole world"} {
		if !strings.Contains(text, want) {
			t.Errorf("it is not said: %q\n%s", want, text)
		}
	}
	b := r.Advise(map[Group]float64{Responsiveness: 0})
	if b.Networks[1].Choice != "peers" {
		t.Errorf("without responsiveness the choice on far is %s", b.Networks[1].Choice)
	}
	if !strings.Contains(text, "peers if ") {
		t.Errorf("it is not said when the choice would change:\n%s", text)
	}
}

// TestAdviceOfSolo: one machine costs nothing, and is no advice for several.
func TestAdviceOfSolo(t *testing.T) {
	r := made()
	r.Architectures = append([]Entry{{Name: "solo", Family: Alone, About: "one machine"}},
		r.Architectures...)
	for _, n := range r.Networks {
		c := Cell{Arch: "solo", Field: n.Name, Players: 4, Samples: []Sample{{
			Figures: map[string]float64{"own_ms": 0, "off_others_mean": 0}}}}
		c.sum()
		r.Cells = append(r.Cells, c)
	}
	for _, weights := range []map[Group]float64{nil, {Responsiveness: 9}, {Consistency: 0}} {
		a, plain := r.Advise(weights), made().Advise(weights)
		if text := strings.Join(a.Words, "\n"); strings.Contains(text, "solo") ||
			text != strings.Join(plain.Words, "\n") {
			t.Errorf("with %v the advice is\n%s", weights, text)
		}
	}
	r.Architectures = r.Architectures[:1]
	a := r.Advise(nil)
	if len(a.Networks) != 0 || !strings.Contains(a.Words[0], "nothing to choose of") {
		t.Errorf("of one machine alone: %v", a.Words)
	}
}

// TestReadResult: what is no result is refused with a reason.
func TestReadResult(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "no result",
		"{":                       "no result",
		`{"version":99}`:          "version 99",
		`{"version":1}`:           "version 1, and this program reads version 2",
		`{"version":2}`:           "nothing in it",
		`{"version":2,"cells":3}`: "no result",
	} {
		if _, err := ReadResult("x.json", []byte(text)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
