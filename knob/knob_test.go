package knob_test

import (
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/knob"
)

var (
	rate  = knob.Knob{Name: "rate", Least: 1, Most: 60, Step: 1, Default: "20"}
	delay = knob.Knob{Name: "delay", Least: 0, Most: 2000, Time: true, Auto: "by measuring",
		Default: "auto"}
	share = knob.Knob{Name: "share", Least: 0.001, Most: 0.5, Default: "0.02"}
	how   = knob.Knob{Name: "how", Words: []string{"once", "twice"}, Default: "once"}
)

// TestParse: a value has one form, and what cannot be one is said.
func TestParse(t *testing.T) {
	for _, x := range []struct {
		k          knob.Knob
		text, want string // or what the error says
		ok         bool
	}{
		{rate, " 20 ", "20", true}, {rate, "2e1", "20", true},
		{rate, "20.5", "1 to 60 in whole numbers", false}, {rate, "61", "1 to 60", false},
		{rate, "NaN", "1 to 60", false}, {rate, "", "1 to 60", false},
		{rate, "auto", "1 to 60", false},
		{delay, "40ms", "40ms", true}, {delay, "0.04s", "40ms", true}, {delay, "0", "0s", true},
		{delay, "auto", "auto", true}, {delay, "40", "0s to 2s or auto", false},
		{delay, "3s", "0s to 2s or auto", false}, {delay, "-1ms", "0s to 2s", false},
		{share, "0.0200", "0.02", true}, {share, "0", "0.001 to 0.5", false},
		{how, "twice", "twice", true}, {how, "1", "once or twice", false},
	} {
		v, err := x.k.Parse(x.text)
		if x.ok && (err != nil || v.Text != x.want) {
			t.Errorf("%s %q is %q, %v; want %q", x.k.Name, x.text, v.Text, err, x.want)
		}
		if !x.ok && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s %q: %v; want %q", x.k.Name, x.text, err, x.want)
		}
	}
	v, err := delay.Parse("1.5s")
	if err != nil || v.Duration() != 1500*time.Millisecond {
		t.Errorf("%v, %v", v, err)
	}
}

// TestBetween: between two values lies another, until there is none.
func TestBetween(t *testing.T) {
	for _, x := range []struct {
		k          knob.Knob
		a, b, want string
	}{
		{rate, "20", "30", "25"}, {rate, "30", "20", "25"}, {rate, "20", "21", ""},
		{rate, "4", "36", "12"}, {delay, "40ms", "60ms", "50ms"}, {delay, "auto", "60ms", ""},
		{share, "0.01", "0.02", "0.015"}, {share, "0.001", "0.1", "0.01"},
		{how, "once", "twice", ""},
	} {
		got, ok := x.k.Between(x.a, x.b)
		if got != x.want || ok != (x.want != "") {
			t.Errorf("between %s and %s of %s is %q, want %q", x.a, x.b, x.k.Name, got, x.want)
		}
	}
}

// TestApply: what is set is set, what is auto is left alone, and what is another's too.
func TestApply(t *testing.T) {
	type options struct {
		rate  int
		delay time.Duration
	}
	list := []knob.Of[options]{
		{Knob: rate, Set: func(o *options, v knob.Value) { o.rate = v.Int() }},
		{Knob: delay, Set: func(o *options, v knob.Value) { o.delay = v.Duration() }}}
	o := options{delay: 7}
	set := knob.Values{"rate": "30", "delay": "auto", "x": "?"}
	if err := knob.Apply(&o, list, set); err != nil || o != (options{30, 7}) {
		t.Errorf("%+v, %v", o, err)
	}
	if err := knob.Apply(&o, list, knob.Values{"rate": "fast"}); err == nil {
		t.Error("a bad value was taken")
	}
	if _, err := knob.Read("this", knob.List(list), knob.Values{"x": "1"}); err == nil ||
		!strings.Contains(err.Error(), `this has no knob "x"; there are rate, delay`) {
		t.Error(err)
	}
	got := knob.Defaults(knob.List(list)).With("rate", "9").String()
	if got != "delay=auto rate=9" {
		t.Error(got)
	}
}
