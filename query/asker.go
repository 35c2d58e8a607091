package query

import (
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// An Asker asks one server one thing: it asks again what is not answered, brings the cookie that a
// server wants to see, and makes a query longer that is too short for its answer.
type Asker struct {
	to     netip.AddrPort
	query  Query
	length int
	nonces nonces
	sent   [mostAsks]trip
	count  int
	due    time.Duration
	end    time.Duration
	body   []byte
	answer Answer
	took   time.Duration
	done   bool
	proofs int // how often a cookie was asked for
	buf    []byte
}

const (
	mostAsks = 16
	// mostProofs is how often a server may ask for a cookie, as an answer may be late.
	mostProofs = 3
	// askAgain is the time to the second question; it doubles up to askLast.
	askAgain = 200 * time.Millisecond
	askLast  = time.Second
)

// NewAsker makes an asker of a query, whose nonce it draws itself, from a seed of 32 random bytes.
// It gives up after patience, or 3 s if that is zero.
func NewAsker(
	now time.Duration, to netip.AddrPort, q Query, seed [32]byte, patience time.Duration,
) *Asker {
	if patience <= 0 {
		patience = 3 * time.Second
	}
	a := &Asker{to: plain(to), query: q, length: Most, nonces: newNonces(&seed), due: now,
		end: now + patience}
	if q.Kind == Ping || q.Kind == Message {
		a.length = Least
	}
	return a
}

// Deadline is when Flush has something to do, if nothing comes before.
func (a *Asker) Deadline() time.Duration { return min(a.due, a.end) }

// Flush appends the datagram that is due, if one is, to out. Its memory is good until the next
// Flush.
func (a *Asker) Flush(now time.Duration, out []link.Datagram) []link.Datagram {
	if a.done || now < a.due && now < a.end {
		return out
	}
	if now >= a.end || a.count == mostAsks {
		a.done = true
		return out
	}
	a.query.Nonce = a.nonces.draw()
	if a.buf = a.query.Append(a.buf[:0], a.length); len(a.buf) == 0 {
		a.done = true // it cannot be asked; see Query.Append
		return out
	}
	a.sent[a.count] = trip{nonce: a.query.Nonce, sent: now}
	a.due = now + min(askAgain<<min(a.count, 8), askLast)
	a.count++
	return append(out, link.Datagram{Addr: a.to, Data: a.buf})
}

// Receive takes datagrams that came, and leaves alone what is no answer to what was asked.
func (a *Asker) Receive(now time.Duration, batch []link.Datagram) {
	for i := range batch {
		d := &batch[i]
		x, ok := ParseAnswer(d.Data)
		if !ok || a.done || plain(d.Addr) != a.to || x.Kind != a.query.Kind {
			continue
		}
		for j := range a.sent[:a.count] {
			if s := &a.sent[j]; s.nonce == x.Nonce && !s.answered {
				s.answered = true
				a.receive(&x, max(now-d.Waited-s.sent-x.Held, 0), now)
				break
			}
		}
	}
}

func (a *Asker) receive(x *Answer, took, now time.Duration) {
	switch {
	case x.Status == Prove && a.proofs < mostProofs:
		a.query.Cookie, a.due = x.Cookie, now
		a.proofs++
	case x.Status == Short && a.length < Most:
		a.length, a.due = Most, now
	default:
		a.body = append(a.body[:0], x.Body...)
		a.answer, a.took, a.done = *x, took, true
		a.answer.Body = a.body
	}
}

// Done says that there is an answer, or will be none.
func (a *Asker) Done() bool { return a.done }

// Answer is what was answered, if anything was, and the round trip that it took.
func (a *Asker) Answer() (x Answer, took time.Duration, ok bool) {
	return a.answer, a.took, a.answer.Kind != 0
}

// Sent is how many datagrams it took so far.
func (a *Asker) Sent() int { return a.count }
