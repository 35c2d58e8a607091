package relay

import (
	"net/netip"
	"time"
)

// Limits are what an operator allows. Zero values have defaults.
type Limits struct {
	// Matches is how many there may be at a time, and MatchesPerAddress how many of those one
	// address may have created; defaults 1024 and 16.
	Matches, MatchesPerAddress int
	// Connections is how many there may be on each link, and PerAddress how many of one address;
	// defaults 8 for each match, and 64. The most is 16000.
	Connections, PerAddress int
	// Watchers is how many may watch one match without a seat. Default: 16. WatchRate is how many
	// packets a second they are sent. Default: 10.
	Watchers  int
	WatchRate int
	// Patience and Grace are the most that a match gets of what it asks for. Defaults: 500 ms and
	// 10 minutes.
	Patience, Grace time.Duration
	// CodeLife is for how long a code lets people in. Default: 2 hours.
	CodeLife time.Duration
	// Guesses is how many wrong codes one address may try in a minute. Default: 10.
	Guesses int
	// CarryRate is how many bytes a second of datagrams to others are taken of one member, and
	// CarryBurst how many at once, after a while without: a world that is sent to someone who
	// joins. Defaults: 64 kB and 1.5 MB.
	CarryRate, CarryBurst int
	// History is how many bytes of rows are kept for each match at most. Default: 256 KiB.
	History int
}

func (l *Limits) fill() {
	fill(&l.Matches, 1024)
	fill(&l.MatchesPerAddress, 16)
	fill(&l.Connections, 8*l.Matches)
	l.Connections = min(l.Connections, 16000)
	fill(&l.PerAddress, 64)
	fill(&l.Watchers, 16)
	fill(&l.WatchRate, 10)
	fill(&l.Patience, 500*time.Millisecond)
	fill(&l.Grace, 10*time.Minute)
	fill(&l.CodeLife, 2*time.Hour)
	fill(&l.Guesses, 10)
	fill(&l.CarryRate, 64_000)
	fill(&l.CarryBurst, 1_500_000)
	fill(&l.History, 256<<10)
	l.History = max(l.History, 4<<10)
}

// fill replaces zero by a default, and anything below by zero.
func fill[T ~int | ~int64](v *T, def T) {
	if *v == 0 {
		*v = def
	}
	*v = max(*v, 0)
}

// A bucket is a limit by the second that lets some pass at once: it holds up to most, and is filled
// at a rate.
type bucket struct {
	left float64
	at   time.Duration
}

// take takes n out of the bucket, if there are as many in it.
func (b *bucket) take(now time.Duration, n, rate, most float64) bool {
	if b.at == 0 {
		b.left, b.at = most, max(now, 1)
	}
	if d := now - b.at; d > 0 {
		b.left = min(b.left+float64(rate*d.Seconds()), most)
		b.at = now
	}
	if b.left < n {
		return false
	}
	b.left -= n
	return true
}

// What one member may send, beyond what it is told: twice what an honest one sends at most, as the
// network may hold messages back and deliver them at once.
const (
	controlRate, controlBurst = 40, 120
	wordRate, wordBurst       = 60, 240
	// What members may say, which the client keeps to.
	WordRate, WordBurst = 20, 60
	// A packet of items comes once a row at most, and once more in between.
	turnRate, turnBurst = 2 * MaxRate, 4 * MaxRate
)

// sources are the addresses that have created matches or tried wrong codes.
type sources map[netip.Addr]*source

type source struct {
	matches int
	guesses bucket
}

func (s sources) of(a netip.Addr) *source {
	x := s[a]
	if x == nil {
		x = &source{}
		s[a] = x
	}
	return x
}

// sweep forgets those of whom nothing is worth knowing.
func (s sources) sweep(now time.Duration) {
	for a, x := range s {
		if x.matches == 0 && now-x.guesses.at > 2*time.Minute {
			delete(s, a)
		}
	}
}
