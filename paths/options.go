package paths

import (
	"cmp"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// Options are for New. Self and Seed must be set; what is zero of the rest has the value that is
// named beside it.
type Options struct {
	// Self is our own number in the group.
	Self member.ID
	// Seed decides all that is random here. Never use one seed for two of them.
	Seed [32]byte
	// Wall is the Unix time in seconds. A machine that begins anew under the same keys must have a
	// later one than before, or what it asks is taken for a replay.
	Wall int64
	// RelayOnly is for machines that can send to no address but the relay's, such as browsers.
	RelayOnly bool

	// Silence is for how long nothing may come from a member that sends all the time before
	// another path is tried: 250 ms. A member that sends seldom may be silent for twice its usual
	// interval.
	Silence time.Duration
	// Measure is how often the path in use is asked: 3 s.
	Measure time.Duration
	// Keepalive is how often a direct path is asked that is not in use, so that routers keep it
	// open: 15 s.
	Keepalive time.Duration
	// ProbeRate is how many bytes a second asks may take, to all members together and with the
	// headers of UDP: 8192. Answers are as many as the asks that came.
	ProbeRate int
	// CarryRate is how many bytes a second we carry for one member, headers counted: 131072.
	CarryRate int
}

func (o Options) withDefaults() Options {
	o.Silence = cmp.Or(max(o.Silence, 0), 250*time.Millisecond)
	o.Measure = cmp.Or(max(o.Measure, 0), 3*time.Second)
	o.Keepalive = cmp.Or(max(o.Keepalive, 0), 15*time.Second)
	o.ProbeRate = cmp.Or(max(o.ProbeRate, 0), 8<<10)
	o.CarryRate = cmp.Or(max(o.CarryRate, 0), 128<<10)
	return o
}

const (
	// maxGiven is how many of the addresses that a member names are tried, maxLearnt how many of
	// those that it was heard from beside them, and maxOver how many members as carriers.
	maxGiven  = 8
	maxLearnt = 4
	maxOver   = 3

	// maxSilence is for how long a member may be silent at most, whatever its interval was.
	maxSilence = 2500 * time.Millisecond
	// expectAfter is how many datagrams make silence a sign.
	expectAfter = 8
	// maxAlarms is how often a member may be silent, though it answers asks, before nothing more is
	// expected of it.
	maxAlarms = 3
	// lateBy is by how much a look at the clock may be late before silence counts as our own, and
	// lateMore how long we then wait for what came in the meantime.
	lateBy   = 100 * time.Millisecond
	lateMore = 50 * time.Millisecond

	// askSoon is the least time between two asks of one path, doubtAfter how many asks in a row
	// may have no answer, and doubtLate how many by a path in use while datagrams come.
	askSoon    = 100 * time.Millisecond
	doubtAfter = 3
	doubtLate  = 8
	// settleTime is how long a path must have been good for its last doubt to be forgotten.
	settleTime = 10 * time.Second

	// headers is what IPv4 and UDP add to a datagram.
	headers = 28
)

// pace is the time until the next ask when so many had no answer.
func pace(tries int) time.Duration {
	switch {
	case tries <= 10:
		return askSoon
	case tries <= 20:
		return 500 * time.Millisecond
	case tries <= 30:
		return 2 * time.Second
	}
	return 15 * time.Second
}

// A bucket limits bytes by time.
type bucket struct {
	level float64
	at    time.Duration
	full  bool // it was filled once
}

// take takes bytes out if they are there. A bucket holds what flows into it in a second.
func (b *bucket) take(now time.Duration, rate, bytes int) bool {
	if !b.full {
		b.level, b.at, b.full = float64(rate), now, true
	}
	if now > b.at {
		b.level = min(b.level+float64(rate)*(now-b.at).Seconds(), float64(rate))
		b.at = now
	}
	if b.level < float64(bytes) {
		return false
	}
	b.level -= float64(bytes)
	return true
}
