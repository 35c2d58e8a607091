package lbrm

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"net/netip"

	"github.com/coeval-dev/coeval/link"
)

// Kinds of packets.
const (
	kindData      = 1 + iota // source to all: something new
	kindHeart                // source to all: nothing new
	kindAsk                  // receiver or log to a log: what is missing
	kindRepair               // log to who asked, or source to all: something again
	kindLogged               // primary log to the source: all up to here is safe
	kindCall                 // source to all: who wants to acknowledge?
	kindVolunteer            // log to the source: I do
	kindAck                  // log to the source: I have it
)

// MaxData is the most that can be said at once, in bytes.
const MaxData = 1100

// maxAsked is how many packets are asked for at once.
const maxAsked = 32

// packet is any packet, of which each kind uses some.
type packet struct {
	kind    uint8
	session uint32 // of the source
	epoch   uint32 // of acknowledgement
	chance  uint16 // of volunteering, of 65536
	seq     uint64
	asked   []uint64
	data    []byte
}

func (p *packet) append(b []byte) []byte {
	b = append(b, p.kind)
	b = binary.BigEndian.AppendUint32(b, p.session)
	switch p.kind {
	case kindData, kindHeart, kindAck:
		b = binary.BigEndian.AppendUint32(b, p.epoch)
		b = binary.BigEndian.AppendUint64(b, p.seq)
	case kindRepair, kindLogged:
		b = binary.BigEndian.AppendUint64(b, p.seq)
	case kindCall:
		b = binary.BigEndian.AppendUint32(b, p.epoch)
		b = binary.BigEndian.AppendUint16(b, p.chance)
	case kindVolunteer:
		b = binary.BigEndian.AppendUint32(b, p.epoch)
	case kindAsk:
		for _, seq := range p.asked {
			b = binary.BigEndian.AppendUint64(b, seq)
		}
	}
	return append(b, p.data...)
}

var errPacket = errors.New("lbrm: it is no packet")

// read takes a packet apart. Its data are a part of b.
func (p *packet) read(b []byte) error {
	if len(b) < 5 {
		return errPacket
	}
	*p = packet{kind: b[0], session: binary.BigEndian.Uint32(b[1:])}
	b = b[5:]
	take := func(n int) []byte {
		if len(b) < n {
			return nil
		}
		part := b[:n]
		b = b[n:]
		return part
	}
	var part []byte
	switch p.kind {
	case kindData, kindHeart, kindAck:
		if part = take(12); part != nil {
			p.epoch, p.seq = binary.BigEndian.Uint32(part), binary.BigEndian.Uint64(part[4:])
		}
	case kindRepair, kindLogged:
		if part = take(8); part != nil {
			p.seq = binary.BigEndian.Uint64(part)
		}
	case kindCall:
		if part = take(6); part != nil {
			p.epoch, p.chance = binary.BigEndian.Uint32(part), binary.BigEndian.Uint16(part[4:])
		}
	case kindVolunteer:
		if part = take(4); part != nil {
			p.epoch = binary.BigEndian.Uint32(part)
		}
	case kindAsk:
		if len(b) == 0 || len(b)%8 != 0 || len(b) > 8*maxAsked {
			return errPacket
		}
		for part = b; len(b) > 0; b = b[8:] {
			p.asked = append(p.asked, binary.BigEndian.Uint64(b))
		}
	}
	said := p.kind == kindData || p.kind == kindRepair
	if part == nil || !said && len(b) > 0 || said && (p.seq == 0 || len(b) > MaxData) {
		return errPacket
	}
	p.data = b
	return nil
}

// Counters are what a machine has sent, heard and refused.
type Counters struct {
	Sent, Bytes      uint64 // datagrams, multicast ones once
	Multicast        uint64 // of those: to a group
	Hearts           uint64 // of those: heartbeats
	Heard, Refused   uint64 // refused: not of this group, or nonsense
	Asked, Answered  uint64 // packets asked for, and given to others
	Again            uint64 // packets that the source said again to all
	Doubles, Skipped uint64 // packets that came before; given up
}

// voice seals and opens what goes over the network, and gathers it.
type voice struct {
	aead     cipher.AEAD
	id       uint32
	number   uint64
	out      []link.Datagram
	Counters Counters
}

const nonceSize = 12

// Key is what all of a group share.
type Key [32]byte

// newVoice makes one. The id must be a fresh random number in each run: with the key it must never
// come again.
func newVoice(key Key, id uint32) voice {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // the key has the right size
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // AES has the right size
	}
	return voice{aead: aead, id: id}
}

func (v *voice) say(to netip.AddrPort, p *packet) {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 64+len(p.data)), v.id)
	b = binary.BigEndian.AppendUint64(b, v.number)
	v.number++
	b = v.aead.Seal(b, b[:nonceSize], p.append(nil), nil)
	v.out = append(v.out, link.Datagram{Addr: to, Data: b})
	v.Counters.Sent++
	v.Counters.Bytes += uint64(len(b))
	if to.Addr().IsMulticast() {
		v.Counters.Multicast++
	}
}

// hear opens a datagram, or refuses it.
func (v *voice) hear(b []byte, p *packet) bool {
	v.Counters.Heard++
	if len(b) >= nonceSize && binary.BigEndian.Uint32(b) != v.id {
		plain, err := v.aead.Open(nil, b[:nonceSize], b[nonceSize:], nil)
		if err == nil && p.read(plain) == nil {
			return true
		}
	}
	v.Counters.Refused++
	return false
}

// Flush adds what is to be sent.
func (v *voice) Flush(out []link.Datagram) []link.Datagram {
	out = append(out, v.out...)
	v.out = v.out[:0]
	return out
}
