package codeclab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/doom3"
	"github.com/coeval-dev/coeval/codec/quake"
	"github.com/coeval-dev/coeval/codec/quake3"
	"github.com/coeval-dev/coeval/codec/raw"
)

// A Contender is a strategy that takes part in a comparison.
type Contender struct {
	Name   string
	Tables string // what it knows beforehand, for people

	// New makes the strategy for a schema. It is called for the sender and for the receiver.
	New func(*codec.Schema) (codec.Strategy, error)
}

// Strategies lists the names that Contenders takes, in the order in which they are shown.
func Strategies() []string {
	return []string{"raw", "quake", "quake3", "doom3exact", "doom3", "coeval"}
}

// Contenders picks strategies by name; all of them where names is empty. The tables are for coeval,
// the one that a game gets by default.
func Contenders(names []string, tables Tables) ([]Contender, error) {
	if len(names) == 0 {
		names = Strategies()
	}
	all := map[string]Contender{
		"raw": {"raw", "none",
			func(s *codec.Schema) (codec.Strategy, error) { return raw.New(s) }},
		"quake": {"quake", "none",
			func(s *codec.Schema) (codec.Strategy, error) { return quake.New(s) }},
		"quake3": {"quake3", "built-in Huffman code",
			func(s *codec.Schema) (codec.Strategy, error) {
				return quake3.New(s, quake3.Options{})
			}},
		"doom3exact": {"doom3exact", "common values",
			func(s *codec.Schema) (codec.Strategy, error) { return doom3.NewExact(s) }},
		"doom3": {"doom3", "none",
			func(s *codec.Schema) (codec.Strategy, error) { return doom3.New(s) }},
		"coeval": {"coeval", tables.Name, tables.strategy},
	}
	picked := make([]Contender, 0, len(names))
	for i, name := range names {
		c, ok := all[name]
		if !ok {
			return nil, fmt.Errorf("there is no strategy %q; there are %s", name,
				strings.Join(Strategies(), ", "))
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("strategy %s is named twice", name)
		}
		picked = append(picked, c)
	}
	return picked, nil
}
