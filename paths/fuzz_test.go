package paths

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// fuzzed is a machine with two members, one of them proved at an address.
func fuzzed(f interface{ Fatal(...any) }) (*Paths, netip.AddrPort) {
	p := New(Options{Self: 1})
	p.SetRelay(0, true)
	p.Add(0, 2, [32]byte{2}, nil)
	p.Add(0, 3, [32]byte{3}, nil)
	at := netip.MustParseAddrPort("192.0.2.2:4000")
	p.answered(p.learn(p.byID[2], source{kind: Direct, addr: at}), time.Millisecond)
	if x, ok := p.To(2); !ok || x.Kind != Direct {
		f.Fatal("not direct")
	}
	return p, at
}

func seedWith(f *testing.F, names ...string) {
	f.Helper()
	known := map[string]string{
		"ask":     "20000001000200000000000000079f9176ba8d682e63b338c2ef04a35192",
		"carry":   "2103000100020000000000000008000100035257293c95cdb2faf74de2b6e84a14076869",
		"relayed": "000220000001000200000000000000079f9176ba8d682e63b338c2ef04a35192",
		"vector":  "00030100030004020003",
	}
	for _, n := range names {
		b, err := hex.DecodeString(known[n])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
}

// FuzzProbe: whatever comes from an address, and with whatever proof it is then given, nothing
// breaks, no more goes out than came in, and it goes to where it came from or to members.
func FuzzProbe(f *testing.F) {
	seedWith(f, "ask", "carry")
	f.Fuzz(func(t *testing.T, b []byte) {
		p, at := fuzzed(t)
		from := netip.MustParseAddrPort("192.0.2.9:4000")
		for round := range 2 {
			if round == 1 { // the same with the proof that it lacks
				h, ok := readHead(b)
				q := p.byID[h.from]
				if !ok || q == nil {
					return
				}
				k := probeProof
				if h.kind == kindCarry {
					k = carryProof
				}
				b = append(q.prove(append([]byte(nil), b[:k]...), 0, b[k+proofSize:]),
					b[k+proofSize:]...)
			}
			again := append([]byte(nil), b...)
			in := p.Receive(0, []link.Datagram{{Addr: from, Data: b}})
			if !bytes.Equal(again, b) {
				t.Fatal("what came was changed")
			}
			size := 0
			for _, d := range p.Send(0, nil) {
				if size += len(d.Data); d.Addr != from && d.Addr != at {
					t.Fatalf("sends to %v", d.Addr)
				}
			}
			for _, c := range p.Carry() {
				size += len(c.Data)
			}
			for _, d := range in {
				if _, _, ok := link.Session(d.Addr); ok != Ours(b) {
					t.Fatalf("%x comes from %v", d.Data, d.Addr)
				}
			}
			if size > len(b) {
				t.Fatalf("%d bytes for %d", size, len(b))
			}
		}
	})
}

// FuzzCarried: what the relay hands over parses to what it was made of, and harms nothing.
func FuzzCarried(f *testing.F) {
	seedWith(f, "relayed")
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := ReadCarried(b)
		if err != nil {
			return
		}
		if !bytes.Equal(c.Append(nil), b) {
			t.Fatal("not the same again")
		}
		p, _ := fuzzed(t)
		if d, ok := p.Carried(0, c); ok && (d.Addr != Addr(c.Member) || Ours(c.Data)) {
			t.Fatalf("%x of %d comes from %v", d.Data, c.Member, d.Addr)
		}
		p.Tick(time.Second, nil)
	})
}

// FuzzVector: a vector that is taken makes no path of more than four steps, nor one over ourselves
// or over a member that is not near.
func FuzzVector(f *testing.F) {
	seedWith(f, "vector")
	f.Add([]byte{0, 3, 1, 0, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, _ := fuzzed(t)
		p.SetRelay(0, false)
		if p.TakeVector(0, 2, b) != nil {
			return
		}
		p.Tick(0, nil)
		for _, x := range p.List(nil) {
			if x.Hops > maxHops || x.Kind == Over && x.Via != member.ID(2) {
				t.Fatalf("%+v", x)
			}
		}
		v, _ := p.Vector(0, nil)
		q := New(Options{Self: 7})
		q.Add(0, 1, [32]byte{1}, nil)
		if err := q.TakeVector(0, 1, v); err != nil {
			t.Fatalf("our own is refused: %x: %v", v, err)
		}
	})
}
