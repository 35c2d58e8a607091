package dis

import (
	"bytes"
	"testing"
)

// fuzzOne feeds anything to one kind of PDU. What is taken is written to bytes that are taken
// again, to the same end; and of what other implementations send, to the same bytes.
func fuzzOne(f *testing.F, kind Kind, fresh func() PDU) {
	for _, file := range []string{"pdus.json", "captures.json"} {
		for _, v := range vectors(f, file) {
			if b := v.bytes(f); Kind(b[2]) == kind {
				f.Add(b)
				f.Add(b[:len(b)-1])
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := fresh()
		if p.Read(b) != nil {
			return
		}
		h := *HeaderOf(p)
		if int(h.Length) > len(b) {
			t.Fatalf("it says to have %d of %d bytes", h.Length, len(b))
		}
		once := p.Append(nil)
		if len(once) != int(h.Length) {
			t.Fatalf("of %d bytes it became %d", h.Length, len(once))
		}
		again := fresh()
		if err := again.Read(once); err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
		if twice := again.Append(nil); !bytes.Equal(once, twice) {
			t.Fatalf("written twice it is\n%x and\n%x", once, twice)
		}
	})
}

func FuzzEntityState(f *testing.F) {
	fuzzOne(f, KindEntityState, func() PDU { return new(EntityState) })
}
func FuzzFire(f *testing.F) { fuzzOne(f, KindFire, func() PDU { return new(Fire) }) }
func FuzzDetonation(f *testing.F) {
	fuzzOne(f, KindDetonation, func() PDU { return new(Detonation) })
}
func FuzzCollision(f *testing.F) { fuzzOne(f, KindCollision, func() PDU { return new(Collision) }) }
func FuzzCreateEntity(f *testing.F) {
	fuzzOne(f, KindCreateEntity, func() PDU { return new(CreateEntity) })
}
func FuzzRemoveEntity(f *testing.F) {
	fuzzOne(f, KindRemoveEntity, func() PDU { return new(RemoveEntity) })
}
func FuzzStartResume(f *testing.F) {
	fuzzOne(f, KindStartResume, func() PDU { return new(StartResume) })
}
func FuzzStopFreeze(f *testing.F) {
	fuzzOne(f, KindStopFreeze, func() PDU { return new(StopFreeze) })
}
func FuzzAcknowledge(f *testing.F) {
	fuzzOne(f, KindAcknowledge, func() PDU { return new(Acknowledge) })
}
func FuzzData(f *testing.F)    { fuzzOne(f, KindData, func() PDU { return new(Data) }) }
func FuzzSetData(f *testing.F) { fuzzOne(f, KindSetData, func() PDU { return new(Data) }) }
func FuzzComment(f *testing.F) { fuzzOne(f, KindComment, func() PDU { return new(Comment) }) }

// FuzzDatagram feeds anything to a Reader, as a socket would: several PDUs, cut, or none.
func FuzzDatagram(f *testing.F) {
	var all []byte
	for _, v := range vectors(f, "pdus.json") {
		f.Add(v.bytes(f))
		all = append(all, v.bytes(f)...)
	}
	f.Add(all)
	f.Add(append(all[:len(all):len(all)], 6, 0, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Reader
		left := len(b)
		for p, err := range r.All(b) {
			if err != nil {
				continue
			}
			left -= int(HeaderOf(p).Length)
			if left < 0 {
				t.Fatal("there is more in it than it has bytes")
			}
			p.Append(nil)
		}
	})
}
