package seamless

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// directory is what the map has of servers beside what package zone keeps there: where each is
// reached, and how it does.
type directory struct {
	writeAt, readAt  time.Duration
	writing, reading bool
	rev              uint64
	lists            int
	known            map[zone.ServerID]*listed
}

// listed is another server.
type listed struct {
	rev    uint64
	since  time.Duration // when it was written last, as seen from here
	missed int           // in how many lists it was not
	info   NodeInfo
}

// NodeInfo is what a server tells of itself by the map.
type NodeInfo struct {
	Name    string
	Address netip.AddrPort
	// Tick is the last that was due.
	Tick    world.Tick
	Zones   []zone.ID `json:",omitempty"`
	Most    int       // how many zones it takes
	Players int       `json:",omitempty"`
	// Loads are what those of its zones have to do that have a part of space.
	Loads []ZoneLoad `json:",omitempty"`
	// Drained says that it gives its zones to others.
	Drained bool `json:",omitempty"`
	// Gate is where clients reach it, if it is a gateway, and Room how many it takes.
	Gate netip.AddrPort `json:",omitzero"`
	Room int            `json:",omitempty"`
}

func nodeKey(id zone.ServerID) string { return fmt.Sprintf("%s%016x", nodePrefix, uint64(id)) }

func serverOf(key string) (zone.ServerID, bool) {
	rest, ok := strings.CutPrefix(key, nodePrefix)
	n, err := strconv.ParseUint(rest, 16, 64)
	return zone.ServerID(n), ok && err == nil && n != 0 && nodeKey(zone.ServerID(n)) == key
}

const (
	// staleNode is after how long the entry of a server that is gone is taken off the map.
	staleNode = time.Minute
	// quickLists are read at once, so that a server that starts finds the others.
	quickLists = 4
)

func (d *directory) open(now time.Duration) {
	d.writeAt, d.readAt, d.known = now, now, map[zone.ServerID]*listed{}
}

// tend writes this server's entry and reads those of others, when it is time.
func (d *directory) tend(n *node) {
	if n.now >= d.writeAt && !d.writing {
		d.write(n)
	}
	if n.now >= d.readAt && !d.reading {
		d.reading = true
		n.chores.ask(zone.Op{Kind: zone.MapList, Key: nodePrefix}, func(r *zone.Result) {
			d.read(n, r)
		})
	}
}

func (d *directory) write(n *node) {
	info := NodeInfo{Name: n.opt.Name, Address: n.opt.Address,
		Tick: world.Tick(n.zones.Due(n.now)), Players: n.meter.players, Most: max(n.opt.Zones, 0)}
	if n.leaving {
		info.Most = 0
	}
	info.Drained = n.planner.leaving
	for _, v := range n.zones.Zones() {
		info.Zones = append(info.Zones, v.Zone)
		if b := v.Body.(*body); b.area() != &noSpace {
			info.Loads = append(info.Loads, b.load())
		}
	}
	if g := n.gate; g != nil {
		info.Gate, info.Room, info.Players = g.opt.Public, g.opt.Room, len(g.who.list)
	}
	data, _ := json.Marshal(&info) // it has nothing that cannot be written
	d.writing = true
	n.chores.ask(zone.Op{Kind: zone.MapSet, Key: nodeKey(n.opt.Self), Expect: d.rev, Data: data},
		func(r *zone.Result) {
			d.writing, d.writeAt = false, n.now+n.opt.Silence
			switch r.Outcome {
			case zone.OK:
				d.rev = r.Revision
			case zone.Stale, zone.Doubt:
				d.reread(n)
			}
		})
}

// reread finds out at which revision this server's entry is.
func (d *directory) reread(n *node) {
	d.writing = true
	n.chores.ask(zone.Op{Kind: zone.MapGet, Key: nodeKey(n.opt.Self)}, func(r *zone.Result) {
		d.writing = false
		switch r.Outcome {
		case zone.OK:
			d.rev = r.Revision
		case zone.None:
			d.rev = 0
		}
	})
}

// read learns where others are.
func (d *directory) read(n *node, r *zone.Result) {
	d.reading, d.readAt = false, n.now+n.opt.Silence
	if d.lists < quickLists {
		d.readAt = n.now + n.opt.Silence/4
	}
	if r.Outcome != zone.OK {
		return
	}
	d.lists++
	for _, x := range d.known {
		x.missed++
	}
	for _, e := range r.Entries {
		id, ok := serverOf(e.Key)
		var info NodeInfo
		if !ok || id == n.opt.Self || json.Unmarshal(e.Value, &info) != nil {
			continue
		}
		x := d.known[id]
		if x == nil {
			x = &listed{since: n.now}
			d.known[id] = x
		}
		x.missed = 0
		if e.Revision != x.rev {
			x.rev, x.since, x.info = e.Revision, n.now, info
			n.lines.know(id, info.Address, e.Revision)
		}
		if n.now-x.since > staleNode {
			n.chores.ask(zone.Op{Kind: zone.MapDelete, Key: e.Key, Expect: e.Revision}, nil)
			x.since = n.now
		}
	}
	for id, x := range d.known {
		if x.missed > 2 {
			delete(d.known, id)
			n.lines.forget(id)
		}
	}
}

// isGate says whether clients come to a server.
func (d *directory) isGate(id zone.ServerID) bool {
	x := d.known[id]
	return x != nil && x.info.Gate.IsValid()
}

// others lists the servers that have written of themselves lately, those that take zones or all.
func (d *directory) others(n *node, takers bool) (list []zone.ServerID) {
	for id, x := range d.known {
		if n.now-x.since < 3*n.opt.Silence && (x.info.Most > 0 || !takers) {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// owner says to which server to say something for a zone: the one that wrote last that it has it,
// or else the one of which package zone has heard, which may know where the zone has gone.
func (n *node) owner(id zone.ID, heard bool) (to zone.ServerID, ok bool) {
	if n.body(id) != nil {
		return n.opt.Self, true
	}
	if to, ok = n.zones.Owner(id); heard && ok {
		return to, ok
	}
	rev := uint64(0)
	for server, x := range n.directory.known {
		if x.rev > rev && n.lines.all[server].open() && slices.Contains(x.info.Zones, id) {
			to, ok, rev = server, true, x.rev
		}
	}
	return to, ok
}

// leave gives all zones to servers that take them, in turn.
func (n *node) leave() {
	n.leaving = true
	if to := n.directory.others(n, true); len(to) > 0 {
		for i, v := range n.zones.Zones() {
			n.zones.Give(v.Zone, to[i%len(to)])
		}
	}
	n.zones.Leave()
}
