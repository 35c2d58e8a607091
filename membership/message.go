package membership

import (
	"math"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

// Messages at the door, each in one reliable message; the first byte tells which.
//
//	join      candidate: version 1, member 2 (zero, or who it is already), epoch 4 that it knows, flags 1 (bit 0: witness, bit 1: it does not reach the überserver), order 1, history in microseconds 4,
//	          version of the game 8, length 1 and name, length 2 and text, card
//	denied    door: reason 1, text
//	wait      door: nobody can be let in here at present
//	redirect  door: the überserver's address: family 1 (4 or 6), 4 or 16 bytes, port 2
//	welcome   überserver: member 2, decree with its proof
//	start     überserver: state follows 1, start
//	decree    door: a decree that a member lacks, with its proof
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

	joinVersion = 3
	flagWitness = 1
	flagThrough = 2
	stateTag    = 0x4d495252 // "MIRR"
	channel     = 0
	tokenLife   = 300 // seconds; clocks may differ by as much
)

type join struct {
	member  member.ID
	epoch   uint32
	witness bool
	through bool // it does not reach the überserver, and has another ask for it
	order   crimp.Order
	history time.Duration
	about   About
	card    crimp.Card
}

// fields reads or writes a join, without the byte that tells which message it is.
func (j *join) fields(c *bits.Cursor) {
	version, flags, history := uint8(joinVersion), uint8(0), uint32(j.history/time.Microsecond)
	if j.witness {
		flags = flagWitness
	}
	if j.through {
		flags |= flagThrough
	}
	c.U8(&version)
	c.U16((*uint16)(&j.member))
	c.U32(&j.epoch)
	c.U8(&flags)
	c.U8((*uint8)(&j.order))
	c.U32(&history)
	c.U64(&j.about.Version)
	c.Text8(&j.about.Name, math.MaxUint8)
	c.Text16(&j.about.Text, maxText)
	j.card.Fields(c)
	c.Check(version == joinVersion && flags&^(flagWitness|flagThrough) == 0)
	c.Check(j.card.Addr.IsValid())
	j.witness, j.through = flags&flagWitness != 0, flags&flagThrough != 0
	j.history = time.Duration(history) * time.Microsecond
}

// welcome is what one that was let in is told.
type welcome struct {
	member member.ID
	link   []byte
}

func (w *welcome) fields(c *bits.Cursor) {
	c.U16((*uint16)(&w.member))
	c.Rest(&w.link)
}

// start is where a newcomer takes up, and whether a state follows.
type start struct {
	state bool
	crimp.Start
}

func (s *start) fields(c *bits.Cursor) {
	c.Bool(&s.state)
	s.Start.Fields(c)
}

// write makes a message: the byte that tells which, then its fields.
func write(kind byte, m interface{ fields(*bits.Cursor) }) []byte {
	c := bits.CursorTo([]byte{kind})
	m.fields(&c)
	return c.Data()
}

// read reads the fields that follow the byte that tells which message it is.
func read(b []byte, m interface{ fields(*bits.Cursor) }) bool {
	if len(b) == 0 {
		return false
	}
	c := bits.CursorOver(b[1:])
	m.fields(&c)
	return c.Done()
}

// address is where the überserver is.
type address struct{ netip.AddrPort }

func (a *address) fields(c *bits.Cursor) { c.Addr(&a.AddrPort) }
