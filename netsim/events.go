package netsim

import "time"

// event is something that will happen at a time: a datagram arrives, a timer
// fires, a fault begins or ends.
type event struct {
	at    time.Duration
	order uint64 // breaks ties, so that equal times keep one order in every run
	index int32  // into packets, timers or faults
	gen   uint32 // of the timer
	kind  eventKind
}

type eventKind uint8

const (
	eventPacket eventKind = iota
	eventTimer
	eventFault
	eventFaultEnd
)

// orderAfterFaults leaves room below for the faults of a script, which come
// first among simultaneous events whenever they were scheduled. That way a
// replayed script meets the same world as the run it was taken from.
const orderAfterFaults = 1 << 40

func (e *event) before(f *event) bool {
	return e.at < f.at || e.at == f.at && e.order < f.order
}

// queue is a heap of events with four children a node, which is shallower than
// the usual two and touches fewer cache lines.
type queue []event

func (q *queue) push(e event) {
	*q = append(*q, e)
	h := *q
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
}

func (q *queue) pop() event {
	h := *q
	top, e := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	if len(h) == 0 {
		return top
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(h)); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&e) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = e
	return top
}
