package keep

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// A Seat is who sits at a player's place: what the server must know for people to come back to
// their bodies.
type Seat struct {
	// Client is the number in the person's token, and Player the one in the world.
	Client uint64
	Player world.Player
	// Name is what others read, and UserData what the issuer of the token wanted to be known.
	Name     string
	UserData []byte
	// Inside says that the world knows the player.
	Inside bool
	// Empty says that nobody sits there any more, and that the rest does not count.
	Empty bool
}

// Equal says whether two seats are the same.
func (s *Seat) Equal(o *Seat) bool {
	return s.Client == o.Client && s.Player == o.Player && s.Name == o.Name &&
		s.Inside == o.Inside && s.Empty == o.Empty && slices.Equal(s.UserData, o.UserData)
}

// seated are the seats at one moment, by player.
type seated map[world.Player]Seat

// change takes over what has changed.
func (m seated) change(list []Seat) {
	for _, s := range list {
		if s.Empty {
			delete(m, s.Player)
		} else {
			m[s.Player] = s
		}
	}
}

// list is all of them, by rising player.
func (m seated) list() (out []Seat) {
	for _, s := range m {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Seat) int { return int(a.Player) - int(b.Player) })
	return out
}

// What is attached to a record.
const (
	attachedStart = 1 // to the world that a chapter begins with: the level and all seats
	attachedSeats = 2 // to a tick: the seats that have changed in it
	attachedStay  = 3 // as the first, of a mirror: with its stay before the level
	attachedBase  = 4 // as that, of a later level: with stay and base before the level
)

// What of a seat can be kept.
const (
	maxName     = 1 << 10
	maxUserData = 1 << 12
	maxSeats    = 1 << 16
)

// The flags of a seat.
const (
	flagInside = 1 << iota
	flagEmpty
)

// appendStart writes what is attached to the beginning of a chapter.
func appendStart(b []byte, s *Snapshot) ([]byte, error) {
	l := &s.Level
	switch {
	case s.Stay == 0:
		b = append(b, attachedStart)
	case s.Base == 0:
		b = binary.LittleEndian.AppendUint64(append(b, attachedStay), s.Stay)
	default:
		b = binary.LittleEndian.AppendUint64(append(b, attachedBase), s.Stay)
		b = binary.AppendUvarint(b, uint64(s.Base))
	}
	b = appendText(b, l.Name)
	b = binary.LittleEndian.AppendUint64(b, l.Seed)
	b = binary.LittleEndian.AppendUint64(b, l.Secret)
	b = binary.AppendUvarint(b, uint64(len(l.Data)))
	return appendSeats(append(b, l.Data...), s.Seats)
}

// appendChanges writes what is attached to a tick.
func appendChanges(b []byte, seats []Seat) ([]byte, error) {
	return appendSeats(append(b, attachedSeats), seats)
}

func appendSeats(b []byte, seats []Seat) ([]byte, error) {
	b = binary.AppendUvarint(b, uint64(len(seats)))
	for i := range seats {
		s := &seats[i]
		if len(s.Name) > maxName || len(s.UserData) > maxUserData {
			return nil, fmt.Errorf("keep: player %d has a name of %d bytes and data of %d; at most "+
				"%d and %d can be kept", s.Player, len(s.Name), len(s.UserData), maxName,
				maxUserData)
		}
		var flags byte
		if s.Inside {
			flags |= flagInside
		}
		if s.Empty {
			flags |= flagEmpty
		}
		b = binary.AppendUvarint(b, uint64(s.Player))
		b = append(b, flags)
		if s.Empty {
			continue
		}
		b = binary.LittleEndian.AppendUint64(b, s.Client)
		b = appendText(b, s.Name)
		b = binary.AppendUvarint(b, uint64(len(s.UserData)))
		b = append(b, s.UserData...)
	}
	return b, nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// maxBase keeps ticks from overflowing.
const maxBase = 1 << 56

// parseStart reads what appendStart wrote: all of a snapshot but its world.
func parseStart(data []byte) (s Snapshot, err error) {
	p, l := parser{data: data}, &s.Level
	kind := byte(attachedStart)
	if len(data) > 0 && (data[0] == attachedStay || data[0] == attachedBase) {
		kind = data[0]
	}
	p.kind(kind)
	if kind != attachedStart {
		s.Stay = p.fixed()
	}
	if kind == attachedBase {
		s.Base = world.Tick(p.upTo(maxBase))
	}
	l.Name = string(p.bytes(maxName))
	l.Seed, l.Secret = p.fixed(), p.fixed()
	if level := p.bytes(uint64(len(data))); len(level) > 0 {
		l.Data = slices.Clone(level)
	}
	s.Seats = p.seats()
	if err = p.end(); err == nil {
		err = l.Check()
	}
	switch {
	case err != nil:
	case kind != attachedStart && s.Stay == 0:
		err = errors.New("a stay without a number")
	case kind == attachedBase && s.Base == 0:
		err = errors.New("a later level without a base")
	}
	return s, err
}

// parseChanges reads what appendChanges wrote.
func parseChanges(data []byte) ([]Seat, error) {
	p := parser{data: data}
	p.kind(attachedSeats)
	seats := p.seats()
	return seats, p.end()
}

// A parser takes an attachment apart. The first error stays; after it every value is zero.
type parser struct {
	data []byte
	err  error
}

var errShort = errors.New("it ends too early")

func (p *parser) take(n uint64) []byte {
	if p.err == nil && n > uint64(len(p.data)) {
		p.err = errShort
	}
	if p.err != nil {
		return nil
	}
	b := p.data[:n]
	p.data = p.data[n:]
	return b
}

func (p *parser) kind(want byte) {
	if b := p.take(1); b != nil && b[0] != want {
		p.err = fmt.Errorf("it is of kind %d, not %d", b[0], want)
	}
}

func (p *parser) fixed() uint64 {
	if b := p.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// upTo is a number that is at most so large.
func (p *parser) upTo(most uint64) uint64 {
	v, n := binary.Uvarint(p.data)
	switch {
	case p.err != nil:
	case n <= 0:
		p.err = errShort
	case v > most:
		p.err = fmt.Errorf("%d is more than %d", v, most)
	default:
		p.data = p.data[n:]
		return v
	}
	return 0
}

// bytes are at most so many.
func (p *parser) bytes(most uint64) []byte { return p.take(p.upTo(most)) }

func (p *parser) seats() (out []Seat) {
	for n := p.upTo(maxSeats); n > 0 && p.err == nil; n-- {
		s := Seat{Player: world.Player(p.upTo(maxSeats - 1))}
		if b := p.take(1); b != nil {
			s.Inside, s.Empty = b[0]&flagInside != 0, b[0]&flagEmpty != 0
			if b[0] > flagInside|flagEmpty || s.Empty && s.Inside {
				p.err = fmt.Errorf("a seat with flags %#02x", b[0])
			}
		}
		if !s.Empty {
			s.Client, s.Name = p.fixed(), string(p.bytes(maxName))
			if data := p.bytes(maxUserData); len(data) > 0 {
				s.UserData = slices.Clone(data)
			}
		}
		if p.err == nil && s.Player == world.Nobody {
			p.err = errors.New("a seat of nobody")
		}
		out = append(out, s)
	}
	if p.err != nil {
		return nil
	}
	return out
}

// end sees that nothing is left over.
func (p *parser) end() error {
	if p.err == nil && len(p.data) > 0 {
		p.err = fmt.Errorf("%d bytes are left over", len(p.data))
	}
	return p.err
}
