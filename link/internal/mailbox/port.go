package mailbox

import (
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// A Port is all of a [link.Link] but sending and closing, for links that receive through a box:
// they embed it.
type Port struct {
	Box   *Box
	Tally Tally
	Max   int            // the largest datagram
	Addr  netip.AddrPort // the link's own address, if it has one
}

// Receive takes what is waiting.
func (p *Port) Receive(batch []link.Datagram) (int, error) { return p.Box.Receive(batch) }

// Wait sleeps until something can be received.
func (p *Port) Wait(d time.Duration) (bool, error) { return p.Box.Wait(d) }

// Wake ends a Wait.
func (p *Port) Wake() { p.Box.Wake() }

// MaxDatagram is the largest datagram that can be sent to every peer.
func (p *Port) MaxDatagram() int { return p.Max }

// LocalAddr is where the link is reached, where that has a meaning.
func (p *Port) LocalAddr() netip.AddrPort { return p.Addr }

// Counters says what went through the link.
func (p *Port) Counters() (c link.Counters) {
	p.Box.Counters(&c)
	p.Tally.Counters(&c)
	return c
}

// SendEach is Send by a function that takes one datagram or says why not.
func (p *Port) SendEach(batch []link.Datagram, send func(*link.Datagram) error) (int, error) {
	var bytes uint64
	for i := range batch {
		if err := send(&batch[i]); err != nil {
			p.Tally.Took(i, bytes)
			if link.Passing(err) {
				p.Tally.Refuse()
			}
			return i, err
		}
		bytes += uint64(len(batch[i].Data))
	}
	p.Tally.Took(len(batch), bytes)
	return len(batch), nil
}
