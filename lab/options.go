package lab

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Option is something that can be chosen of an experiment, in a struct of options or on a
// command line: its name, what it is for, its default, and what it may be. It is a pflag.Value.
type Option struct {
	Name, Help string
	Kind       string   // as pflag names kinds of values
	Among      []string // the words that it may be, if they are known
	Default    string   // on a command line, if that is another than in a struct
	get        func() string
	set        func(text string) error
	fill       func() // sets the default where there is nothing
	check      func() error
}

// String is the option's value.
func (o *Option) String() string { return o.get() }

// Set changes the option's value.
func (o *Option) Set(text string) error { return o.set(text) }

// Type is the kind of the option's values.
func (o *Option) Type() string { return o.Kind }

// Reset sets the option's default, for a command line.
func (o *Option) Reset() {
	if o.fill(); o.Default != "" {
		_ = o.set(o.Default)
	}
}

// Check is an error if the value is none that the option may have.
func (o *Option) Check() error { return o.check() }

// Fill replaces zeros by defaults, and says what is wrong with the rest.
func Fill(list []*Option) error {
	var wrong []error
	for _, o := range list {
		o.fill()
		wrong = append(wrong, o.check())
	}
	return errors.Join(wrong...)
}

// A Numeric is what a number is that can be chosen.
type Numeric interface {
	int | uint64 | float64 | time.Duration
}

func kindOf(v any) string {
	if _, ok := v.(time.Duration); ok {
		return "duration"
	}
	return fmt.Sprintf("%T", v)
}

func parse[T Numeric](text string) (v T, err error) {
	switch p := any(&v).(type) {
	case *int:
		*p, err = strconv.Atoi(text)
	case *uint64:
		*p, err = strconv.ParseUint(text, 0, 64)
	case *float64:
		*p, err = strconv.ParseFloat(text, 64)
	case *time.Duration:
		*p, err = time.ParseDuration(text)
	}
	var number *strconv.NumError
	if errors.As(err, &number) {
		err = number.Err
	}
	return v, err
}

// within is an error if a value is not from least to most.
func within[T Numeric](what string, v, least, most T) error {
	if v >= least && v <= most {
		return nil
	}
	return fmt.Errorf("%s %v: choose %v to %v", what, v, least, most)
}

// Number is an option that is a number from least to most.
func Number[T Numeric](p *T, name string, def, least, most T, help string) *Option {
	return &Option{
		Name: name, Help: help, Kind: kindOf(def),
		get: func() string { return fmt.Sprint(*p) },
		set: func(text string) (err error) {
			*p, err = parse[T](text)
			return err
		},
		fill:  func() { *p = cmp.Or(*p, def) },
		check: func() error { return within(name+" is", *p, least, most) },
	}
}

// Span is an option that is a time, written as a number of units.
func Span(p *time.Duration, name string, unit, def, least, most time.Duration,
	help string) *Option {
	o := Number(p, name, def, least, most, help)
	o.Kind = "float64"
	units := func(d time.Duration) float64 { return float64(d) / float64(unit) }
	o.get = func() string { return fmt.Sprint(units(*p)) }
	o.set = func(text string) error {
		n, err := parse[float64](text)
		if err == nil && !(math.Abs(n) <= math.MaxInt32) {
			return fmt.Errorf("%v is no time", n)
		}
		*p = time.Duration(n * float64(unit))
		return err
	}
	o.check = func() error { return within(name+" is", units(*p), units(least), units(most)) }
	return o
}

// list is an option of several values with commas between them. Those of a flag that is given twice
// are added up, and the first replace the default.
func list[T any](p *[]T, name, kind string, def []T, help string, parse func(string) (T, error),
	check func(T) error) *Option {
	given := false
	return &Option{
		Name: name, Help: help, Kind: kind,
		get: func() string {
			return "[" + strings.ReplaceAll(strings.Trim(fmt.Sprint(*p), "[]"), " ", ",") + "]"
		},
		set: func(text string) error {
			if !given {
				*p, given = nil, true
			}
			for word := range strings.SplitSeq(text, ",") {
				v, err := parse(strings.TrimSpace(word))
				if err != nil {
					return err
				}
				*p = append(*p, v)
			}
			return nil
		},
		fill: func() {
			if len(*p) == 0 {
				*p = slices.Clone(def)
			}
		},
		check: func() error {
			for _, v := range *p {
				if err := check(v); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// Numbers is an option of several numbers, each from least to most.
func Numbers[T Numeric](p *[]T, name string, def []T, least, most T, help string) *Option {
	return list(p, name, kindOf(least)+"Slice", def, help, parse[T],
		func(v T) error { return within(name+" has", v, least, most) })
}

// Words is an option of several words, of those that there are. Any will do if that is not known.
func Words(p *[]string, name string, def, among []string, help string) *Option {
	word := func(text string) (string, error) { return text, nil }
	o := list(p, name, "stringSlice", def, help, word, func(v string) error {
		if among == nil || slices.Contains(among, v) {
			return nil
		}
		return fmt.Errorf("%s: there is no %q; there are %s", name, v, strings.Join(among, ", "))
	})
	o.Among = among
	return o
}

// Text is an option that may be anything.
func Text(p *string, name, def, help string) *Option {
	return &Option{
		Name: name, Help: help, Kind: "string",
		get:   func() string { return *p },
		set:   func(text string) error { *p = text; return nil },
		fill:  func() { *p = cmp.Or(*p, def) },
		check: func() error { return nil },
	}
}

// Switch is an option that is on or off.
func Switch(p *bool, name, help string) *Option {
	return &Option{
		Name: name, Help: help, Kind: "bool",
		get: func() string { return strconv.FormatBool(*p) },
		set: func(text string) (err error) {
			*p, err = strconv.ParseBool(text)
			return err
		},
		fill:  func() {},
		check: func() error { return nil },
	}
}

// Seed is the option that all experiments over simulated networks have. On a command line it is 1
// if it is not given; in a struct of options 0 is as good as any.
func Seed(p *uint64, of string) *Option {
	o := Number(p, "seed", 0, 0, math.MaxUint64, "random seed of "+of)
	o.Default = "1"
	return o
}

// Level is the option of where a title is played.
func Level(p *string) *Option {
	return Text(p, "map", "", "where they play (default: the game's for so many)")
}
