package sitting

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/lab/blind"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/lab/tunnel/between"
)

// Sides are the two that are compared.
type Sides [2]*tunnel.Architecture

// UsualDepth is how far rollbacks go back if nothing is said of it: below it they are not noticed,
// says the paper on mirrored servers, informally.
const UsualDepth = 100 * time.Millisecond

// ParseSides reads what is compared: two architectures of the wind tunnel, or two rates of
// rollbacks. Asked is the question that suits them: which architecture is better, and whether
// rollbacks are perceived.
//
//	quake3,coeval                two architectures
//	rollback=0,4                 no rollbacks, and four a second of 100 ms each
//	rollback=2@50ms,2@200ms      the same rate, of 50 ms and of 200 ms each
func ParseSides(text string) (s Sides, asked blind.Question, err error) {
	asked = blind.Better
	list, rates := strings.CutPrefix(text, "rollback=")
	names := strings.Split(list, ",")
	if len(names) != 2 {
		return s, asked, fmt.Errorf("%q: name two, such as quake3,coeval or rollback=0,4", text)
	}
	for i, name := range names {
		name = strings.TrimSpace(name)
		if rates {
			asked = blind.ABX
			var a tunnel.Architecture
			a, err = parseRate(strings.TrimPrefix(name, "rollback="))
			s[i] = &a
		} else {
			s[i], err = tunnel.Lookup(name)
		}
		if err != nil {
			return s, asked, err
		}
	}
	if s[0].Name == s[1].Name {
		return s, asked, fmt.Errorf("%q: both are the same", text)
	}
	return s, asked, nil
}

func parseRate(text string) (a tunnel.Architecture, err error) {
	number, deep, given := strings.Cut(text, "@")
	rate, err := strconv.ParseFloat(number, 64)
	depth := UsualDepth
	if err == nil && given {
		depth, err = time.ParseDuration(deep)
	}
	if err != nil {
		return a, fmt.Errorf("%q is no rate of rollbacks: write how many a second, and after an @ "+
			"how far back they go, such as 4@100ms", text)
	}
	return between.AtRate(rate, depth)
}

// Names are those of both.
func (s Sides) Names() [2]string { return [2]string{s[0].Name, s[1].Name} }
