package knob

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Knob is something that can be set: a number from Least to Most, a time, or one of some Words.
type Knob struct {
	Name string
	// About says in a line what it is.
	About string
	// Least and Most bound a number, or a time in milliseconds. Values are multiples of Step; 0 is
	// any.
	Least, Most, Step float64
	// Time says that it is one.
	Time bool
	// Words, if there are any, are what it may be in place of a number.
	Words []string
	// Auto, if it is not empty, says what the value auto stands for, and that it may be that.
	Auto string
	// Default is what it is if nobody sets it.
	Default string
	// Levels are where a search begins, in their order.
	Levels []string
	// Rare says that it seldom matters, so that it is searched only where it is asked for.
	Rare bool
	// Flag is the flag of a command that sets the same, if it has another name.
	Flag string
}

// Auto is the value of a knob that the program sets by itself.
const Auto = "auto"

// A Value is what a knob is set to.
type Value struct {
	// Text is the value in its one form, as Parse gives it.
	Text string
	// Number is the value of a number, or of a time in milliseconds.
	Number float64
}

// Auto says that the program is to find the value by itself.
func (v Value) Auto() bool { return v.Text == Auto }

// Int is the value as a whole number, and Duration as a time.
func (v Value) Int() int { return int(math.Round(v.Number)) }

// Duration is the value as a time.
func (v Value) Duration() time.Duration {
	return time.Duration(math.Round(v.Number * float64(time.Millisecond)))
}

// Parse reads a value as people write it. An error says what it may be.
func (k *Knob) Parse(text string) (Value, error) {
	text = strings.TrimSpace(text)
	if text == Auto && k.Auto != "" || slices.Contains(k.Words, text) {
		return Value{Text: text}, nil
	}
	n, ok := k.number(text)
	if ok && k.Step > 0 && math.Abs(n-math.Round(n/k.Step)*k.Step) > 1e-9*max(1, math.Abs(n)) {
		ok = false
	}
	if !ok || !(n >= k.Least && n <= k.Most) {
		return Value{}, fmt.Errorf("%s is %q: it must be %s", k.Name, text, k.Range())
	}
	return Value{k.text(n), n}, nil
}

// number reads a number, or a time in milliseconds.
func (k *Knob) number(text string) (float64, bool) {
	if len(k.Words) > 0 {
		return 0, false
	}
	if k.Time && text != "0" {
		d, err := time.ParseDuration(text)
		return float64(d) / float64(time.Millisecond), err == nil
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// text is a number in its one form.
func (k *Knob) text(n float64) string {
	if k.Time {
		return Value{Number: n}.Duration().String()
	}
	if n == 0 {
		n = 0 // without a sign
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// Range says what the knob may be.
func (k *Knob) Range() string {
	var list []string
	if len(k.Words) > 0 {
		list = append(list, k.Words...)
	} else {
		text := k.text(k.Least) + " to " + k.text(k.Most)
		switch {
		case k.Step == 1 && k.Time:
			text += " in whole milliseconds"
		case k.Step == 1:
			text += " in whole numbers"
		case k.Step > 0:
			text += " in steps of " + k.text(k.Step)
		}
		list = append(list, text)
	}
	if k.Auto != "" {
		list = append(list, Auto)
	}
	if len(list) == 1 {
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// Between is a value between two others, for a search that looks closer. It is not ok where there
// is none.
func (k *Knob) Between(a, b string) (string, bool) {
	x, errX := k.Parse(a)
	y, errY := k.Parse(b)
	if errX != nil || errY != nil || x.Auto() || y.Auto() || len(k.Words) > 0 {
		return "", false
	}
	low, high := min(x.Number, y.Number), max(x.Number, y.Number)
	n := (low + high) / 2
	if low > 0 && high > 3*low {
		n = math.Sqrt(low * high) // what is far apart differs by a factor
	}
	if k.Step > 0 {
		n = math.Round(n/k.Step) * k.Step
	} else {
		n = digits(n)
	}
	if v, err := k.Parse(k.text(n)); err == nil && n > low && n < high {
		return v.Text, true
	}
	return "", false
}

// digits rounds to two digits that count.
func digits(n float64) float64 {
	if n == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(n)))-1)
	return math.Round(n/unit) * unit
}

// check says what is wrong with how a knob is declared.
func (k *Knob) check() error {
	switch {
	case k.Name == "" || strings.ContainsAny(k.Name, "= ,\n\""):
		return fmt.Errorf("knob %q: give it a name without =, commas, quotes and spaces", k.Name)
	case k.About == "":
		return fmt.Errorf("knob %s: say in About what it is", k.Name)
	case len(k.Words) == 0 && !(k.Least < k.Most):
		return fmt.Errorf("knob %s: from %v to %v there is nothing to choose", k.Name, k.Least,
			k.Most)
	case len(k.Levels) < 2:
		return fmt.Errorf("knob %s: give at least two Levels, where a search begins", k.Name)
	}
	var wrong []error
	for _, text := range append([]string{k.Default}, k.Levels...) {
		v, err := k.Parse(text)
		if err == nil && v.Text != text {
			err = fmt.Errorf("%s is written %s, and should be %s", k.Name, text, v.Text)
		}
		wrong = append(wrong, err)
	}
	if err := errors.Join(wrong...); err != nil {
		return fmt.Errorf("knob %s: %w", k.Name, err)
	}
	return nil
}

// Check says what is wrong with how knobs are declared.
func Check(list []Knob) error {
	var wrong []error
	seen := map[string]bool{}
	for i := range list {
		k := &list[i]
		wrong = append(wrong, k.check())
		if seen[k.Name] {
			wrong = append(wrong, fmt.Errorf("two knobs are called %s", k.Name))
		}
		seen[k.Name] = true
	}
	return errors.Join(wrong...)
}
