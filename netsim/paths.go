package netsim

import "math/bits"

// Connect sets the conditions between two endpoints: Up from client to server,
// Down from server to client.
func (n *Net) Connect(client, server *Endpoint, c Conditions) {
	n.SetPath(client, server, c.Up)
	n.SetPath(server, client, c.Down)
}

// SetPath sets what happens to datagrams in one direction.
func (n *Net) SetPath(from, to *Endpoint, p Profile) {
	path := n.path(from, to)
	path.base = p
	n.renew(path)
}

// Use sets the conditions between all endpoints, those to come included. The
// endpoint that was made earlier is taken for the server: traffic towards it goes
// Up.
func (n *Net) Use(c Conditions) {
	n.conditions = c
	for _, from := range n.endpoints {
		for _, path := range from.paths {
			if path != nil {
				path.base = n.profileBetween(from, path.to)
				n.renew(path)
			}
		}
	}
}

// Path is the path between two endpoints in one direction, for its statistics
// and its queue. Change it with SetPath, which a fault can undo.
func (n *Net) Path(from, to *Endpoint) *Path { return &n.path(from, to).Path }

// Stats sums over all paths. Datagrams to addresses that nobody has are counted
// as offered and unrouted.
func (n *Net) Stats() Stats {
	s := Stats{Offered: n.unrouted, Unrouted: n.unrouted}
	add := func(e *Endpoint) {
		for _, path := range e.paths {
			if path != nil {
				s = s.Add(path.stats)
			}
		}
	}
	for _, e := range n.endpoints {
		add(e)
	}
	if n.outside != nil {
		add(n.outside)
	}
	return s
}

// Cut stops all traffic between two endpoints, both ways, what is on its way
// included. Cuts add up: Heal takes back one.
func (n *Net) Cut(a, b *Endpoint) {
	n.path(a, b).Cut()
	n.path(b, a).Cut()
}

// Heal takes back one Cut.
func (n *Net) Heal(a, b *Endpoint) {
	n.path(a, b).Heal()
	n.path(b, a).Heal()
}

// CutOneWay stops traffic in one direction only; Path(from, to).Heal undoes it.
func (n *Net) CutOneWay(from, to *Endpoint) { n.path(from, to).Cut() }

// Partition cuts every endpoint of one side off from every endpoint of the
// other. HealPartition takes it back.
func (n *Net) Partition(side, other []*Endpoint) {
	for _, a := range side {
		for _, b := range other {
			n.Cut(a, b)
		}
	}
}

// HealPartition takes back one Partition of the same sides.
func (n *Net) HealPartition(side, other []*Endpoint) {
	for _, a := range side {
		for _, b := range other {
			n.Heal(a, b)
		}
	}
}

// netPath is a path with its ends, and what faults laid over it.
type netPath struct {
	Path
	from, to *Endpoint
	base     Profile
	overlays []overlay
}

// overlay is a fault in force that changes a path.
type overlay struct {
	fault    int32
	settings []setting
	down     bool // the path runs against the direction that the fault names
}

// path finds or makes the path from one endpoint to another.
func (n *Net) path(from, to *Endpoint) *netPath {
	if to.id < len(from.paths) && from.paths[to.id] != nil {
		return from.paths[to.id]
	}
	for len(from.paths) <= to.id {
		from.paths = append(from.paths, nil)
	}
	path := &netPath{from: from, to: to}
	if from != n.outside {
		path.base = n.profileBetween(from, to)
	}
	path.seed = mix(mix(n.seed^hashName(from.name)) ^ bits.RotateLeft64(hashName(to.name), 32))
	n.attach(path)
	n.renew(path)
	from.paths[to.id] = path
	return path
}

func (n *Net) profileBetween(from, to *Endpoint) Profile {
	if from.id < to.id {
		return n.conditions.Down
	}
	return n.conditions.Up
}

// renew works out a path's profile from its base and the faults in force.
func (n *Net) renew(path *netPath) {
	c := Conditions{Up: path.base, Down: path.base}
	for _, o := range path.overlays {
		for _, s := range o.settings {
			// Settings were checked when the fault was scheduled.
			_ = c.Set(s.key, s.value)
		}
		if o.down {
			c.Up = c.Down
		} else {
			c.Down = c.Up
		}
	}
	path.SetProfile(c.Up)
}
