package browser

import "time"

// A way is one of the two carriers.
type way int

const (
	none        way = -1
	byTransport way = iota - 1
	bySocket
	ways
)

const (
	// headStart is how long WebTransport has before WebSocket is tried as well: three round trips
	// to another continent.
	headStart = 700 * time.Millisecond
	// patience is how long a try may take.
	patience = 12 * time.Second
	// pause is the wait before everything is tried again, and grows to pauseMost.
	pause     = 250 * time.Millisecond
	pauseMost = 5 * time.Second
	// blocked is for how long WebTransport gets no head start after it has failed, and when it is
	// tried again beside WebSocket.
	blocked = 2 * time.Minute
)

// A choice decides which carrier to open and which to use. It knows no browser: it is told what
// happens, and calls open and shut.
type choice struct {
	open func(w way) // begin to open it; opened, failed or closed will be told
	shut func(w way) // close it, open or not

	able    [ways]bool // what there is
	state   [ways]state
	began   [ways]time.Duration
	use     way
	next    time.Duration // when WebSocket is tried, or all again
	waits   time.Duration
	distant time.Duration // until when WebTransport counts as blocked
	asleep  bool          // nothing is open or being tried until next
}

type state uint8

const (
	idle state = iota
	trying
	there
)

// start begins.
func (c *choice) start(now time.Duration) {
	c.use, c.asleep = none, false
	c.next = now + headStart
	if c.able[byTransport] {
		c.try(byTransport, now)
		if now >= c.distant {
			return
		}
	}
	c.next = now
	c.tick(now)
}

func (c *choice) try(w way, now time.Duration) {
	if c.able[w] && c.state[w] == idle {
		c.state[w], c.began[w] = trying, now
		c.open(w)
	}
}

// tick is called from time to time.
func (c *choice) tick(now time.Duration) {
	for w := range ways {
		if c.state[w] == trying && now-c.began[w] > patience {
			c.shut(w)
			c.failed(w, now)
		}
	}
	switch {
	case c.asleep && now >= c.next:
		c.start(now)
	case !c.asleep && c.use == none && now >= c.next:
		c.try(bySocket, now)
	case c.use == bySocket && c.state[byTransport] == idle && now >= c.distant:
		c.try(byTransport, now) // the player may have moved to another network
	}
}

// opened says that a carrier can be used, if it is good enough.
func (c *choice) opened(w way, now time.Duration, good bool) {
	if c.state[w] != trying {
		return
	}
	if !good {
		c.shut(w)
		c.failed(w, now)
		return
	}
	c.state[w], c.waits = there, 0
	if w == byTransport {
		c.distant = 0
	}
	if c.use == none || w == byTransport {
		old := c.use
		c.use = w
		if old != none {
			c.state[old] = idle
			c.shut(old)
		}
	}
	// What is worse is no longer needed.
	if w == byTransport && c.state[bySocket] != idle {
		c.state[bySocket] = idle
		c.shut(bySocket)
	}
}

// failed says that a carrier could not be opened, or has closed.
func (c *choice) failed(w way, now time.Duration) {
	if c.state[w] == idle {
		return
	}
	refused := c.state[w] == trying
	if w == byTransport && refused {
		c.distant = now + blocked
	}
	c.state[w] = idle
	if c.use == w {
		c.use = none
	}
	if c.use != none {
		return
	}
	for o := range ways {
		if c.state[o] == there {
			c.use = o
			return
		}
	}
	if w == byTransport && refused && !c.asleep && c.state[bySocket] == idle && c.able[bySocket] {
		c.next = now
		c.tick(now)
		return
	}
	if c.state[byTransport] == idle && c.state[bySocket] == idle {
		c.waits = min(max(pause, c.waits*2), pauseMost)
		c.next, c.asleep = now+c.waits, true
	}
}
