package dis

import "iter"

// PDU is any of the PDUs of this package.
type PDU interface {
	// Append adds the PDU's bytes, with its kind, family and length.
	Append(b []byte) []byte
	// Read sets it to the PDU that b begins with.
	Read(b []byte) error
	header() *Header
}

// HeaderOf is the header of any PDU.
func HeaderOf(p PDU) *Header { return p.header() }

// Unknown is a PDU of a kind that this package does not take apart. It passes as it is.
type Unknown struct {
	Header
	Body []byte // what follows the header
	pad  [2]byte
}

// Append adds the PDU to b.
func (p *Unknown) Append(b []byte) []byte {
	family := p.Family
	b, w := p.begin(b, p.Kind, HeaderSize+min(len(p.Body), 1<<16-1-HeaderSize))
	p.Family, w[3] = family, family
	copy(w[10:12], p.pad[:])
	copy(w[HeaderSize:], p.Body)
	return b
}

// Read sets p to the PDU that b begins with. Its body is a part of b.
func (p *Unknown) Read(b []byte) error {
	h, err := ReadHeader(b)
	if err != nil {
		return err
	}
	p.Header, p.Body, p.pad = h, b[HeaderSize:h.Length], [2]byte(b[10:12])
	return nil
}

// Reader reads PDUs one after another into memory of its own, so that a stream of them allocates
// nothing. The zero value is ready.
type Reader struct {
	entity      EntityState
	fire        Fire
	detonation  Detonation
	collision   Collision
	create      CreateEntity
	remove      RemoveEntity
	start       StartResume
	stop        StopFreeze
	acknowledge Acknowledge
	data        Data
	comment     Comment
	unknown     Unknown
}

// Read reads the PDU that b begins with. What it gives is good until the next Read, and until b
// changes.
func (r *Reader) Read(b []byte) (PDU, error) {
	if len(b) < HeaderSize {
		_, err := ReadHeader(b)
		return nil, err
	}
	p := r.of(Kind(b[2]))
	if err := p.Read(b); err != nil {
		return nil, err
	}
	return p, nil
}

func (r *Reader) of(k Kind) PDU {
	switch k {
	case KindEntityState:
		return &r.entity
	case KindFire:
		return &r.fire
	case KindDetonation:
		return &r.detonation
	case KindCollision:
		return &r.collision
	case KindCreateEntity:
		return &r.create
	case KindRemoveEntity:
		return &r.remove
	case KindStartResume:
		return &r.start
	case KindStopFreeze:
		return &r.stop
	case KindAcknowledge:
		return &r.acknowledge
	case KindSetData, KindData:
		return &r.data
	case KindComment:
		return &r.comment
	}
	return &r.unknown
}

// All are the PDUs of a datagram, which may hold several. What is wrong with one is told with a nil
// PDU; where its length cannot be believed, it is the last.
func (r *Reader) All(datagram []byte) iter.Seq2[PDU, error] {
	return func(yield func(PDU, error) bool) {
		for len(datagram) > 0 {
			h, err := ReadHeader(datagram)
			if err != nil {
				yield(nil, err)
				return
			}
			p, err := r.Read(datagram)
			if !yield(p, err) {
				return
			}
			datagram = datagram[h.Length:]
		}
	}
}
