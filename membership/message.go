package membership

import (
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

// Messages at the door, each in one reliable message; the first byte tells which.
//
//	join      candidate: version 1, member 2 (zero, or who it is already), epoch 4 that it knows, flags 1 (bit 0: witness), order 1, history in microseconds 4,
//	          version of the game 8, length 1 and name, length 2 and text, card
//	denied    door: reason 1, text
//	wait      door: nobody can be let in here at present
//	redirect  door: the überserver's address: family 1 (4 or 6), 4 or 16 bytes, port 2
//	welcome   überserver: member 2, decree
//	start     überserver: state follows 1, start
//	decree    door: a decree that a member lacks
//
// The state itself is a bulk transfer with stateTag.
const (
	messageJoin     = 1
	messageDenied   = 2
	messageWait     = 3
	messageRedirect = 4
	messageWelcome  = 5
	messageStart    = 6
	messageDecree   = 7

	joinVersion = 1
	flagWitness = 1
	stateTag    = 0x4d495252 // "MIRR"
	channel     = 0
	tokenLife   = 300 // seconds; clocks may differ by as much
)

type join struct {
	member  member.ID
	epoch   uint32
	witness bool
	order   crimp.Order
	history time.Duration
	about   About
	card    crimp.Card
}

func (j *join) append(b []byte) []byte {
	flags := byte(0)
	if j.witness {
		flags = flagWitness
	}
	b = append(b, messageJoin, joinVersion)
	b = be.AppendUint16(b, uint16(j.member))
	b = be.AppendUint32(b, j.epoch)
	b = append(b, flags, byte(j.order))
	b = be.AppendUint32(b, uint32(j.history/time.Microsecond))
	b = be.AppendUint64(b, j.about.Version)
	b = append(append(b, byte(len(j.about.Name))), j.about.Name...)
	b = append(be.AppendUint16(b, uint16(len(j.about.Text))), j.about.Text...)
	return j.card.Append(b)
}

func readJoin(b []byte) (j join, ok bool) {
	const fixed = 2 + 2 + 4 + 2 + 4 + 8
	if len(b) < fixed+1 || b[0] != messageJoin || b[1] != joinVersion || b[8]&^flagWitness != 0 {
		return j, false
	}
	j.member, j.epoch, j.witness, j.order = member.ID(be.Uint16(b[2:])), be.Uint32(b[4:]), b[8]&flagWitness != 0, crimp.Order(b[9])
	j.history = time.Duration(be.Uint32(b[10:])) * time.Microsecond
	j.about.Version = be.Uint64(b[14:])
	b = b[fixed:]
	n := int(b[0])
	if len(b) < 1+n+2 {
		return j, false
	}
	j.about.Name, b = string(b[1:1+n]), b[1+n:]
	n = int(be.Uint16(b))
	if n > maxText || len(b) < 2+n {
		return j, false
	}
	j.about.Text = string(b[2 : 2+n])
	card, rest, err := crimp.ReadCard(b[2+n:])
	j.card = card
	return j, err == nil && len(rest) == 0 && card.Addr.IsValid()
}

func appendAddr(b []byte, a netip.AddrPort) []byte {
	ip := a.Addr().Unmap()
	family := byte(6)
	if ip.Is4() {
		family = 4
	}
	b = append(append(b, family), ip.WithZone("").AsSlice()...)
	return be.AppendUint16(b, a.Port())
}

func readAddr(b []byte) (netip.AddrPort, bool) {
	if len(b) == 0 {
		return netip.AddrPort{}, false
	}
	switch {
	case b[0] == 4 && len(b) == 7:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[1:5])), be.Uint16(b[5:])), true
	case b[0] == 6 && len(b) == 19:
		a := netip.AddrFrom16([16]byte(b[1:17]))
		return netip.AddrPortFrom(a, be.Uint16(b[17:])), !a.Is4In6()
	}
	return netip.AddrPort{}, false
}
