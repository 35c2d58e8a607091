package netsim

import (
	"time"

	"github.com/coeval-dev/coeval/internal/heap"
)

// event is something that will happen at a time: a datagram arrives, a timer
// fires, a fault begins or ends.
type event struct {
	index int32  // into packets, timers or faults
	gen   uint32 // of the timer
	kind  eventKind
}

// queue holds events by the time of each.
type queue = heap.Heap[time.Duration, event]

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

// push has an event happen at a time, in this order among others of that time.
func (n *Net) push(at time.Duration, order uint64, e event) {
	n.events = n.events.Push(heap.Item[time.Duration, event]{Key: at, Order: order, Value: e})
}
