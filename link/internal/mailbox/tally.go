package mailbox

import (
	"sync/atomic"

	"github.com/coeval-dev/coeval/link"
)

// Tally counts what Send took and refused. Any goroutine may read it.
type Tally struct {
	sent, bytes, refused, dropped atomic.Uint64
}

// Took counts datagrams that Send accepted.
func (t *Tally) Took(datagrams int, bytes uint64) {
	t.sent.Add(uint64(datagrams))
	t.bytes.Add(bytes)
}

// Refuse counts a datagram that Send did not take.
func (t *Tally) Refuse() { t.refused.Add(1) }

// Drop counts datagrams that were taken and then thrown away.
func (t *Tally) Drop(datagrams int) { t.dropped.Add(uint64(datagrams)) }

// Counters fills in what the tally knows.
func (t *Tally) Counters(c *link.Counters) {
	c.Sent = t.sent.Load()
	c.SentBytes = t.bytes.Load()
	c.Refused = t.refused.Load()
	c.DroppedOut = t.dropped.Load()
}
