package zone

import (
	"encoding/binary"
	"errors"
)

// ErrBody is why a snapshot is of no use whose body cannot be loaded.
var ErrBody = errors.New("zone: the body of a snapshot cannot be loaded")

const (
	maxStored  = 1 << 30 // bytes of a snapshot
	seqInImage = 1       // where the sequence stands, which is known last
)

// save appends all of a state, without the sequence and the sum, which seal adds.
func (s *state) save(b []byte) []byte {
	b = append(b, wireVersion, 0, 0, 0, 0, 0, 0, 0, 0)
	b = appendUint(b, uint64(s.id))
	b = appendUint(b, uint64(s.tick))
	b = appendUint(b, s.events)
	b = appendUint(b, uint64(len(s.streams)))
	for _, st := range s.streams {
		b = st.save(b, s.id)
	}
	s.moved.compact()
	b = appendUint(b, uint64(len(s.moved.to)))
	for _, d := range s.moved.ring {
		b = appendUint(b, d.entity)
		b = appendUint(b, uint64(s.moved.to[d.entity].to))
	}
	b = appendUint(b, uint64(len(s.aside)))
	for i := range s.aside {
		b = s.aside[i].save(b)
	}
	b = appendUint(b, uint64(len(s.waiting.list)))
	for i := range s.waiting.list {
		b = s.waiting.list[i].save(b, s.id)
	}
	b = binary.BigEndian.AppendUint64(b, s.body.Hash())
	return s.body.Save(b)
}

func (st *stream) save(b []byte, self ID) []byte {
	b = appendUint(b, uint64(st.peer))
	b = appendUint(b, st.accepted)
	b = appendUint(b, st.ghostEpoch)
	b = appendUint(b, uint64(st.ghostTick))
	b = appendUint(b, st.out.first)
	b = appendUint(b, uint64(st.out.len()))
	for n := st.out.first; n < st.out.end(); n++ {
		b = st.out.at(n).append(b, self, st.peer, n)
	}
	return b
}

func (a *Aside) save(b []byte) []byte {
	var acts byte
	if a.Action {
		acts = 1
	}
	b = appendUint(b, uint64(a.From))
	b = appendUint(b, a.Number)
	b = appendUint(b, a.Entity)
	b = append(b, acts)
	b = appendUint(b, uint64(a.Tick))
	return appendBytes(b, a.Data)
}

// seal says behind which record replay begins, and completes a snapshot with a sum.
func seal(b []byte, seq uint64) []byte {
	binary.BigEndian.PutUint64(b[seqInImage:], seq)
	return appendSum(b, 0)
}

// load fills an empty state from a sealed snapshot, and gives the sequence behind which the records
// stand that it lacks. Frames up to its tick are to be left out of them.
func load(s *state, data []byte) (seq uint64, err error) {
	data, ok := checked(data)
	if !ok || len(data) > maxStored {
		return 0, errDamaged
	}
	r := reader{b: data}
	if r.byte() != wireVersion {
		return 0, errDamaged
	}
	seq = r.fixed()
	if r.id() != s.id {
		r.fail()
	}
	s.tick = Tick(r.uint())
	s.events = r.uint()
	for range r.count(MaxPeers) {
		r.stream(s)
	}
	for range r.count(maxMoved) {
		entity, to := r.uint(), r.uint()
		if to != 0 && (to >= 1<<32 || s.streams.get(ID(to)) == nil) {
			r.fail()
		}
		s.moved.left(entity, ID(to))
	}
	for range r.count(maxAside) {
		s.aside = append(s.aside, r.aside())
	}
	for range r.count(maxWaiting + maxTaken) {
		w := r.waiter(s.id)
		s.waiting.list = append(s.waiting.list, w)
		s.waiting.bytes += w.item.size()
	}
	hash := r.fixed()
	if r.bad {
		return 0, errDamaged
	}
	if err := s.body.Load(r.b); err != nil {
		return 0, errors.Join(ErrBody, err)
	}
	if s.body.Hash() != hash {
		return 0, ErrBody
	}
	return seq, nil
}

func (r *reader) stream(s *state) {
	st := s.streams.open(r.id())
	if st == nil || st.out.first != 1 || st.accepted != 0 {
		r.fail()
		return
	}
	st.accepted, st.ghostEpoch, st.ghostTick = r.uint(), r.uint(), Tick(r.uint())
	first := r.uint()
	if first == 0 {
		r.fail()
	}
	st.out.restart(first)
	for range r.count(maxStored) {
		i := r.item(s.id, st.peer, st.out.end())
		st.push(&i)
	}
}

func (r *reader) aside() Aside {
	a := Aside{From: r.id(), Number: r.uint(), Entity: r.uint()}
	acts := r.byte()
	if acts > 1 {
		r.fail()
	}
	a.Action, a.Tick, a.Data = acts == 1, Tick(r.uint()), append([]byte(nil), r.bytes(MaxItem)...)
	return a
}

// Found makes the first snapshot of a zone whose body is as it is after a tick, and the key under
// which it is to be put into the store before the zone is put on the map. Nothing may be owned by
// two zones.
func Found(id ID, tick Tick, body Body) (key string, data []byte) {
	s := newState(id, body)
	s.tick = tick
	return imageKey(id, tick, 0), seal(s.save(nil), 0)
}
