package dis

import (
	"encoding/binary"
	"math"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/reckon"
)

// EntityState says where an entity is, what it is, and how it is to be reckoned until the next. It
// is most of the traffic of an exercise.
type EntityState struct {
	Header
	ID      ID
	Force   uint8 // 1 friendly, 2 opposing, 3 neutral
	Type    Type
	Other   Type // what it is to the other side, if they are deceived
	Vel     Vec  // metres a second, in the axes that the model says
	Pos     det.Vec3
	Euler   Vec // psi, theta and phi: of the entity's axes against the world's
	Looks   uint32
	Model   reckon.Model
	Tuning  [15]byte // of models beyond the nine
	Accel   Vec
	Spin    Vec // radians a second, along the entity's axes
	Marking Marking
	Can     uint32
	Parts   []Parameter
}

const (
	entitySize    = 144
	parameterSize = 16
)

// Append adds the PDU to b. Parts beyond 255 are left away.
func (p *EntityState) Append(b []byte) []byte {
	parts := p.Parts[:min(len(p.Parts), 255)]
	b, w := p.begin(b, KindEntityState, entitySize+parameterSize*len(parts))
	_ = w[entitySize-1]
	putID(w[12:], p.ID)
	w[18], w[19] = p.Force, uint8(len(parts))
	putType(w[20:], p.Type)
	putType(w[28:], p.Other)
	putVec(w[36:], &p.Vel)
	putPlace(w[48:], &p.Pos)
	putVec(w[72:], &p.Euler)
	binary.BigEndian.PutUint32(w[84:], p.Looks)
	w[88] = uint8(p.Model)
	copy(w[89:104], p.Tuning[:])
	putVec(w[104:], &p.Accel)
	putVec(w[116:], &p.Spin)
	w[128] = p.Marking.Set
	copy(w[129:140], p.Marking.Text[:])
	binary.BigEndian.PutUint32(w[140:], p.Can)
	appendParts(w[entitySize:], parts)
	return b
}

// Read sets p to the PDU that b begins with. It keeps no part of b.
func (p *EntityState) Read(b []byte) error {
	r, err := p.open(b, KindEntityState, entitySize)
	if err != nil {
		return err
	}
	_ = r[entitySize-1]
	p.ID = getID(r[12:])
	p.Force = r[18]
	p.Type, p.Other = getType(r[20:]), getType(r[28:])
	p.Vel = getVec(r[36:])
	p.Pos = getPlace(r[48:])
	p.Euler = getVec(r[72:])
	p.Looks = binary.BigEndian.Uint32(r[84:])
	p.Model = reckon.Model(r[88])
	copy(p.Tuning[:], r[89:104])
	p.Accel, p.Spin = getVec(r[104:]), getVec(r[116:])
	p.Marking.Set = r[128]
	copy(p.Marking.Text[:], r[129:140])
	p.Can = binary.BigEndian.Uint32(r[140:])
	p.Parts, err = p.readParts(p.Parts[:0], r[entitySize:], r[19], entitySize)
	return err
}

// Body is the entity as package reckon moves it.
func (p *EntityState) Body() reckon.Body {
	return reckon.Body{Pos: p.Pos, Vel: p.Vel.Vec3(), Accel: p.Accel.Vec3(),
		Spin: p.Spin.Vec3(), Facing: facing(p.Euler)}
}

// SetBody tells a body that others are to reckon by a model. What is told is rounded to float32 but
// for the place, so reckon by what Body says then, not by the body itself.
func (p *EntityState) SetBody(m reckon.Model, b *reckon.Body) {
	p.Model, p.Pos = m, b.Pos
	p.Vel, p.Accel, p.Spin = VecOf(b.Vel), VecOf(b.Accel), VecOf(b.Spin)
	e := b.Facing.Euler()
	p.Euler = Vec{float32(e.Yaw), float32(e.Pitch), float32(e.Roll)}
}

// Frozen says whether the entity does not move, by its looks.
func (p *EntityState) Frozen() bool { return p.Looks&(1<<21) != 0 }

// Active says whether the entity takes part, by its looks: one that does not is removed.
func (p *EntityState) Active() bool { return p.Looks&(1<<23) == 0 }

// Finite says whether all numbers are numbers.
func (p *EntityState) Finite() bool {
	s := p.Pos.X + p.Pos.Y + p.Pos.Z
	return s-s == 0 && p.Vel.finite() && p.Euler.finite() && p.Accel.finite() && p.Spin.finite()
}

func facing(e Vec) det.Quat {
	return det.Euler{Yaw: det.Angle(e[0]), Pitch: det.Angle(e[1]), Roll: det.Angle(e[2])}.Quat()
}

func appendParts(w []byte, parts []Parameter) {
	for i := range parts {
		copy(w[i*parameterSize:], parts[i][:])
	}
}

// readParts reads as many records as were announced, which must be all that is left.
func (h *Header) readParts(to []Parameter, r []byte, n uint8, before int) ([]Parameter, error) {
	if err := h.exactly(before + parameterSize*int(n)); err != nil {
		return to, err
	}
	for ; len(r) >= parameterSize; r = r[parameterSize:] {
		to = append(to, Parameter(r))
	}
	return to, nil
}

// Collision says that an entity has hit another, as the one who issues it sees it.
type Collision struct {
	Header
	Issuer, Other ID
	Event         ID
	Elastic       uint8 // 1: they bounce off each other
	Vel           Vec
	Mass          float32
	At            Vec // where, along the other's axes from its centre
}

const collisionSize = 60

// Append adds the PDU to b.
func (p *Collision) Append(b []byte) []byte {
	b, w := p.begin(b, KindCollision, collisionSize)
	putID(w[12:], p.Issuer)
	putID(w[18:], p.Other)
	putID(w[24:], p.Event)
	w[30] = p.Elastic
	putVec(w[32:], &p.Vel)
	binary.BigEndian.PutUint32(w[44:], math.Float32bits(p.Mass))
	putVec(w[48:], &p.At)
	return b
}

// Read sets p to the PDU that b begins with.
func (p *Collision) Read(b []byte) error {
	r, err := p.open(b, KindCollision, collisionSize)
	if err != nil {
		return err
	}
	p.Issuer, p.Other, p.Event, p.Elastic = getID(r[12:]), getID(r[18:]), getID(r[24:]), r[30]
	p.Vel, p.At = getVec(r[32:]), getVec(r[48:])
	p.Mass = math.Float32frombits(binary.BigEndian.Uint32(r[44:]))
	return p.exactly(collisionSize)
}
