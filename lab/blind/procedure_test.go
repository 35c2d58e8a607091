package blind_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/lab/blind"
)

func plan(q blind.Question, trials int) blind.Plan {
	return blind.Plan{Game: "pong", Sides: [2]string{"coeval", "quake3"}, Question: q,
		Trials: trials, Interval: 8000, Network: "cable", Players: 4}
}

func sheet(t testing.TB, q blind.Question, trials int, seed uint64) *blind.Sheet {
	t.Helper()
	s, err := blind.NewSheet(plan(q, trials), "ann", seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// take has somebody take a test to its end, who is shown what is measured of each side and answers.
func take(t testing.TB, s *blind.Sheet, answer func(felt []float64) int) {
	t.Helper()
	p := blind.NewProcedure(s)
	now := time.Duration(0)
	p.Begin(now)
	var felt []float64
	for last := blind.Waiting; p.Phase() != blind.Finished; {
		now += 50 * time.Millisecond
		p.Advance(now, true)
		phase := p.Phase()
		if phase == blind.Playing && last != phase {
			felt = append(felt, float64(p.Side()))
		}
		last = phase
		if phase == blind.Asking && p.Answer(now, len(s.Answers), answer(felt), nil) == nil {
			felt = nil
		}
	}
}

// Somebody who perceives the difference is right in each trial, or prefers one side in each; one
// who guesses by any habit is found no more often than one time in twenty.
func TestPersons(t *testing.T) {
	s := sheet(t, blind.ABX, 16, 3)
	take(t, s, func(felt []float64) int {
		if len(felt) != 3 {
			t.Fatalf("%v was felt before the question", felt)
		}
		return slices.Index(felt[:2], felt[2])
	})
	if s.Count() != 16 || !blind.Judge(s.Question, s.Count(), 16).Shown {
		t.Errorf("%d of 16", s.Count())
	}
	s = sheet(t, blind.Better, 16, 4)
	take(t, s, func(felt []float64) int { return slices.Index(felt, 1) })
	if s.Count() != 0 || !blind.Judge(s.Question, s.Count(), 16).Shown {
		t.Errorf("the first side is preferred in %d", s.Count())
	}
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 0))
	turn := 0
	for name, habit := range map[string]func() int{
		"first": func() int { return 0 }, "second": func() int { return 1 },
		"turns":  func() int { turn++; return turn & 1 },
		"random": func() int { return int(r.Uint32() & 1) },
	} {
		for _, q := range []blind.Question{blind.ABX, blind.Better} {
			found := 0
			const tests = 1000 // each
			for i := range tests {
				s := sheet(t, q, 16, r.Uint64()+uint64(i))
				for range 16 {
					s.Answers = append(s.Answers, habit())
				}
				if blind.Chance(q, s.Count(), 16) <= blind.Alpha {
					found++
				}
			}
			// the exact share is 3.8 % in ABX and 2.1 % in Better
			if found > 70 || found < 5 {
				t.Errorf("seed %d, %s, %s: %d of %d find what is not there", seed, q, name, found,
					tests)
			}
		}
	}
}

// Coins are fair, and none says anything of the next one.
func TestCoins(t *testing.T) {
	const seeds, trials = 500, 16
	heads, same, first := 0, 0, 0
	for seed := range uint64(seeds) {
		s := sheet(t, blind.ABX, trials, seed)
		if s.Order(0)[0] == 0 {
			first++
		}
		last := -1
		for i := range trials {
			o := s.Order(i)
			if o[0]+o[1] != 1 || o[0] != s.Order(0)[0] {
				t.Fatalf("seed %d: A and B are %v", seed, o)
			}
			heads += o[2]
			if o[2] == last {
				same++
			}
			last = o[2]
		}
	}
	within := func(what string, n, of int) {
		// four standard deviations
		if d := float64(n) - float64(of)/2; d*d > 16*float64(of)/4 {
			t.Errorf("%s: %d of %d", what, n, of)
		}
	}
	within("X is the second side", heads, seeds*trials)
	within("X is as before", same, seeds*(trials-1))
	within("A is the first side", first, seeds)
}

// The phases follow each other, each as long as it should be and the same for either side.
func TestProcedure(t *testing.T) {
	s := sheet(t, blind.Better, 2, 1)
	p := blind.NewProcedure(s)
	var log []string
	now := time.Duration(0)
	at := func(d time.Duration, ready bool) {
		now += d
		p.Advance(now, ready)
		m := p.Now(now)
		log = append(log, fmt.Sprintf("%v %s %d %s %.1f", now, m.Phase, m.Trial, m.Label, m.Left))
	}
	at(time.Second, true)
	p.Begin(now)
	at(time.Second, true)
	at(2*time.Second, false) // the match is late
	at(time.Second, true)
	at(8*time.Second, true)
	if err := p.Answer(now, 0, 1, nil); err == nil {
		t.Error("an answer was taken in a pause")
	}
	at(2*time.Second, true)
	at(8*time.Second, true)
	for what, err := range map[string]error{
		"at once": p.Answer(now, 0, 1, nil), "to another": p.Answer(now+time.Second, 1, 1, nil),
		"that is none": p.Answer(now+time.Second, 0, 2, nil),
	} {
		if err == nil {
			t.Errorf("an answer %s was taken", what)
		}
	}
	at(time.Second, true)
	full := errors.New("the disk is full")
	if err := p.Answer(now, 0, 1, func() error { return full }); err != full ||
		len(s.Answers) != 0 || p.Phase() != blind.Asking {
		t.Errorf("%v, and %d answers", err, len(s.Answers))
	}
	if err := p.Answer(now, 0, 1, nil); err != nil {
		t.Error(err)
	}
	at(0, true)
	want := `1s waiting 1  0.0
2s pausing 1 1 1.0
4s pausing 1 1 0.0
5s playing 1 1 8.0
13s pausing 1 2 2.0
15s playing 1 2 8.0
23s asking 1  0.0
24s asking 1  0.0
24s pausing 2 1 2.0`
	if got := strings.Join(log, "\n"); got != want {
		t.Errorf("it went\n%s", got)
	}
	p.Restart()
	if p.Phase() != blind.Waiting || len(s.Answers) != 1 {
		t.Errorf("%s with %d answers", p.Phase(), len(s.Answers))
	}
}

// A sheet that is read back goes on where it was.
func TestResume(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "trials")
		q := rapid.SampledFrom([]blind.Question{blind.ABX, blind.Better}).Draw(t, "question")
		s, err := blind.NewSheet(plan(q, n), rapid.SampledFrom([]string{"", "ann", "Bob Ö."}).
			Draw(t, "person"), rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, n).Draw(t, "answers") {
			s.Answers = append(s.Answers, rapid.IntRange(0, 1).Draw(t, "answer"))
		}
		s.Measured[0].Add(8, map[string]float64{"rollbacks": 2.5})
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		back, err := blind.ReadSheet(data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		again, _ := back.Data()
		if !bytes.Equal(again, data) || back.Count() != s.Count() ||
			back.Measured[0].Figures["rollbacks"] != 2.5 {
			t.Fatalf("it came back as %s", again)
		}
		p := blind.NewProcedure(back)
		if m := p.Now(0); m.Trial != min(len(s.Answers)+1, n) ||
			(m.Phase == blind.Finished) != (len(s.Answers) == n) {
			t.Fatalf("it goes on at %+v", m)
		}
	})
}
