package seamless

import "encoding/binary"

// mixer takes messages apart that are larger than a packet and need not arrive, and puts those of
// the other side together again. A part is: number 2, which part 1, the last part 1, bytes.
type mixer struct {
	next uint16
	part []byte
	open [mixing]mixed
	turn int
}

// mixing is how many messages may be in the making. More take the places of older ones.
const mixing = 4

const partHead = 4

// mixed is a message of which some parts have come.
type mixed struct {
	number uint16
	last   int
	have   int
	parts  [][]byte
	whole  []byte
	used   bool
}

// split gives the parts of a message, as far as they are taken.
func (m *mixer) split(most int, data []byte, give func([]byte) bool) bool {
	size := most - partHead
	if size <= 0 || len(data) > 256*size {
		return false
	}
	last := max(len(data)-1, 0) / size
	m.next++
	for i := 0; i <= last; i++ {
		m.part = binary.BigEndian.AppendUint16(m.part[:0], m.next)
		m.part = append(m.part, byte(i), byte(last))
		m.part = append(m.part, data[i*size:min((i+1)*size, len(data))]...)
		if !give(m.part) {
			return false
		}
	}
	return true
}

// take gives a message that is whole with this part, or nil. Its bytes are good until the next.
func (m *mixer) take(b []byte) []byte {
	if len(b) < partHead {
		return nil
	}
	number, i, last := binary.BigEndian.Uint16(b), int(b[2]), int(b[3])
	if b = b[partHead:]; last == 0 {
		return b
	}
	x := m.find(number, last)
	if i > last || x.last != last || len(x.parts[i]) > 0 {
		return nil
	}
	x.parts[i] = append(x.parts[i][:0], b...)
	if x.have++; x.have <= last {
		return nil
	}
	x.whole = x.whole[:0]
	for k := range x.parts[:last+1] {
		x.whole = append(x.whole, x.parts[k]...)
	}
	x.used = false
	return x.whole
}

// find gives the message with a number, in the place of the oldest if it is new.
func (m *mixer) find(number uint16, last int) *mixed {
	for i := range m.open {
		if x := &m.open[i]; x.used && x.number == number {
			return x
		}
	}
	m.turn = (m.turn + 1) % mixing
	x := &m.open[m.turn]
	for len(x.parts) <= last {
		x.parts = append(x.parts, nil)
	}
	for k := range x.parts {
		x.parts[k] = x.parts[k][:0]
	}
	x.number, x.last, x.have, x.used = number, last, 0, true
	return x
}
