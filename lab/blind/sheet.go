package blind

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Question is what is asked after each trial.
type Question string

// The questions; see the package.
const (
	ABX    Question = "abx"
	Better Question = "better"
)

// Intervals is how many are played before the question.
func (q Question) Intervals() int {
	if q == ABX {
		return 3
	}
	return 2
}

// Labels are what the intervals are called.
func (q Question) Labels() []string {
	if q == ABX {
		return []string{"A", "B", "X"}
	}
	return []string{"1", "2"}
}

// A Plan is all that is decided before the first trial.
type Plan struct {
	Game  string `json:"game"`
	Level string `json:"level,omitempty"`
	// Sides are what is compared.
	Sides    [2]string `json:"sides"`
	Question Question  `json:"question"`
	Trials   int       `json:"trials"`
	// Interval is how long each side is played at a time, in milliseconds.
	Interval int64  `json:"interval_ms"`
	Network  string `json:"network"`
	Players  int    `json:"players"`
}

// Bounds of a plan.
const (
	MostTrials    = 1000
	LeastInterval = time.Second
	MostInterval  = 10 * time.Minute
	mostText      = 200
)

// Check says what is wrong with a plan.
func (p *Plan) Check() error {
	switch {
	case p.Question != ABX && p.Question != Better:
		return fmt.Errorf("the question is %q: it must be %s or %s", p.Question, ABX, Better)
	case p.Sides[0] == "" || p.Sides[0] == p.Sides[1]:
		return fmt.Errorf("the sides are %q and %q: they must be two", p.Sides[0], p.Sides[1])
	case p.Trials < 1 || p.Trials > MostTrials:
		return fmt.Errorf("%d trials: there must be from 1 to %d", p.Trials, MostTrials)
	case p.Length() < LeastInterval || p.Length() > MostInterval:
		return fmt.Errorf("intervals of %v: they must be from %v to %v", p.Length(), LeastInterval,
			MostInterval)
	case p.Game == "" || p.Network == "" || p.Players < 1 || p.Players > 1000:
		return errors.New("the game, the network or the number of players is missing")
	}
	for _, text := range []string{p.Game, p.Level, p.Sides[0], p.Sides[1], p.Network} {
		if err := plain(text); err != nil {
			return err
		}
	}
	return nil
}

// plain is an error for what does not belong into a line of a table.
func plain(text string) error {
	if len(text) > mostText || !utf8.ValidString(text) ||
		strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("%.40q is no name", text)
	}
	return nil
}

// Length is how long each side is played at a time.
func (p *Plan) Length() time.Duration {
	if p.Interval > math.MaxInt64/int64(time.Millisecond) {
		return math.MaxInt64
	}
	return time.Duration(p.Interval) * time.Millisecond
}

// A Sheet is one person's test: the plan and the answers so far. It says nothing of which side was
// played when; that follows from the seed.
type Sheet struct {
	Version int `json:"version"`
	Plan
	Person string `json:"person"`
	Seed   uint64 `json:"seed,string"`
	// Answers are 0 or 1, one for each trial that is over: the first or the second label.
	Answers []int `json:"answers"`
	// Measured is what was measured of each side while it was played, each equally long.
	Measured [2]Measured `json:"measured"`
}

// Measured is what was measured of a side: means over so many seconds.
type Measured struct {
	Seconds float64            `json:"seconds"`
	Figures map[string]float64 `json:"figures,omitempty"`
}

// SheetVersion is that of sheets that this program writes and reads.
const SheetVersion = 1

// NewSheet begins a test.
func NewSheet(p Plan, person string, seed uint64) (*Sheet, error) {
	s := &Sheet{Version: SheetVersion, Plan: p, Person: person, Seed: seed, Answers: []int{}}
	return s, s.check()
}

// Full says whether all trials are answered.
func (s *Sheet) Full() bool { return len(s.Answers) >= s.Trials }

// mostSheet is how long a sheet may be.
const mostSheet = 1 << 20

// ReadSheet reads a sheet. What is damaged, or of another version, is refused.
func ReadSheet(data []byte) (*Sheet, error) {
	if len(data) > mostSheet {
		return nil, errors.New("it is too long for the answers of a blind test")
	}
	var head struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("it is damaged, or holds no answers of a blind test: %w", err)
	}
	if head.Version == nil {
		return nil, errors.New("it holds no answers of a blind test")
	}
	if *head.Version != SheetVersion {
		return nil, fmt.Errorf("its answers are of version %d, and this program reads version %d",
			*head.Version, SheetVersion)
	}
	var s Sheet
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(&s)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("something follows it")
		}
	}
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	return &s, nil
}

func (s *Sheet) check() error {
	if err := s.Plan.Check(); err != nil {
		return err
	}
	if len(s.Answers) > s.Trials {
		return fmt.Errorf("%d answers to %d trials", len(s.Answers), s.Trials)
	}
	for _, a := range s.Answers {
		if a != 0 && a != 1 {
			return fmt.Errorf("an answer is %d: it must be 0 or 1", a)
		}
	}
	for i := range s.Measured {
		m := &s.Measured[i]
		if m.Seconds < 0 || m.Seconds > 1e9 || len(m.Figures) > 100 {
			return errors.New("what was measured makes no sense")
		}
		for key := range m.Figures {
			if err := plain(key); err != nil {
				return err
			}
		}
	}
	return plain(s.Person)
}

// Data is the sheet as a file.
func (s *Sheet) Data() ([]byte, error) {
	b, err := json.MarshalIndent(s, "", "\t")
	return append(b, '\n'), err
}

// Continues is an error if the sheet is of another test than that of a plan, and says which one it
// is of.
func (s *Sheet) Continues(p Plan) error {
	if s.Plan == p {
		return nil
	}
	var list []string
	differs := func(what string, is, would any) {
		if is != would {
			list = append(list, fmt.Sprintf("%s %v and not %v", what, is, would))
		}
	}
	differs("game", s.Game, p.Game)
	differs("level", s.Level, p.Level)
	differs("sides", strings.Join(s.Sides[:], ","), strings.Join(p.Sides[:], ","))
	differs("question", s.Question, p.Question)
	differs("trials", s.Trials, p.Trials)
	differs("interval", s.Length(), p.Length())
	differs("network", s.Network, p.Network)
	differs("players", s.Players, p.Players)
	return fmt.Errorf("it is of another test: %s", strings.Join(list, ", "))
}

// Add adds what was measured in some seconds.
func (m *Measured) Add(seconds float64, figures map[string]float64) {
	if seconds <= 0 {
		return
	}
	sum := map[string]float64{}
	for key, v := range figures {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue // no file could say it
		}
		if old, ok := m.Figures[key]; ok {
			v = (old*m.Seconds + v*seconds) / (m.Seconds + seconds)
		}
		sum[key] = v
	}
	for key, v := range m.Figures {
		if _, ok := sum[key]; !ok {
			sum[key] = v
		}
	}
	m.Figures, m.Seconds = sum, m.Seconds+seconds
}
