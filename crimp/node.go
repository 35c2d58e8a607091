package crimp

import (
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// Node is a group with someone who decides about its members: what a program drives. Its
// datagrams and those by which members join share one link; where multicast has a
// socket of its own, give it what comes from both.
type Node struct {
	group     *Group
	authority Authority
	others    []link.Datagram
}

// NewNode makes a node. The authority must be made with the same options.
func NewNode(o Options, a Authority) (*Node, error) {
	g, err := NewGroup(o)
	if err != nil {
		return nil, err
	}
	g.whispers.hear = func(from member.ID, b []byte) { a.Hear(g.now, g, from, b) }
	return &Node{group: g, authority: a}, nil
}

// Group is the machine inside, for what a Node does not repeat: Stats, Quality, Cut,
// Congestion.
func (n *Node) Group() *Group { return n.group }

// Receive takes datagrams that have come. They are decrypted in place, and messages
// point into them: deal with Events before the link's next Receive.
func (n *Node) Receive(now time.Duration, batch []link.Datagram) {
	n.group.advance(now)
	n.others = n.others[:0]
	for i := range batch {
		if Ours(batch[i].Data) {
			n.group.receive(batch[i].Data)
		} else {
			n.others = append(n.others, batch[i])
		}
	}
	for _, c := range n.group.lines.others {
		n.others = append(n.others, link.Datagram{Addr: c.from, Data: c.data})
	}
	n.group.lines.others = n.group.lines.others[:0]
	if len(n.others) > 0 {
		n.authority.Receive(now, n.others)
	}
	n.authority.Step(now, n.group)
}

// Events hands out what has happened; see Group.Events.
func (n *Node) Events() []Event { return n.group.Events() }

// Send multicasts a message; see Group.Send.
func (n *Node) Send(now time.Duration, message []byte) (Sequence, error) {
	return n.group.Send(now, message)
}

// Tick lets history pass, and the authority do what is due.
func (n *Node) Tick(now time.Duration) {
	n.group.Tick(now)
	n.authority.Step(now, n.group)
}

// Flush appends to out what is to be sent now. The data is good until the next Flush.
func (n *Node) Flush(now time.Duration, out []link.Datagram) []link.Datagram {
	out = n.group.Flush(now, out)
	first := len(out)
	return n.group.detour(n.authority.Flush(now, out), first)
}

// Deadline is when Tick and Flush should be called next, at the latest.
func (n *Node) Deadline() time.Duration {
	return min(n.group.Deadline(), n.authority.Deadline())
}

// ProvideState answers StateWanted: the state as it is after all that has been delivered
// here. The member takes up from there.
func (n *Node) ProvideState(now time.Duration, m member.ID, state []byte) error {
	return n.authority.Provide(now, n.group, m, state)
}

// Leave begins to leave. Dismissed comes when it is done.
func (n *Node) Leave(now time.Duration) { n.authority.Leave(now, n.group) }

// Ledger says what every byte handed out by Flush was for.
func (n *Node) Ledger() Ledger {
	l := n.group.Ledger()
	l.Sent[SentMembership] += n.authority.Bytes()
	return l
}
