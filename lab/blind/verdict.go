package blind

import (
	"fmt"
	"math"
	"strconv"
)

// A Verdict is what a number of answers shows.
type Verdict struct {
	// Trials are how many answers there are, and Count how many of them were right; or for the
	// first side, where it was asked which is better.
	Trials int `json:"trials"`
	Count  int `json:"count"`
	// Chance is how often guessing gives that or more, and Shown whether it is seldom enough.
	Chance float64 `json:"chance"`
	Shown  bool    `json:"shown"`
	// Rate is Count of Trials, and Within where the true rate lies nineteen times in twenty.
	Rate   float64  `json:"rate"`
	Within Interval `json:"within"`
	// Power is how often so many trials show a difference of which every other trial is decided,
	// and Needed how many trials do so four times in five.
	Power  float64 `json:"power"`
	Needed int     `json:"needed"`
}

// Halfway is the rate of success of somebody who perceives the difference in every other trial, and
// guesses in the rest: by convention the threshold of perception.
const Halfway = 0.75

// level is how often an interval has the truth in it.
const level = 0.95

// Judge says what k successes in n trials show.
func Judge(q Question, k, n int) Verdict {
	v := Verdict{Trials: n, Count: k, Chance: Chance(q, k, n), Within: ClopperPearson(k, n, level),
		Power: Power(q, n, Halfway), Needed: Needed(q, Halfway)}
	v.Shown = v.Chance <= Alpha
	if n > 0 {
		v.Rate = float64(k) / float64(n)
	}
	return v
}

// Words say what was found, to people.
func (v *Verdict) Words(q Question, sides [2]string) []string {
	if v.Trials == 0 {
		return []string{"There is no answer, so nothing is shown."}
	}
	var list []string
	if q == ABX {
		list = v.toldApart()
	} else {
		list = v.preferred(sides)
	}
	if v.Shown {
		return list
	}
	text := fmt.Sprintf("That does not show that there is none. %s would have been found by a test "+
		"of %s %s.", perceiver[q], plural(v.Trials, "trial"), Often(v.Power))
	if v.Needed > v.Trials {
		text += fmt.Sprintf(" With %d trials it would be four times in five.", v.Needed)
	}
	return append(list, text)
}

// perceiver is somebody of Halfway.
var perceiver = map[Question]string{
	ABX: "Somebody who perceives the difference in every other trial",
	Better: "Somebody who prefers one of them in every other trial, and answers at random in the " +
		"rest,"}

func (v *Verdict) toldApart() []string {
	text := fmt.Sprintf("%d of %d answers were right, and guessing gives as many or more %s: ",
		v.Count, v.Trials, OneIn(v.Chance))
	if v.Shown {
		text += "the two can be told apart."
	} else {
		text += "no difference is shown."
	}
	// Who guesses where nothing is perceived is right in half of those trials.
	seen := func(rate float64) float64 { return max(0, 2*rate-1) }
	return []string{text, fmt.Sprintf("Right in %s of the trials; nineteen times in twenty the "+
		"truth lies between %s and %s. So a difference was perceived in %s of them, or %s to %s.",
		percent(v.Rate), percent(v.Within.Low), percent(v.Within.High), percent(seen(v.Rate)),
		percent(seen(v.Within.Low)), percent(seen(v.Within.High)))}
}

func (v *Verdict) preferred(sides [2]string) []string {
	winner, k := sides[0], v.Count
	if 2*k < v.Trials {
		winner, k = sides[1], v.Trials-k
	}
	text := fmt.Sprintf("%s was preferred %d times of %d. Where both are as good, chance gives one "+
		"of them as many or more %s: ", winner, k, v.Trials, OneIn(v.Chance))
	if 2*k == v.Trials {
		text = fmt.Sprintf("Each was preferred %s of %d: ", plural(k, "time"), v.Trials)
	}
	if v.Shown {
		text += winner + " is preferred."
	} else {
		text += "no difference is shown."
	}
	return []string{text, fmt.Sprintf("%s is preferred in %s of the trials; nineteen times in "+
		"twenty the truth lies between %s and %s.", sides[0], percent(v.Rate),
		percent(v.Within.Low), percent(v.Within.High))}
}

// Unfinished says of a sheet that is not full why it has no verdict.
func Unfinished(answers, trials int) string {
	return fmt.Sprintf("stopped after %d of %d trials: no verdict. The number of trials is "+
		"declared before the first, since whoever stops when the count looks good finds a "+
		"difference where there is none.", answers, trials)
}

func percent(p float64) string { return fmt.Sprintf("%.0f %%", 100*p) }

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

var numbers = []string{"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
	"ten", "eleven", "twelve"}

// OneIn says how often something happens by chance: one time in six.
func OneIn(p float64) string {
	switch {
	case p >= 1:
		return "always"
	case p > 2.0/3:
		return "most of the time"
	case p > 0.4:
		return "every other time"
	case p < 1e-6:
		return "less than one time in a million"
	}
	n := int(math.Round(1 / p))
	switch {
	case n < len(numbers):
		return "one time in " + numbers[n]
	case n >= 1000: // what is exact of it tells nobody more
		unit := int(math.Pow10(len(strconv.Itoa(n)) - 2))
		n = (n + unit/2) / unit * unit
	}
	return "one time in " + thousands(n)
}

// Often says how often something happens, as a share: 7 times in ten.
func Often(p float64) string {
	switch n := int(math.Round(10 * p)); {
	case p >= 0.995:
		return "nearly always"
	case n == 10:
		return "more than nine times in ten"
	case n == 0:
		return "hardly ever"
	case n == 1:
		return "one time in ten"
	default:
		return numbers[n] + " times in ten"
	}
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
