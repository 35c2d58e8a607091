package crimp

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// crowd is so many members in one thread, each of which hears all others.
type crowd struct {
	groups []*Group
	now    time.Duration
	out    []link.Datagram
	batch  []link.Datagram
	memory [][]byte
	got    int
	lose   func(n int) bool
	count  int
}

func newCrowd(t testing.TB, members int, proof Proof, f Forward) *crowd {
	c := &crowd{}
	r := Roster{Group: 3, Epoch: 1, Key: [16]byte{7}, Proof: proof}
	for i := range members {
		r.Members = append(r.Members,
			Member{ID: member.ID(i + 1),
				Card: testIdentity(7, uint64(i)).Card(netip.AddrPort{}, 1)})
	}
	for i := range members {
		g, err := NewGroup(Options{Seed: testSeed(8, uint64(i)),
			Identity: testIdentity(7, uint64(i)), Multicast: testGroupAddr, Forward: f})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.SetRoster(0, r); err != nil {
			t.Fatal(err)
		}
		c.groups = append(c.groups, g)
	}
	return c
}

// round has every member send one message to all.
func (c *crowd) round(message []byte, step time.Duration) {
	c.now += step
	for i, g := range c.groups {
		if _, err := g.Send(c.now, message); err != nil {
			panic(err)
		}
		g.Tick(c.now)
		c.out = g.Flush(c.now, c.out[:0])
		for k, other := range c.groups {
			if k == i {
				continue
			}
			c.batch = c.batch[:0]
			for n, d := range c.out {
				if c.count++; c.lose != nil && c.lose(c.count) {
					continue
				}
				if n == len(c.memory) {
					c.memory = append(c.memory, nil)
				}
				c.memory[n] = append(c.memory[n][:0], d.Data...)
				c.batch = append(c.batch, link.Datagram{Data: c.memory[n]})
			}
			other.Receive(c.now, c.batch)
			for _, e := range other.Events() {
				if e.Kind == Delivered {
					c.got++
				}
			}
		}
	}
}

// BenchmarkGroup: a round in which each of 16 members sends a packet and receives 15.
func BenchmarkGroup(b *testing.B) {
	for _, c := range []struct {
		name  string
		proof Proof
		f     Forward
		lose  func(int) bool
	}{
		{"tags", Tags, Forward{}, nil},
		{"tags, repeat", Tags, Forward{Mode: ForwardRepeat}, nil},
		{"tags, parity", Tags, Forward{Mode: ForwardParity}, nil},
		{"tags, loss", Tags, Forward{}, func(n int) bool { return n*2654435761>>8&31 == 0 }},
		{"signatures", Signatures, Forward{}, nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			crowd := newCrowd(b, 16, c.proof, c.f)
			message := make([]byte, 64)
			warm := 1500
			if c.proof == Signatures {
				warm = 20
			}
			for range warm {
				crowd.round(message, time.Millisecond)
			}
			crowd.got, crowd.lose = 0, c.lose
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				crowd.round(message, time.Millisecond)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(max(crowd.got, 1)),
				"ns/packet")
		})
	}
}

// TestNothingIsAllocated: in steady state, with and without loss.
func TestNothingIsAllocated(t *testing.T) {
	for _, f := range []Forward{{Mode: ForwardNone}, {Mode: ForwardRepeat}, {Mode: ForwardParity}} {
		for _, loss := range []bool{false, true} {
			t.Run(fmt.Sprint(f.Mode, " ", loss), func(t *testing.T) {
				c := newCrowd(t, 4, Tags, f)
				if loss {
					c.lose = func(n int) bool { return n*2654435761>>8&31 == 0 }
				}
				message := make([]byte, 64)
				for range 3000 {
					c.round(message, time.Millisecond)
				}
				const rounds = 2000
				all := testing.AllocsPerRun(1, func() {
					for range rounds {
						c.round(message, time.Millisecond)
					}
				})
				// Twelve packets are received in a round, and two digests of each member in all.
				// What signs them may allocate. So does the library that makes parity, once in
				// some packets, and it inverts a matrix to make a lost packet from it.
				limit := 4.0 * 4
				if f.Mode == ForwardParity {
					limit = rounds
					if loss {
						limit = 12 * rounds
					}
				}
				if all > limit {
					t.Errorf("%v allocations in %d rounds of 12 packets", all, rounds)
				}
			})
		}
	}
}

// BenchmarkProof: what it takes to make and to check one packet, seal included, among
// 16 members.
func BenchmarkProof(b *testing.B) {
	for _, proof := range []Proof{Tags, Signatures} {
		c := newCrowd(b, 16, proof, Forward{Mode: ForwardNone})
		g, e := c.groups[0], c.groups[0].sending
		memory := make([]byte, e.bodyAt+69+sealSize+sealSlack)
		h := header{kind: kindData, number: 1}
		b.Run(proof.String()+"/make", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				g.seal(e, &h, memory[:e.bodyAt+69])
			}
		})
		sealed := append([]byte(nil), g.seal(e, &h, memory[:e.bodyAt+69])...)
		other := c.groups[1]
		b.Run(proof.String()+"/check", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				copy(memory, sealed)
				body, ok := other.open(other.sending, &h, memory[:len(sealed)])
				if !ok || !other.proven(other.sending, 0, memory, body) {
					b.Fatal("refused")
				}
			}
		})
	}
}

// BenchmarkLossy: one member of 16 sends a packet that need not arrive, and one receives it.
func BenchmarkLossy(b *testing.B) {
	c := newCrowd(b, 16, Tags, Forward{Mode: ForwardNone})
	message := make([]byte, 100)
	for i := range 100 {
		one(b, c, i, func(g *Group) error {
			_ = g.Whisper(c.now, 2, message)
			_, err := g.SendLossy(c.now, message)
			return err
		})
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		one(b, c, i, func(g *Group) error { _, err := g.SendLossy(c.now, message); return err })
	}
}

// BenchmarkWhisper: one member says something to another alone.
func BenchmarkWhisper(b *testing.B) {
	c := newCrowd(b, 2, Tags, Forward{Mode: ForwardNone})
	message := make([]byte, 100)
	for i := range 100 {
		one(b, c, i, func(g *Group) error {
			_ = g.Whisper(c.now, 2, message)
			_, err := g.SendLossy(c.now, message)
			return err
		})
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		one(b, c, i, func(g *Group) error { return g.Whisper(c.now, 2, message) })
	}
}

// one has the first member say something that the second hears.
func one(b *testing.B, c *crowd, i int, say func(*Group) error) {
	if i%1000 == 0 {
		c.now += time.Millisecond
	}
	from, to := c.groups[0], c.groups[1]
	if err := say(from); err != nil {
		b.Fatal(err)
	}
	c.out = from.Flush(c.now, c.out[:0])
	if len(c.memory) == 0 {
		c.memory = append(c.memory, nil)
	}
	heard := false
	for _, d := range c.out {
		c.memory[0] = append(c.memory[0][:0], d.Data...)
		c.batch = append(c.batch[:0], link.Datagram{Data: c.memory[0]})
		to.Receive(c.now, c.batch)
		for _, e := range to.Events() {
			heard = heard || e.Kind == Delivered || e.Kind == Whispered
		}
	}
	if !heard {
		b.Fatal("nothing was heard")
	}
}
