package crimp

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// bare is a member on a simulated network whose rosters the test makes itself.
type bare struct {
	g      *Group
	ep     *netsim.Endpoint
	id     member.ID
	silent bool
	has    map[name]bool
	gone   map[name]How // given up
	undone map[name]bool
	left   map[member.ID]Sequence
	err    error
}

// bareGroup makes members that send every 30 ms, and their first roster.
func bareGroup(n *netsim.Net, members int, order Order) ([]*bare, Roster) {
	r := Roster{Group: 99, Epoch: 1, Key: [16]byte{1}}
	var all []*bare
	for i := range members {
		o := Options{
			Seed: testSeed(n.Seed(), uint64(i)), Identity: testIdentity(5, uint64(i)), Order: order}
		if n.Seed()%2 == 0 {
			o.Forward.Mode = ForwardNone
		}
		g, err := NewGroup(o)
		if err != nil {
			panic(err)
		}
		b := &bare{g: g, ep: n.Endpoint(fmt.Sprint("m", i+1)), id: member.ID(i + 1),
			has: map[name]bool{}, gone: map[name]How{}, undone: map[name]bool{},
			left: map[member.ID]Sequence{}}
		g.Linger(10 * time.Second)
		r.Members = append(r.Members, Member{b.id, o.Identity.Card(b.ep.LocalAddr(), 0)})
		all = append(all, b)
	}
	for _, b := range all {
		if err := b.g.SetRoster(0, r); err != nil {
			panic(err)
		}
		flush := func() {
			for _, d := range b.g.Flush(n.Now(), nil) {
				b.ep.SendTo(d.Addr, d.Data)
			}
		}
		b.ep.Handle(func(from netip.AddrPort, data []byte) {
			b.g.Receive(n.Now(), []link.Datagram{{Addr: from, Data: data}})
			b.look()
			flush()
		})
		b.ep.Every(10*time.Millisecond, func() { b.g.Tick(n.Now()); b.look(); flush() })
		b.ep.Every(30*time.Millisecond, func() {
			if !b.silent {
				b.g.Send(n.Now(), fmt.Appendf(nil, "%d", b.id))
			}
			flush()
		})
	}
	return all, r
}

func (b *bare) look() {
	fail := func(format string, args ...any) {
		if b.err == nil {
			b.err = fmt.Errorf("member %d: %s", b.id, fmt.Sprintf(format, args...))
		}
	}
	if err := b.g.sound(); err != nil {
		fail("%v", err)
	}
	for _, e := range b.g.Events() {
		if _, over := b.left[e.Member]; over &&
			(e.Kind == Delivered || e.Kind == GaveUp || e.Kind == Revoked) {
			fail("%v %d of %d after it was told to have left", e.Kind, e.Seq, e.Member)
		}
		for i := range Sequence(e.More) + 1 {
			at := name{e.Member, e.Seq + i}
			switch e.Kind {
			case Delivered:
				if b.has[at] || b.gone[at] != 0 {
					fail("%v twice", at)
				}
				b.has[at] = true
			case GaveUp:
				b.gone[at] = e.How + 1
			case Revoked:
				if !b.has[at] && b.gone[at] == 0 {
					fail("%v is taken back and was never delivered", at)
				}
				delete(b.has, at)
				b.undone[at] = true
			}
		}
		if e.Kind == Left {
			b.left[e.Member] = e.Seq
		}
	}
}

// TestAgreedDeparture: a member dies while paths lose; a majority says what it holds, and
// all who stay end with the same packets of it, whether they were asked or not.
func TestAgreedDeparture(t *testing.T) {
	for _, order := range []Order{Immediate, BySource, Total} {
		t.Run(order.String(), func(t *testing.T) {
			var short, revoked, lost int
			simtest.Run(t, seeds(30, 60), func(n *netsim.Net) error {
				p := netsim.Profile{Latency: 25 * time.Millisecond, Loss: 0.3}
				n.Use(netsim.Conditions{Up: p, Down: p})
				all, r := bareGroup(n, 5, order)
				n.Run(time.Second)
				dead := all[0]
				// The last packets get through to few, so that there is something to agree on.
				for range 3 {
					for _, b := range all[1:] {
						n.Heal(dead.ep, b.ep)
						if n.Rand().Chance(0.6) {
							n.Cut(dead.ep, b.ep)
						}
					}
					n.Run(time.Duration(n.Rand().IntN(70)) * time.Millisecond)
				}
				apart := n.Rand().Chance(0.5) // the one that is not asked
				if apart {
					n.Partition(n.Endpoints()[1:4], n.Endpoints()[4:])
				}
				dead.ep.Close()
				n.Run(800 * time.Millisecond)
				n.HealPartition(n.Endpoints()[1:4], n.Endpoints()[4:])
				var reports []Cut
				for _, b := range all[1:4] {
					c, ok := b.g.Freeze(dead.id)
					if !ok {
						return fmt.Errorf("member %d cannot say what it has of %d", b.id, dead.id)
					}
					reports = append(reports, c)
				}
				n.Run(300 * time.Millisecond)
				r.Epoch, r.Key[0], r.Members = 2, 2, r.Members[1:]
				r.Gone = []Departure{Agree(dead.id, ReasonSilent, reports)}
				for _, b := range all[1:] {
					if err := b.g.SetRoster(n.Now(), r); err != nil {
						return err
					}
					n.Run(time.Duration(n.Rand().IntN(30)) * time.Millisecond)
				}
				if !n.RunUntil(3*time.Second, func() bool {
					return !slices.ContainsFunc(all[1:],
						func(b *bare) bool { _, ok := b.left[dead.id]; return !ok && b.err == nil })
				}) {
					return fmt.Errorf("not all were told that %d has left", dead.id)
				}
				d := r.Gone[0]
				if len(d.Lost) > 0 {
					lost++
				}
				if d.Last < dead.g.Last() {
					short++
				}
				for _, b := range all[1:] {
					if b.err != nil {
						return b.err
					}
					if b.left[dead.id] != d.Last {
						return fmt.Errorf("member %d was told that packet %d was the last, not %d",
							b.id, b.left[dead.id], d.Last)
					}
					revoked += len(b.undone)
					for s := Sequence(1); s <= dead.g.Last()+3; s++ {
						at := name{dead.id, s}
						inSpan := slices.ContainsFunc(d.Lost,
							func(l Span) bool {
								return s >= l.First && s <= l.First+Sequence(l.More)
							})
						if want := s <= d.Last && !inSpan; b.has[at] != want {
							return fmt.Errorf(
								"member %d: packet %d was delivered: %v; what counts is up to %d "+
									"but %v; it was given up: %d", b.id, s, b.has[at], d.Last,
								d.Lost, b.gone[at])
						}
						if inSpan && !b.undone[at] && b.gone[at] != Agreed+1 {
							return fmt.Errorf(
								"member %d was not told that packet %d is given up by all", b.id, s)
						}
					}
				}
				return nil
			})
			t.Logf("packets beyond the last: %d runs; taken back: %d; lost by all: %d runs", short,
				revoked, lost)
			if !testing.Short() && (short == 0 || lost == 0 || order == Immediate && revoked == 0) {
				t.Error("the interesting case never came up")
			}
		})
	}
}

// TestThaw: a member that was frozen and stays loses nothing.
func TestThaw(t *testing.T) {
	simtest.Run(t, seeds(4, 10), func(n *netsim.Net) error {
		n.Use(dsl(0.1))
		all, _ := bareGroup(n, 4, Immediate)
		n.Run(time.Second)
		at := map[*bare]int{}
		for _, b := range all[1:3] {
			b.g.Freeze(all[0].id)
			b.look()
			at[b] = len(b.has)
		}
		cut, _ := all[1].g.Freeze(all[0].id)
		n.Run(400 * time.Millisecond)
		for at := range all[1].has {
			if at.member == all[0].id && at.seq > cut.Newest() {
				return fmt.Errorf("packet %d was delivered after it was frozen at %d", at.seq,
					cut.Newest())
			}
		}
		for _, b := range all[1:3] {
			b.g.Thaw(n.Now(), all[0].id)
		}
		n.Run(2 * time.Second)
		all[0].silent = true
		n.Run(time.Second)
		for _, b := range all[1:] {
			if b.err != nil {
				return b.err
			}
			for s := Sequence(1); s <= all[0].g.Last(); s++ {
				if !b.has[name{all[0].id, s}] {
					return fmt.Errorf("member %d lacks packet %d of %d", b.id, s, all[0].g.Last())
				}
			}
		}
		return nil
	})
}

// TestManyRosters: rosters that follow each other faster than the time for which a key must be
// known do not keep a member from sealing with newer ones.
func TestManyRosters(t *testing.T) {
	g := trio(t, nil)
	r := Roster{Group: 77, Epoch: 1, Key: [16]byte{9}}
	for i := range 3 {
		r.Members = append(r.Members,
			Member{member.ID(i + 1), testIdentity(2, uint64(i)).Card(netip.AddrPort{}, 1)})
	}
	for step := range 100 {
		now := time.Duration(step) * 40 * time.Millisecond
		r.Epoch++
		r.Key[1]++
		for i, m := range g {
			if err := m.SetRoster(now, r); err != nil {
				t.Fatal(err)
			}
			if lag := m.Epoch() - m.sending.number; lag > 3 || step > 5 && lag == 0 {
				t.Fatalf("member %d seals with the key of %d rosters ago", i+1, lag)
			}
		}
		if _, err := g[0].Send(now, []byte("hi")); err != nil {
			t.Fatal(err)
		}
		pass(now, g[0], g[1], g[2])
		for _, m := range g[1:] {
			if got := delivered(m); len(got) != 1 {
				t.Fatalf("at %v delivered %q", now, got)
			}
		}
	}
	for _, m := range g {
		m.Tick(10 * time.Second)
		if m.sending.number != m.Epoch() || m.next != nil {
			t.Errorf("in the end it seals with %d of %d", m.sending.number, m.Epoch())
		}
	}
}

// TestAgree: what counts follows from the reports as the text says.
func TestAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var reports []Cut
		held := map[Sequence]bool{}
		newest := Sequence(0)
		for range rapid.IntRange(1, 5).Draw(t, "reports") {
			c := Cut{Member: 3, Seq: Sequence(rapid.IntRange(0, 20).Draw(t, "seq"))}
			for s := c.Seq + 2; s < 30; s++ {
				if rapid.Bool().Draw(t, "also") {
					c.Also = append(c.Also, s)
					held[s] = true
				}
			}
			for s := Sequence(1); s <= c.Seq; s++ {
				held[s] = true
			}
			newest = max(newest, c.Newest())
			reports = append(reports, c)
		}
		d := Agree(3, ReasonSilent, reports)
		if d.Last != newest || !d.Agreed {
			t.Fatalf("last is %d, want %d", d.Last, newest)
		}
		for s := Sequence(1); s <= newest; s++ {
			lost := slices.ContainsFunc(d.Lost,
				func(l Span) bool { return s >= l.First && s <= l.First+Sequence(l.More) })
			if lost == held[s] {
				t.Fatalf("packet %d: held %v, lost %v", s, held[s], lost)
			}
		}
		r := Roster{
			Group: 1, Epoch: 1, Key: [16]byte{1}, Members: []Member{{ID: 1}}, Gone: []Departure{d}}
		var back Roster
		c := bits.CursorOver(written(&r))
		back.Fields(&c)
		if !c.Done() || back.Gone[0].Last != d.Last || !slices.Equal(back.Gone[0].Lost, d.Lost) ||
			!back.Gone[0].Agreed {
			t.Fatalf("%+v became %+v", d, back.Gone)
		}
	})
}
