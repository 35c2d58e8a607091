package netsim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Script is a schedule of faults that can be printed, kept in a file, and run
// again with [Replay]. As text:
//
//	seed 7
//	exact
//	at 1.5s cut client server for 400ms     # both ways
//	at 1.5s cut client > server for 400ms   # one way
//	at 2s path client server awful loss=0.3 for 1s
//	at 3s pause server for 250ms
//	at 4s restart client for 1s
//	at 5s rebind client port                # or address; of an endpoint or a router
//	drop client > server 17                 # the 17th datagram on that path
//	delay client > server 18 by 43ms        # those behind it wait
//	hold client > server 19 by 43ms         # those behind it overtake
//	copy client > server 20 by 5ms
//	flip client > server 21 bit 133
//
// What has no "for" lasts for good, and * stands for every endpoint. With exact,
// paths draw nothing at random: they keep latency, rate, queue and size limit, and
// else only what is listed happens.
type Script struct {
	Seed   uint64
	Exact  bool
	Faults []Fault
}

// String is the text form, one fault a line.
func (s Script) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d\n", s.Seed)
	if s.Exact {
		b.WriteString("exact\n")
	}
	for _, f := range s.Faults {
		b.WriteString(f.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// String is the fault's line in a script.
func (f Fault) String() string {
	var b strings.Builder
	if f.Kind.timed() {
		fmt.Fprintf(&b, "at %v %v %s", f.At, f.Kind, f.From)
		switch f.Kind {
		case Cut, Storm:
			if f.OneWay {
				b.WriteString(" >")
			}
			b.WriteString(" " + f.To)
		case Rebind:
			if f.Address {
				b.WriteString(" address")
			} else {
				b.WriteString(" port")
			}
		}
		if f.Settings != "" && f.Kind == Storm {
			b.WriteString(" " + f.Settings)
		}
		if f.For != 0 && f.Kind != Rebind {
			fmt.Fprintf(&b, " for %v", f.For)
		}
		return b.String()
	}
	fmt.Fprintf(&b, "%v %s > %s %d", f.Kind, f.From, f.To, f.Number)
	switch f.Kind {
	case Delay, Hold, Copy:
		fmt.Fprintf(&b, " by %v", f.By)
	case Flip:
		fmt.Fprintf(&b, " bit %d", f.Bit)
	}
	return b.String()
}

// Parse reads a script. The error names the line and what is expected there.
func Parse(text string) (Script, error) {
	var s Script
	for i, line := range strings.Split(text, "\n") {
		if k := comment(line); k >= 0 {
			line = line[:k]
		}
		w := words(strings.Fields(line))
		if len(w) == 0 {
			continue
		}
		if err := s.line(w); err != nil {
			return Script{}, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return s, nil
}

// comment finds a # that begins a word.
func comment(line string) int {
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return i
		}
	}
	return -1
}

func (s *Script) line(w words) (err error) {
	var f Fault
	switch first := w.next(); first {
	case "seed":
		if s.Seed, err = strconv.ParseUint(w.next(), 10, 64); err != nil {
			return fmt.Errorf("bad seed, write it like seed 7")
		}
		return w.end()
	case "exact":
		s.Exact = true
		return w.end()
	case "at":
		f, err = w.timed()
	default:
		f, err = w.single(first)
	}
	if err == nil {
		err = w.end()
	}
	if err == nil {
		err = f.check()
	}
	if err == nil {
		s.Faults = append(s.Faults, f)
	}
	return err
}

// words is what is left of a line.
type words []string

func (w *words) next() string {
	if len(*w) == 0 {
		return ""
	}
	first := (*w)[0]
	*w = (*w)[1:]
	return first
}

func (w *words) accept(s string) bool {
	if len(*w) > 0 && (*w)[0] == s {
		w.next()
		return true
	}
	return false
}

func (w *words) end() error {
	if len(*w) > 0 {
		return fmt.Errorf("%q is too much", strings.Join(*w, " "))
	}
	return nil
}

func (w *words) duration() (time.Duration, error) {
	s := w.next()
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("bad duration %q, write it like 1.5s or 20ms", s)
	}
	return d, nil
}

// timed reads what follows "at".
func (w *words) timed() (f Fault, err error) {
	if f.At, err = w.duration(); err != nil {
		return f, err
	}
	what := w.next()
	k := slices.Index(kindNames[:], what)
	if k < 0 || !Kind(k).timed() {
		return f, fmt.Errorf(
			"unknown fault %q, use cut, path, pause, restart or rebind after the time", what)
	}
	f.Kind, f.From = Kind(k), w.next()
	switch f.Kind {
	case Cut, Storm:
		f.OneWay = w.accept(">")
		f.To = w.next()
	case Rebind:
		switch port := w.next(); port {
		case "port":
		case "address":
			f.Address = true
		default:
			return f, fmt.Errorf("bad rebind %q, say port or address", port)
		}
	}
	if f.Kind == Storm {
		var settings []string
		for len(*w) > 0 && (*w)[0] != "for" {
			settings = append(settings, w.next())
		}
		list, err := parseSettings(strings.Join(settings, " "))
		if err != nil {
			return f, err
		}
		f.Settings = printSettings(list)
	}
	if f.Kind != Rebind && w.accept("for") {
		f.For, err = w.duration()
	}
	return f, err
}

// single reads a fault of one datagram.
func (w *words) single(what string) (f Fault, err error) {
	k := slices.Index(kindNames[:], what)
	if k < 0 || Kind(k).timed() {
		return f, fmt.Errorf(
			"unknown line %q, begin with seed, exact, at, drop, delay, hold, copy or flip", what)
	}
	f.Kind, f.OneWay, f.From = Kind(k), true, w.next()
	if !w.accept(">") {
		return f, fmt.Errorf("%s needs a direction, like client > server", what)
	}
	f.To = w.next()
	if f.Number, err = strconv.ParseUint(w.next(), 10, 64); err != nil {
		return f, fmt.Errorf("%s needs the number of a datagram, counted from 1", what)
	}
	switch f.Kind {
	case Delay, Hold, Copy:
		if !w.accept("by") {
			return f, fmt.Errorf("%s needs a time, like by 20ms", what)
		}
		f.By, err = w.duration()
	case Flip:
		if !w.accept("bit") {
			return f, fmt.Errorf("flip needs a bit, like bit 133")
		}
		var bit uint64
		if bit, err = strconv.ParseUint(w.next(), 10, 32); err != nil {
			return f, fmt.Errorf("flip needs the number of a bit")
		}
		f.Bit = uint32(bit)
	}
	return f, err
}

// check finds what a script cannot say or a network cannot do.
func (f Fault) check() error {
	if f.Kind >= kinds {
		return fmt.Errorf("unknown %v", f.Kind)
	}
	pair := f.Kind == Cut || f.Kind == Storm || !f.Kind.timed()
	switch {
	case word(f.From) != f.From && f.From != "*", pair && word(f.To) != f.To && f.To != "*":
		return fmt.Errorf("%v needs the name of an endpoint, a single word", f.Kind)
	case !f.Kind.timed() && (f.From == "*" || f.To == "*"):
		return fmt.Errorf("%v is about one path, * cannot be counted", f.Kind)
	case !f.Kind.timed() && f.Number == 0:
		return fmt.Errorf("datagrams are counted from 1")
	case f.At < 0 || f.For < 0:
		return fmt.Errorf("%v cannot be before the start or last less than nothing", f.Kind)
	case f.By < -longest || f.By > longest:
		return fmt.Errorf("%v by %v is too much, at most an hour", f.Kind, f.By)
	}
	if f.Kind == Storm {
		_, err := parseSettings(f.Settings)
		return err
	}
	return nil
}

// setting is one key=value of a path.
type setting struct{ key, value string }

// parseSettings reads "awful loss=0.3": a preset's name may stand alone.
func parseSettings(text string) ([]setting, error) {
	var list []setting
	for _, field := range strings.Fields(text) {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			key, value = "preset", field
		}
		if err := new(Conditions).Set(key, value); err != nil {
			return nil, err
		}
		list = append(list, setting{key, value})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("path needs a preset or settings, like awful or loss=0.3")
	}
	return list, nil
}

func printSettings(list []setting) string {
	fields := make([]string, len(list))
	for i, s := range list {
		fields[i] = s.key + "=" + s.value
	}
	return strings.Join(fields, " ")
}

// word makes a name fit for scripts.
func word(name string) string {
	name = strings.Join(strings.Fields(name), "_")
	if name == "" || name == "*" || name == ">" || strings.HasPrefix(name, "#") {
		return "_" + name
	}
	return name
}
