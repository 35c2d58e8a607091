package dis

import (
	"encoding/binary"
	"math"

	"github.com/coeval-dev/coeval/det"
)

// Charge is what was fired or went off. In version 7 the status says how its numbers are to be
// read: Warhead and Fuse, Quantity and Rate are a munition's; an explosion of something else has a
// Material and a Force instead, in the same place, and an expendable nothing.
type Charge struct {
	Type           Type
	Warhead, Fuse  uint16
	Quantity, Rate uint16
}

// Bits of Status in version 7.
const (
	FireExpendable       = 1 << 4 // of a Fire PDU
	DetonationExpendable = 1 << 4 // of a Detonation PDU
	DetonationExplosion  = 2 << 4
)

// Explosion makes the charge of something that explodes and is no munition.
func Explosion(t Type, material uint16, force float32) Charge {
	bits := math.Float32bits(force)
	return Charge{Type: t, Warhead: material, Quantity: uint16(bits >> 16), Rate: uint16(bits)}
}

// Explosion gives what a charge was made of by Explosion.
func (c *Charge) Explosion() (material uint16, force float32) {
	return c.Warhead, math.Float32frombits(uint32(c.Quantity)<<16 | uint32(c.Rate))
}

func putCharge(b []byte, c *Charge) {
	putType(b, c.Type)
	binary.BigEndian.PutUint16(b[8:], c.Warhead)
	binary.BigEndian.PutUint16(b[10:], c.Fuse)
	binary.BigEndian.PutUint16(b[12:], c.Quantity)
	binary.BigEndian.PutUint16(b[14:], c.Rate)
}

func getCharge(b []byte) Charge {
	return Charge{getType(b), binary.BigEndian.Uint16(b[8:]), binary.BigEndian.Uint16(b[10:]),
		binary.BigEndian.Uint16(b[12:]), binary.BigEndian.Uint16(b[14:])}
}

// Fire says that something was fired: at whom, what, from where and how fast.
type Fire struct {
	Header
	Firer, Target ID
	Munition      ID // of what flies, if that is an entity of its own
	Event         ID // the same in the Detonation that follows
	Mission       uint32
	Pos           det.Vec3
	Charge        Charge
	Vel           Vec
	Range         float32
}

const fireSize = 96

// Append adds the PDU to b.
func (p *Fire) Append(b []byte) []byte {
	b, w := p.begin(b, KindFire, fireSize)
	putID(w[12:], p.Firer)
	putID(w[18:], p.Target)
	putID(w[24:], p.Munition)
	putID(w[30:], p.Event)
	binary.BigEndian.PutUint32(w[36:], p.Mission)
	putPlace(w[40:], &p.Pos)
	putCharge(w[64:], &p.Charge)
	putVec(w[80:], &p.Vel)
	binary.BigEndian.PutUint32(w[92:], math.Float32bits(p.Range))
	return b
}

// Read sets p to the PDU that b begins with.
func (p *Fire) Read(b []byte) error {
	r, err := p.open(b, KindFire, fireSize)
	if err != nil {
		return err
	}
	p.Firer, p.Target, p.Munition, p.Event =
		getID(r[12:]), getID(r[18:]), getID(r[24:]), getID(r[30:])
	p.Mission = binary.BigEndian.Uint32(r[36:])
	p.Pos, p.Charge, p.Vel = getPlace(r[40:]), getCharge(r[64:]), getVec(r[80:])
	p.Range = math.Float32frombits(binary.BigEndian.Uint32(r[92:]))
	return p.exactly(fireSize)
}

// Detonation says that something went off, or hit without doing so. Those who were hit decide what
// it does to them.
type Detonation struct {
	Header
	Firer, Target ID
	Munition      ID
	Event         ID // that of the Fire PDU
	Vel           Vec
	Pos           det.Vec3
	Charge        Charge
	At            Vec // where, along the target's axes from its centre
	Result        uint8
	Parts         []Parameter
}

const detonationSize = 104

// Append adds the PDU to b. Parts beyond 255 are left away.
func (p *Detonation) Append(b []byte) []byte {
	parts := p.Parts[:min(len(p.Parts), 255)]
	b, w := p.begin(b, KindDetonation, detonationSize+parameterSize*len(parts))
	putID(w[12:], p.Firer)
	putID(w[18:], p.Target)
	putID(w[24:], p.Munition)
	putID(w[30:], p.Event)
	putVec(w[36:], &p.Vel)
	putPlace(w[48:], &p.Pos)
	putCharge(w[72:], &p.Charge)
	putVec(w[88:], &p.At)
	w[100], w[101] = p.Result, uint8(len(parts))
	appendParts(w[detonationSize:], parts)
	return b
}

// Read sets p to the PDU that b begins with.
func (p *Detonation) Read(b []byte) error {
	r, err := p.open(b, KindDetonation, detonationSize)
	if err != nil {
		return err
	}
	p.Firer, p.Target, p.Munition, p.Event =
		getID(r[12:]), getID(r[18:]), getID(r[24:]), getID(r[30:])
	p.Vel, p.Pos, p.Charge, p.At = getVec(r[36:]), getPlace(r[48:]), getCharge(r[72:]),
		getVec(r[88:])
	p.Result = r[100]
	p.Parts, err = p.readParts(p.Parts[:0], r[detonationSize:], r[101], detonationSize)
	return err
}
