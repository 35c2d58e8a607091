package seamless

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// Keys of the map beside those of package zone.
const (
	worldKey   = "world"
	nodePrefix = "node."
	levelKey   = "level" // of the store
)

// header is what the map has of the world as a whole.
type header struct {
	// ID tells this world from any other.
	ID string
	// Game and Rules say what is played: the title's name, and its declarations as one number.
	Game  string
	Rules string
	// Zero is when tick 0 was due, in nanoseconds of Unix time.
	Zero int64
	// Players is how many there may be.
	Players int
	Level   string
	// Seed is the level's, which clients are told. Data says that the store has its data.
	Seed uint64
	Data bool
	Plan *Plan
	// Bounds is where most things are.
	Bounds Box

	orders
}

// ErrNoWorld says that no world was started in a cluster. Use errors.Is.
var ErrNoWorld = errors.New("seamless: no world was started in this cluster; see Found")

// ErrFounded says that there is a world already. Use errors.Is.
var ErrFounded = errors.New("seamless: there is a world in this cluster already")

// readHeader gives what the map has of the world.
func readHeader(ctx context.Context, m Map) (*header, uint64, error) {
	e, err := m.Get(ctx, worldKey)
	if errors.Is(err, ErrNone) {
		return nil, 0, ErrNoWorld
	}
	if err != nil {
		return nil, 0, err
	}
	h, err := parseHeader(e.Value)
	return h, e.Revision, err
}

func parseHeader(data []byte) (*header, error) {
	h := &header{}
	if err := json.Unmarshal(data, h); err != nil {
		return nil, fmt.Errorf("seamless: what the map says of the world: %w", err)
	}
	if h.Plan == nil {
		return nil, errors.New("seamless: the map has a world without a plan")
	}
	return h, h.Plan.prepare()
}

// level is what the world started from, as clients are told.
func (h *header) level(ctx context.Context, s Store) (l game.Level, err error) {
	l = game.Level{Name: h.Level, Seed: h.Seed}
	if h.Data {
		if l.Data, err = s.Get(ctx, levelKey); err != nil {
			return l, fmt.Errorf("seamless: the level's data: %w", err)
		}
	}
	return l, nil
}

// check says whether a title is what the world is of.
func (h *header) check(t *game.Title) error {
	switch rules := rulesOf(t); {
	case h.Game != t.Name():
		return fmt.Errorf("seamless: the world is of %q, and this program plays %q", h.Game,
			t.Name())
	case h.Rules != rules:
		return fmt.Errorf("seamless: the world is of %q by other declarations (%s, here %s): run "+
			"the version of the program that it is of", h.Game, h.Rules, rules)
	}
	return nil
}

func rulesOf(t *game.Title) string { return fmt.Sprintf("%016x", t.Game.Hash()) }

// FoundOptions say how a world begins. Title and Cluster have no default.
type FoundOptions struct {
	Title   *game.Title
	Cluster Backing
	// Zones is into how many zones it is divided. Default: 1.
	Zones int
	// Level is what it starts from, with its seeds; the title's first if it has no name.
	Level game.Level
	// Bounds is the part of space that is divided. Default: that in which something is at the
	// beginning.
	Bounds Box
	// Reach is how far players and rules look over a border, in the world's units. Default:
	// Title.Sight.Reach.
	Reach float64
	// Margin is by how much something must be beyond a border to cross it. Default: a 32nd of
	// Reach.
	Margin float64
	// Players is how many there may be. Default: 1024.
	Players int
}

func (o *FoundOptions) fill() error {
	if o.Title == nil || o.Cluster == nil {
		return errors.New("seamless: a world needs a title, and a cluster to be kept in")
	}
	if err := o.Title.Check(); err != nil {
		return err
	}
	o.Zones = cmp.Or(o.Zones, 1)
	o.Reach = cmp.Or(o.Reach, o.Title.Sight.Reach)
	if o.Reach == 0 && o.Zones > 1 {
		return fmt.Errorf("seamless: title %q does not say how far players see (Sight.Reach); set "+
			"FoundOptions.Reach to how far they and its rules look over a border", o.Title.Name())
	}
	o.Margin = cmp.Or(o.Margin, o.Reach/32)
	o.Players = cmp.Or(o.Players, 1024)
	if o.Players < 1 || o.Players > 1<<16-1 {
		return fmt.Errorf("seamless: %d players; choose 1 to %d", o.Players, 1<<16-1)
	}
	if o.Level.Name == "" {
		o.Level.Name = o.Title.Levels.First()
	}
	return nil
}

// Found starts a world, once, and divides it: it puts all zones into the store and on the map,
// without owners. Servers take them from there.
func Found(ctx context.Context, o FoundOptions) (*Plan, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	where, err := placesOf(o.Title)
	if err != nil {
		return nil, err
	}
	if _, err := o.Cluster.Map().Get(ctx, worldKey); err == nil {
		return nil, ErrFounded
	} else if !errors.Is(err, ErrNone) {
		return nil, err
	}
	settings, err := o.Title.Settings(o.Level)
	if err != nil {
		return nil, err
	}
	settings.Allocator = 1
	whole, err := o.Title.Game.TryNew(settings)
	if err != nil {
		return nil, err
	}
	plan, err := o.plan(where, whole)
	if err != nil {
		return nil, err
	}
	zones, err := split(o.Title, where, plan, whole)
	if err != nil {
		return nil, err
	}
	for _, b := range zones {
		b.most = o.Players
		key, data := zone.Found(b.self, zone.Tick(whole.Tick()), b)
		if err := o.Cluster.Store().Put(ctx, key, data); err != nil {
			return nil, fmt.Errorf("seamless: zone %d: %w", b.self, err)
		}
	}
	if len(o.Level.Data) > 0 {
		if err := o.Cluster.Store().Put(ctx, levelKey, o.Level.Data); err != nil {
			return nil, fmt.Errorf("seamless: the level's data: %w", err)
		}
	}
	return plan, o.enter(ctx, plan)
}

// plan divides the space in which the world is.
func (o *FoundOptions) plan(where places, w *world.World) (*Plan, error) {
	if o.Bounds == (Box{}) {
		var ok bool
		if o.Bounds, ok = where.extent(w); !ok {
			o.Bounds = where.full(o.Title)
		}
	}
	return Divide(o.Bounds, o.Zones, o.Reach, o.Margin)
}

// split makes the zones of a whole world.
func split(t *game.Title, where places, plan *Plan, w *world.World) ([]*body, error) {
	ids := plan.Zones()
	index := map[zone.ID]int{}
	allocators := make([]int, len(ids))
	for i, id := range ids {
		index[id] = i
	}
	for a, id := range plan.Keepers {
		if i, ok := index[id]; ok {
			allocators[i] = a
		}
	}
	all, err := w.Host().Divide(index[plan.Home], allocators, func(id world.ID) int {
		p := &where[id.Class()]
		if len(p.slots) == 0 {
			return index[plan.Home]
		}
		at := p.at(w.Host().Image(id))
		return index[plan.zoneAt(&at)]
	})
	if err != nil {
		return nil, err
	}
	list := make([]*body, len(ids))
	for i, id := range ids {
		list[i] = newBody(t, where, id)
		list[i].begin(plan, all[i])
	}
	home := list[index[plan.Home]]
	for _, b := range list {
		for id := range b.w.Entities() {
			if b != home && id.Allocator() == w.Host().Settings().Allocator {
				home.went[id] = b.self
			}
		}
	}
	return list, nil
}

// enter puts a world on the map: its zones, and at last itself, as from then on it is there.
func (o *FoundOptions) enter(ctx context.Context, plan *Plan) error {
	m := o.Cluster.Map()
	var leases zone.Allocators
	for _, id := range plan.Keepers[1:] {
		if _, err := leases.Lease(id); err != nil {
			return err
		}
	}
	_, err := m.Set(ctx, zone.AllocatorsKey, leases.Append(nil), 0)
	if err != nil && !errors.Is(err, ErrStale) {
		return fmt.Errorf("seamless: %w", err)
	}
	for _, id := range plan.Zones() {
		var a zone.Assignment
		_, err := m.Set(ctx, zone.ZoneKey(id), a.Append(nil), 0)
		if err != nil && !errors.Is(err, ErrStale) { // from an attempt that came no further
			return fmt.Errorf("seamless: zone %d: %w", id, err)
		}
	}
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return err
	}
	h := header{ID: hex.EncodeToString(id[:]), Game: o.Title.Name(), Rules: rulesOf(o.Title),
		Zero: time.Now().UnixNano(), Players: o.Players, Level: o.Level.Name, Seed: o.Level.Seed,
		Data: len(o.Level.Data) > 0, Plan: plan, Bounds: o.Bounds}
	data, err := json.Marshal(&h)
	if err != nil {
		return err
	}
	if _, err := m.Set(ctx, worldKey, data, 0); errors.Is(err, ErrStale) {
		return ErrFounded
	} else if err != nil {
		return fmt.Errorf("seamless: %w", err)
	}
	return nil
}
