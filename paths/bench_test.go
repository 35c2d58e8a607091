package paths

import (
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// benched is a machine with seven members, all reached by one kind of path.
func benched(kind Kind) (*Paths, []link.Datagram, []netip.AddrPort) {
	p := New(Options{Self: 1, CarryRate: 1 << 40})
	p.SetRelay(0, kind == Relay)
	var out []link.Datagram
	var at []netip.AddrPort
	for i := range 7 {
		id := member.ID(i + 2)
		p.Add(0, id, [32]byte{byte(id)}, nil)
		a := netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(id)}), 4000)
		at = append(at, a)
		if kind == Direct || kind == Over && i == 0 {
			p.answered(p.learn(p.byID[id], source{kind: Direct, addr: a}), time.Millisecond)
		}
		if kind != Over || i > 0 {
			out = append(out, link.Datagram{Addr: Addr(id), Data: make([]byte, 60)})
		}
	}
	if kind == Over {
		var v []byte
		for i := 1; i < 7; i++ {
			v = append(v, 0, byte(i+2), 1, 0, byte(i+2))
		}
		if err := p.TakeVector(0, 2, v); err != nil {
			panic(err)
		}
		p.Tick(0, nil)
	}
	return p, out, at
}

func benchmarkSend(b *testing.B, kind Kind) {
	p, out, _ := benched(kind)
	work := make([]link.Datagram, 0, 64)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		work = append(work[:0], out...)
		n += len(p.Send(0, work)) + len(p.Carry())
	}
	if n == 0 {
		b.Fatal("nothing is sent")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(out)), "ns/datagram")
}

func BenchmarkSendDirect(b *testing.B) { benchmarkSend(b, Direct) }
func BenchmarkSendRelay(b *testing.B)  { benchmarkSend(b, Relay) }
func BenchmarkSendOver(b *testing.B)   { benchmarkSend(b, Over) }

func BenchmarkReceive(b *testing.B) {
	p, _, at := benched(Direct)
	work := make([]link.Datagram, 0, 64)
	data := make([]byte, 60)
	data[0] = 0x80
	b.ReportAllocs()
	for b.Loop() {
		work = work[:0]
		for _, a := range at {
			work = append(work, link.Datagram{Addr: a, Data: data})
		}
		if len(p.Receive(0, work)) != len(at) {
			b.Fatal("lost some")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(at)), "ns/datagram")
}

// BenchmarkCarry is a member that hands on what others send over it.
func BenchmarkCarry(b *testing.B) {
	p, _, at := benched(Direct)
	sender := New(Options{Self: 2})
	sender.Add(0, 1, p.byID[2].key, nil)
	work := make([]link.Datagram, 1, 8)
	out := make([]link.Datagram, 0, 8)
	data := make([]byte, 60)
	b.ReportAllocs()
	for b.Loop() {
		sender.out.flush(nil)
		work[0] = link.Datagram{
			Addr: at[0], Data: sender.wrap(sender.byID[1], 2, 3, maxCarriers, data)}
		p.Receive(0, work)
		if out = p.Send(0, out[:0]); len(out) != 1 {
			b.Fatalf("%d sent, %+v", len(out), p.Stats())
		}
	}
}

// BenchmarkTick is a look at the clock when little is due.
func BenchmarkTick(b *testing.B) {
	p, _, _ := benched(Direct)
	out := make([]link.Datagram, 0, 64)
	now := time.Duration(0)
	b.ReportAllocs()
	for b.Loop() {
		now += time.Millisecond
		out = p.Tick(now, out[:0])
		p.Carry()
	}
}
