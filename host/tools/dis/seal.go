//go:build !js

package dis

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"time"
)

// sealer encrypts and authenticates the packets between two gateways. Each begins with a session,
// drawn at random when the gateway starts, and a number, which together are never used twice;
// sealed with it is the time, so that what was recorded is of no use later.
type sealer struct {
	aead    cipher.AEAD
	session uint32
	number  uint64

	there   uint32   // the session of the other gateway
	past    []uint32 // those before it, which do not come back
	begun   bool
	broken  uint64
	scratch []byte
}

const (
	sealAge    = 30 * time.Second // how far clocks may be apart
	pastMost   = 64
	sealHeader = 12
)

func newSealer(key []byte) (*sealer, uint32, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, 0, fmt.Errorf("dis: the key is of no use: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, 0, fmt.Errorf("dis: the key is of no use: %w", err)
	}
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, 0, err
	}
	s := &sealer{aead: aead, session: binary.BigEndian.Uint32(b[:])}
	return s, s.session, nil
}

// seal makes of a packet what goes over the line. It is good until the next.
func (s *sealer) seal(now time.Time, packet []byte) []byte {
	b := binary.BigEndian.AppendUint32(s.scratch[:0], s.session)
	b = binary.BigEndian.AppendUint64(b, s.number)
	s.number++
	plain := binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(packet)), uint64(now.Unix()))
	plain = append(plain, packet...)
	s.scratch = s.aead.Seal(b, b[:sealHeader], plain, nil)
	return s.scratch
}

// open gives the packet of what came over the line, if it came from who has the key, now.
func (s *sealer) open(now time.Time, b []byte) ([]byte, bool) {
	if len(b) < sealHeader {
		s.broken++
		return nil, false
	}
	session := binary.BigEndian.Uint32(b)
	plain, err := s.aead.Open(nil, b[:sealHeader], b[sealHeader:], nil)
	if err != nil || len(plain) < 8 || session == s.session || slices.Contains(s.past, session) {
		s.broken++
		return nil, false
	}
	at := time.Unix(int64(binary.BigEndian.Uint64(plain)), 0)
	if age := now.Sub(at).Abs(); age > sealAge {
		s.broken++
		return nil, false
	}
	if s.begun && session != s.there {
		if s.past = append(s.past, s.there); len(s.past) > pastMost {
			s.past = s.past[1:]
		}
	}
	s.begun, s.there = true, session
	return plain[8:], true
}
