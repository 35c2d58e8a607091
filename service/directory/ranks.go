package directory

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/coeval-dev/coeval/conn/token"
)

// ranks are entries in each order.
type ranks [len(orders)][]*listed

var noRanks ranks

// of are the entries of a game, or all.
func (l *listing) of(game string) *ranks {
	if game == "" {
		return l.all
	}
	if r := l.games[token.ProtocolID(game)]; r != nil {
		return r
	}
	return &noRanks
}

// A change is an entry as it was and as it is. One that is new was nil, and one that is gone is.
type change struct{ was, is *listed }

// publish makes a new listing if something has changed. It is made from the one before, so that it
// costs what has changed, and copies of pointers.
func (b *Book) publish() {
	b.publishing.Lock()
	defer b.publishing.Unlock()
	old := b.listing.Load()
	b.mu.Lock()
	if len(b.changed) == 0 && old != nil {
		b.mu.Unlock()
		return
	}
	changes := make(map[string]change, len(b.changed))
	for id := range b.changed {
		c := change{was: b.shown[id]}
		if e := b.entries[id]; e != nil {
			c.is = show(b.entryOf(id, e))
			b.shown[id] = c.is
		} else {
			delete(b.shown, id)
		}
		changes[id] = c
	}
	clear(b.changed)
	b.mu.Unlock()
	if old == nil {
		old = &listing{all: &noRanks}
	}
	b.listing.Store(old.revised(changes, &b.tally))
	b.hub.note(changes)
}

// lookup is an entry as it is listed, or nil.
func (b *Book) lookup(id string) *listed {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shown[id]
}

// revised is a listing after changes.
func (l *listing) revised(changes map[string]change, t *tally) *listing {
	all, games := edit{}, map[uint64]edit{}
	for _, c := range changes {
		if c.was != nil {
			all.gone = append(all.gone, c.was)
			e := games[c.was.protocol]
			e.gone = append(e.gone, c.was)
			games[c.was.protocol] = e
		}
		if c.is != nil {
			all.fresh = append(all.fresh, c.is)
			e := games[c.is.protocol]
			e.fresh = append(e.fresh, c.is)
			games[c.is.protocol] = e
		}
		t.count(c.was, -1)
		t.count(c.is, 1)
	}
	out := &listing{all: all.apply(l.all), games: make(map[uint64]*ranks, len(l.games)),
		versions: l.versions, regions: l.regions}
	maps.Copy(out.games, l.games)
	for game, e := range games {
		before := l.games[game]
		if before == nil {
			before = &noRanks
		}
		if out.games[game] = e.apply(before); len(out.games[game][0]) == 0 {
			delete(out.games, game)
		}
	}
	if out.versions == nil || t.changed {
		out.versions, out.regions = t.sets()
	}
	return out
}

// An edit is what leaves ranks, and what comes in.
type edit struct{ gone, fresh []*listed }

func (e *edit) apply(old *ranks) *ranks {
	var out ranks
	for order := range orders {
		by := func(a, b *listed) int { return strings.Compare(a.places[order], b.places[order]) }
		slices.SortFunc(e.gone, by)
		slices.SortFunc(e.fresh, by)
		from, gone, fresh := old[order], e.gone, e.fresh
		to := make([]*listed, 0, max(len(from)+len(fresh)-len(gone), 0))
		for len(gone)+len(fresh) > 0 {
			leaves := len(fresh) == 0 || len(gone) > 0 && by(gone[0], fresh[0]) <= 0
			next := &fresh
			if leaves {
				next = &gone
			}
			at, _ := slices.BinarySearchFunc(from, (*next)[0], by)
			to, from = append(to, from[:at]...), from[at:]
			if leaves {
				from = from[1:]
			} else {
				to = append(to, fresh[0])
			}
			*next = (*next)[1:]
		}
		out[order] = append(to, from...)
	}
	return &out
}

// A tally counts of which versions and regions there are entries.
type tally struct {
	versions map[uint64]int
	regions  map[string]int
	changed  bool
}

func (t *tally) count(e *listed, by int) {
	if e == nil {
		return
	}
	if t.versions == nil {
		t.versions, t.regions = map[uint64]int{}, map[string]int{}
	}
	t.changed = add(t.versions, e.version, by) || t.changed
	t.changed = add(t.regions, e.Region, by) || t.changed
	for i := range e.Places {
		t.changed = add(t.regions, e.Places[i].Region, by) || t.changed
	}
}

// add adds to a count, and says whether it has begun or ended.
func add[K comparable](counts map[K]int, k K, by int) bool {
	n := counts[k] + by
	if counts[k] = n; n == 0 {
		delete(counts, k)
	}
	return n == 0 || n == by
}

// sets are what there is.
func (t *tally) sets() (versions map[uint64]bool, regions map[string]bool) {
	versions, regions = map[uint64]bool{}, map[string]bool{}
	for v := range t.versions {
		versions[v] = true
	}
	for r := range t.regions {
		regions[r] = true
	}
	t.changed = false
	return versions, regions
}

// answers are what has been found in a listing already. There are so many and no more: whoever asks
// for others has them searched for each time.
type answers[K comparable, V any] struct {
	mu    sync.RWMutex
	of    map[K]V
	bytes int
}

const (
	mostKept    = 1024
	longestKept = 256
	bytesKept   = 8 << 20
)

func (a *answers[K, V]) get(k K) (V, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	v, ok := a.of[k]
	return v, ok
}

func (a *answers[K, V]) put(k K, v V, size int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.of) >= mostKept || a.bytes+size > bytesKept {
		return
	}
	if a.of == nil {
		a.of = map[K]V{}
	}
	a.of[k] = v
	a.bytes += size
}
