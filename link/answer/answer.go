package answer

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// An Answerer answers datagrams of some kind.
type Answerer interface {
	// Takes says whether a datagram is of that kind.
	Takes(data []byte) bool
	// Answer appends what is answered to a datagram, if anything is, at most as many bytes as it
	// has. Now is the time since the link was made.
	Answer(now time.Duration, d *link.Datagram, to []byte) []byte
}

// A Link is a link that answers some datagrams itself.
type Link struct {
	link.Link
	by    []Answerer
	begun time.Time

	mu  sync.Mutex // Receive sends as well
	out []link.Datagram
	buf []byte

	received, receivedBytes, sent, sentBytes, refused atomic.Uint64
}

// Over makes a link over another, which it closes when it is closed.
func Over(l link.Link, by ...Answerer) *Link {
	return &Link{Link: l, by: by, begun: time.Now()}
}

// Now is the time since the link was made.
func (l *Link) Now() time.Duration { return time.Since(l.begun) }

// Receive hands out what is waiting. Of what was answered, or would have been by the same answerer,
// only the place is handed out, with nil in place of its data.
func (l *Link) Receive(batch []link.Datagram) (int, error) {
	n, err := l.Link.Receive(batch)
	now := l.Now()
	l.out, l.buf = l.out[:0], l.buf[:0]
	for i := range batch[:n] {
		if by := l.takes(batch[i].Data); by != nil {
			l.answer(now, &batch[i], by)
			batch[i].Data = nil
		}
	}
	if len(l.out) > 0 {
		l.send()
	}
	return n, err
}

func (l *Link) takes(data []byte) Answerer {
	for _, a := range l.by {
		if a.Takes(data) {
			return a
		}
	}
	return nil
}

func (l *Link) answer(now time.Duration, d *link.Datagram, by Answerer) {
	l.received.Add(1)
	l.receivedBytes.Add(uint64(len(d.Data)))
	start := len(l.buf)
	l.buf = by.Answer(now, d, l.buf)
	if n := len(l.buf) - start; n == 0 || n > len(d.Data) {
		l.buf = l.buf[:start] // never more than came, whatever the answerer does
		return
	}
	l.out = append(l.out, link.Datagram{Addr: d.Addr, Data: l.buf[start:len(l.buf):len(l.buf)]})
}

// send sends the answers. What the link does not take is gone, as on the way.
func (l *Link) send() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for list := l.out; len(list) > 0; {
		n, err := l.Link.Send(list)
		for i := range list[:n] {
			l.sent.Add(1)
			l.sentBytes.Add(uint64(len(list[i].Data)))
		}
		if list = list[n:]; err == nil || len(list) == 0 {
			continue
		}
		if !link.Passing(err) {
			return // the next Send or Receive of the layer above says what is wrong
		}
		l.refused.Add(1)
		list = list[1:]
	}
}

// Send sends as the link does.
func (l *Link) Send(batch []link.Datagram) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Link.Send(batch)
}

// MaxDatagramTo is that of the link.
func (l *Link) MaxDatagramTo(peer netip.AddrPort) int { return link.MaxTo(l.Link, peer) }

// Own is what it took and answered itself, of what Counters says.
func (l *Link) Own() link.Counters {
	return link.Counters{Received: l.received.Load(), ReceivedBytes: l.receivedBytes.Load(),
		Sent: l.sent.Load(), SentBytes: l.sentBytes.Load(), Refused: l.refused.Load()}
}
