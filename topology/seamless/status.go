package seamless

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// A Status is how a world is, as the map has it: what servers have written of themselves in the
// last seconds.
type Status struct {
	Game    string `json:"game"`
	Level   string `json:"level"`
	Version uint64 `json:"version"` // of the plan
	// Counts is the tick from which the plan counts, and Zero when tick 0 was due.
	Counts world.Tick `json:"counts,omitempty"`
	Zero   time.Time  `json:"zero"`
	// Due is the tick that is due by this machine's clock, and Paused the one after which zones
	// stand still, 0 if they do not.
	Due    world.Tick `json:"due"`
	Paused world.Tick `json:"paused,omitempty"`
	Home   zone.ID    `json:"home"`
	// Bounds is the part of space in which most things are.
	Bounds  Box            `json:"bounds"`
	Balance *Balance       `json:"balance,omitempty"`
	Zones   []ZoneStatus   `json:"zones"`
	Servers []ServerStatus `json:"servers"`

	plan *Plan
}

// ZoneStatus is how a zone is.
type ZoneStatus struct {
	ZoneLoad
	// Server is the one that steps it, 0 if none has said so lately.
	Server zone.ServerID `json:"server,string"`
	Spare  bool          `json:"spare,omitempty"`
	Halted bool          `json:"halted,omitempty"`
	Epoch  uint64        `json:"epoch"`
	// Area is its part of space, within the world's bounds.
	Area Box `json:"area,omitzero"`
}

// ServerStatus is how a server is.
type ServerStatus struct {
	Server zone.ServerID `json:"server,string"`
	NodeInfo
}

// Look says how a world is. It needs nothing but the map.
func Look(ctx context.Context, m Map) (*Status, error) {
	h, _, err := readHeader(ctx, m)
	if err != nil {
		return nil, err
	}
	s := &Status{Game: h.Game, Level: h.Level, Version: h.Plan.Version,
		Counts: h.Plan.At, Zero: time.Unix(0, h.Zero), Paused: h.Paused,
		Home: h.Plan.Home, Bounds: h.Bounds, Balance: h.Balance, plan: h.Plan}
	if err := s.servers(ctx, m); err != nil {
		return nil, err
	}
	entries, err := m.List(ctx, zone.ZonePrefix)
	if err != nil {
		return nil, err
	}
	kept := map[string]zone.Assignment{}
	for _, e := range entries {
		if a, err := zone.ReadAssignment(e.Value); err == nil {
			kept[e.Key] = a
		}
	}
	for _, id := range h.Plan.All() {
		a := kept[zone.ZoneKey(id)]
		z := ZoneStatus{ZoneLoad: ZoneLoad{Zone: id, Both: 1}, Halted: a.Halted, Epoch: a.Epoch,
			Spare: slices.Contains(h.Plan.Spare, id)}
		if box, ok := h.Plan.Area(id); ok {
			z.Area = within(box, h.Bounds)
		}
		s.stepped(&z, a.Owner)
		s.Zones = append(s.Zones, z)
	}
	return s, nil
}

// servers lists those that have written of themselves lately.
func (s *Status) servers(ctx context.Context, m Map) error {
	nodes, err := Nodes(ctx, m)
	if err != nil {
		return err
	}
	for id, info := range nodes { // sorted below
		s.Due = max(s.Due, info.Tick)
		s.Servers = append(s.Servers, ServerStatus{id, info})
	}
	slices.SortFunc(s.Servers, func(a, b ServerStatus) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Server, b.Server))
	})
	s.Servers = slices.DeleteFunc(s.Servers, func(x ServerStatus) bool {
		return s.Paused == 0 && x.Tick+goneAfter < s.Due
	})
	return nil
}

// goneAfter is by how many ticks a server's word may be older than others' before it is taken for
// gone.
const goneAfter = 300

// stepped finds out which server has a zone: its owner, if that has said so.
func (s *Status) stepped(z *ZoneStatus, owner zone.ServerID) {
	for i := range s.Servers {
		x := &s.Servers[i]
		if !slices.Contains(x.Zones, z.Zone) || z.Server == owner && owner != 0 {
			continue
		}
		z.Server = x.Server
		for _, l := range x.Loads {
			if l.Zone == z.Zone {
				z.ZoneLoad = l
			}
		}
	}
}

// within is the part of a box that is in another.
func within(b, in Box) Box {
	clamp := func(v, in, to det.Vec3) det.Vec3 {
		return det.Vec3{X: min(max(v.X, in.X), to.X), Y: min(max(v.Y, in.Y), to.Y),
			Z: min(max(v.Z, in.Z), to.Z)}
	}
	return Box{clamp(b.Lo, in.Lo, in.Hi), clamp(b.Hi, in.Lo, in.Hi)}
}

// Sibling gives the zone with which one can be merged, if there is one.
func (s *Status) Sibling(id zone.ID) (zone.ID, bool) { return s.plan.Sibling(id) }

// Zone gives the zone in which a place is.
func (s *Status) Zone(at det.Vec3) zone.ID { return s.plan.Zone(at) }

// Find gives a server by its name, or by its number.
func (s *Status) Find(name string) (zone.ServerID, bool) {
	for _, x := range s.Servers {
		if x.Name == name || strconv.FormatUint(uint64(x.Server), 10) == name {
			return x.Server, true
		}
	}
	return 0, false
}

// Steady says whether all zones are stepped by a server that says so.
func (s *Status) Steady() bool {
	for i := range s.Zones {
		if s.Zones[i].Server == 0 {
			return false
		}
	}
	return len(s.Zones) > 0
}

// Await waits until a world is steady.
func Await(ctx context.Context, m Map) (*Status, error) {
	for {
		s, err := Look(ctx, m)
		if err == nil && s.Steady() {
			return s, nil
		}
		if !pause(ctx, 200*time.Millisecond) {
			return s, context.Cause(ctx)
		}
	}
}
