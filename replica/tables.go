package replica

import (
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/codec"
)

// A server may learn better tables while it runs. Sets of tables have numbers: 0 are those of the
// protocol, and the others are given out again when nobody uses them any more. Each packet names
// the set that it was made with, so that packets may be lost or overtake each other while a client
// goes over from one to another. What is a difference from what, and what an entity starts from
// where nothing is known, does not depend on tables.

// TableSets is how many sets of tables a packet can name, with that of the protocol.
const TableSets = 1 << tablesBits

// ErrTables says that a packet was made with tables that the receiver does not have.
var ErrTables = errors.New("replica: the packet needs tables that are not here")

// Learns says whether tables that were learned can be used: only coeval's own strategy has any.
func (p *Protocol) Learns() bool { return p.scheme.Learns }

// LoadTables reads tables that were learned for the protocol's game, for SetTables. Whatever they
// are, the model that they make can code all images.
func (p *Protocol) LoadTables(data []byte) (*codec.Model, error) {
	if !p.scheme.Learns {
		return nil, fmt.Errorf("replica: strategy %v has no tables", p.options.Strategy)
	}
	m, err := codec.LoadTables(p.model.Schema(), data)
	if err != nil {
		return nil, fmt.Errorf("replica: %w", err)
	}
	return m, nil
}

// SetTables has the packets from now on made with a set of tables, which the client must be known
// to have under that number. Number 0 goes back to those of the protocol, and the model is ignored.
func (s *Sender) SetTables(number uint8, m *codec.Model) {
	if number %= TableSets; number == 0 || m == nil || !s.scheme.Learns {
		number, m = 0, s.pub.protocol.model
	}
	s.tables, s.model = number, m
}

// Tables is the number of the set that packets are made with.
func (s *Sender) Tables() uint8 { return s.tables }

// SetTables has packets that name a number read by a set of tables; nil forgets it. Number 0 cannot
// be changed.
func (r *Receiver) SetTables(number uint8, m *codec.Model) {
	if number %= TableSets; number > 0 {
		r.tables[number] = m
	}
}

// useTables has the worker code for a sender.
func (w *Worker) useTables(number uint8, m *codec.Model) {
	if w.coder == nil {
		return
	}
	w.coder.Use(m)
	w.number = number
	if w.models[number] != m {
		w.models[number] = m
		for i := range w.tapes { // they may be of what had this number before
			w.tapes[i].used = false
		}
	}
}

// Learn has the worker gather what it codes: about one in so many entities, picked by what they
// are, so that it does not depend on who codes what. Nil ends it.
func (w *Worker) Learn(x *codec.Samples, every uint32) {
	w.samples, w.every = x, max(every, 1)
	if w.coder == nil {
		w.samples = nil
	}
}

// take gathers an entity before it is coded.
func (s *Sender) take(w *Worker, f *flight, c *class, sl *slot, image []int32) {
	pick := uint64(sl.unique)<<32 ^ uint64(sl.number)<<16 ^ uint64(f.Packet)<<8 ^
		uint64(s.options.Player)
	if uint32(pick*hashFactor>>32)%w.every != 0 || c.fields == 0 {
		return
	}
	s.load(w, sl) // where the decisions were remembered it was not needed yet
	for _, part := range c.parts {
		w.part = w.hist
		for i := range w.part.Len {
			w.part.Images[i] = w.hist.Images[i][part.from:part.to]
		}
		w.coder.Take(w.samples, part.class, &w.part, image[part.from:part.to])
	}
}
