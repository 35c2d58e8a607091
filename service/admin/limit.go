package admin

import (
	"net/netip"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// failures bound how many tokens may be tried in vain from one address, or one network (/64) of
// IPv6: some at once, then one every few seconds. Whoever is over that is not even looked at.
type failures struct {
	mu  sync.Mutex
	of  map[netip.Addr]failed
	all failed // of all addresses, so that many of them do not fill a disk
}

// failed is how many tries one address has had, of which time takes some away.
type failed struct {
	count float64
	at    time.Time
}

const (
	failuresAtOnce = 10
	failureAgain   = 6 * time.Second // after which one more may be tried
	mostFailures   = 4096            // addresses that are remembered
	failuresNoted  = 100             // that are written down at once
)

func (f failed) now(now time.Time) float64 {
	return max(f.count-max(now.Sub(f.at), 0).Seconds()/failureAgain.Seconds(), 0)
}

// over says whether an address has had its tries.
func (l *failures) over(from netip.Addr, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of[link.SourceOf(from)].now(now) > failuresAtOnce-1
}

// count notes a try in vain, and says whether it is worth writing down.
func (l *failures) count(from netip.Addr, now time.Time) (note bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[netip.Addr]failed{}
	}
	from = link.SourceOf(from)
	if _, known := l.of[from]; !known && len(l.of) >= mostFailures {
		l.forget(now)
	}
	l.of[from] = failed{l.of[from].now(now) + 1, now}
	if l.all.now(now) > failuresNoted-1 {
		return false
	}
	l.all = failed{l.all.now(now) + 1, now}
	return true
}

// forget makes room: those that may try as many as anyone go first, or else the mildest of a few.
func (l *failures) forget(now time.Time) {
	var mildest netip.Addr
	n := 0
	for a, f := range l.of {
		if f.now(now) == 0 {
			delete(l.of, a)
			continue
		}
		if n++; n <= 16 && (!mildest.IsValid() || f.now(now) < l.of[mildest].now(now)) {
			mildest = a
		}
	}
	if len(l.of) >= mostFailures {
		delete(l.of, mildest)
	}
}
