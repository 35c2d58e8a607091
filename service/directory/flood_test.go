package directory_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"runtime"
	"testing"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/packet"
)

// TestSpoofed: queries from a million addresses that are nobody's cost no more bytes than they
// have, each of them, and no memory; honest ones are answered between them.
func TestSpoofed(t *testing.T) {
	many := 20_000
	if os.Getenv("COEVAL_SOAK") != "" {
		many = 1_000_000
	}
	s := open(t, t.TempDir()+"/d.db", nil)
	for i := range 100 {
		s.want(200)(newSpeaker(i).register(s.http.URL))
	}
	s.book.Publish()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	x := directory.NewResponder(s.book, nil)
	buf, query := make([]byte, 0, 2048), make([]byte, 0, 2048)
	in, out, honest := 0, 0, 0
	flood := func(n int) {
		for i := range n {
			q := packet.Query{Nonce: r.Uint64(), Room: r.IntN(2) == 0, First: uint16(r.IntN(200))}
			switch r.IntN(3) {
			case 0:
				q.Protocol = token.ProtocolID("tanks")
			case 1:
				q.Version, q.Region = r.Uint64(), fmt.Sprint("r", r.IntN(1<<30))
			}
			query = q.Append(query[:0], packet.LeastQuery+r.IntN(packet.MostQuery-64))
			if r.IntN(4) == 0 {
				query = query[:r.IntN(len(query))] // cut off
			}
			d := link.Datagram{Data: query, Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{
				byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())}), 1)}
			answer := x.Answer(&d, buf[:0])
			if in, out = in+len(query), out+len(answer); len(answer) > len(query) {
				t.Fatalf("%d bytes for %d", len(answer), len(query))
			}
			if i%100 == 0 {
				q := packet.Query{Nonce: 7, Protocol: token.ProtocolID("tanks")}
				d := link.Datagram{Data: q.Append(nil, 1200), Addr: d.Addr}
				if a, ok := packet.ParseAnswer(x.Answer(&d, buf[:0])); !ok || a.Total != 100 {
					t.Fatalf("an honest query: %+v", a)
				}
				honest++
			}
		}
	}
	flood(many / 10)
	before := heap()
	flood(many)
	grown := int64(heap()) - int64(before)
	t.Logf("%d queries, %d bytes in, %d out; %d honest ones answered; memory %+d bytes",
		many+many/10, in, out, honest, grown)
	if grown > 1<<20 {
		t.Errorf("memory has grown by %d bytes", grown)
	}
}

// heap is what is in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkAnswer is a query by a datagram, of a game with a thousand servers.
func BenchmarkAnswer(b *testing.B) {
	s := open(b, b.TempDir()+"/d.db", nil)
	for i := range 1000 {
		x := newSpeaker(i)
		x.says.Seq = 1
		_, err := s.book.Register(b.Context(), x.says, x.public(), netip.Addr{})
		must(b, err)
	}
	s.book.Publish()
	x := directory.NewResponder(s.book, nil)
	q := packet.Query{Nonce: 7, Protocol: token.ProtocolID("tanks"), Room: true}
	d, buf := link.Datagram{Data: q.Append(nil, 1200)}, make([]byte, 0, 2048)
	b.ReportAllocs()
	for b.Loop() {
		if len(x.Answer(&d, buf[:0])) < 1000 {
			b.Fatal("nothing is answered")
		}
	}
}
