package layers

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// A Chart is the map in the form that code can ask.
type Chart struct {
	entries []entry
	line    int // rows with a larger number are pure
	impure  []string
	deps    []dependency
}

// An entry is one word of the map: a folder, its row counted from the top, and
// the folders its arrows point to.
type entry struct {
	pattern string
	row     int
	arrows  []string
}

// A dependency is a library and the folders from which it may be reached.
type dependency struct {
	prefix string
	from   []string
}

// Current gives the chart of this project.
func Current() *Chart {
	c, err := Parse(Map, Impure, Dependencies)
	if err != nil {
		panic(err) // the three texts are constants: a mistake in them is a mistake in this package
	}
	return c
}

var gap = regexp.MustCompile(` {2,}`)

// Parse reads the three texts that make up a chart; see [Map], [Impure] and
// [Dependencies] for how they are written.
func Parse(rows, impure, dependencies string) (*Chart, error) {
	c := &Chart{line: -1}
	for row, text := range lines(rows) {
		if strings.HasPrefix(text, "---") {
			if c.line >= 0 {
				return nil, fmt.Errorf("the map has two lines of dashes")
			}
			c.line = row
			continue
		}
		for _, item := range gap.Split(text, -1) {
			if err := c.place(item, row); err != nil {
				return nil, err
			}
		}
	}
	if c.line < 0 {
		return nil, fmt.Errorf("the map has no line of dashes to say where purity begins")
	}
	for _, e := range c.entries {
		for _, to := range e.arrows {
			if t := c.named(to); t == nil || t.row != e.row {
				return nil, fmt.Errorf("arrow %s -> %s does not lead to an entry of the same row",
					e.pattern, to)
			}
		}
	}
	c.impure = lines(impure)
	for _, text := range lines(dependencies) {
		words := strings.Fields(text)
		if len(words) < 2 {
			return nil, fmt.Errorf("dependency %q does not say from where it may be reached", text)
		}
		c.deps = append(c.deps, dependency{words[0], words[1:]})
	}
	return c, nil
}

// place adds one item of a row, such as "a", "a/{b,c}" or "a -> b c".
func (c *Chart) place(item string, row int) error {
	name, to, _ := strings.Cut(item, " -> ")
	names := []string{name}
	if head, rest, ok := strings.Cut(name, "{"); ok {
		inner, tail, closed := strings.Cut(rest, "}")
		if !closed {
			return fmt.Errorf("%q has an open brace", item)
		}
		names = names[:0]
		for alt := range strings.SplitSeq(inner, ",") {
			names = append(names, head+alt+tail)
		}
	}
	for _, n := range names {
		if n == "" || strings.Contains(n, " ") {
			return fmt.Errorf("%q is not an entry: separate entries by two spaces or more", item)
		}
		if c.named(n) != nil {
			return fmt.Errorf("%s stands in the map twice", n)
		}
		c.entries = append(c.entries, entry{n, row, strings.Fields(to)})
	}
	return nil
}

// lines gives the lines of a text without what stands after a bar.
func lines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "|")
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

func (c *Chart) named(pattern string) *entry {
	for i := range c.entries {
		if c.entries[i].pattern == pattern {
			return &c.entries[i]
		}
	}
	return nil
}

// find gives the entry a package stands under: the one that names most of its
// path. It is nil for a package that the map does not know.
func (c *Chart) find(path string) *entry {
	var best *entry
	for i := range c.entries {
		e := &c.entries[i]
		if within(path, e.pattern) &&
			(best == nil || strings.Count(e.pattern, "/") > strings.Count(best.pattern, "/")) {
			best = e
		}
	}
	return best
}

// Pure reports whether the map asks a package to be pure.
func (c *Chart) Pure(path string) bool {
	e := c.find(path)
	return e != nil && e.row > c.line && !withinAny(path, c.impure)
}

// Row is how far from the top of the map a package stands, or 0 if the map does not know it.
func (c *Chart) Row(path string) int {
	if e := c.find(path); e != nil {
		return e.row
	}
	return 0
}

// leads reports whether the arrows from one entry reach another.
func (c *Chart) leads(from, to *entry) bool {
	for _, name := range from.arrows {
		if next := c.named(name); next == to || c.leads(next, to) {
			return true
		}
	}
	return false
}

// dependency gives the rule for an imported library, or nil if there is none.
func (c *Chart) dependency(importPath string) *dependency {
	for i := range c.deps {
		if within(importPath, c.deps[i].prefix) {
			return &c.deps[i]
		}
	}
	return nil
}

// within reports whether name is the folder that pattern names, or inside it.
// A star in the pattern stands for any one folder, or part of its name.
func within(name, pattern string) bool {
	have, want := strings.Split(name, "/"), strings.Split(pattern, "/")
	if len(have) < len(want) {
		return false
	}
	for i, w := range want {
		if ok, err := path.Match(w, have[i]); !ok || err != nil {
			return false
		}
	}
	return true
}

func withinAny(path string, patterns []string) bool {
	for _, p := range patterns {
		if within(path, p) {
			return true
		}
	}
	return false
}
