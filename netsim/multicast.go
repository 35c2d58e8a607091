package netsim

import (
	"net/netip"
	"slices"
)

// Groups of IP multicast: what an endpoint sends to the address of a group goes over its path to
// each other endpoint that has joined it, with the loss and delay of that path, and counts as sent
// once. Routers do not pass it.

// JoinGroup has the endpoint receive what is sent to a group.
func (e *Endpoint) JoinGroup(group netip.AddrPort) {
	if list := e.net.groups[group]; !slices.Contains(list, e) {
		e.net.groups[group] = append(list, e)
	}
}

// LeaveGroup ends that.
func (e *Endpoint) LeaveGroup(group netip.AddrPort) {
	e.net.groups[group] = slices.DeleteFunc(e.net.groups[group],
		func(o *Endpoint) bool { return o == e })
}

// PassGroups says between whom multicast passes, beside what the paths do: switches and routers
// drop it where unicast goes through. Nil lets all of it pass.
func (n *Net) PassGroups(passes func(from, to *Endpoint, data []byte) bool) {
	n.passGroups = passes
}

// multicast sends to all others of a group.
func (n *Net) multicast(e *Endpoint, from, group netip.AddrPort, data []byte) {
	for _, to := range n.groups[group] {
		if to != e && to.router == e.router && (n.passGroups == nil || n.passGroups(e, to, data)) {
			n.transmit(e, from, to.home(), data)
		}
	}
}

// home is the endpoint's address for those behind the same router.
func (e *Endpoint) home() netip.AddrPort {
	if e.router != nil {
		return e.local
	}
	return e.public
}
