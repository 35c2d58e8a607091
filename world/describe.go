package world

import (
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/bits"
)

// Describe writes all that the game declares as text, the same on every machine: its name and rate,
// and every class, state, command and event with its options and a line for each field. Two
// programs whose descriptions are the same can exchange worlds, images and commands;
// DiffDescriptions says in what others differ.
func (g *Game) Describe() string {
	g.prepare()
	return g.describe()
}

func (g *Game) describe() string {
	d := new(describer)
	d.head("game", g.name)
	d.entry("rate", strconv.Itoa(g.rate))
	for _, c := range g.classes {
		if c.state {
			d.head("state", c.name)
		} else {
			d.head("class", c.name)
			d.entry("limit", strconv.Itoa(c.limit))
		}
		d.fields(c.layout.Schema())
		for i := range c.server {
			d.entry("server-only field "+plainly(c.server[i].path), c.server[i].kind.String())
		}
		c.describeRewind(d)
	}
	if c := g.commands; c != nil {
		d.head("commands", "")
		d.fields(c.layout.Schema())
		for i := range c.edges {
			d.entry("edge "+plainly(c.edges[i].path), c.edges[i].kind.String())
		}
		for i := range c.private {
			d.entry("private "+plainly(c.private[i].path), c.private[i].kind.String())
		}
	}
	for _, e := range g.events {
		d.head("event", e.name)
		strict := "strict"
		if e.weak {
			strict = "weak"
		}
		d.entry("delivery", e.delivery.String()+", "+strict)
		d.entry("limit", strconv.Itoa(e.limit))
		if e.life > 0 {
			d.entry("life", strconv.FormatUint(uint64(e.life), 10)+" ticks")
		}
		d.fields(e.layout.Schema())
	}
	for _, i := range g.inputs {
		d.head(i.source.String(), i.name)
		d.entry("limit", strconv.Itoa(i.limit))
		if i.layout != nil {
			d.fields(i.layout.Schema())
		}
	}
	for _, i := range g.actions {
		d.head("action", i.name)
		d.fields(i.layout.Schema())
	}
	return d.String()
}

// A describer writes sections: a line that says what follows, then indented lines of a key and a
// value.
type describer struct{ strings.Builder }

func (d *describer) head(what, name string) {
	d.WriteString(what)
	if what != "commands" {
		d.WriteString(" " + plainly(name))
	}
	d.WriteByte('\n')
}

func (d *describer) entry(key, value string) { d.WriteString("  " + key + ": " + value + "\n") }

// fields writes a line for each field, whatever number of slots it has.
func (d *describer) fields(schema *bits.Schema) {
	slots := schema.Slots
	for i := 0; i < len(slots); {
		n := 1
		for i+n < len(slots) && slots[i+n].Field == slots[i].Field {
			n++
		}
		name := base(&slots[i])
		if j := strings.LastIndexByte(slots[i].Name, '#'); j >= 0 { // one place, synced in two ways
			name += slots[i].Name[j:]
		}
		d.entry("field "+plainly(name), describeField(slots[i:i+n]))
		i += n
	}
}

func describeField(slots []bits.Slot) string {
	var b strings.Builder
	first := &slots[0]
	b.WriteString(first.Kind.String())
	switch first.Kind {
	case bits.KindBool:
	case bits.KindString, bits.KindBytes:
		b.WriteString(" of at most " + strconv.Itoa(int(first.Max)))
	case bits.KindSlice:
		b.WriteString(" of " + describeRange(first))
	default:
		for i := 0; i < len(slots); {
			r, n := describeRange(&slots[i]), 1
			for i+n < len(slots) && describeRange(&slots[i+n]) == r {
				n++
			}
			if i > 0 {
				b.WriteString(" and")
			}
			if n > 1 && n < len(slots) {
				b.WriteString(" " + strconv.Itoa(n) + " of")
			}
			b.WriteString(" " + r)
			i += n
		}
	}
	if first.Wraps {
		b.WriteString(", wraps")
	}
	if first.Optional {
		b.WriteString(", or absent")
	}
	return b.String()
}

func describeRange(s *bits.Slot) string {
	if s.Scale == 0 {
		return strconv.Itoa(int(s.Min)) + ".." + strconv.Itoa(int(s.Max))
	}
	if s.Wraps {
		return strconv.Itoa(int(s.Min)) + ".." + strconv.Itoa(int(s.Max)) + " times " +
			decimal(s.Scale)
	}
	return decimal(float64(float64(s.Min)*s.Scale)) + ".." +
		decimal(float64(float64(s.Max)*s.Scale)) + " in steps of " + decimal(s.Scale)
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// plainly writes a name as it is, if it cannot be mistaken for anything else.
func plainly(name string) string {
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune("_.[]#-", c)) {
			return strconv.QuoteToASCII(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}
