package bandwidthlab

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/lab"
)

// Delays are the times that datagrams take between places, one way, by the number of the place that
// sends and of the one that receives. Places are known by name.
type Delays struct {
	Places []string
	Way    [][]time.Duration
}

// The most places that there may be, and how far one may be from another: a round trip by satellite
// takes 0.6 s.
const (
	MaxPlaces    = 64
	maxRoundTrip = 5000.0 // milliseconds
)

// ErrDelays says that a set of delays is impossible. Use errors.Is; the text says what is wrong and
// what to do.
var ErrDelays = errors.New("impossible delays")

func badDelays(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDelays}, args...)...)
}

// ReadDelays reads a matrix of round trips in milliseconds, as ping prints them, from CSV. The
// first line has the names of places, after a first cell that does not matter; each further line
// the name of a place and its round trips to all of them, in the same order:
//
//	from,London,Paris,Oslo
//	London,0,8,24
//	Paris,8,0,29
//	Oslo,24,29,0
//
// A cell on the diagonal may be empty. A line that begins with # is a remark. Where the two
// directions differ each is half of its own round trip.
func ReadDelays(r io.Reader) (*Delays, error) {
	c := csv.NewReader(r)
	c.Comment, c.TrimLeadingSpace, c.FieldsPerRecord = '#', true, -1
	rows, err := c.ReadAll()
	if err != nil {
		return nil, badDelays("%v; write CSV with a comma between cells", err)
	}
	if len(rows) == 0 {
		return nil, badDelays(
			"the file is empty; its first line should be like \"from,London,Paris\"")
	}
	d := &Delays{}
	for _, name := range rows[0][1:] {
		d.Places = append(d.Places, strings.TrimSpace(name))
	}
	if err := d.checkNames(); err != nil {
		return nil, err
	}
	for _, row := range rows[1:] {
		if err := d.addRow(row); err != nil {
			return nil, err
		}
	}
	return d, d.Check()
}

func (d *Delays) checkNames() error {
	if n := len(d.Places); n < 2 || n > MaxPlaces {
		return badDelays(
			"%d places, there must be 2 to %d: name them in the first line, after one cell that "+
				"does not matter", n, MaxPlaces)
	}
	seen := map[string]bool{}
	for i, name := range d.Places {
		if name == "" {
			return badDelays("place %d has no name; name it in the first line", i+1)
		}
		if seen[fold(name)] {
			return badDelays("two places are called %s; give each a name of its own", name)
		}
		seen[fold(name)] = true
	}
	return nil
}

func (d *Delays) addRow(row []string) error {
	i := len(d.Way)
	switch {
	case i == len(d.Places):
		return badDelays(
			"the matrix is not square: there are more lines than the %d places of the first "+
				"line; remove %q, or add it there", i, row[0])
	case fold(row[0]) != fold(d.Places[i]):
		return badDelays("line %d is of %q, and should be of %q: keep the order of the first line",
			i+1, row[0], d.Places[i])
	case len(row) != len(d.Places)+1:
		return badDelays(
			"the matrix is not square: %s has %d delays for %d places; give one for each place, "+
				"its own included", d.Places[i], len(row)-1, len(d.Places))
	}
	ways := make([]time.Duration, len(d.Places))
	for j, cell := range row[1:] {
		cell = strings.TrimSpace(cell)
		if cell == "" && i == j {
			continue
		}
		ms, err := strconv.ParseFloat(cell, 64)
		if err != nil || math.IsNaN(ms) {
			return badDelays(
				"%q from %s to %s is no number; write the round trip in milliseconds, like 82.5",
				cell, d.Places[i], d.Places[j])
		}
		if ms < 0 {
			return badDelays(
				"a round trip of %v ms from %s to %s; nothing arrives before it is sent", ms,
				d.Places[i], d.Places[j])
		}
		if ms > maxRoundTrip {
			return badDelays(
				"a round trip of %v ms from %s to %s; at most %v ms make sense: are these "+
					"microseconds?", ms, d.Places[i], d.Places[j], maxRoundTrip)
		}
		ways[j] = time.Duration(ms / 2 * float64(time.Millisecond))
	}
	d.Way = append(d.Way, ways)
	return nil
}

// Check says what makes a set of delays impossible.
func (d *Delays) Check() error {
	if err := d.checkNames(); err != nil {
		return err
	}
	n := len(d.Places)
	if len(d.Way) != n {
		return badDelays(
			"the matrix is not square: %d lines for %d places; give a line for each place",
			len(d.Way), n)
	}
	for i, ways := range d.Way {
		if len(ways) != n {
			return badDelays(
				"the matrix is not square: %s has %d delays for %d places; give one for each "+
					"place, its own included", d.Places[i], len(ways), n)
		}
		for j, w := range ways {
			switch {
			case w < 0:
				return badDelays("%v from %s to %s; nothing arrives before it is sent", w,
					d.Places[i], d.Places[j])
			case i == j && w != 0:
				return badDelays("%s is %v from itself; put 0 on the diagonal", d.Places[i], w)
			}
		}
	}
	return nil
}

// A path counts as grossly longer than need be if a way over a third place takes less than this
// share of its time, and saves at least detourLeast.
const (
	detourShare = 2.0 / 3
	detourLeast = 5 * time.Millisecond
)

// Warnings names paths that break the triangle inequality grossly: over a third place it would be
// far quicker. Real networks have such paths, as routes follow contracts; but often it is a slip of
// the pen.
func (d *Delays) Warnings() []string {
	var out []string
	for i := range d.Places {
		for j := range d.Places {
			if i == j {
				continue
			}
			best, over := d.Way[i][j], -1
			for k := range d.Places {
				if via := d.Way[i][k] + d.Way[k][j]; k != i && k != j && via < best {
					best, over = via, k
				}
			}
			if direct := d.Way[i][j]; over >= 0 && float64(best) < detourShare*float64(direct) &&
				direct-best >= detourLeast {
				out = append(out,
					fmt.Sprintf(
						"from %s to %s takes %s one way, and over %s only %s: check that figure",
						d.Places[i], d.Places[j], inMS(direct), d.Places[over], inMS(best)))
			}
		}
	}
	return out
}

// Choose gives the delays between some of the places, by name.
func (d *Delays) Choose(names []string) (*Delays, error) {
	var pick []int
	if len(names) < 2 {
		return nil, fmt.Errorf("only %d cities: name two at least, or nobody is anywhere else",
			len(names))
	}
	out := &Delays{}
	for _, name := range names {
		at := slices.IndexFunc(d.Places, func(p string) bool { return fold(p) == fold(name) })
		if at < 0 {
			return nil, fmt.Errorf(
				"there is no city %q; there are %s. Others can be read with their delays from a "+
					"file", name, strings.Join(d.Places, ", "))
		}
		pick = append(pick, at)
		out.Places = append(out.Places, d.Places[at])
	}
	for _, i := range pick {
		ways := make([]time.Duration, 0, len(pick))
		for _, j := range pick {
			ways = append(ways, d.Way[i][j])
		}
		out.Way = append(out.Way, ways)
	}
	return out, out.Check()
}

// fold lets people write sao paulo for São Paulo.
func fold(name string) string {
	return strings.NewReplacer("ã", "a", "-", " ", "_",
		" ").Replace(strings.ToLower(strings.TrimSpace(name)))
}

func inMS(d time.Duration) string { return fmt.Sprintf("%.1f ms", lab.Millis(d)) }
