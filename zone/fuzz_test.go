package zone

import (
	"bytes"
	"testing"
	"time"
)

// settle gives a server that owns zone 1, and what keeps it.
func settle(tb testing.TB) (*Server, *cluster, time.Duration) {
	c := newCluster()
	c.records = map[ID][]Record{}
	body := &pong{to: 2, n: 1}
	body.here[0] = 5
	key, data := Found(1, 0, body)
	c.store[key] = data
	a := Assignment{Owner: 1}
	c.entries[ZoneKey(1)] = Entry{ZoneKey(1), a.Append(nil), 1}
	c.n++
	s, err := New(0, Options{Self: 1, Body: func(ID) Body { return &pong{to: 2} }})
	if err != nil {
		tb.Fatal(err)
	}
	now := time.Duration(0)
	for len(s.Zones()) == 0 || now < time.Second {
		now += time.Second / 60
		s.Tick(now)
		c.serve(now, s, func(Message) {})
		if now > time.Minute {
			tb.Fatal("a server owns no zone")
		}
	}
	return s, c, now
}

// FuzzReceive gives a server whatever may come, and has it go on.
func FuzzReceive(f *testing.F) {
	p := passing{2, 1, 1}
	i := item{kind: handOver, entity: 9, tick: 3, data: []byte("nine")}
	items := itemsPart{p, 1, 1}
	all := appendUint([]byte{wireVersion}, 1_000_000)
	all = i.append(items.append(all), 2, 1, 1)
	a := answerPart{p, 1, 2, true}
	all = a.append(all)
	g := ghostPart{p, 5, 0, []byte("seen")}
	all = g.append(all)
	e := seenPart{p, 1, 3}
	all = e.append(all)
	o := ownerPart{3, 4, 5}
	all = o.append(append(all, byte(partBeat)))
	f.Add(all)
	h := holdPart{zone: 3, epoch: 2, number: 4, first: 2, total: 6, offset: 2, data: []byte("data")}
	held := heldPart{1, 1, 1, true, false}
	ask := askPart{3, 3, 4, 0}
	tell := tellPart{zone: 1, epoch: 9, of: 2, first: 3, end: 5, number: 3, total: 4,
		data: []byte("data")}
	f.Add(tell.append(ask.append(held.append(h.append(
		appendUint([]byte{wireVersion}, 1_000_000))))))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, c, now := settle(t)
		for range 3 {
			s.Receive(now, 2, data)
			now += time.Second / 60
			s.Tick(now)
			c.serve(now, s, func(m Message) {
				if len(m.Data) > MaxMessage {
					t.Fatalf("a message of %d bytes", len(m.Data))
				}
			})
		}
		if len(s.zones) != 1 || len(s.peers) > 3 {
			t.Fatalf("%d zones, %d peers", len(s.zones), len(s.peers))
		}
	})
}

// FuzzRecord reads a record, and writes what it read again.
func FuzzRecord(f *testing.F) {
	_, c, _ := settle(f)
	for _, r := range c.records[1] {
		f.Add(r.Data[:len(r.Data)-4])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = appendSum(bytes.Clone(data), 0)
		h, r, err := readRecord(data)
		if err != nil {
			return
		}
		again := h.append(nil)
		for n := range h.count {
			var fr frame
			var items []item
			fr.reset(h.first + Tick(n))
			if r.frame(&fr, 1, &items); r.bad {
				return
			}
			again = fr.append(again, 1, fr.outs)
		}
		if again = appendSum(again, 0); r.done() && !bytes.Equal(again, data) {
			t.Fatalf("%x was read, and is written %x", data, again)
		}
	})
}

// FuzzImage loads a snapshot, and saves what it loaded again.
func FuzzImage(f *testing.F) {
	s, _, _ := settle(f)
	image := s.zones[0].state.save(nil)
	f.Add(image)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 9 {
			return
		}
		st := newState(1, &opaque{})
		seq, err := load(st, appendSum(bytes.Clone(data), 0))
		if err != nil {
			return
		}
		if again := seal(st.save(nil), seq); !bytes.Equal(again[:len(again)-4], data) &&
			len(st.moved.to) == 0 && len(st.streams) == 0 {
			t.Fatalf("%x was loaded, and is saved as %x", data, again)
		}
	})
}

// opaque is a body of any bytes.
type opaque struct{ data []byte }

func (b *opaque) Step(*Input, *Output)                  {}
func (b *opaque) Has(uint64) bool                       { return false }
func (b *opaque) Observe(_ ID, _ Tick, d []byte) []byte { return d }
func (b *opaque) Hash() uint64                          { return 0 }
func (b *opaque) Save(d []byte) []byte                  { return append(d, b.data...) }
func (b *opaque) Load(d []byte) error                   { b.data = bytes.Clone(d); return nil }

// FuzzEntry reads values of the map.
func FuzzEntry(f *testing.F) {
	a := Assignment{Epoch: 3, Owner: 4, Tries: 5, At: 600, Halted: true}
	f.Add(a.Append(nil))
	a.Holders = [holders]ServerID{4, 9, 11}
	f.Add(a.Append(nil))
	p := presence{7, 8, []ServerID{3, 5}}
	f.Add(p.append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		if a, err := ReadAssignment(data); err == nil && !bytes.Equal(a.Append(nil), data) {
			t.Fatalf("%x was read, and is written %x", data, a.Append(nil))
		}
		if p, ok := readPresence(data); ok && !bytes.Equal(p.append(nil), data) {
			t.Fatalf("%x was read, and is written %x", data, p.append(nil))
		}
	})
}
