package query

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"time"
)

// letters are the messages of the last seconds: how many there were, from where, and which, so that
// one whose answer was lost, or that the network doubled, is told once.
type letters struct {
	window int64
	count  int
	from   shares
	told   [64]letter
	next   int
}

type letter struct {
	sum uint64
	at  time.Duration
}

// Tell tells a message that came by another way than a datagram, from an address that is proven.
func (r *Responder) Tell(now time.Duration, from netip.AddrPort, text []byte) Status {
	if !r.opt.Answers.Has(Message) {
		return Off
	}
	if len(text) == 0 || len(text) > MaxMessage || !clean(text) {
		return Short
	}
	return r.message(now, from, text)
}

// message tells a text of a proven address, if that is due.
func (r *Responder) message(now time.Duration, from netip.AddrPort, text []byte) Status {
	l := &r.letters
	sum := letterOf(from, text)
	for i := range l.told {
		if x := &l.told[i]; x.sum == sum && now-x.at < messageWindow {
			return OK
		}
	}
	if w := int64(now / messageWindow); w != l.window {
		l.window, l.count = w, 0
		l.from.reset()
	}
	most := r.opt.Limits.Messages
	if l.count >= most || !l.from.take(row(&r.key, from.Addr()), max(most/messageShare, 1)) {
		return Busy
	}
	l.count++
	l.told[l.next] = letter{sum, now}
	l.next = (l.next + 1) % len(l.told)
	r.count.Messages++
	r.opt.Message(from, string(text)) // of those there are few
	return OK
}

func letterOf(from netip.AddrPort, text []byte) uint64 {
	var in [16 + 2 + MaxMessage]byte
	a := from.Addr().As16()
	b := binary.BigEndian.AppendUint16(append(in[:0], a[:]...), from.Port())
	sum := sha256.Sum256(append(b, text...))
	return binary.BigEndian.Uint64(sum[:]) | 1 // zero is none
}
