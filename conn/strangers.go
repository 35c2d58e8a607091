package conn

import (
	"net/netip"
	"slices"

	"github.com/coeval-dev/coeval/link"
)

// This file bounds what people whom a server does not know can make it do. There are three kinds,
// and what one of them takes up is never taken from another:
//
//	anyone        a request may come in anybody's name; so many are answered at each Flush, by lot
//	an address    a response with a good cookie comes from where it says; each address has a share
//	a player      a token has been opened; each address may have so many connections

// What is done for strangers between two flushes.
const (
	maxChallenges = 2048 // requests that are answered
	maxResponses  = 32   // tokens that are opened at once, for addresses that are proven
	keptResponses = 512  // and that wait for it
	// Of those, how many may come from one address, or from the few that share its row.
	requestShare  = 8
	responseShare = 16
)

// strangers are those who knocked since the last Flush.
type strangers struct {
	// drawn are the requests that will be answered. When more came than can be, each has the same
	// chance, whenever it came: so a flood cannot keep others out by coming first, and whoever asks
	// again has another chance.
	drawn []stranger
	came  uint64 // requests that were in the draw
	lot   uint64 // state of the draw
	// responses are those whose tokens will be opened, drawn in the same way.
	responses         []responder
	responded         uint64 // responses that were in the draw
	asked, responding shares
	key               [2]uint64
}

type stranger struct {
	addr  netip.AddrPort
	nonce [nonceSize]byte
}

// responder is a stranger with a response.
type responder struct {
	stranger
	data []byte
}

// shares count by address, in rows that addresses are spread over by a key that nobody knows.
type shares struct {
	rows [4096]uint8
	used bool
}

// take counts one more of a source, unless it has had its share. The zero address has no share to
// keep to.
func (q *strangers) take(s *shares, source netip.Addr, share int) bool {
	if !source.IsValid() {
		return true
	}
	row := q.row(source)
	if int(s.rows[row]) >= share {
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

func newStrangers(random interface{ Uint64() uint64 }) *strangers {
	return &strangers{key: [2]uint64{random.Uint64(), random.Uint64()}, lot: random.Uint64() | 1}
}

// row is where a source counts.
func (s *strangers) row(source netip.Addr) int {
	a := source.As16()
	h := (be.Uint64(a[:]) ^ s.key[0]) * 0x9e3779b97f4a7c15
	h = (h ^ h>>29 ^ be.Uint64(a[8:]) ^ s.key[1]) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>32) * 0x94d049bb133111eb
	return int(h >> 52)
}

// ask takes a request into the draw. It says whether another was left out for it, or it for others.
func (s *strangers) ask(
	addr netip.AddrPort, source netip.Addr, nonce *[nonceSize]byte,
) (full bool) {
	if !s.take(&s.asked, source, requestShare) {
		return true
	}
	s.came++
	if len(s.drawn) < maxChallenges {
		s.drawn = append(s.drawn, stranger{addr, *nonce})
		return false
	}
	if i := s.draw(s.came); i < maxChallenges {
		s.drawn[i] = stranger{addr, *nonce}
	}
	return true
}

// draw is a number below n, by lot.
func (s *strangers) draw(n uint64) uint64 {
	s.lot ^= s.lot << 13
	s.lot ^= s.lot >> 7
	s.lot ^= s.lot << 17
	return s.lot % n
}

// respond keeps the response of an address that is proven until its token is opened, unless the
// address has had its share. Where more came than are kept, lots are drawn. It says whether one is
// left out, which is not to be remembered any more.
func (s *Server) respond(d *link.Datagram, r *response) (full bool) {
	q := s.strangers
	if !q.take(&q.responding, s.origin(d.Addr), responseShare) {
		return true
	}
	q.responded++
	at := len(q.responses)
	if full = at == keptResponses; full {
		if at = int(q.draw(q.responded)); at >= keptResponses {
			return true
		}
		delete(s.exchanges.asked, q.responses[at].stranger)
	} else {
		q.responses = append(q.responses, responder{})
	}
	q.responses[at] = responder{stranger{d.Addr, r.nonce}, slices.Clone(d.Data)}
	s.exchanges.asked[q.responses[at].stranger] = struct{}{}
	return full
}

// openResponses opens the tokens of the next of those.
func (s *Server) openResponses() {
	q := s.strangers
	n := min(len(q.responses), maxResponses)
	if n == 0 {
		return
	}
	for i := range n {
		x := &q.responses[i]
		delete(s.exchanges.asked, x.stranger)
		var r response
		if r.parse(x.data) {
			s.openResponse(&link.Datagram{Addr: x.addr, Data: x.data}, &r)
		}
	}
	q.responses = slices.Delete(q.responses, 0, n)
	if q.responded = uint64(len(q.responses)); q.responded == 0 {
		q.responses = nil
	}
}

// done begins anew, after a Flush. What a flood needed is given back a while after it is over.
func (s *strangers) done() {
	if len(s.drawn) < cap(s.drawn)/8 && cap(s.drawn) > 64 {
		s.drawn = make([]stranger, 0, cap(s.drawn)/2)
	}
	s.drawn, s.came = s.drawn[:0], 0
	s.asked.reset()
	s.responding.reset()
}

// challenge answers the requests that were drawn.
func (s *Server) challenge() {
	q := s.strangers
	if len(q.drawn) == 0 && !q.asked.used && !q.responding.used {
		return
	}
	at := cookieTime(s.now)
	for i := range q.drawn {
		x := &q.drawn[i]
		s.reply(x.addr, challengeSize, func(b []byte) []byte {
			b = append(b, kindChallenge, wireVersion)
			b = append(b, x.nonce[:]...)
			return s.cookies.bake(b, x.addr, x.nonce[:], at)
		})
	}
	q.done()
}

// sourceOf is what the connections of an address are counted by, or the zero address if they are
// not.
func (s *Server) sourceOf(addr netip.AddrPort) netip.Addr {
	if s.so.MaxPerSource <= 0 {
		return netip.Addr{}
	}
	return s.origin(addr)
}

// origin is where an address is, or the zero address if nothing that comes from there is limited.
func (s *Server) origin(addr netip.AddrPort) netip.Addr {
	if s.so.Source != nil {
		return s.so.Source(addr)
	}
	return link.SourceOf(addr.Addr())
}

// crowded says whether an address has as many connections as it may. A player who connects again
// from the same address gives one up.
func (s *Server) crowded(source netip.Addr, client uint64) bool {
	if !source.IsValid() {
		return false
	}
	n := s.bySource[source]
	if old := s.byClient[client]; old != nil && old.source == source {
		n--
	}
	return n >= s.so.MaxPerSource
}

// From counts the connections of a source, those that are not confirmed yet included.
func (s *Server) From(source netip.Addr) int { return s.bySource[source] }

// count books a connection that begins or ends at its source.
func (s *Server) count(source netip.Addr, by int) {
	if !source.IsValid() {
		return
	}
	if n := s.bySource[source] + by; n > 0 {
		s.bySource[source] = n
	} else {
		delete(s.bySource, source)
	}
}
