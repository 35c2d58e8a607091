package tunnel

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/lab/bandwidthlab"
	"github.com/coeval-dev/coeval/netsim"
)

// A Field is where the players of a match are, and how datagrams get from one machine to another.
//
// Each player has a first mile, to where lines meet: one of the presets of a network. Without
// cities all lines meet in one place, and a server stands there; so a datagram between two players
// takes the first mile of both. With cities each player lives in one of them, and what is between
// cities comes on top.
type Field struct {
	Name   string
	homes  []netsim.Conditions  // first miles, in turn
	delays *bandwidthlab.Delays // nil without cities
	cities []int                // of players, in turn
}

// A Spot is where a machine is. The zero value is where lines meet, or the first city.
type Spot struct {
	Home netsim.Conditions // its first mile; nothing for a machine in a data centre
	City int
}

// regions are sets of the cities of bandwidthlab.Cities.
var regions = []struct {
	name, about string
	cities      []string
}{
	{"europe", "London and Frankfurt", []string{"London", "Frankfurt"}},
	{"atlantic", "Virginia, Toronto, London and Frankfurt",
		[]string{"Virginia", "London", "Toronto", "Frankfurt"}},
	{"world", "twelve cities on all continents", nil},
}

// home is the first mile of a wired home to a data centre in its own city.
var home = func() netsim.Conditions {
	c := netsim.Cable
	c.Name = "home"
	c.Up.Latency, c.Down.Latency = 6*time.Millisecond, 6*time.Millisecond
	return c
}()

// Quick are the fields of a quick report, and Full all that have a name.
func Quick() []string {
	return []string{"cable", "wifi", "cable+lte", "europe", "atlantic", "world"}
}

// Full lists all fields that have a name.
func Full() []string {
	list := Quick()
	for _, c := range netsim.Presets() {
		if !slices.Contains(list, c.Name) {
			list = append(list, c.Name)
		}
	}
	return list
}

// ParseField reads a field: first miles with a plus between them, which players have in turn, and
// after an @ where they live: one of the regions, or a file of round trips as
// bandwidthlab.ReadDelays reads it. A first mile is a preset, or settings as netsim.ParseConditions
// takes them.
//
//	cable                all on cable, near each other
//	cable+lte            half of them on phones
//	atlantic             homes in four cities on both sides of it
//	wifi@world           the same with wireless homes, in twelve cities
//	latency=40ms loss=1%
//	home@trips.csv
//	home.net             what lab listen captured
func ParseField(text string) (*Field, error) {
	f := &Field{Name: text}
	miles, place, _ := strings.Cut(text, "@")
	if i := slices.IndexFunc(regions[:], func(r struct {
		name, about string
		cities      []string
	}) bool {
		return r.name == text
	}); i >= 0 {
		miles, place = "home", text
	}
	if miles == "" {
		return nil, fmt.Errorf("network %q: say what first mile the players have before the @, "+
			"such as cable@world", text)
	}
	for m := range strings.SplitSeq(miles, "+") {
		c, err := mile(strings.TrimSpace(m))
		if err != nil {
			return nil, fmt.Errorf("network %q: %w", text, err)
		}
		f.homes = append(f.homes, c)
	}
	if place == "" {
		return f, nil
	}
	return f, f.settle(place)
}

func mile(text string) (netsim.Conditions, error) {
	if text == home.Name {
		return home, nil
	}
	if IsCapture(text) {
		return readCapture(text)
	}
	c, err := netsim.ParseConditions(text)
	if err == nil && c.Name == "" {
		c.Name = text
	}
	return c, err
}

// IsCapture says whether a name is that of a network in a file: a setting of netsim a line, as lab
// listen writes it.
func IsCapture(name string) bool { return strings.HasSuffix(name, ".net") }

// mostCapture is how long such a file may be.
const mostCapture = 1 << 20

func readCapture(name string) (c netsim.Conditions, err error) {
	f, err := os.Open(name)
	if err != nil {
		return c, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostCapture+1))
	if err != nil {
		return c, err
	}
	if len(b) > mostCapture {
		return c, fmt.Errorf("%s is longer than a megabyte: this is no network", name)
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			return c, fmt.Errorf("%s: %q is no setting; write such as up.latency=20ms", name, line)
		}
		if err := c.Set(key, value); err != nil {
			return c, fmt.Errorf("%s: %w", name, err)
		}
	}
	c.Name = name
	return c, nil
}

// settle has the players live somewhere.
func (f *Field) settle(place string) error {
	f.delays = bandwidthlab.Cities()
	for _, r := range regions {
		if r.name != place {
			continue
		}
		for _, name := range r.cities {
			f.cities = append(f.cities, slices.Index(f.delays.Places, name))
		}
		if r.cities == nil {
			f.everywhere()
		}
		return nil
	}
	file, err := os.Open(place)
	if err != nil {
		var names []string
		for _, r := range regions {
			names = append(names, r.name)
		}
		return fmt.Errorf("network %q: %q is no region, of which there are %s, and no file: %w",
			f.Name, place, strings.Join(names, ", "), errors.Unwrap(err))
	}
	defer file.Close()
	if f.delays, err = bandwidthlab.ReadDelays(file); err != nil {
		return fmt.Errorf("network %q: %w", f.Name, err)
	}
	f.everywhere()
	return nil
}

// everywhere has players in all cities, neighbours of the list far apart from each other.
func (f *Field) everywhere() {
	n := len(f.delays.Places)
	stride := 5
	for n%stride == 0 {
		stride += 2
	}
	for i := range n {
		f.cities = append(f.cities, i*stride%n)
	}
}

// Player is where a player is, counted from 0.
func (f *Field) Player(i int) Spot {
	s := Spot{Home: f.homes[i%len(f.homes)]}
	if len(f.cities) > 0 {
		// All first miles are found in all cities.
		s.City = f.cities[(i+i/len(f.cities)/len(f.homes))%len(f.cities)]
	}
	return s
}

// Servers are the best places for so many servers of so many players.
func (f *Field) Servers(n, players int) []Spot {
	list := make([]Spot, n)
	if f.delays == nil {
		return list
	}
	var all, live []int
	for i := range f.delays.Places {
		all = append(all, i)
	}
	for i := range players {
		live = append(live, f.Player(i).City)
	}
	for i, c := range f.delays.Medoids(live, all, n) {
		list[i].City = c
	}
	return list
}

// Nearest is which of some spots is nearest to one.
func (f *Field) Nearest(to Spot, of []Spot) int {
	best := 0
	for i := range of {
		if f.way(to, of[i]) < f.way(to, of[best]) {
			best = i
		}
	}
	return best
}

func (f *Field) way(a, b Spot) time.Duration {
	if f.delays == nil {
		return 0
	}
	return f.delays.Way[a.City][b.City] + f.delays.Way[b.City][a.City]
}

// City is what the city of a spot is called, if there are cities.
func (f *Field) City(s Spot) string {
	if f.delays == nil {
		return ""
	}
	return f.delays.Places[s.City]
}

// Path is the network from one spot, as the client, to another.
func (f *Field) Path(from, to Spot) netsim.Conditions {
	between := netsim.Profile{}
	back := between
	if f.delays != nil {
		between.Latency, back.Latency = f.delays.Way[from.City][to.City],
			f.delays.Way[to.City][from.City]
	}
	perfect := f.homes[0].Name == netsim.Perfect.Name && f.delays == nil
	if from.Home.Name == "" && to.Home.Name == "" && !perfect { // two data centres
		wire := netsim.LAN.Up
		between, back = Join(wire, between), Join(wire, back)
	}
	return netsim.Conditions{
		Up:   Join(Join(from.Home.Up, between), to.Home.Down),
		Down: Join(Join(to.Home.Up, back), from.Home.Down),
	}
}

// Trip is how long a datagram takes there and back, without jitter.
func (f *Field) Trip(from, to Spot) time.Duration {
	c := f.Path(from, to)
	return c.Up.Latency + c.Down.Latency
}

// Join is the way over one network and then over another.
func Join(a, b netsim.Profile) netsim.Profile {
	either := func(x, y float64) float64 { return 1 - (1-x)*(1-y) }
	a.Latency += b.Latency
	a.Loss, a.Duplicate = either(a.Loss, b.Loss), either(a.Duplicate, b.Duplicate)
	a.Reorder, a.Corrupt = either(a.Reorder, b.Reorder), either(a.Corrupt, b.Corrupt)
	a.HoldBack = max(a.HoldBack, b.HoldBack)
	switch {
	case a.Jitter.Shape == b.Jitter.Shape && a.Jitter.Shape != netsim.Recorded:
		a.Jitter.Amount += b.Jitter.Amount
	case b.Jitter.Amount > a.Jitter.Amount || b.Jitter.Shape == netsim.Recorded:
		a.Jitter = b.Jitter
	}
	if b.Burst.Enter > a.Burst.Enter {
		a.Burst = b.Burst
	}
	if a.Rate == 0 || b.Rate > 0 && b.Rate < a.Rate {
		a.Rate, a.Queue = b.Rate, b.Queue
	}
	return a
}
