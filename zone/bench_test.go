package zone

import (
	"encoding/binary"
	"testing"
	"time"
)

// pong is a body that hands whatever arrives on to the other of two zones, acts on it there, and
// shows itself.
type pong struct {
	to   ID
	here [8]uint64
	n    int
	buf  [256]byte
}

func (b *pong) Step(in *Input, out *Output) {
	for i := range in.Arrivals {
		b.here[b.n] = in.Arrivals[i].Entity
		b.n++
	}
	for i := range b.n {
		out.Depart(b.to, b.here[i], b.buf[:])
		out.Act(b.to, b.here[i], b.buf[:16])
	}
	b.n = 0
	out.Event(b.buf[:8])
	out.Show(b.to)
}

func (b *pong) Has(entity uint64) bool {
	for _, e := range b.here[:b.n] {
		if e == entity {
			return true
		}
	}
	return false
}

func (b *pong) Observe(_ ID, _ Tick, dst []byte) []byte { return append(dst, b.buf[:100]...) }

func (b *pong) Hash() uint64 { return uint64(b.n) }

func (b *pong) Save(dst []byte) []byte {
	dst = append(dst, byte(b.n))
	for _, e := range b.here[:b.n] {
		dst = binary.BigEndian.AppendUint64(dst, e)
	}
	return dst
}

func (b *pong) Load(data []byte) error {
	b.n = int(data[0])
	for i := range b.n {
		b.here[i] = binary.BigEndian.Uint64(data[1+8*i:])
	}
	return nil
}

// cluster is the least that keeps zones: it is never slow and never wrong.
type cluster struct {
	entries map[string]Entry
	store   map[string][]byte
	last    map[ID]Record
	records map[ID][]Record // where it is not nil
	n       uint64
}

func newCluster() *cluster {
	return &cluster{map[string]Entry{}, map[string][]byte{}, map[ID]Record{}, nil, 0}
}

func (c *cluster) do(op *Op) Result {
	c.n++
	r := Result{ID: op.ID}
	switch op.Kind {
	case MapGet:
		e, ok := c.entries[op.Key]
		if !ok {
			r.Outcome = None
		}
		r.Data, r.Revision = e.Value, e.Revision
	case MapSet:
		if c.entries[op.Key].Revision != op.Expect {
			r.Outcome = Stale
			return r
		}
		c.entries[op.Key] = Entry{op.Key, op.Data, c.n}
		r.Revision = c.n
	case MapList:
		for _, e := range c.entries {
			if len(e.Key) > len(op.Key) && e.Key[:len(op.Key)] == op.Key {
				r.Entries = append(r.Entries, e)
			}
		}
	case Append:
		last := c.last[op.Zone]
		if last.Sequence != op.Expect {
			r.Outcome = Stale
			return r
		}
		c.last[op.Zone] = Record{c.n, append(last.Data[:0], op.Data...)}
		if c.records != nil {
			c.records[op.Zone] = append(c.records[op.Zone],
				Record{c.n, append([]byte(nil), op.Data...)})
		}
		r.Sequence = c.n
	case Last:
		l, ok := c.last[op.Zone]
		if !ok {
			r.Outcome = None
		}
		r.Sequence, r.Data = l.Sequence, append([]byte(nil), l.Data...)
	case Read:
		for _, rec := range c.records[op.Zone] {
			if rec.Sequence > op.Expect {
				r.Records = append(r.Records, rec)
			}
		}
	case Put:
		c.store[op.Key] = append(c.store[op.Key][:0], op.Data...)
	case Get:
		r.Data = append([]byte(nil), c.store[op.Key]...)
	case Keys:
		for k := range c.store {
			if len(k) > len(op.Key) && k[:len(op.Key)] == op.Key {
				r.Keys = append(r.Keys, k)
			}
		}
	}
	return r
}

// serve does all that a server wants until it wants nothing more, and hands its messages to a
// function.
func (c *cluster) serve(now time.Duration, s *Server, send func(Message)) {
	for {
		ops := s.Ops()
		for i := range ops {
			op := ops[i]
			s.Done(now, c.do(&op))
			for _, m := range s.Messages() {
				send(m)
			}
			s.Notices()
		}
		if len(ops) == 0 {
			return
		}
	}
}

// BenchmarkTick is a tick of two zones on two servers, with four hand-overs, four actions, an event
// and a ghost each way: computed, recorded, acknowledged, sent, received and answered.
func BenchmarkTick(b *testing.B) {
	c := newCluster()
	c.records = map[ID][]Record{}
	var servers [2]*Server
	for i := range servers {
		body := &pong{to: ID(2 - i)}
		for k := range 4 {
			body.here[k] = uint64(4*i + k + 1)
		}
		body.n = 4
		key, data := Found(ID(i+1), 0, body)
		c.store[key] = data
		a := Assignment{Owner: ServerID(i + 1)}
		c.entries[ZoneKey(ID(i+1))] = Entry{ZoneKey(ID(i + 1)), a.Append(nil), 1}
		c.n++
	}
	for i := range servers {
		s, err := New(0, Options{Self: ServerID(i + 1), SnapshotEvery: 1 << 30, Silence: time.Hour,
			Body: func(id ID) Body { return &pong{to: 3 - id} }})
		if err != nil {
			b.Fatal(err)
		}
		servers[i] = s
	}
	now := time.Duration(0)
	turn := func() {
		now += time.Second / 60
		for i, s := range servers {
			send := func(m Message) { servers[m.To-1].Receive(now, ServerID(i+1), m.Data) }
			s.Tick(now)
			c.serve(now, s, send)
			for _, m := range s.Messages() {
				send(m)
			}
			s.Notices()
		}
	}
	for range 60 * 60 * 21 { // past the first list of zones
		turn()
		if len(servers[0].Zones())+len(servers[1].Zones()) == 2 {
			break
		}
	}
	if len(servers[0].Zones()) != 1 || len(servers[1].Zones()) != 1 {
		b.Fatal("a server owns no zone")
	}
	c.records = nil
	for range 2000 {
		turn()
	}
	before := servers[0].Stats().HandOvers
	b.ReportAllocs()
	n := uint64(0)
	for b.Loop() {
		turn()
		n++
	}
	if got := servers[0].Stats().HandOvers - before; got < 2*n {
		b.Fatalf("%d hand-overs in %d ticks", got, n)
	}
}
