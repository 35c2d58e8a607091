package lab

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

type chosen struct {
	n      int
	window time.Duration
	list   []int
	words  []string
	on     bool
	seed   uint64
}

func (c *chosen) options() []*Option {
	return []*Option{
		Number(&c.n, "n", 5, 1, 9, "how many"),
		Span(&c.window, "seconds", time.Second, 2*time.Second, time.Second, time.Minute,
			"how long"),
		Numbers(&c.list, "list", []int{1, 2}, 1, 4, "which"),
		Words(&c.words, "words", nil, []string{"red", "blue"}, "colours"),
		Switch(&c.on, "on", "whether"),
		Seed(&c.seed, "it"),
	}
}

// TestOptions: zeros are replaced by defaults, flags replace lists, and each says what is wrong
// with it.
func TestOptions(t *testing.T) {
	var c chosen
	if err := Fill(c.options()); err != nil || c.n != 5 || c.window != 2*time.Second ||
		len(c.list) != 2 || c.seed != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	c = chosen{}
	list := c.options()
	for _, o := range list {
		o.Reset()
	}
	if c.seed != 1 || list[1].String() != "2" || list[2].String() != "[1,2]" {
		t.Errorf("%+v, %s, %s", c, list[1], list[2])
	}
	for i, text := range []string{"7", "0.5", "4", "blue,red", "true", "9"} {
		if err := list[i].Set(text); err != nil {
			t.Error(err)
		}
	}
	if err := list[2].Set("9"); err != nil || c.n != 7 || c.window != time.Second/2 ||
		len(c.list) != 2 || len(c.words) != 2 || !c.on || c.seed != 9 {
		t.Errorf("%+v, %v", c, err)
	}
	for i, want := range map[int]string{
		1: "seconds is 0.5: choose 1 to 60", 2: "list has 9: choose 1 to 4"} {
		if err := list[i].Check(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	c.words = []string{"green"}
	if err := Fill(c.options()); err == nil ||
		!strings.Contains(err.Error(), `words: there is no "green"; there are red, blue`) {
		t.Error(err)
	}
	for i, text := range []string{"x", "NaN", "1,x"} {
		if list[i].Set(text) == nil {
			t.Errorf("%s was taken", text)
		}
	}
}

// TestSpread: all jobs are done, and the first that fails ends the rest.
func TestSpread(t *testing.T) {
	done := make([]bool, 50)
	var jobs []Job
	for i := range done {
		jobs = append(jobs,
			Job{"one", float64(i), func(context.Context) error { done[i] = true; return nil }})
	}
	last := 0.0
	if err := Spread(t.Context(), jobs, func(d float64, _ string) { last = d }); err != nil ||
		last < 0.999 {
		t.Errorf("%v at %v", err, last)
	}
	for i, d := range done {
		if !d {
			t.Errorf("job %d was not done", i)
		}
	}
	broken := errors.New("broken")
	jobs[20].Do = func(context.Context) error { return broken }
	if err := Spread(t.Context(), jobs, nil); !errors.Is(err, broken) ||
		!strings.HasPrefix(err.Error(), "one: ") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Spread(ctx, jobs, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestCounters: numbers are added up wherever they stand, and what went in stays as it was.
func TestCounters(t *testing.T) {
	type inner struct{ A, B uint64 }
	type outer struct {
		inner
		List []float64
		Two  [2]int
		Name string
	}
	a := outer{inner{5, 6}, []float64{1, 2, 3}, [2]int{7, 8}, "a"}
	b := outer{inner{1, 2}, []float64{0.5}, [2]int{1, 1}, "b"}
	d := Less(a, b)
	if d.A != 4 || d.B != 4 || d.List[0] != 0.5 || d.List[2] != 3 || d.Two != [2]int{6, 7} ||
		a.List[0] != 1 {
		t.Errorf("%+v of %+v", d, a)
	}
	if s := Sum(d, b); s.A != 5 || s.List[0] != 1 || s.Two != a.Two {
		t.Errorf("%+v", s)
	}
}
