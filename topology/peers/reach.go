package peers

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/paths"
	"github.com/coeval-dev/coeval/topology/relay"
)

// This file is about how the others are reached. Between members package paths finds ways:
// directly, through routers, over the relay or over other members. Who is no member yet knocks at
// an address, or over the relay.

// A Meeting is a relay at which players find each other, and which carries datagrams for those
// who do not reach each other.
type Meeting struct {
	// Client is a connection with a relay that is not in a match. The peer drives it.
	Client *relay.Client
	// Addrs are where the relay is.
	Addrs []netip.AddrPort
	// Code is that of the match to join; who founds one is told a code. Back is what Peer.Back gave
	// before a crash: the relay then knows this player again, and needs no seat of its own for it.
	Code relay.Code
	Back [relay.SecretSize]byte
	// Locals are where this machine can be reached in its own network.
	Locals []netip.AddrPort
}

// meeting is what is known from the relay.
type meeting struct {
	asked   bool
	in      bool
	self    member.ID // this peer's number at the relay
	code    relay.Code
	back    [relay.SecretSize]byte
	expires time.Duration
	mates   []mate
}

// A mate is somebody at the relay.
type mate struct {
	number member.ID
	sign   [32]byte
	addrs  []netip.AddrPort
}

const maxMates = 64

// Code is what to tell others who are to join by a relay, or zero.
func (p *Peer) Code() relay.Code { return p.meeting.code }

// Back is what lets this player be known again by the relay after a crash, as Meeting.Back. It is
// zero for one who watches, and until the relay has let the peer in.
func (p *Peer) Back() [relay.SecretSize]byte { return p.meeting.back }

// relayAddr is the address by which connections at doors know somebody at the relay.
func relayAddr(number member.ID) netip.AddrPort {
	var a [16]byte
	copy(a[:], []byte{0xfd, 'r', 'e', 'l', 'a', 'y'})
	binary.BigEndian.PutUint16(a[6:], uint16(number)) // another network for each
	a[15] = 1
	return netip.AddrPortFrom(netip.AddrFrom16(a), 1)
}

// relayNumber is who at the relay an address stands for.
func relayNumber(a netip.AddrPort) (member.ID, bool) {
	b := a.Addr().As16()
	n := member.ID(binary.BigEndian.Uint16(b[6:]))
	return n, n != 0 && a == relayAddr(n)
}

// attend drives the connection with the relay.
func (p *Peer) attend() {
	m := &p.meeting
	r := p.opt.Meeting
	if r == nil {
		return
	}
	if !m.asked && r.Client.Conn() != nil && r.Client.Conn().Open() {
		m.asked = true
		mine := p.id.card("")
		e := relay.Entry{Name: p.opt.Name[:min(len(p.opt.Name), relay.MaxName)], Key: mine.sign[:],
			Locals: r.Locals, Watch: p.opt.Watch}
		var err error
		if p.opt.Match != nil {
			err = r.Client.Create(relay.Match{Game: gameText(p.game), Mode: relay.Mesh,
				Seats: uint8(p.match.Seats), Grace: p.match.Grace}, e)
		} else {
			err = r.Client.Join(r.Code, gameText(p.game), relay.Mesh, r.Back, e)
		}
		if err != nil {
			_ = p.end(err)
		}
	}
	for _, e := range r.Client.Events() {
		p.atRelay(&e)
	}
}

func (p *Peer) atRelay(e *relay.Event) {
	m := &p.meeting
	switch e.Kind {
	case relay.Welcomed:
		m.in, m.self, m.code, m.expires = true, e.Welcome.Self, e.Welcome.Code, e.Welcome.Expires
		m.back = e.Welcome.Secret
		if p.paths != nil {
			p.paths.SetRelay(p.now, true)
		}
		p.tell(News{Kind: Met, Text: m.code.String()})
	case relay.Refused:
		if p.self == 0 {
			_ = p.end(&RefusedError{Why: e.Text})
		}
	case relay.Met:
		p.met(e.Peer)
	case relay.Gone:
		m.mates = slices.DeleteFunc(m.mates, func(x mate) bool { return x.number == e.Member })
	case relay.Voted:
		p.witnessed(e.Data)
	case relay.Carried:
		p.carried(e.Member, e.Data)
	case relay.Ended:
		m.in, m.mates = false, nil
		if p.paths != nil {
			p.paths.SetRelay(p.now, false)
		}
		p.tell(News{Kind: Parted, Text: e.Text, Err: e.Err})
		if p.self == 0 && p.copy == nil {
			_ = p.end(&RefusedError{Why: "the relay is gone: " + e.Text})
		}
	}
}

// met is told who is at the relay.
func (p *Peer) met(o *relay.Peer) {
	m := &p.meeting
	x := mate{number: o.Member}
	if len(o.Key) != len(x.sign) || o.Member == m.self {
		return
	}
	copy(x.sign[:], o.Key)
	for _, a := range append([]netip.AddrPort{o.Public}, o.Locals...) {
		if a.IsValid() && len(x.addrs) < maxAddrs {
			x.addrs = append(x.addrs, a)
		}
	}
	m.mates = slices.DeleteFunc(m.mates, func(y mate) bool { return y.number == x.number })
	if len(m.mates) < maxMates {
		m.mates = append(m.mates, x)
	}
	if p.charter == nil {
		return
	}
	if e := p.charter.holder(&x.sign); e != nil && p.paths != nil && e.id != p.self {
		if q := p.pair(e.id); q != nil {
			p.paths.Add(p.now, e.id, q.way, x.addrs)
		}
	}
}

// mateOf is somebody at the relay by its key; the newest, as it may have come back.
func (m *meeting) mateOf(sign *[32]byte) *mate {
	for i := len(m.mates) - 1; i >= 0; i-- {
		if m.mates[i].sign == *sign {
			return &m.mates[i]
		}
	}
	return nil
}

// carried takes a datagram that came by the relay.
func (p *Peer) carried(number member.ID, data []byte) {
	if isDoor(data) {
		p.datagram([]link.Datagram{{Addr: relayAddr(number), Data: data}})
		return
	}
	if p.paths == nil {
		return
	}
	for i := range p.meeting.mates {
		x := &p.meeting.mates[i]
		if e := p.charter.holder(&x.sign); x.number == number && e != nil {
			if d, ok := p.paths.Carried(p.now, paths.Carried{Member: e.id, Data: data}); ok {
				p.datagram([]link.Datagram{d})
			}
			return
		}
	}
}

// wayKey is the key by which two members prove to each other that an address is theirs.
func wayKey(pair [32]byte) (k [32]byte) {
	b, err := hkdf.Expand(sha256.New, pair[:], "coeval way", len(k))
	if err == nil {
		copy(k[:], b)
	}
	return k
}

// route has datagrams for members go where they are reached, and the rest where they are
// addressed.
func (p *Peer) route() {
	if p.paths != nil {
		p.out = p.paths.Send(p.now, p.out)
		p.out = p.paths.Tick(p.now, p.out)
	}
	r := p.opt.Meeting
	if r == nil {
		return
	}
	if p.paths != nil {
		for _, c := range p.paths.Carry() {
			if e := p.charter.find(c.Member); e != nil {
				if x := p.meeting.mateOf(&e.card.sign); x != nil {
					_ = r.Client.Carry(x.number, c.Data)
				}
			}
		}
	}
	kept := p.out[:0]
	for _, d := range p.out {
		if n, ok := relayNumber(d.Addr); ok {
			_ = r.Client.Carry(n, d.Data)
		} else {
			kept = append(kept, d)
		}
	}
	p.out = r.Client.Flush(p.now, kept)
}

// vector tells the others whom this peer reaches, now and then.
func (p *Peer) vector() {
	if p.paths == nil || p.now < p.pace.sendAt {
		return // it goes with the next commands
	}
	if b, due := p.paths.Vector(p.now, []byte{kindVector}); due {
		for _, q := range p.pairs {
			q.small(b)
		}
	}
}

// Paths tells how each of the others is reached.
func (p *Peer) Paths() []paths.Path {
	if p.paths == nil {
		return nil
	}
	return p.paths.List(nil)
}
