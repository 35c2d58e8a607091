package crimp

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
)

// A campus is members on a simulated network that carry for each other, some of them at one site
// with multicast.
type campus struct {
	net  *netsim.Net
	all  []*resident
	sent uint64
}

type resident struct {
	*Group
	c    *campus
	end  *netsim.Endpoint
	got  map[string]int
	lost int
}

const campusTick = 8 * time.Millisecond

// newCampus has a member for each of the sites that are given, 0 for one without multicast.
func newCampus(t testing.TB, seed uint64, way netsim.Profile, sites ...uint8) *campus {
	c := &campus{net: netsim.New(netsim.Options{Seed: seed, Conditions: netsim.Both(way)})}
	r := Roster{Group: 77, Epoch: 1, Key: [16]byte{9}}
	for i, site := range sites {
		o := Options{Seed: testSeed(seed, uint64(i)), Identity: testIdentity(seed, uint64(i)),
			Carry: true, History: 2 * time.Second}
		m := &resident{c: c, end: c.net.Endpoint(fmt.Sprint("m", i+1)), got: map[string]int{}}
		if site != 0 {
			o.Multicast = testGroupAddr
			m.end.JoinGroup(testGroupAddr)
		}
		m.end.SetMaxDatagram(1200 + CarryRoom)
		var err error
		if m.Group, err = NewGroup(o); err != nil {
			t.Fatal(err)
		}
		c.all = append(c.all, m)
		r.Members = append(r.Members, Member{ID: member.ID(i + 1),
			Card: o.Identity.Card(m.end.LocalAddr(), site)})
	}
	for _, m := range c.all {
		if err := m.SetRoster(0, r); err != nil {
			t.Fatal(err)
		}
		m.end.Handle(func(from netip.AddrPort, data []byte) {
			m.Receive(c.net.Now(), []link.Datagram{{Addr: from, Data: data}})
			m.look()
		})
		m.end.Every(campusTick/2, m.step)
	}
	return c
}

func (m *resident) step() {
	now := m.c.net.Now()
	m.Tick(now)
	m.look()
	for _, d := range m.Flush(now, nil) {
		m.c.sent += uint64(len(d.Data))
		_ = m.end.SendTo(d.Addr, d.Data)
	}
}

func (m *resident) look() {
	for _, e := range m.Events() {
		switch e.Kind {
		case Delivered:
			m.got[fmt.Sprintf("%d/%d", e.Member, e.Seq)]++
		case GaveUp:
			m.lost++
		}
	}
}

// play has everybody send a packet each tick for some time, and lets what is missing come.
func (c *campus) play(t testing.TB, d time.Duration) {
	t.Helper()
	for end := c.net.Now() + d; c.net.Now() < end; c.net.Run(campusTick) {
		for _, m := range c.all {
			if _, err := m.Send(c.net.Now(), make([]byte, 60)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// check says whether everybody has got all that all others have sent, once.
func (c *campus) check(t testing.TB) {
	t.Helper()
	c.net.Run(time.Second)
	booked := uint64(0)
	for i, m := range c.all {
		want := 0
		for _, o := range c.all {
			if o != m {
				want += int(o.Last())
			}
		}
		if len(m.got) != want || m.lost > 0 {
			t.Errorf("seed %d: member %d got %d packets of %d, and gave up %d", c.net.Seed(), i+1,
				len(m.got), want, m.lost)
		}
		for name, n := range m.got {
			if n != 1 {
				t.Fatalf("seed %d: member %d got %s %d times", c.net.Seed(), i+1, name, n)
			}
		}
		l := m.Ledger()
		booked += l.Total()
	}
	if booked != c.sent {
		t.Errorf("%d bytes are booked, %d were sent", booked, c.sent)
	}
}

// casts compares whom each member reaches by multicast.
func (c *campus) casts(t testing.TB, want ...[]member.ID) {
	t.Helper()
	for i, m := range c.all {
		if got := m.Casts(); !slices.Equal(got, want[i]) {
			t.Errorf("seed %d, at %v: member %d reaches %v by multicast, want %v", c.net.Seed(),
				c.net.Now(), i+1, got, want[i])
		}
	}
}

type ids = []member.ID

// TestSiteCasts: members of a site find out who hears their multicast and send to those by it, to
// all others one by one; all packets come everywhere, with loss, duplication and reordering.
func TestSiteCasts(t *testing.T) {
	for seed, way := range []netsim.Profile{
		{Latency: 300 * time.Microsecond},
		{Latency: 2 * time.Millisecond, Jitter: netsim.Jitter{Amount: 10 * time.Millisecond},
			Loss: 0.05, Duplicate: 0.05, Reorder: 0.05},
	} {
		c := newCampus(t, uint64(seed+1), way, 1, 1, 1, 0, 2)
		c.casts(t, nil, nil, nil, nil, nil)
		c.play(t, 2*time.Second)
		if seed == 0 {
			c.casts(t, ids{2, 3}, ids{1, 3}, ids{1, 2}, nil, nil)
		}
		c.check(t)
	}
}

// TestCastFallsBack: multicast that stops passing, all of it or from one member to one other, or
// that passes beacons only, is noticed and not relied on; and relied on again when it is back.
func TestCastFallsBack(t *testing.T) {
	c := newCampus(t, 3, netsim.Profile{Latency: time.Millisecond, Loss: 0.01}, 1, 1, 1, 1, 0)
	all := []ids{{2, 3, 4}, {1, 3, 4}, {1, 2, 4}, {1, 2, 3}, nil}
	c.play(t, 2*time.Second)
	c.casts(t, all...)
	steps := []struct {
		name   string
		passes func(from, to *netsim.Endpoint, data []byte) bool
		want   []ids
	}{
		{"one way", func(from, to *netsim.Endpoint, _ []byte) bool {
			return from != c.all[0].end || to != c.all[1].end
		}, []ids{{3, 4}, {1, 3, 4}, {1, 2, 4}, {1, 2, 3}, nil}},
		{"beacons only", func(_, _ *netsim.Endpoint, b []byte) bool { return b[0] == kindBeacon },
			[]ids{nil, nil, nil, nil, nil}},
		{"none", func(_, _ *netsim.Endpoint, _ []byte) bool { return false },
			[]ids{nil, nil, nil, nil, nil}},
	}
	for _, s := range steps {
		before := c.all[1].Stats().Delivered
		c.net.PassGroups(s.passes)
		c.play(t, 500*time.Millisecond)
		if c.casts(t, s.want...); t.Failed() {
			t.Fatal(s.name)
		}
		// 500 ms of four others at a packet each 8 ms, but for those under way and not asked for.
		if n := c.all[1].Stats().Delivered - before; n < 200 {
			t.Errorf("%s: member 2 was delivered %d packets in half a second", s.name, n)
		}
		c.net.PassGroups(nil)
		c.play(t, 5*time.Second)
		if c.casts(t, all...); t.Failed() {
			t.Fatal(s.name + ", and back")
		}
	}
	if c.all[1].Stats().CastLost == 0 {
		t.Error("nobody noticed that packets did not come")
	}
	c.check(t)
}

// TestCastIsNoLine: where unicast between two is cut and multicast passes, they are not joined, and
// what they have for each other is carried.
func TestCastIsNoLine(t *testing.T) {
	c := newCampus(t, 4, netsim.Profile{Latency: time.Millisecond}, 1, 1, 1, 0)
	c.play(t, 2*time.Second)
	a, b := c.all[0], c.all[1]
	c.net.SetTrace(nil)
	cut := func(m *resident, from netip.AddrPort) {
		m.end.Handle(func(by netip.AddrPort, data []byte) {
			if by == from && data[0] != kindBeacon && data[0] != kindData {
				return // all but what goes by multicast
			}
			m.Receive(c.net.Now(), []link.Datagram{{Addr: by, Data: data}})
			m.look()
		})
	}
	cut(a, b.end.LocalAddr())
	cut(b, a.end.LocalAddr())
	c.play(t, 2*time.Second)
	for _, l := range a.Lines() {
		if direct := l.Via == l.Member; direct == (l.Member == 2) {
			t.Errorf("member %d is reached over %d", l.Member, l.Via)
		}
	}
	if slices.Contains(a.Casts(), 2) {
		t.Error("multicast is relied on where nothing says that it comes")
	}
	c.check(t)
}

// TestCastBytes prints what a site of some members sends with multicast and without.
func TestCastBytes(t *testing.T) {
	for _, n := range []int{3, 5} {
		var bytes [2]uint64
		for i, site := range []uint8{0, 1} {
			c := newCampus(t, 5, netsim.Profile{Latency: time.Millisecond, Loss: 0.001},
				slices.Repeat([]uint8{site}, n)...)
			c.play(t, time.Second)
			from := c.sent
			c.play(t, 2*time.Second)
			bytes[i] = (c.sent - from) / uint64(n) / 2
			c.check(t)
		}
		t.Logf("%d members at one site, each a packet of 60 bytes every %v: %d bytes a second "+
			"each by unicast, %d with multicast", n, campusTick, bytes[0], bytes[1])
		if most := bytes[0] * 5 / 4 / uint64(n-1); bytes[1] > most+bytes[0]/8 {
			t.Errorf("%d bytes with multicast, %d without", bytes[1], bytes[0])
		}
	}
}

// TestForgedBeacon: what an outsider makes, a member in another's name, one that was heard before
// or one that is carried is no beacon, and is counted.
func TestForgedBeacon(t *testing.T) {
	c := newCampus(t, 6, netsim.Profile{Latency: time.Millisecond}, 1, 1, 1)
	var beacon []byte
	c.net.SetTrace(func(e netsim.Event) {
		if e.What == netsim.Sent && e.From == "m1" && e.To == "m2" && e.Data[0] == kindBeacon {
			beacon = bytes.Clone(e.Data)
		}
	})
	c.play(t, time.Second)
	c.net.SetTrace(nil)
	two := c.all[1]
	take := func(b []byte) Stats {
		two.Receive(c.net.Now(), []link.Datagram{{Data: bytes.Clone(b)}})
		return two.Stats()
	}
	row := two.byID[1].cast.row
	if was := two.Stats(); take(beacon).Replayed != was.Replayed+1 {
		t.Error("a beacon counts twice")
	}
	be.PutUint32(beacon[6:], 1<<20)
	if was := two.Stats(); take(beacon).Forged != was.Forged+1 {
		t.Error("a beacon with another number counts")
	}
	three := c.all[2].Group
	self := three.self.id
	three.self.id = 1
	b := make([]byte, three.sending.bodyAt, 256)
	b = three.seal(three.sending, &header{kind: kindBeacon, number: 1 << 21}, append(b, 0, 0, 0, 0))
	three.self.id = self
	if was := two.Stats(); take(b).Unproven != was.Unproven+1 {
		t.Error("a member makes another's beacon")
	}
	b = make([]byte, three.sending.bodyAt, 256)
	b = three.seal(three.sending, &header{kind: kindBeacon, number: 1 << 21}, append(b, 0))
	if was := two.Stats(); take(b).Malformed != was.Malformed+1 {
		t.Error("a beacon of one byte counts")
	}
	carried := three.carryBody(3, 2, maxHops, beacon)
	b, err := three.sealWhisper(kindCarry, 2, three.whispers.known[2], carried)
	if err != nil {
		t.Fatal(err)
	}
	if was := two.Stats(); take(b).Malformed != was.Malformed+1 {
		t.Error("a beacon is carried")
	}
	if two.byID[1].cast.row != row {
		t.Error("a beacon counts that is none")
	}
	lines := bits.CursorTo(nil)
	(&lineBody{flags: flagCast, own: lineState{State: three.lines.table.State(c.net.Now())}}).
		fields(&lines)
	body := lines.Data()
	body[0] = 0x82
	b, err = three.sealWhisper(kindLine, 2, three.whispers.known[2], body)
	if err != nil {
		t.Fatal(err)
	}
	if was := two.Stats(); take(b).Malformed != was.Malformed+1 {
		t.Error("flags that nobody knows are taken")
	}
}

// BenchmarkSite is what it takes to say by which way a packet goes to each of seven others, four of
// them at this one's site, and to watch whether that is still right.
func BenchmarkSite(b *testing.B) {
	c := newCampus(b, 7, netsim.Profile{Latency: time.Millisecond}, 1, 1, 1, 1, 1, 0, 0, 0)
	c.play(b, time.Second)
	g := c.all[0].Group
	if len(g.Casts()) != 4 {
		b.Fatal(g.Casts())
	}
	data := make([]byte, 100)
	var out []link.Datagram
	b.ReportAllocs()
	for b.Loop() {
		g.watchSite()
		if out = g.toEach(out[:0], data); len(out) != 4 {
			b.Fatal(len(out))
		}
	}
}
