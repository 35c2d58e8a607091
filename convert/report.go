package convert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/world"
)

// What is what happened to a class or field.
type What uint8

const (
	// Gained: it was not there, and is as in a new entity.
	Gained What = iota
	// Lost: it is not there any more.
	Lost
	// Renamed: it has another name.
	Renamed
	// Changed: it has another range, other steps or another type.
	Changed
)

func (w What) String() string {
	if w > Changed {
		return fmt.Sprintf("what %d", uint8(w))
	}
	return [...]string{"gained", "lost", "renamed", "changed"}[w]
}

// MarshalText is for JSON.
func (w What) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// A Change is one difference between two versions of a game.
type Change struct {
	Class string `json:"class"`           // or event; "commands" for those
	Field string `json:"field,omitempty"` // nothing for a class as a whole
	What  What   `json:"what"`
	Was   string `json:"was,omitempty"`
	Is    string `json:"is,omitempty"`
}

func (c Change) String() string {
	name := c.Class
	if c.Field != "" {
		name += "." + c.Field
	}
	switch c.What {
	case Gained:
		return fmt.Sprintf("%s was gained: %s", name, cmp.Or(c.Is, "a class"))
	case Lost:
		return fmt.Sprintf("%s was lost: %s", name, cmp.Or(c.Was, "a class"))
	case Renamed:
		return fmt.Sprintf("%s was called %s", name, c.Was)
	}
	return fmt.Sprintf("%s was %s and is %s", name, c.Was, c.Is)
}

// A Report is what was converted, or would be.
type Report struct {
	Game     string     `json:"game"`
	From     string     `json:"from"` // the declarations, as 16 hexadecimal digits
	To       string     `json:"to"`
	Tick     world.Tick `json:"tick"`
	Entities int        `json:"entities"` // that were converted
	Dropped  int        `json:"dropped"`  // of classes that were lost
	Changes  []Change   `json:"changes"`
}

// String is a line for each change.
func (r *Report) String() string {
	var b strings.Builder
	for _, c := range r.Changes {
		b.WriteString(c.String() + "\n")
	}
	return b.String()
}

// A Problem is something that cannot be converted.
type Problem struct {
	Class string `json:"class"`
	Field string `json:"field,omitempty"`
	Why   string `json:"why"`
	Count int    `json:"count,omitempty"` // of how many entities; 0 if it is so of any
}

func (p Problem) String() string {
	name := p.Class
	if p.Field != "" {
		name += "." + p.Field
	}
	if p.Count > 1 {
		return fmt.Sprintf("%s: %s (%d of them)", name, p.Why, p.Count)
	}
	return name + ": " + p.Why
}

// An Error says why a world cannot be converted: everything at once.
type Error struct {
	Game string    `json:"game"`
	List []Problem `json:"problems"`
}

func (e *Error) Error() string {
	lines := make([]string, len(e.List))
	for i, p := range e.List {
		lines[i] = p.String()
	}
	return fmt.Sprintf("convert: what was saved of %q cannot be loaded:\n  %s", e.Game,
		strings.Join(lines, "\n  "))
}

// problems gather what is wrong, the first value of each field with how many there are.
type problems struct{ list []Problem }

func (p *problems) add(more ...Problem) {
	for _, x := range more {
		i := slices.IndexFunc(p.list, func(y Problem) bool {
			return x.Class == y.Class && x.Field == y.Field && (x.Count == 0) == (y.Count == 0)
		})
		if i < 0 {
			p.list = append(p.list, x)
			continue
		}
		p.list[i].Count += x.Count
	}
}

func (p *problems) err(game string) error {
	if len(p.list) == 0 {
		return nil
	}
	return &Error{game, p.list}
}
