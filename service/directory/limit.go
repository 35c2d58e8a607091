package directory

import (
	"net/netip"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// limits bound how often one source may ask: an address, or a network (/64) of IPv6. This machine
// itself, which is none, may ask as often as it likes: its programs are the operator's.
type limits struct {
	rate, burst float64

	mu sync.Mutex
	of map[netip.Addr]bucket
}

// A bucket has what an address may still ask, to which time adds.
type bucket struct {
	left float64
	at   time.Duration
}

const mostBuckets = 16384

func (l *limits) pass(from netip.Addr, now time.Duration) bool {
	if !from.IsValid() {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[netip.Addr]bucket{}
	}
	b, known := l.of[from]
	if !known {
		if len(l.of) >= mostBuckets {
			l.forget(now)
		}
		b = bucket{l.burst, now}
	}
	b.left, b.at = min(b.left+float64((now-b.at).Seconds()*l.rate), l.burst), now
	ok := b.left >= 1
	if ok {
		b.left--
	}
	l.of[from] = b
	return ok
}

// forget makes room: of some, all that are full again, or else the one that is nearest to it. It
// looks at few, so that whoever has many addresses cannot have it look at all for each.
func (l *limits) forget(now time.Duration) {
	var best netip.Addr
	most, n := -1.0, 0
	for a, b := range l.of {
		left := b.left + (now-b.at).Seconds()*l.rate
		if left >= l.burst {
			delete(l.of, a)
		}
		if left > most {
			best, most = a, left
		}
		if n++; n == 16 {
			break
		}
	}
	delete(l.of, best)
}

// source is what a call counts for in limits. It is none for a program of this machine; but what a
// proxy on this machine passes on is somebody else's.
func (c *call) source() netip.Addr {
	passed := c.Header.Get("X-Forwarded-For") != "" || c.Header.Get("Forwarded") != ""
	if c.from.IsLoopback() && !passed {
		return netip.Addr{}
	}
	return link.SourceOf(c.from)
}

// left says whether an address may still ask, and does not count it.
func (l *limits) left(from netip.Addr, now time.Duration) bool {
	if from.IsLoopback() {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b, known := l.of[link.SourceOf(from)]
	return !known || b.left+(now-b.at).Seconds()*l.rate >= 1
}
