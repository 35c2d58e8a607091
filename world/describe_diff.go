package world

import (
	"fmt"
	"slices"
	"strings"
)

// How much of a stranger's description is looked at, and how much is said of it.
const (
	maxDescription = 1 << 20
	maxDifferences = 12
	maxQuoted      = 80
)

// DiffDescriptions says in a few lines how two games differ that Describe described, such as "class
// Tank: field Health: int 0..100 here, int 0..200 there", so that a player who is refused knows
// why. It is empty if they are the same. Theirs may come from a stranger and be anything.
func DiffDescriptions(mine, theirs string) string {
	if mine == theirs {
		return ""
	}
	here, there := parseDescription(mine), parseDescription(theirs)
	var d differences
	d.sections(here, there)
	if len(d.lines) == 0 {
		d.add("the same declarations are written in another way")
	}
	if n := len(d.lines) - maxDifferences; n > 1 {
		d.lines = append(d.lines[:maxDifferences], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(d.lines, "\n")
}

// A description is one taken apart again.
type description struct {
	heads    []string
	sections map[string]*section
}

type section struct {
	keys   []string
	values map[string]string
}

func parseDescription(text string) *description {
	d := &description{sections: map[string]*section{}}
	var at *section
	if len(text) > maxDescription {
		text = text[:maxDescription]
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		entry, indented := strings.CutPrefix(line, "  ")
		switch {
		case line == "":
		case !indented:
			if at = d.sections[line]; at == nil {
				at = &section{values: map[string]string{}}
				d.sections[line] = at
				d.heads = append(d.heads, line)
			}
		case at != nil:
			key, value, _ := strings.Cut(entry, ": ")
			if _, known := at.values[key]; !known {
				at.keys = append(at.keys, key)
			}
			at.values[key] = value
		}
	}
	return d
}

type differences struct{ lines []string }

func (d *differences) add(line string) { d.lines = append(d.lines, line) }

func (d *differences) sections(here, there *description) {
	// The game's own section is the first of both, and its name is no reason to call everything in
	// it different.
	if len(here.heads) > 0 && len(there.heads) > 0 && here.heads[0] != there.heads[0] &&
		strings.HasPrefix(there.heads[0], "game ") {
		d.add(fmt.Sprintf("%s here, %s there", quoted(here.heads[0]), quoted(there.heads[0])))
		d.entries("game", here.sections[here.heads[0]], there.sections[there.heads[0]])
		here.heads, there.heads = here.heads[1:], there.heads[1:]
	}
	for _, head := range here.heads {
		other := there.sections[head]
		if other == nil {
			d.add(quoted(head) + " only here")
			continue
		}
		where := head
		if strings.HasPrefix(head, "game ") {
			where = "game"
		}
		d.entries(where, here.sections[head], other)
	}
	for _, head := range there.heads {
		if here.sections[head] == nil {
			d.add(quoted(head) + " only there")
		}
	}
	if len(d.lines) == 0 && !slices.Equal(here.heads, there.heads) {
		d.add("the declarations stand in another order: " + order(here.heads) + " here, " +
			order(there.heads) + " there")
	}
}

func (d *differences) entries(where string, here, there *section) {
	before := len(d.lines)
	for _, key := range here.keys {
		mine := here.values[key]
		theirs, ok := there.values[key]
		switch {
		case !ok:
			d.add(fmt.Sprintf("%s: %s only here", quoted(where), quoted(key)))
		case mine != theirs:
			d.add(fmt.Sprintf("%s: %s: %s here, %s there", quoted(where), quoted(key), quoted(mine),
				quoted(theirs)))
		}
	}
	for _, key := range there.keys {
		if _, ok := here.values[key]; !ok {
			d.add(fmt.Sprintf("%s: %s only there", quoted(where), quoted(key)))
		}
	}
	if len(d.lines) == before && !slices.Equal(here.keys, there.keys) {
		d.add(fmt.Sprintf("%s: the fields stand in another order: %s here, %s there", quoted(where),
			order(here.keys), order(there.keys)))
	}
}

// order is as much of a list as shows where it differs.
func order(list []string) string {
	if len(list) > 6 {
		list = append(slices.Clone(list[:6]), "...")
	}
	return quoted(strings.Join(list, ", "))
}

// quoted is a stranger's text made fit for a terminal and a log.
func quoted(s string) string {
	var b strings.Builder
	for _, c := range s {
		if b.Len() >= maxQuoted {
			b.WriteString("...")
			break
		}
		if c < ' ' || c > '~' {
			c = '?'
		}
		b.WriteRune(c)
	}
	return b.String()
}
