package cluster

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

// What a message is, as its first byte.
const (
	kindValue   = 1 // a record, or a key's value
	kindDeleted = 2 // that a key has none any more
	kindChunk   = 3 // a part of a snapshot
)

// A record is a message of a subject that is written by compare-and-set. Each names the one before
// it, so that a reader notices one that is missing, and its writer, so that two writers never take
// each other's message for their own.
type record struct {
	kind   byte
	writer [8]byte
	before uint64 // the sequence of the subject's message before it, 0 if it was the first
	data   []byte
}

func (r record) encode() []byte {
	b := make([]byte, 0, 1+8+binary.MaxVarintLen64+len(r.data))
	b = append(append(b, r.kind), r.writer[:]...)
	b = binary.AppendUvarint(b, r.before)
	return append(b, r.data...)
}

var errRecord = errors.New("cluster: it is no record")

func decodeRecord(b []byte) (record, error) {
	var r record
	if len(b) < 10 || b[0] != kindValue && b[0] != kindDeleted {
		return r, errRecord
	}
	r.kind = b[0]
	copy(r.writer[:], b[1:])
	var n int
	if r.before, n = binary.Uvarint(b[9:]); n <= 0 || n != sizeUvarint(r.before) {
		return r, errRecord
	}
	if r.data = b[9+n:]; r.kind == kindDeleted && len(r.data) > 0 {
		return r, errRecord
	}
	return r, nil
}

func sizeUvarint(v uint64) int {
	var b [binary.MaxVarintLen64]byte
	return binary.PutUvarint(b[:], v)
}

// A chunk is a part of a snapshot. It has a number, as one that was sent again may be there twice.
type chunk struct {
	number uint64
	data   []byte
}

func (c chunk) encode() []byte {
	b := make([]byte, 0, 1+binary.MaxVarintLen64+len(c.data))
	b = binary.AppendUvarint(append(b, kindChunk), c.number)
	return append(b, c.data...)
}

func decodeChunk(b []byte) (chunk, error) {
	if len(b) < 2 || b[0] != kindChunk {
		return chunk{}, errRecord
	}
	number, n := binary.Uvarint(b[1:])
	if n <= 0 || n != sizeUvarint(number) {
		return chunk{}, errRecord
	}
	return chunk{number, b[1+n:]}, nil
}

// A manifest is the value of a snapshot's key: where the parts are, and what they come to.
type manifest struct {
	size, chunks uint64
	sum          [sha256.Size]byte
	group        string // the end of the subject of all parts
}

const (
	maxValue = 1 << 30 // bytes of a snapshot
	maxGroup = 64
)

func (m manifest) encode() []byte {
	b := binary.AppendUvarint(nil, m.size)
	b = binary.AppendUvarint(b, m.chunks)
	return append(append(b, m.sum[:]...), m.group...)
}

func decodeManifest(b []byte) (manifest, error) {
	var m manifest
	for _, v := range []*uint64{&m.size, &m.chunks} {
		var n int
		if *v, n = binary.Uvarint(b); n <= 0 || n != sizeUvarint(*v) {
			return m, errRecord
		}
		b = b[n:]
	}
	// Nothing is allocated for a size that was not checked.
	if m.size > maxValue || m.chunks > m.size || len(b) < len(m.sum) ||
		len(b)-len(m.sum) > maxGroup {
		return m, errRecord
	}
	copy(m.sum[:], b)
	m.group = string(b[len(m.sum):])
	if m.group == "" || !isGroup(m.group) {
		return m, errRecord
	}
	return m, nil
}
