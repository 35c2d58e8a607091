package dis

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
)

// Kind is the type of a PDU, by its number in the standard.
type Kind uint8

// The kinds that this package reads and writes. Others are Unknown PDUs.
const (
	KindEntityState  Kind = 1
	KindFire         Kind = 2
	KindDetonation   Kind = 3
	KindCollision    Kind = 4
	KindCreateEntity Kind = 11
	KindRemoveEntity Kind = 12
	KindStartResume  Kind = 13
	KindStopFreeze   Kind = 14
	KindAcknowledge  Kind = 15
	KindSetData      Kind = 19
	KindData         Kind = 20
	KindComment      Kind = 22
)

var kindNames = map[Kind]string{
	KindEntityState: "Entity State", KindFire: "Fire", KindDetonation: "Detonation",
	KindCollision: "Collision", KindCreateEntity: "Create Entity",
	KindRemoveEntity: "Remove Entity", KindStartResume: "Start/Resume",
	KindStopFreeze: "Stop/Freeze", KindAcknowledge: "Acknowledge", KindSetData: "Set Data",
	KindData: "Data", KindComment: "Comment",
}

func (k Kind) String() string {
	if name := kindNames[k]; name != "" {
		return name
	}
	return "PDU " + strconv.Itoa(int(k))
}

// family is the protocol family that a kind belongs to.
func (k Kind) family() uint8 {
	switch k {
	case KindEntityState, KindCollision:
		return 1
	case KindFire, KindDetonation:
		return 2
	}
	return 5 // simulation management
}

// Versions of the protocol that this package speaks: IEEE 1278.1A-1998 and 1278.1-2012. They differ
// in two bytes of the header, and in what may be fired.
const (
	Version6 = 6
	Version7 = 7
)

// HeaderSize is the size of what every PDU begins with, in bytes.
const HeaderSize = 12

// MaxPDU is the size of the largest PDU that the standard allows for, in bytes.
const MaxPDU = 8192

// Header is what every PDU begins with. A PDU that is written gets its kind, family and length by
// itself.
type Header struct {
	Version  uint8 // Version6 or Version7; zero counts as 7 when it is written
	Exercise uint8 // which of several exercises on one network; 0 is for none in particular
	Kind     Kind
	Family   uint8
	Time     Stamp
	Length   uint16 // of the whole PDU, the header included
	// Status has flags of version 7, such as what kind of thing a Fire PDU is about. In version 6
	// these bits are padding.
	Status uint8
}

// Errors of what is no PDU. They are wrapped with what was wrong.
var (
	ErrShort   = errors.New("it is cut off")
	ErrLength  = errors.New("its length does not fit its content")
	ErrVersion = errors.New("it is of another version of DIS; 6 and 7 are known")
	ErrKind    = errors.New("it is of another kind")
)

// ReadHeader reads the header of the PDU that b begins with. Its length is at least a header's and
// at most len(b).
func ReadHeader(b []byte) (Header, error) {
	if len(b) < HeaderSize {
		return Header{}, fmt.Errorf("dis: %d bytes are no PDU: %w", len(b), ErrShort)
	}
	h := Header{Version: b[0], Exercise: b[1], Kind: Kind(b[2]), Family: b[3],
		Time: Stamp(binary.BigEndian.Uint32(b[4:])), Length: binary.BigEndian.Uint16(b[8:])}
	if h.Version == Version7 {
		h.Status = b[10]
	}
	known := h.Version == Version6 || h.Version == Version7
	if !known || h.Length < HeaderSize || int(h.Length) > len(b) {
		return h, h.wrong(len(b))
	}
	return h, nil
}

// wrong says what is wrong with a header, of which so many bytes came.
func (h Header) wrong(came int) error {
	switch {
	case h.Version != Version6 && h.Version != Version7:
		return fmt.Errorf("dis: a PDU of version %d: %w", h.Version, ErrVersion)
	case h.Length < HeaderSize:
		return fmt.Errorf("dis: %v says that it has %d bytes: %w", h.Kind, h.Length, ErrLength)
	}
	return fmt.Errorf("dis: %v says that it has %d bytes, and %d are there: %w", h.Kind,
		h.Length, came, ErrShort)
}

// header is what all PDUs have in common, once embedded.
func (h *Header) header() *Header { return h }

// begin adds a header for a PDU of a kind and size, and gives that part of b which is the PDU. What
// is not written there is zero.
func (h *Header) begin(b []byte, k Kind, size int) (whole, pdu []byte) {
	if h.Version == 0 {
		h.Version = Version7
	}
	h.Kind, h.Family, h.Length = k, k.family(), uint16(size)
	n := len(b)
	if cap(b)-n >= size {
		b = b[:n+size]
		clear(b[n:])
	} else {
		b = append(b, make([]byte, size)...)
	}
	p := b[n : n+size : n+size]
	p[0], p[1], p[2], p[3] = h.Version, h.Exercise, byte(k), h.Family
	binary.BigEndian.PutUint32(p[4:], uint32(h.Time))
	binary.BigEndian.PutUint16(p[8:], h.Length)
	if h.Version == Version7 {
		p[10] = h.Status
	}
	return b, p
}

// open reads the header of a PDU of a kind with at least so many bytes, and gives its bytes alone.
func (h *Header) open(b []byte, k Kind, least int) ([]byte, error) {
	read, err := ReadHeader(b)
	if err != nil {
		return nil, err
	}
	if read.Kind != k {
		return nil, fmt.Errorf("dis: %v, not %v: %w", read.Kind, k, ErrKind)
	}
	if int(read.Length) < least {
		return nil, fmt.Errorf("dis: %v of %d bytes, which has at least %d: %w", k, read.Length,
			least, ErrLength)
	}
	*h = read
	return b[:read.Length], nil
}

// exactly says whether a PDU has the length that its content needs.
func (h *Header) exactly(size int) error {
	if int(h.Length) != size {
		return fmt.Errorf("dis: %v of %d bytes, whose content has %d: %w", h.Kind, h.Length, size,
			ErrLength)
	}
	return nil
}
