package netsim

import (
	"fmt"
	"slices"
	"time"
)

// Fault is one thing that goes wrong: at a time, to a part of the network, or
// to one datagram, counted from 1 on its path. Which fields matter depends on
// Kind; the text form, one fault a line, is explained at [Script].
type Fault struct {
	Kind    Kind
	At, For time.Duration // when it begins and how long it lasts; For of zero is for good
	// names of endpoints, "*" for all; To is unused for pause, restart and rebind
	From, To string
	OneWay   bool   // only from From to To
	Settings string // of a path, as "preset=awful loss=0.3"
	Address  bool   // rebind the address and not just the port

	Number uint64        // of the datagram
	By     time.Duration // how much later it arrives
	Bit    uint32        // which bit is flipped
}

// Kind is what a fault does.
type Kind uint8

// The first five happen at a time, the rest to one datagram.
const (
	Cut     Kind = iota // no traffic between From and To
	Pause               // From is suspended
	Restart             // From crashes and comes back after For
	Rebind              // From, an endpoint or a router, gets another port or address
	Storm               // the path between From and To changes to Settings
	Drop                // the datagram is lost
	Delay               // it arrives later, and those behind it wait
	Hold                // it arrives later, and those behind it overtake
	Copy                // it arrives again
	Flip                // one bit of it arrives wrong
	kinds
)

var kindNames = [kinds]string{
	"cut", "pause", "restart", "rebind", "path", "drop", "delay", "hold", "copy", "flip"}

// String is the word that scripts use.
func (k Kind) String() string {
	if k >= kinds {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// timed is whether the kind happens at a time.
func (k Kind) timed() bool { return k <= Storm }

// inForce is what a fault changed, to be taken back when it ends.
type inForce struct {
	paths     []*netPath
	endpoints []*Endpoint
}

// Schedule adds faults to the network, as part of the test: unlike those that
// Chaos draws, they stay when a failure is reduced.
func (n *Net) Schedule(faults ...Fault) error {
	for _, f := range faults {
		if err := f.check(); err != nil {
			return err
		}
	}
	for _, f := range faults {
		n.addFault(f)
	}
	return nil
}

func (n *Net) addFault(f Fault) {
	if f.Kind.timed() {
		n.faults = append(n.faults, f)
		k := int32(len(n.faults) - 1)
		n.push(max(n.now, f.At), uint64(2*k+1), event{kind: eventFault, index: k})
		return
	}
	ends := [2]string{f.From, f.To}
	byNumber := n.scripted[ends]
	if byNumber == nil {
		byNumber = make(map[uint64]decision)
		n.scripted[ends] = byNumber
		if from, to := n.byName[f.From], n.byName[f.To]; from != nil && to != nil {
			n.path(from, to).script = byNumber
		}
	}
	byNumber[f.Number] = byNumber[f.Number].and(f.decision())
}

// decision is what a fault of one datagram does to it.
func (f Fault) decision() decision {
	switch f.Kind {
	case Drop:
		return decision{drop: true}
	case Delay:
		return decision{delay: f.By}
	case Hold:
		return decision{delay: f.By, held: true}
	case Copy:
		return decision{copied: true, copyBy: f.By}
	case Flip:
		return decision{flipped: true, bit: f.Bit}
	}
	return decision{}
}

// attach tells a new path about the script, and whom to tell.
func (n *Net) attach(path *netPath) {
	path.exact = n.exact
	path.script = n.scripted[[2]string{path.from.name, path.to.name}]
	if n.noting {
		path.note = func(number uint64, d decision) { n.note(path, number, d) }
	}
}

// note writes down what chance did to a datagram, as faults that do the same.
func (n *Net) note(path *netPath, number uint64, d decision) {
	f := Fault{From: path.from.name, To: path.to.name, OneWay: true, Number: number}
	add := func(k Kind, by time.Duration, bit uint32) {
		f.Kind, f.By, f.Bit = k, by, bit
		n.noted = append(n.noted, f)
	}
	if d.drop {
		add(Drop, 0, 0)
	}
	if d.held {
		add(Hold, d.delay, 0)
	} else if d.delay != 0 {
		add(Delay, d.delay, 0)
	}
	if d.copied {
		add(Copy, d.copyBy, 0)
	}
	if d.flipped {
		add(Flip, 0, d.bit)
	}
}

// begin puts a fault in force.
func (n *Net) begin(k int32) {
	f := n.faults[k]
	var now inForce
	switch f.Kind {
	case Cut, Storm:
		now.paths = n.pathsOf(f)
	default:
		now.endpoints = n.named(f.From)
	}
	for _, path := range now.paths {
		if f.Kind == Cut {
			path.Cut()
			continue
		}
		settings, _ := parseSettings(f.Settings) // checked by Schedule
		path.overlays = append(path.overlays,
			overlay{fault: k, settings: settings, down: !f.forward(path)})
		n.renew(path)
	}
	for _, r := range n.allRouters {
		if f.Kind == Rebind && r.name == f.From && f.Address {
			r.RebindAddr()
		} else if f.Kind == Rebind && r.name == f.From {
			r.Rebind()
		}
	}
	for _, e := range now.endpoints {
		switch f.Kind {
		case Pause:
			e.Pause()
		case Restart:
			e.Restart(f.For)
		case Rebind:
			if f.Address {
				e.RebindAddr()
			} else {
				e.RebindPort()
			}
		}
	}
	if f.For > 0 && f.Kind != Restart && f.Kind != Rebind {
		n.inForce[k] = now
		n.push(later(n.now, f.For), uint64(2*k), event{kind: eventFaultEnd, index: k})
	}
}

// end takes a fault back.
func (n *Net) end(k int32) {
	was := n.inForce[k]
	delete(n.inForce, k)
	for _, path := range was.paths {
		if n.faults[k].Kind == Cut {
			path.Heal()
			continue
		}
		path.overlays = slices.DeleteFunc(path.overlays,
			func(o overlay) bool { return o.fault == k })
		n.renew(path)
	}
	for _, e := range was.endpoints {
		e.Resume()
	}
}

// named returns the endpoint of a name, or all.
func (n *Net) named(name string) []*Endpoint {
	if name == "*" {
		return n.endpoints
	}
	if e := n.byName[name]; e != nil {
		return []*Endpoint{e}
	}
	return nil
}

// pathsOf returns the paths that a fault is about, each once.
func (n *Net) pathsOf(f Fault) (paths []*netPath) {
	add := func(from, to *Endpoint) {
		if path := n.path(from, to); from != to && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	for _, from := range n.named(f.From) {
		for _, to := range n.named(f.To) {
			add(from, to)
			if !f.OneWay {
				add(to, from)
			}
		}
	}
	return paths
}

// forward is whether a path runs in the direction that the fault names.
func (f Fault) forward(path *netPath) bool {
	return (f.From == path.from.name || f.From == "*") && (f.To == path.to.name || f.To == "*")
}
