package arena

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"sync/atomic"
)

//go:embed maps/*.txt
var builtin embed.FS

// A catalogue is the maps that this program has. It is never changed; to add to it is to put a
// larger one in its place.
type catalogue struct {
	byHash map[uint64]*Map
	byName map[string]*Map
	err    error // a mistake in a map that comes with the game
}

var current atomic.Pointer[catalogue]

// catalog gives the maps that there are, and parses those that come with the game when it is first
// called.
//
//coeval:allow concurrent,global -- it only grows, and what a hash names never changes, so whoever looks a map up gets the same one on every machine, or none
func catalog() *catalogue {
	if c := current.Load(); c != nil {
		return c
	}
	current.CompareAndSwap(nil, parseBuiltin())
	return current.Load()
}

func parseBuiltin() *catalogue {
	c := &catalogue{byHash: map[uint64]*Map{}, byName: map[string]*Map{}}
	files, err := builtin.ReadDir("maps")
	if err != nil {
		c.err = err
	}
	for _, f := range files {
		file := path.Join("maps", f.Name())
		text, err := builtin.ReadFile(file)
		if err != nil {
			c.err = err
			continue
		}
		m, err := Parse(text)
		if err != nil {
			c.err = fmt.Errorf("arena: %s: %w", file, err)
			continue
		}
		c.byHash[m.hash], c.byName[m.Name] = m, m
	}
	return c
}

var errNoMap = errors.New(
	"arena: this program does not have the map of the world; parse its text and register it")

// Register lets worlds of this program be played on a map, such as one that a server sent. The name
// of a map that is there already goes on to mean that one; by its hash, the new one is found as
// well. It may be called at any time, from any goroutine.
func Register(m *Map) {
	for {
		old := catalog()
		if old.byHash[m.hash] != nil {
			return
		}
		c := &catalogue{
			byHash: maps.Clone(old.byHash), byName: maps.Clone(old.byName), err: old.err}
		c.byHash[m.hash] = m
		if c.byName[m.Name] == nil {
			c.byName[m.Name] = m
		}
		if current.CompareAndSwap(old, c) {
			return
		}
	}
}

// MapNamed finds a map that comes with the game or was registered.
func MapNamed(name string) (*Map, error) {
	c := catalog()
	if m := c.byName[name]; m != nil {
		return m, nil
	}
	if c.err != nil {
		return nil, c.err
	}
	return nil, fmt.Errorf("arena: there is no map %q; there are %q", cut(name, 40), MapNames())
}

// MapNames lists the maps that there are.
func MapNames() []string { return slices.Sorted(maps.Keys(catalog().byName)) }

// MapByHash finds the map that a world is played on, or nil if this program does not have it.
func MapByHash(hash uint64) *Map { return catalog().byHash[hash] }
