package netsim

import "time"

// Timer is something that an endpoint, or a test, asked to be called for.
type Timer struct {
	net   *Net
	index int32
	gen   uint32
}

type timer struct {
	call  func()
	every time.Duration
	owner *Endpoint // nil for the test's own
	boots uint32    // of the owner when it was set; a restart forgets older ones
	gen   uint32
}

// After calls f once, after d, whatever becomes of any endpoint.
func (n *Net) After(d time.Duration, f func()) Timer { return n.newTimer(nil, d, 0, f) }

// Every calls f again and again, first after d. A d that is not positive counts
// as a nanosecond.
func (n *Net) Every(d time.Duration, f func()) Timer { return n.newTimer(nil, d, max(d, 1), f) }

// After calls f once, after d, as part of the endpoint: not while it is paused
// and not after it was restarted or closed.
func (e *Endpoint) After(d time.Duration, f func()) Timer { return e.net.newTimer(e, d, 0, f) }

// Every calls f again and again, first after d, as part of the endpoint: its
// tick. A pause swallows the ticks that fall into it but one, which comes late.
func (e *Endpoint) Every(d time.Duration, f func()) Timer {
	return e.net.newTimer(e, d, max(d, 1), f)
}

// Stop makes sure that the timer does not call any more.
func (t Timer) Stop() {
	if t.net != nil && t.net.timers[t.index].gen == t.gen {
		t.net.dropTimer(t.index)
	}
}

func (n *Net) newTimer(owner *Endpoint, d, every time.Duration, f func()) Timer {
	if len(n.idle) == 0 {
		n.timers = append(n.timers, timer{})
		n.idle = append(n.idle, int32(len(n.timers)-1))
	}
	k := n.idle[len(n.idle)-1]
	n.idle = n.idle[:len(n.idle)-1]
	t := &n.timers[k]
	t.call, t.every, t.owner = f, every, owner
	if owner != nil {
		t.boots = owner.boots
	}
	n.schedule(later(n.now, max(every, d, 0)), eventTimer, k, t.gen)
	return Timer{n, k, t.gen}
}

// dropTimer frees a timer. What still stands in the queue for it has an older
// generation and is passed over.
func (n *Net) dropTimer(k int32) {
	t := &n.timers[k]
	t.gen++
	t.call, t.owner = nil, nil
	n.idle = append(n.idle, k)
}

func (n *Net) fire(e event) {
	t := &n.timers[e.index]
	if t.gen != e.gen {
		return
	}
	if o := t.owner; o != nil {
		if o.closed || t.boots != o.boots {
			n.dropTimer(e.index)
			return
		}
		if o.pauses > 0 {
			o.deferred = append(o.deferred, e)
			return
		}
	}
	call := t.call
	if t.every > 0 {
		n.schedule(later(n.now, t.every), eventTimer, e.index, e.gen)
	} else {
		n.dropTimer(e.index)
	}
	call()
}
