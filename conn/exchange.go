package conn

import (
	"crypto/ecdh"
	"crypto/sha256"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
)

// Exchange is the costly part of letting clients in: an agreement on secrets by X25519 (RFC 7748),
// with an ephemeral key of the server's that is forgotten afterwards, for up to six clients
// that came at about the same time and have proved their addresses and tokens. It is a unit of work
// that knows nothing of the server: take it with Server.Exchanges, call Do on any goroutine, and
// give it back with Server.Exchanged.
type Exchange struct {
	private  [shareSize]byte
	share    [shareSize]byte // the server's
	entrants []entrant
}

// entrant is a client that is about to be let in.
type entrant struct {
	addr     netip.AddrPort
	source   netip.Addr // that it counts for, as connections do
	response response   // without what refers to the packet
	digest   [32]byte   // of the token's letter
	nonce    [nonceSize]byte
	grant    token.Grant
	chain    chain           // what Do found out
	failed   bool            // the client's share is none
	share    [shareSize]byte // the server's
	since    time.Duration   // since when only the mark of its token is missing
}

const (
	shareSize = 32
	// exchangeMost is how many clients one Exchange is for: it takes about as many times 60
	// microseconds, and one more.
	exchangeMost = 6
	// entrantsMost is how many clients may be about to be let in.
	entrantsMost = 2048
	// markPatience is for how long a client waits for the mark of its token to be durable before it
	// is turned away. It asks for longer than that.
	markPatience = 5 * time.Second
)

// Do computes. It takes about half a millisecond.
func (x *Exchange) Do() {
	key, share := newShare(&x.private)
	clear(x.private[:])
	x.share = share
	for i := range x.entrants {
		e := &x.entrants[i]
		shared, ok := agree(key, &e.response.share)
		if e.failed = !ok; ok {
			e.chain = deriveSession(&e.grant.Secret, &shared, e.transcript(&x.share))
		}
	}
}

// transcript is all that the client must have seen as the server did.
func (e *entrant) transcript(share *[shareSize]byte) *transcript {
	r := &e.response
	return &transcript{
		protocol: r.protocol, version: r.version, clientNonce: r.nonce, serverNonce: e.nonce,
		client: r.client, sealedDigest: e.digest, clientShare: r.share, serverShare: *share}
}

// Len is how many clients it is for.
func (x *Exchange) Len() int { return len(x.entrants) }

// newShare makes an ephemeral key from 32 random bytes, and the share of it that the peer is told.
func newShare(random *[shareSize]byte) (key *ecdh.PrivateKey, share [shareSize]byte) {
	key, err := ecdh.X25519().NewPrivateKey(random[:])
	if err != nil {
		panic("conn: " + err.Error()) // any 32 bytes are a key
	}
	copy(share[:], key.PublicKey().Bytes())
	return key, share
}

// agree computes the secret that both sides have in common. It reports false for shares that no
// honest peer sends, by which the secret would be zero.
func agree(key *ecdh.PrivateKey, share *[shareSize]byte) (shared [shareSize]byte, ok bool) {
	peer, err := ecdh.X25519().NewPublicKey(share[:])
	if err != nil {
		return shared, false
	}
	secret, err := key.ECDH(peer)
	if err != nil {
		return shared, false
	}
	copy(shared[:], secret)
	return shared, true
}

// exchanges are the clients that are about to be let in. Each is in by, from its response until its
// Exchange is given back, and counts as a client.
type exchanges struct {
	queue []*Exchange // not taken yet
	by    map[[token.IDSize]byte]struct{}
	// asked are the same, and those whose tokens wait to be opened, by where they are and their
	// nonce: what they send again is no news
	asked map[stranger]struct{}
	taken bool // the driver takes them
	// unmarked are those with whom all is agreed on and whose tokens are not durably marked.
	unmarked []entrant
}

// enter queues a client whose token is proved and whom nothing speaks against.
func (s *Server) enter(addr netip.AddrPort, r *response, g *token.Grant) {
	q := &s.exchanges
	n := len(q.queue)
	if n == 0 || len(q.queue[n-1].entrants) == exchangeMost {
		x := &Exchange{entrants: make([]entrant, 0, exchangeMost)}
		s.random.Read(x.private[:])
		s.random.Forget()
		q.queue = append(q.queue, x)
		n++
	}
	x := q.queue[n-1]
	e := entrant{
		addr: addr, source: s.sourceOf(addr), response: *r, digest: sha256.Sum256(r.sealed),
		grant: *g}
	e.response.sealed, e.response.signed = nil, nil
	s.random.Read(e.nonce[:])
	x.entrants = append(x.entrants, e)
	q.by[g.ID] = struct{}{}
	q.asked[stranger{addr, r.nonce}] = struct{}{}
	s.count(e.source, 1)
}

// Exchanges hands over up to so many units of work that must be done before clients can be let in.
// A driver that calls it once must go on doing so; for one that never does, Flush does the work.
func (s *Server) Exchanges(most int) []*Exchange {
	q := &s.exchanges
	q.taken = true
	s.openResponses()
	n := min(most, len(q.queue))
	list := append([]*Exchange(nil), q.queue[:n]...)
	q.queue = append(q.queue[:0], q.queue[n:]...)
	return list
}

// Exchanged takes back an Exchange on which Do was called, once, and lets its clients in.
func (s *Server) Exchanged(now time.Duration, x *Exchange) {
	s.advance(now)
	s.entered(x)
}

func (s *Server) entered(x *Exchange) {
	for i := range x.entrants {
		e := &x.entrants[i]
		if _, ok := s.exchanges.by[e.grant.ID]; !ok {
			continue // given back twice
		}
		e.share, e.since = x.share, s.now
		if !s.decided(e) {
			s.exchanges.unmarked = append(s.exchanges.unmarked, *e)
		}
	}
	x.entrants = nil
}

// decided lets a client in with whom a secret was agreed on, or turns it away. It reports false if
// that has to wait until the mark of its token is durable.
func (s *Server) decided(e *entrant) bool {
	reason := ReasonNone
	switch {
	case e.failed:
	case s.shut:
		reason = ReasonClosing
	case len(s.free) == 0 && len(s.slots) == maxSlots:
		reason = ReasonFull
	case s.used.durable(&e.grant):
	case s.now-e.since < markPatience:
		return false
	default:
		reason = ReasonUnready
	}
	delete(s.exchanges.by, e.grant.ID)
	delete(s.exchanges.asked, stranger{e.addr, e.response.nonce})
	s.count(e.source, -1)
	switch {
	case e.failed:
		s.stats.BadShares++
		s.used.fail(&e.grant)
	case reason != ReasonNone:
		keys := deriveHandshake(&e.grant.Secret)
		s.refuse(e.addr, &e.response, &keys, reason)
		if reason == ReasonUnready {
			s.used.turnAway(&e.grant, e.response.nonce)
		} else {
			s.used.fail(&e.grant)
		}
	default:
		s.stats.Exchanges++
		s.admit(e)
	}
	return true
}

// awaitMarks decides about those whose marks are durable, or have been waited for long enough.
func (s *Server) awaitMarks() {
	if q := &s.exchanges; len(q.unmarked) > 0 {
		q.unmarked = slices.DeleteFunc(q.unmarked, func(e entrant) bool { return s.decided(&e) })
	}
}

// exchangeHere does the work that no one else does.
func (s *Server) exchangeHere() {
	for _, x := range s.exchanges.queue {
		x.Do()
		s.entered(x)
	}
	clear(s.exchanges.queue)
	s.exchanges.queue = s.exchanges.queue[:0]
}
