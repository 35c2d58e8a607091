package conn

import (
	"fmt"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
)

// miser is a client that acknowledges as it likes: what changes what the client believes to have
// received, for the packets of one flush. Its connection is made anew whenever it ends.
type miser struct {
	name   string
	what   func(now time.Duration, r *received)
	idle   bool // says nothing by itself
	rare   bool // is sent no events, and few snapshots: mostly acknowledgements alone
	client *Client
	addr   netip.AddrPort
	joined int
	ended  map[Reason]int
	conn   *Conn // the server's end

	remembered, refs int // at most
	ring             int // entries of memory, at most
	looked, most     uint64
	flushes          uint64
}

var misers = []miser{
	{name: "honest", what: func(time.Duration, *received) {}},
	{name: "silent", what: func(_ time.Duration, r *received) { *r = newReceived() }},
	{name: "silent and idle", idle: true,
		what: func(_ time.Duration, r *received) { *r = newReceived() }},
	{name: "silent, with little to hear", rare: true,
		what: func(_ time.Duration, r *received) { *r = newReceived() }},
	{name: "every 15 s", what: func(now time.Duration, r *received) {
		if now%(15*time.Second) > 100*time.Millisecond {
			*r = newReceived()
		}
	}},
	{name: "only the newest", what: func(_ time.Duration, r *received) {
		r.seen = [seenBits / 64]uint64{1}
	}},
	{name: "every other", what: func(_ time.Duration, r *received) {
		for i := range r.seen {
			r.seen[i] &= 0x5555555555555555
		}
	}},
	{name: "the first again and again", what: func(_ time.Duration, r *received) {
		if r.largest > 0 {
			*r = newReceived()
			r.largest = 1
		}
	}},
	{name: "far behind", what: func(_ time.Duration, r *received) {
		r.largest = max(r.largest, 40) - 40
		r.seen = [seenBits / 64]uint64{1}
	}},
}

// TestMisers: for twenty minutes clients acknowledge nothing, or as little as they can get away
// with, while the server sends each of them snapshots and events. What the server remembers of its
// packets, and how many of them it looks at for each flush, has a bound whatever they do; and who
// acknowledges nothing at all is let go, and counted.
func TestMisers(t *testing.T) {
	const length = 20 * time.Minute
	step := 100 * time.Millisecond
	if os.Getenv("COEVAL_SOAK") != "" {
		step = time.Second / 50
	}
	home := netip.MustParseAddrPort("10.0.0.1:4000")
	s, err := NewServer(ServerOptions{Options: testOptions(1), Keys: []token.Key{testKey}})
	if err != nil {
		t.Fatal(err)
	}
	all := map[netip.AddrPort]*miser{}
	var list []*miser
	for i := range misers {
		m := misers[i]
		m.addr, m.ended = address(10+i), map[Reason]int{}
		m.joins(t, home, i)
		all[m.addr] = &m
		list = append(list, &m)
	}
	snapshot, event := make([]byte, 300), make([]byte, 20)
	for now := time.Duration(0); now < length; now += step {
		for i, m := range list {
			for _, d := range m.flush(t, now, home, i) {
				s.Receive(now, []link.Datagram{{Addr: m.addr, Data: d.Data}})
			}
		}
		for _, e := range s.Events() {
			switch e.Kind {
			case Connected:
				list[e.Conn.Client()%100].conn = e.Conn
			case Disconnected:
				list[e.Conn.Client()%100].ended[e.Reason]++
			}
		}
		for _, m := range list {
			if m.conn == nil || !m.conn.Open() {
				continue
			}
			if now%(5*step) == 0 || !m.rare {
				if b, err := m.conn.Compose(now, 0, len(snapshot)); err == nil {
					m.conn.Commit(append(b, snapshot...))
				}
			}
			if now%time.Second == 0 && !m.rare {
				_ = m.conn.Send(2, event)
			}
		}
		looked := map[*miser]uint64{}
		for _, m := range list {
			if m.conn != nil {
				looked[m] = m.conn.sent.looked
			}
		}
		for _, d := range s.Flush(now, nil) {
			if m := all[d.Addr]; m != nil {
				m.client.Receive(now, []link.Datagram{{Addr: home, Data: d.Data}})
				m.client.Events()
			}
		}
		for _, m := range list {
			m.weigh(looked[m])
		}
	}
	for _, m := range list {
		m.judge(t)
	}
	if n := s.Stats().NoAcks; n < 100 {
		t.Errorf("%d connections counted that acknowledged nothing", n)
	}
}

func (m *miser) joins(t *testing.T, home netip.AddrPort, i int) {
	c, err := NewClient(ClientOptions{Options: testOptions(uint64(1000*m.joined + i)),
		Token:   testToken(t, uint64(100*m.joined+i), nil),
		Servers: []netip.AddrPort{home}})
	if err != nil {
		t.Fatal(err)
	}
	m.client = c
	m.joined++
}

// flush sends what the client would, with acknowledgements as it likes.
func (m *miser) flush(t *testing.T, now time.Duration, home netip.AddrPort,
	i int) []link.Datagram {
	c := m.client.Conn()
	if m.client.Done() || c != nil && !c.Open() {
		m.joins(t, home, i)
		c = nil
	}
	if c == nil {
		return m.client.Flush(now, nil)
	}
	if !m.idle {
		_ = c.Send(0, []byte("input"))
	}
	kept, waiting := c.received, c.received.waiting
	m.what(now, &c.received)
	c.received.waiting, c.received.waitingAt = waiting, kept.waitingAt
	out := m.client.Flush(now, nil)
	if c.received.waiting == 0 {
		kept.said()
	}
	kept.unsaid = 0 // nor does it acknowledge between flushes
	c.received = kept
	return out
}

// weigh notes how much the server remembers, and looked at for the last flush.
func (m *miser) weigh(before uint64) {
	if m.conn == nil || !m.conn.Open() {
		return
	}
	s := &m.conn.sent
	m.remembered = max(m.remembered, int(s.next-s.base))
	m.refs = max(m.refs, int(s.refsNext-s.refsBase))
	m.ring = max(m.ring, len(s.ring)+len(s.refs))
	m.flushes++
	m.looked += s.looked - before
	m.most = max(m.most, s.looked-before)
}

func (m *miser) judge(t *testing.T) {
	looked := float64(m.looked) / float64(m.flushes)
	t.Logf("%-27s joined %d times, remembered %d packets and %d things, looked at %.1f a flush, %d",
		m.name, m.joined, m.remembered, m.refs, looked, m.most)
	if m.remembered > sentMost || m.refs > refsMost || m.ring > 2*(sentMost+refsMost) {
		t.Errorf("%s: %d packets and %d things remembered", m.name, m.remembered, m.refs)
	}
	if looked > 8 || m.most > 2*sentMost {
		t.Errorf("%s: looked at %.1f packets a flush, once at %d", m.name, looked, m.most)
	}
	want := map[string]string{"silent": "map[never acknowledges:%d]",
		"silent and idle":             "map[never acknowledges:%d]",
		"silent, with little to hear": "map[never acknowledges:%d]",
		"the first again and again":   "map[never acknowledges:%d]"}[m.name]
	if want != "" {
		want = fmt.Sprintf(want, m.joined-1)
	} else {
		want = "map[]"
	}
	if got := fmt.Sprint(m.ended); got != want {
		t.Errorf("%s: ended %s, want %s", m.name, got, want)
	}
	if want != "map[]" && m.joined < 20*60/25 {
		t.Errorf("%s: let go only %d times", m.name, m.joined-1)
	}
}

// TestSentIsBounded: packets that the layer above composes faster than anything can be
// acknowledged are remembered up to a number. Each gets one verdict all the same, the oldest that
// they are lost, and the connection goes on.
func TestSentIsBounded(t *testing.T) {
	h := newHall(t, 1)
	sc := h.server.Find(0)
	verdicts := map[PacketNumber]int{}
	arrived := 0
	look := func(e *Event) {
		if e.Kind == Arrived || e.Kind == Lost {
			verdicts[e.Packet]++
		}
		if e.Kind == Arrived {
			arrived++
		}
	}
	const sent = 3 * sentMost
	for range sent {
		if err := sc.Send(2, []byte("x")); err != nil && err != ErrBacklog {
			t.Fatal(err)
		}
		b, err := sc.Compose(h.now, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		sc.Commit(append(b, "snapshot"...))
		if s := &sc.sent; s.next-s.base > sentMost || s.refsNext-s.refsBase > refsMost {
			t.Fatalf("%d packets, %d things remembered", s.next-s.base, s.refsNext-s.refsBase)
		}
	}
	for range 400 {
		h.in = h.in[:0]
		h.serve(look)
		h.fetch()
		h.send()
		h.serve(look)
		h.fetch()
	}
	if len(verdicts) != sent || arrived == 0 || !sc.Open() || sc.Unacked() != 0 {
		t.Errorf("%d verdicts, %d arrived, open %v, %d unacked", len(verdicts), arrived, sc.Open(),
			sc.Unacked())
	}
	for n, k := range verdicts {
		if k != 1 {
			t.Fatalf("packet %d has %d verdicts", n, k)
		}
	}
}
