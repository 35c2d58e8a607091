package mirror

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/ruled"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// The state that a newcomer is sent: the level, the settled world, what is in the books for the ticks after it, and how far each mirror's stream was heard. What
// comes after that, the newcomer hears itself.

const stateVersion = 1

// A book is what a timeline has to be told to go on from another mirror's settled world.
type book struct {
	pending []timeline.Command
	members []timeline.Membership // of timelines that wait
	term    uint32                // of the one that is ruled, and after which ticks later terms begin
	changes []world.Tick
	rulings []*ruled.Ruling
}

// appendState writes the state for a newcomer.
func (m *Mirror) appendState(b []byte, to member.ID) []byte {
	b = append(b, stateVersion)
	b = appendText(b, m.level.Name, 1<<10)
	b = binary.BigEndian.AppendUint64(b, m.level.Seed)
	b = binary.BigEndian.AppendUint64(b, m.level.Secret)
	b = binary.AppendUvarint(b, uint64(len(m.level.Data)))
	b = append(b, m.level.Data...)
	b = binary.AppendUvarint(b, uint64(m.final))
	b = binary.AppendUvarint(b, uint64(len(m.led)))
	for _, id := range slices.Sorted(maps.Keys(m.led)) {
		b = binary.BigEndian.AppendUint16(b, uint16(id))
	}
	b = binary.AppendUvarint(b, uint64(len(m.ubers)))
	for _, e := range slices.Sorted(maps.Keys(m.ubers)) {
		b = binary.BigEndian.AppendUint32(b, e)
		b = binary.BigEndian.AppendUint16(b, uint16(m.ubers[e]))
	}
	b = m.registry.append(b)

	own := &stream{id: m.self, started: m.started, from: m.from, next: m.sent + 1, promise: m.promised, count: m.count, have: m.have(), newest: m.sent}
	list := []*stream{own}
	for _, id := range m.order {
		if id != to {
			list = append(list, m.streams[id])
		}
	}
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = s.append(b)
	}

	saved := m.line.Settled().Host().Save(nil)
	b = binary.AppendUvarint(b, uint64(len(saved)))
	b = append(b, saved...)
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	n := uint32(0)
	for c := range m.line.Pending {
		n++
		b = m.appendCommand(b, &c)
	}
	binary.BigEndian.PutUint32(b[at:], n)
	b = binary.AppendUvarint(b, uint64(len(m.parked)))
	for i := range m.parked {
		b = m.appendCommand(b, &m.parked[i])
	}
	b = m.appendMembers(b)
	return m.appendRulings(b)
}

// appendMembers writes for whom a timeline waits.
func (m *Mirror) appendMembers(b []byte) []byte {
	list := m.line.Members()
	b = binary.AppendUvarint(b, uint64(len(list)))
	for i := range list {
		x := &list[i]
		b = binary.BigEndian.AppendUint16(b, uint16(x.Mirror))
		b = binary.AppendUvarint(b, uint64(x.From))
		b = binary.AppendUvarint(b, uint64(x.Seq))
		b = binary.AppendUvarint(b, uint64(len(x.Also)))
		for _, seq := range x.Also {
			b = binary.AppendUvarint(b, uint64(seq))
		}
		left := byte(0)
		if x.Left {
			left = 1
		}
		b = append(b, left)
		b = binary.AppendUvarint(b, uint64(x.Until))
	}
	return b
}

func readMembers(s *scanner) (list []timeline.Membership) {
	for n := s.uvarint(); n > 0 && !s.bad; n-- {
		x := timeline.Membership{Mirror: member.ID(s.u16()), From: s.tick(), Seq: uint32(s.uvarint())}
		for k := s.uvarint(); k > 0 && !s.bad; k-- {
			x.Also = append(x.Also, uint32(s.uvarint()))
		}
		x.Left = s.byte() == 1
		x.Until = s.tick()
		list = append(list, x)
	}
	return list
}

// appendRulings writes what was ruled and is not settled.
func (m *Mirror) appendRulings(b []byte) []byte {
	if m.ruled == nil {
		return append(b, 0, 0, 0, 0, 0, 0)
	}
	term, changes := m.ruled.Terms()
	b = binary.BigEndian.AppendUint32(b, term)
	b = binary.AppendUvarint(b, uint64(len(changes)))
	for _, t := range changes {
		b = binary.AppendUvarint(b, uint64(t))
	}
	var list [][]byte
	put := func(r *ruled.Ruling) bool {
		list = append(list, r.Append(nil))
		return true
	}
	m.ruled.PendingRulings(put)
	for _, r := range m.unheard {
		put(r)
	}
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, r := range list {
		b = binary.AppendUvarint(b, uint64(len(r)))
		b = append(b, r...)
	}
	return b
}

func (m *Mirror) readRulings(s *scanner, k *book) {
	k.term = s.u32()
	for n := s.uvarint(); n > 0 && !s.bad; n-- {
		k.changes = append(k.changes, s.tick())
	}
	for n := s.uvarint(); n > 0 && !s.bad; n-- {
		r, err := ruled.ParseRuling(m.game, s.take(int(min(s.uvarint(), 1<<20))))
		if s.bad = s.bad || err != nil; !s.bad {
			k.rulings = append(k.rulings, r)
		}
	}
}

func (s *stream) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(s.id))
	started := byte(0)
	if s.started {
		started = 1
	}
	b = append(b, started)
	b = binary.AppendUvarint(b, uint64(s.from))
	b = binary.BigEndian.AppendUint32(b, uint32(s.next))
	b = binary.AppendUvarint(b, uint64(s.promise))
	b = binary.AppendUvarint(b, uint64(s.count))
	b = binary.AppendUvarint(b, uint64(s.have))
	b = binary.BigEndian.AppendUint32(b, uint32(s.newest))
	b = binary.AppendUvarint(b, uint64(len(s.beyond)))
	for _, seq := range slices.Sorted(maps.Keys(s.beyond)) {
		data := s.beyond[seq]
		b = binary.BigEndian.AppendUint32(b, uint32(seq))
		b = binary.AppendUvarint(b, uint64(len(data)))
		b = append(b, data...)
	}
	return b
}

func readStream(r *scanner) *stream {
	s := newStream(member.ID(r.u16()), 1)
	s.started = r.byte() == 1
	s.from = r.tick()
	s.next = crimp.Sequence(r.u32())
	s.promise = r.tick()
	s.count = uint32(r.uvarint())
	s.have = r.tick()
	s.newest = crimp.Sequence(r.u32())
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		seq := crimp.Sequence(r.u32())
		s.beyond[seq] = append([]byte{}, r.take(int(min(r.uvarint(), 1<<16)))...)
	}
	return s
}

func (m *Mirror) appendCommand(b []byte, c *timeline.Command) []byte {
	b = append(b, byte(c.Kind))
	b = binary.AppendUvarint(b, uint64(c.Tick))
	b = binary.BigEndian.AppendUint16(b, uint16(c.Origin))
	b = binary.BigEndian.AppendUint32(b, c.Seq)
	b = binary.AppendUvarint(b, uint64(c.Player))
	if c.Kind != timeline.Give {
		return b
	}
	at := len(b)
	b = append(b, 0, 0)
	b, err := m.codec.appendImage(b, c.Image)
	if err != nil {
		return b // it was checked when it came
	}
	binary.BigEndian.PutUint16(b[at:], uint16(len(b)-at-2))
	return b
}

func (m *Mirror) readCommand(s *scanner) (c timeline.Command) {
	c.Kind = timeline.Kind(s.byte())
	c.Tick = s.tick()
	c.Origin = member.ID(s.u16())
	c.Seq = s.u32()
	c.Player = world.Player(min(s.uvarint(), 1<<16-1))
	if c.Kind != timeline.Give || s.bad {
		return c
	}
	data := s.take(int(s.u16()))
	m.codec.in.Reset()
	m.codec.reader.Reset(data)
	if m.codec.slots == 0 || m.codec.in.GiveFrom(anyone, &m.codec.reader) != nil || !m.codec.in.Image(anyone, m.codec.image) {
		s.bad = true
	}
	c.Image = slices.Clone(m.codec.image)
	return c
}

var errState = errors.New("mirror: malformed state")

// takeState goes on from the state of another mirror.
func (m *Mirror) takeState(b []byte) error {
	s := scanner{b: b}
	if v := s.byte(); v != stateVersion {
		return fmt.Errorf("mirror: state of version %d, this program knows %d: run the same version everywhere", v, stateVersion)
	}
	l := server.Level{Name: s.text(1 << 10), Seed: s.u64(), Secret: s.u64()}
	l.Data = append([]byte(nil), s.take(int(min(s.uvarint(), 1<<30)))...)
	m.final = s.tick()
	for n := s.uvarint(); n > 0 && !s.bad; n-- {
		m.led[member.ID(s.u16())] = true
	}
	for n := s.uvarint(); n > 0 && !s.bad; n-- {
		e := s.u32()
		m.ubers[e] = member.ID(s.u16())
	}
	m.registry.read(&s)
	var streams []*stream
	for n := s.uvarint(); n > 0 && !s.bad; n-- {
		streams = append(streams, readStream(&s))
	}
	saved := s.take(int(min(s.uvarint(), 1<<30)))
	k := &book{}
	for n := s.u32(); n > 0 && !s.bad; n-- {
		k.pending = append(k.pending, m.readCommand(&s))
	}
	var parked []timeline.Command
	for n := s.uvarint(); n > 0 && !s.bad; n-- {
		parked = append(parked, m.readCommand(&s))
	}
	k.members = readMembers(&s)
	m.readRulings(&s, k)
	if s.bad || len(s.b) > 0 {
		return errState
	}
	w, err := m.game.Load(saved)
	if err != nil {
		return err
	}
	if m.server != nil && (l.Name != m.level.Name || l.Seed != m.level.Seed || l.Hash() != m.level.Hash()) {
		return errors.New("mirror: the others play another level now; start this mirror anew")
	}
	m.level = l
	if err := m.openLine(w, k); err != nil {
		return err
	}
	if err := m.open(); err != nil {
		return err
	}
	for _, st := range streams {
		m.listen(st)
	}
	m.roster()
	if err := m.goOn(k); err != nil {
		return err
	}
	for _, c := range parked {
		m.command(m.streams[c.Origin], c)
	}
	m.phase = Waiting
	m.clock.doubt()
	return nil
}

// goOn tells the timeline what else the other mirror's knew.
func (m *Mirror) goOn(k *book) error {
	if m.waits {
		for _, x := range k.members {
			if s := m.streams[x.Mirror]; s != nil {
				s.submitted = x.Seq
			}
		}
		list := slices.DeleteFunc(k.members, func(x timeline.Membership) bool { return x.Mirror == m.self })
		if err := m.line.SetMirrors(m.clock.now(), append(list, timeline.Membership{Mirror: m.self, From: m.line.Settled().Tick()})); err != nil {
			return err
		}
	}
	if m.ruled == nil {
		return nil
	}
	for _, from := range k.changes {
		if err := m.ruled.SetJudge(m.clock.now(), false, from); err != nil {
			return err
		}
	}
	for _, r := range k.rulings {
		m.ruledTo = max(m.ruledTo, r.Tick)
		m.hear(r)
	}
	return nil
}
