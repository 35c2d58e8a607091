package netsim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Conditions are what a player's connection is like, both ways. Up is from
// client to server.
type Conditions struct {
	Name     string
	Up, Down Profile
}

// Both makes conditions that are the same in both directions.
func Both(p Profile) Conditions { return Conditions{Up: p, Down: p} }

// ParseConditions reads what a person writes for a network: a preset, settings,
// or both, like "wifi loss=5% up.latency=80ms".
func ParseConditions(text string) (Conditions, error) {
	list, err := parseSettings(text)
	if err != nil {
		return Conditions{}, err
	}
	var c Conditions
	for _, s := range list {
		if err := c.Set(s.key, s.value); err != nil {
			return Conditions{}, err
		}
	}
	return c, nil
}

// longest is the most that a delay can be set to; it keeps sums far from overflow.
const longest = time.Hour

// Set changes one setting from text, as scripts and the proxy's commands give
// it: preset=wifi, or a key of [Profile.Set] for both directions, or up.loss and
// down.loss for one.
func (c *Conditions) Set(key, value string) error {
	if key == "preset" {
		p, err := Lookup(value)
		if err == nil {
			*c = p
		}
		return err
	}
	c.Name = "" // no longer the preset
	if k, ok := strings.CutPrefix(key, "up."); ok {
		return c.Up.Set(k, value)
	}
	if k, ok := strings.CutPrefix(key, "down."); ok {
		return c.Down.Set(k, value)
	}
	if err := c.Up.Set(key, value); err != nil {
		return err
	}
	return c.Down.Set(key, value)
}

// Set changes one setting from text. The keys and the forms of their values:
//
//	latency=20ms
//	jitter=uniform:5ms  normal:5ms  longtail:5ms  recorded:1ms,7ms,2ms
//	loss=0.01           or 1%
//	burst=0.01/0.25/0.8 enter, leave and, unless it is 1, loss within
//	duplicate=0.01
//	reorder=0.01/20ms   probability and, if it matters, how long it is held back
//	corrupt=0.001
//	rate=10Mbit         bit, kbit, Mbit or Gbit a second; 0 for no limit
//	queue=64KiB         B, KiB or MiB
//	max=1200            largest datagram in bytes; 0 for no limit
func (p *Profile) Set(key, value string) error {
	for i := range settings {
		if settings[i].key == key {
			if err := settings[i].set(p, value); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			return nil
		}
	}
	return fmt.Errorf(
		"unknown setting %q, use latency, jitter, loss, burst, duplicate, reorder, corrupt, "+
			"rate, queue or max", key)
}

// String lists the settings that differ from a perfect path, in the form that
// Set reads.
func (p Profile) String() string {
	var b []string
	for i := range settings {
		if value := settings[i].print(&p); value != "" {
			b = append(b, settings[i].key+"="+value)
		}
	}
	return cmp.Or(strings.Join(b, " "), "perfect")
}

// settings are what Set reads and String prints. What is not set prints as nothing.
var settings = []struct {
	key   string
	set   func(p *Profile, value string) error
	print func(p *Profile) string
}{
	{"latency",
		func(p *Profile, s string) error { return setDuration(&p.Latency, s) },
		func(p *Profile) string { return unless(p.Latency == 0, p.Latency.String()) }},
	{"jitter",
		func(p *Profile, s string) (err error) { p.Jitter, err = parseJitter(s); return err },
		func(p *Profile) string { return p.Jitter.String() }},
	{"loss",
		func(p *Profile, s string) error { return setChance(&p.Loss, s) },
		func(p *Profile) string { return unless(p.Loss == 0, number(p.Loss)) }},
	{"burst",
		func(p *Profile, s string) (err error) { p.Burst, err = parseBurst(s); return err },
		func(p *Profile) string { return p.Burst.String() }},
	{"duplicate",
		func(p *Profile, s string) error { return setChance(&p.Duplicate, s) },
		func(p *Profile) string { return unless(p.Duplicate == 0, number(p.Duplicate)) }},
	{"reorder", (*Profile).setReorder, (*Profile).printReorder},
	{"corrupt",
		func(p *Profile, s string) error { return setChance(&p.Corrupt, s) },
		func(p *Profile) string { return unless(p.Corrupt == 0, number(p.Corrupt)) }},
	{"rate",
		func(p *Profile, s string) error { return setUnits(&p.Rate, s, rateUnits, 1e12) },
		func(p *Profile) string { return unless(p.Rate == 0, printUnits(p.Rate, rateUnits)) }},
	{"queue",
		func(p *Profile, s string) error { return setUnits(&p.Queue, s, sizeUnits, 1<<30) },
		func(p *Profile) string {
			return unless(p.Queue == 0, printUnits(int64(p.Queue), sizeUnits))
		}},
	{"max",
		func(p *Profile, s string) error { return setUnits(&p.MaxDatagram, s, sizeUnits, 1<<30) },
		func(p *Profile) string { return unless(p.MaxDatagram == 0, strconv.Itoa(p.MaxDatagram)) }},
}

func unless(unset bool, text string) string {
	if unset {
		return ""
	}
	return text
}

func (p *Profile) setReorder(s string) error {
	chance, hold, _ := strings.Cut(s, "/")
	q := *p
	q.HoldBack = 0
	err := setChance(&q.Reorder, chance)
	if err == nil && hold != "" {
		err = setDuration(&q.HoldBack, hold)
	}
	if err == nil {
		*p = q
	}
	return err
}

func (p *Profile) printReorder() string {
	if p.HoldBack == 0 {
		return unless(p.Reorder == 0, number(p.Reorder))
	}
	return number(p.Reorder) + "/" + p.HoldBack.String()
}

var shapeNames = [...]string{
	Uniform: "uniform", Normal: "normal", LongTail: "longtail", Recorded: "recorded"}

// String is the form that Profile.Set reads, and empty for no jitter.
func (j Jitter) String() string {
	if j.Shape != Recorded {
		if j.Amount == 0 || int(j.Shape) >= len(shapeNames) {
			return ""
		}
		return shapeNames[j.Shape] + ":" + j.Amount.String()
	}
	list := make([]string, len(j.Recorded))
	for i, d := range j.Recorded {
		list[i] = d.String()
	}
	return "recorded:" + strings.Join(list, ",")
}

func parseJitter(s string) (j Jitter, err error) {
	shape, amount, ok := strings.Cut(s, ":")
	if !ok {
		shape, amount = "uniform", s
	}
	k := slices.Index(shapeNames[:], shape)
	if k < 0 {
		return Jitter{},
			fmt.Errorf("unknown shape %q, use uniform, normal, longtail or recorded", shape)
	}
	if j.Shape = Shape(k); j.Shape != Recorded {
		return j, setDuration(&j.Amount, amount)
	}
	for item := range strings.SplitSeq(amount, ",") {
		if item == "" {
			continue
		}
		d, err := time.ParseDuration(item)
		if err != nil || d < -longest || d > longest {
			return Jitter{}, fmt.Errorf("bad delay %q in the list, write it like 12ms", item)
		}
		j.Recorded = append(j.Recorded, d)
	}
	return j, nil
}

// String is the form that Profile.Set reads, and empty for no bursts.
func (b Burst) String() string {
	switch {
	case b == Burst{}:
		return ""
	case b.Loss == 0:
		return number(b.Enter) + "/" + number(b.Leave)
	}
	return number(b.Enter) + "/" + number(b.Leave) + "/" + number(b.Loss)
}

func parseBurst(s string) (b Burst, err error) {
	parts := strings.Split(s, "/")
	if len(parts) < 2 || len(parts) > 3 {
		if s == "0" {
			return Burst{}, nil
		}
		return b, fmt.Errorf("bad burst %q, write it as enter/leave/loss like 0.01/0.25/0.8", s)
	}
	for i, field := range []*float64{&b.Enter, &b.Leave, &b.Loss}[:len(parts)] {
		if err := setChance(field, parts[i]); err != nil {
			return Burst{}, err
		}
	}
	return b, nil
}

func setDuration(to *time.Duration, s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > longest {
		return fmt.Errorf("bad duration %q, write it like 20ms, at most an hour", s)
	}
	*to = d
	return nil
}

func setChance(to *float64, s string) error {
	text, percent := strings.CutSuffix(s, "%")
	p, err := strconv.ParseFloat(text, 64)
	if percent {
		p /= 100
	}
	if err != nil || math.IsNaN(p) || p < 0 || p > 1 {
		return fmt.Errorf("bad probability %q, write it like 0.05 or 5%%", s)
	}
	*to = p
	return nil
}

// unit is a suffix and what it multiplies by; the largest come first.
type unit struct {
	name string
	size int64
}

var (
	rateUnits = []unit{{"Gbit", 1e9}, {"Mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}}
	sizeUnits = []unit{{"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}
)

func setUnits[T int | int64](to *T, s string, units []unit, most float64) error {
	text, by := s, int64(1)
	for _, u := range units {
		if t, ok := strings.CutSuffix(s, u.name); ok {
			text, by = t, u.size
			break
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	v *= float64(by)
	if err != nil || math.IsNaN(v) || v < 0 || v > most {
		return fmt.Errorf("bad amount %q, write it like 10%s", s, units[1].name)
	}
	*to = T(v)
	return nil
}

func printUnits(v int64, units []unit) string {
	for _, u := range units {
		if v%u.size == 0 {
			return strconv.FormatInt(v/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(v, 10)
}

func number(p float64) string { return strconv.FormatFloat(p, 'g', -1, 64) }
