package query

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
)

var somebody = netip.MustParseAddrPort("192.0.2.7:5000")

// A desk is a responder with what it was asked to make and tell.
type desk struct {
	*Responder
	infos, whos, owns int
	told              []string
	players           int
}

func newDesk(k Kinds) *desk {
	d := &desk{players: 300}
	d.Responder = NewResponder(AnswerOptions{Seed: [32]byte{5}, Answers: k,
		Info: func(i *Info) { d.infos++; i.Game = "pong"; i.Players = uint16(d.players) },
		Who: func(to []Player) []Player {
			d.whos++
			for i := range d.players {
				to = append(to, Player{Name: fmt.Sprint("player ", i), Seconds: uint32(i)})
			}
			return to
		},
		Own: []OwnQuery{{Name: "score", Answer: func(to []byte) []byte {
			d.owns++
			return append(to, "3:2"...)
		}}, {Name: "long", Answer: func(to []byte) []byte {
			return append(to, make([]byte, 5000)...)
		}}},
		Message: func(from netip.AddrPort, text string) {
			d.told = append(d.told, fmt.Sprint(from, " ", text))
		}})
	return d
}

func (d *desk) ask(t *testing.T, now time.Duration, q Query, length int) Answer {
	t.Helper()
	in := q.Append(nil, length)
	out := d.Answer(now, &link.Datagram{Addr: somebody, Data: in}, nil)
	a, ok := ParseAnswer(out)
	if !ok || len(out) > len(in) || a.Nonce != q.Nonce || a.Kind != q.Kind {
		t.Fatalf("%+v of %d bytes is answered by %d: %+v", q, len(in), len(out), a)
	}
	return a
}

func TestAnswers(t *testing.T) {
	d := newDesk(AllKinds)
	if a := d.ask(t, 1, Query{Kind: Ping, Nonce: 9}, Least); a.Status != OK ||
		len(a.Body) > 0 {
		t.Errorf("ping: %+v", a)
	}
	info, ok := ParseInfo(d.ask(t, 1, Query{Kind: AskInfo}, Most).Body)
	if !ok || info.Game != "pong" || info.Answers != AllKinds || len(info.Own) != 2 ||
		info.Places != 1 {
		t.Errorf("info: %v %+v", ok, info)
	}
	if a := d.ask(t, 1, Query{Kind: AskInfo}, Least); a.Status != Short || len(a.Body) > 0 {
		t.Errorf("a short query: %+v", a)
	}
	if a := d.ask(t, 1, Query{Kind: Own, Text: []byte("score")}, Most); string(a.Body) != "3:2" {
		t.Errorf("score: %+v", a)
	}
	if a := d.ask(t, 1, Query{Kind: Own, Text: []byte("long")}, Most); len(a.Body) != MaxBody {
		t.Errorf("long: %d bytes", len(a.Body))
	}
	if a := d.ask(t, 1, Query{Kind: Own, Text: []byte("else")}, Most); a.Status != Unknown {
		t.Errorf("an unknown query: %+v", a)
	}
	for first, got := 0, 0; ; {
		w, ok := ParseWho(d.ask(t, time.Second, Query{Kind: AskWho, First: uint16(first)},
			500).Body)
		if !ok || w.Total != 300 || int(w.First) != first {
			t.Fatalf("who: %v %+v", ok, w)
		}
		for _, p := range w.Players {
			if p.Name != fmt.Sprint("player ", got) || int(p.Seconds) != got {
				t.Fatalf("player %d is %+v", got, p)
			}
			got++
		}
		if first += len(w.Players); len(w.Players) == 0 {
			if got != 300 {
				t.Errorf("%d players", got)
			}
			break
		}
	}
}

// What is off is said to be, whatever else is on.
func TestOff(t *testing.T) {
	for k := Ping; k < kinds; k++ {
		d := newDesk(AllKinds &^ (1 << (k - 1)))
		q := Query{Kind: k}
		if k == Own || k == Message {
			q.Text = []byte("score")
		}
		if a := d.ask(t, 0, q, Most); a.Status != Off || len(a.Body) > 0 {
			t.Errorf("%v is off and answered: %+v", k, a)
		}
		if d.infos+d.whos+d.owns+len(d.told) > 0 {
			t.Errorf("%v is off and was made", k)
		}
	}
	none := NewResponder(AnswerOptions{Answers: AllKinds})
	if none.Answers().String() != "ping" {
		t.Errorf("with nothing to say, %v are answered", none.Answers())
	}
}

// However many ask, answers are made so often and no more.
func TestMadeOnce(t *testing.T) {
	d := newDesk(AllKinds)
	for i := range 1000 {
		now := time.Duration(i) * 2 * time.Millisecond // two seconds
		q := []Query{{Kind: AskInfo}, {Kind: AskWho}, {Kind: Own, Text: []byte("score")}}[i%3]
		d.Answer(now, &link.Datagram{Addr: somebody, Data: q.Append(nil, Most)}, nil)
	}
	if d.infos > 8 || d.whos > 8 || d.owns > 2 || d.infos < 7 || d.whos < 7 || d.owns != 2 {
		t.Errorf("made %d, %d and %d times", d.infos, d.whos, d.owns)
	}
}

// A message counts from proven addresses alone, once each, and so many.
func TestMessages(t *testing.T) {
	d := newDesk(AllKinds)
	now := time.Second
	send := func(text string, c Cookie) Answer {
		now += 20 * time.Millisecond
		return d.ask(t, now, Query{Kind: Message, Text: []byte(text), Cookie: c}, Least)
	}
	a := send("hello", Cookie{})
	if a.Status != Prove || len(d.told) > 0 {
		t.Fatalf("a stranger's is answered %v, and told: %q", a.Status, d.told)
	}
	forged := a.Cookie
	forged[15] ^= 1
	if send("hello", forged).Status != Prove || len(d.told) > 0 {
		t.Error("a forged cookie is good")
	}
	c := a.Cookie
	for range 3 {
		if send("hello", c).Status != OK || len(d.told) != 1 {
			t.Errorf("told: %q", d.told)
		}
	}
	for i := range 10 {
		a = send(fmt.Sprint("line ", i), c)
	}
	if a.Status != Busy || len(d.told) != 4 {
		t.Errorf("the last is %v; told: %q", a.Status, d.told)
	}
	if now += messageWindow; send("later", c).Status != OK || len(d.told) != 5 {
		t.Errorf("later: %q", d.told)
	}
	if now += 2 * cookieLife; send("much later", c).Status != Prove {
		t.Error("a cookie is good for ever")
	}
	if other := d.cookies.give(netip.MustParseAddrPort("192.0.2.8:5000"), now); send("x",
		other).Status != Prove {
		t.Error("another's cookie is good")
	}
}

// spoofed is a query in somebody's name.
func spoofed(n uint64, buf []byte) link.Datagram {
	x := n * 0x9e3779b97f4a7c15
	x ^= x >> 31
	x *= 0xbf58476d1ce4e5b9
	var a [4]byte
	binary.BigEndian.PutUint32(a[:], uint32(x>>32))
	q := Query{Kind: 1 + Kind(n%uint64(kinds-1)), Nonce: x}
	if q.Kind == Own || q.Kind == Message {
		q.Text = []byte("score")
	}
	if n%5 == 0 {
		binary.BigEndian.PutUint64(q.Cookie[:], x) // a guess
	}
	data := q.Append(buf[:0], Least<<(n%6))
	if n%11 == 0 {
		data[n%uint64(len(data))] ^= byte(x)
	}
	return link.Datagram{Addr: netip.AddrPortFrom(netip.AddrFrom4(a), uint16(x)), Data: data}
}

// honest are some who ask amid a flood, again and again as anybody would.
type honest struct {
	probers []*Prober
	sent    []link.Datagram
}

var theServer = netip.MustParseAddrPort("203.0.113.1:4000")

func newHonest(n int) *honest {
	h := &honest{}
	for i := range n {
		p := NewProber(ProbeOptions{Seed: [32]byte{byte(i)}, Spread: 25 * time.Millisecond,
			Info: true})
		p.Add(0, theServer)
		h.probers = append(h.probers, p)
	}
	return h
}

func (h *honest) ask(now time.Duration, d *desk, in, out *uint64) {
	for i, p := range h.probers {
		from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}), 5000)
		for _, q := range p.Flush(now, h.sent[:0]) {
			*in += uint64(len(q.Data))
			a := d.Answer(now, &link.Datagram{Addr: from, Data: q.Data}, nil)
			*out += uint64(len(a))
			p.Receive(now, []link.Datagram{{Addr: theServer, Data: a}})
		}
	}
}

func (h *honest) known(now time.Duration) (n int) {
	for _, p := range h.probers {
		if r := p.At(0, now); r.Known && r.Answered > 0 {
			n++
		}
	}
	return n
}

// A flood of queries in the name of addresses that did not send them gets no more bytes than it
// brings and no memory, and those who honestly ask are answered meanwhile. A million with
// COEVAL_SOAK.
func TestFloodOfSpoofedQueries(t *testing.T) {
	total := uint64(50_000)
	if os.Getenv("COEVAL_SOAK") != "" {
		total = 1_000_000
	}
	const people, pace = 20, 10 * time.Microsecond // 100,000 queries a second
	d, h := newDesk(AllKinds), newHonest(people)
	buf, answer := make([]byte, 0, Most), make([]byte, 0, Most)
	var in, out uint64
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for n := range total {
		now := time.Duration(n) * pace
		x := spoofed(n, buf)
		in += uint64(len(x.Data))
		answer = d.Answer(now, &x, answer[:0])
		if out += uint64(len(answer)); len(answer) > len(x.Data) {
			t.Fatalf("%d bytes to %d", len(answer), len(x.Data))
		}
		if n%100 == 0 {
			h.ask(now, d, &in, &out)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	c, known := d.Counts(), h.known(time.Duration(total)*pace)
	t.Logf("%d queries, %d bytes in, %d out; %d flooded, %d crowded, %d malformed; %d of %d "+
		"honest ones were told all", total, in, out, c.Flooded, c.Crowded, c.Malformed, known,
		people)
	if out > in || out == 0 || c.BytesOut != out || c.Flooded == 0 || len(d.told) > 0 {
		t.Errorf("%d bytes out for %d in; %d told", out, in, len(d.told))
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("it has grown by %d bytes", grown)
	}
	if known < people*3/4 {
		t.Errorf("%d of %d honest ones were answered", known, people)
	}
}

// While strangers flood it, whoever has proved an address is answered always.
func TestProvenAmidFlood(t *testing.T) {
	d := newDesk(AllKinds)
	buf := make([]byte, 0, Most)
	n := uint64(0)
	flood := func(now time.Duration) {
		for range 100 {
			x := spoofed(n, buf)
			d.Answer(now, &x, nil)
			n++
		}
	}
	var c Cookie
	tries, now := 0, time.Duration(0)
	for ; c == (Cookie{}); tries++ {
		now += time.Millisecond
		flood(now)
		if tries%20 == 0 {
			a, ok := ParseAnswer(d.Answer(now, &link.Datagram{Addr: somebody,
				Data: Query{Kind: Ping}.Append(nil, Least)}, nil))
			if ok {
				c = a.Cookie
			}
		}
		if tries > 20*200 {
			t.Fatal("no cookie to be had in 200 attempts")
		}
	}
	for i := range 500 {
		now += time.Millisecond
		if flood(now); i%20 == 0 {
			d.ask(t, now, Query{Kind: Ping, Nonce: uint64(i), Cookie: c}, Least)
		}
	}
}

// One address that floods has its share, and others theirs.
func TestShareOfEach(t *testing.T) {
	d := newDesk(AllKinds)
	greedy, answered := link.Datagram{Addr: somebody, Data: Query{Kind: Ping}.Append(nil, Least)}, 0
	for i := range 1000 {
		if d.Answer(time.Duration(i)*time.Millisecond, &greedy, nil) != nil {
			answered++
		}
	}
	if answered > 160 || answered < 100 {
		t.Errorf("one address is answered %d times in a second", answered)
	}
	if d.Counts().Crowded == 0 {
		t.Error("it is not counted")
	}
}

// FuzzResponder: whatever comes, no more goes out than came in.
func FuzzResponder(f *testing.F) {
	for n := range uint64(12) {
		f.Add(spoofed(n, nil).Data)
	}
	d := newDesk(AllKinds)
	now := time.Duration(0)
	f.Fuzz(func(t *testing.T, data []byte) {
		now += 7 * time.Millisecond
		out := d.Answer(now, &link.Datagram{Addr: somebody, Data: data}, nil)
		if len(out) > len(data) {
			t.Fatalf("%d bytes to %d", len(out), len(data))
		}
		if _, ok := ParseAnswer(out); len(out) > 0 && !ok {
			t.Fatalf("%x is no answer", out)
		}
	})
}

func BenchmarkAnswer(b *testing.B) {
	for k := Ping; k < kinds; k++ {
		b.Run(k.String(), func(b *testing.B) {
			d := newDesk(AllKinds)
			d.strangers.most, d.strangers.each = 1<<40, 255
			q := Query{Kind: k, Nonce: 1}
			if k == Own || k == Message {
				q.Text = []byte("score")
			}
			in, out := link.Datagram{Addr: somebody, Data: q.Append(nil, Most)},
				make([]byte, 0, Most)
			b.ReportAllocs()
			for b.Loop() {
				d.strangers.sources.rows = [4096]uint8{}
				if out = d.Answer(time.Second, &in, out[:0]); len(out) == 0 {
					b.Fatal("not answered")
				}
			}
		})
	}
	b.Run("flood", func(b *testing.B) {
		d := newDesk(AllKinds)
		buf, out := make([]byte, 0, Most), make([]byte, 0, Most)
		b.ReportAllocs()
		n := uint64(0)
		for b.Loop() {
			x := spoofed(n, buf)
			out = d.Answer(time.Duration(n)*time.Microsecond, &x, out[:0])
			n++
		}
	})
}
