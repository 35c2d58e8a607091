package membership

import (
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// end is one of two that whisper to each other.
type end struct {
	m    *Membership
	g    *crimp.Group
	node *crimp.Node
	hear func([]byte)
}

func (e *end) receive(b []byte, hear func([]byte)) {
	e.hear = hear
	e.node.Receive(0, []link.Datagram{{Data: b}})
}

// An end is an authority that does nothing but listen.
func (e *end) Receive(time.Duration, []link.Datagram)                       {}
func (e *end) Step(time.Duration, *crimp.Group)                             {}
func (e *end) Flush(_ time.Duration, out []link.Datagram) []link.Datagram   { return out }
func (e *end) Deadline() time.Duration                                      { return 0 }
func (e *end) Leave(time.Duration, *crimp.Group)                            {}
func (e *end) Bytes() uint64                                                { return 0 }
func (e *end) Hear(_ time.Duration, _ *crimp.Group, _ member.ID, b []byte)  { e.hear(b) }
func (e *end) Provide(time.Duration, *crimp.Group, member.ID, []byte) error { return nil }

func pair(t interface{ Fatal(...any) }, datagram int) (a, b *end) {
	var ends [2]*end
	var members []crimp.Member
	for i := range ends {
		id, err := crimp.NewIdentity(testSeed(9, uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		e := &end{m: &Membership{tenure: tenure{self: member.ID(i + 1)}}}
		if e.node, err = crimp.NewNode(crimp.Options{Seed: testSeed(8, uint64(i)), Identity: id,
			Datagram: datagram}, e); err != nil {
			t.Fatal(err)
		}
		e.g = e.node.Group()
		e.m.g = e.g
		members = append(members,
			crimp.Member{ID: e.m.self, Card: id.Card(netip.MustParseAddrPort("192.0.2.1:4000"), 0)})
		ends[i] = e
	}
	for _, e := range ends {
		if err := e.g.Introduce(7, e.m.self, members); err != nil {
			t.Fatal(err)
		}
	}
	return ends[0], ends[1]
}
