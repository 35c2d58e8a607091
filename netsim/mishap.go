package netsim

import (
	"net/netip"
	"time"
)

// OnRestart says how the endpoint starts anew: f is called when Restart brings
// it back, and should make the machine's state afresh and set its timers.
func (e *Endpoint) OnRestart(f func()) { e.onRestart = f }

// Pause stops the endpoint like a suspended process: it neither receives nor
// has its timers called, while its inbox fills. Pauses add up.
func (e *Endpoint) Pause() { e.pauses++ }

// Resume takes back one Pause. What waited comes at once: first the datagrams,
// if they are handled, then the timers that came due.
func (e *Endpoint) Resume() {
	if e.pauses == 0 {
		return
	}
	if e.pauses--; e.pauses > 0 {
		return
	}
	e.drain()
	due := e.deferred
	e.deferred = nil
	for _, t := range due {
		e.net.schedule(e.net.now, eventTimer, t.index, t.gen)
	}
}

// Restart crashes the endpoint and brings it back after the time down. It loses
// its timers and all that it has not received; then OnRestart's function is called.
func (e *Endpoint) Restart(down time.Duration) {
	if e.closed {
		return
	}
	e.forget()
	e.down = true
	boots := e.boots
	e.net.After(down, func() {
		// A second crash in the meantime takes over.
		if e.boots != boots || e.closed {
			return
		}
		e.down = false
		if e.onRestart != nil {
			e.onRestart()
		}
	})
}

// forget drops what the machine had in memory. Timers of an earlier boot are
// passed over when they come due.
func (e *Endpoint) forget() {
	e.boots++
	for e.inbox.len() > 0 {
		e.net.release(e.inbox.pop())
	}
	for _, t := range e.deferred {
		if e.net.timers[t.index].gen == t.gen {
			e.net.dropTimer(t.index)
		}
	}
	e.deferred = e.deferred[:0]
}

// RebindPort gives the endpoint another port, as when a router forgot its
// mapping. What is on its way to the old one is lost.
func (e *Endpoint) RebindPort() {
	if e.router != nil {
		e.router.rebindPort(e)
		return
	}
	port := e.public.Port()
	for {
		if port += portStep; port < 1024 {
			port += 1024
		}
		if a := netip.AddrPortFrom(e.public.Addr(), port); e.net.byAddr[a] == nil {
			e.rebind(a)
			return
		}
	}
}

// RebindAddr gives the endpoint another address, as when a player leaves the
// house and the phone changes networks. Behind a router, it is the router that gets one.
func (e *Endpoint) RebindAddr() {
	if r := e.router; r != nil {
		r.RebindAddr()
		if r.nat.Kind != Symmetric {
			r.out(e.local, netip.AddrPort{})
			e.public = r.outward(e.local)
		}
		return
	}
	e.rebind(netip.AddrPortFrom(e.net.publicHost(), e.public.Port()))
}

func (e *Endpoint) rebind(to netip.AddrPort) {
	if e.closed {
		return
	}
	if e.net.byAddr[e.public] == e {
		delete(e.net.byAddr, e.public)
	}
	e.public = to
	e.epoch++
	e.net.byAddr[to] = e
}
