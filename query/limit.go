package query

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// Limits bound what queries cost. Those that are zero have defaults.
type Limits struct {
	// Strangers is how many queries are answered in a second of addresses that have not proved to
	// be where they are, all together. Where more come, lots are drawn, so that whoever asks again
	// has another chance. Default: 10,000.
	Strangers int
	// Proven is the same for those who bring a cookie. Default: 10,000.
	Proven int
	// Each is how many queries of one address are answered in a second, a /64 of IPv6 being one;
	// apart with a cookie and without. Default: 160.
	Each int
	// Messages is how many messages are taken in ten seconds, a fifth of them from one address.
	// Default: 20.
	Messages int
}

const (
	// window is the time that is looked at as a whole. What was asked in one decides how lots are
	// drawn in the next.
	window        = 100 * time.Millisecond
	windows       = int(time.Second / window)
	messageWindow = 10 * time.Second
	messageShare  = 5
)

func (l *Limits) fill() {
	orElse(&l.Strangers, 10_000)
	orElse(&l.Proven, 10_000)
	orElse(&l.Each, 160)
	orElse(&l.Messages, 20)
}

func orElse(v *int, otherwise int) {
	if *v <= 0 {
		*v = otherwise
	}
}

// shares count by address, in rows that addresses are spread over by a key that nobody knows: so
// they need no more memory for a million addresses than for one. Addresses that share a row share
// what it may have.
type shares struct {
	rows [4096]uint8
	used bool
}

func (s *shares) take(row, share int) bool {
	if int(s.rows[row]) >= min(share, 255) {
		return false
	}
	s.rows[row]++
	s.used = true
	return true
}

func (s *shares) reset() {
	if s.used {
		*s = shares{}
	}
}

// budget is how many queries of one kind of senders are answered.
type budget struct {
	most    int // in a window
	each    int // of one address, in a window
	spent   int
	asked   int // how many came in this window
	before  int // and in the last
	sources shares
}

func newBudget(most, each int) *budget {
	return &budget{most: max(most/windows, 1), each: max(each/windows, 1)}
}

// next begins a window.
func (b *budget) next(passed int64) {
	b.before = b.asked
	if passed != 1 {
		b.before = 0
	}
	b.asked, b.spent = 0, 0
	b.sources.reset()
}

// take says whether a query is answered; lot is a number drawn at random.
func (b *budget) take(row int, lot uint64) verdict {
	b.asked++
	if b.before > b.most && lot%uint64(b.before) >= uint64(b.most) || b.spent == b.most {
		return flooded
	}
	if !b.sources.take(row, b.each) {
		return crowded
	}
	b.spent++
	return taken
}

// A verdict says what becomes of a query.
type verdict uint8

const (
	taken   verdict = iota
	flooded         // more came than are answered, from all together
	crowded         // or from one address
)

// row is where an address counts.
func row(key *[2]uint64, addr netip.Addr) int {
	a := link.SourceOf(addr).As16()
	h := (binary.BigEndian.Uint64(a[:]) ^ key[0]) * 0x9e3779b97f4a7c15
	h = (h ^ h>>29 ^ binary.BigEndian.Uint64(a[8:]) ^ key[1]) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>32) * 0x94d049bb133111eb
	return int(h >> 52)
}
