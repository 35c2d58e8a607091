package quake

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/replica"
)

// receiver is the client's side: it keeps of each handle the baseline, and the one before it for
// packets that messages overtook.
type receiver struct {
	state replica.ReceiverState
	list  [][2]baseline // by handle, the newest first
	early replica.Waiting
	count uint32 // of the message that is read
	kept  int
}

// baseline is what a message told of an entity.
type baseline struct {
	there bool
	since uint32 // the message that told it
	news  replica.News
}

func (q *receiver) Header(dec codec.PacketDecoder, p *replica.Arrived) error {
	here := q.state.Messages()
	p.Messages = here + uint32(int32((dec.Bits(countBits)-here)<<(32-countBits))>>(32-countBits))
	if dec.Err() != nil {
		return replica.ErrPacket
	}
	return q.early.Hold(q.state, p)
}

func (q *receiver) Base(_ codec.PacketDecoder, p *replica.Arrived, n *replica.News,
	h *codec.History) error {
	if int(n.Handle) >= len(q.list) {
		return replica.ErrBase
	}
	for i := range q.list[n.Handle] {
		b := &q.list[n.Handle][i]
		if !b.there || int32(b.since-p.Messages) > 0 {
			continue
		}
		e := &b.news
		n.ID, n.Player, n.Class, n.Origin = e.ID, e.Player, e.Class, e.Origin
		n.From(h, e.Image, e.Owner, 255)
		return nil
	}
	return replica.ErrBase
}

func (q *receiver) Certain(p *replica.Arrived) bool { return q.state.Whole(p) }

func (q *receiver) Commit(*replica.Arrived, []replica.News) {}

// Message takes baselines.
func (q *receiver) Message(content []byte, count uint32) error {
	q.count = count
	return q.state.First(content, q.take)
}

// take keeps a baseline in place of the older of two.
func (q *receiver) take(n *replica.News) {
	for int(n.Handle) >= len(q.list) {
		q.list = append(q.list, [2]baseline{})
	}
	pair := &q.list[n.Handle]
	if !pair[1].there {
		q.kept++
	}
	memory := pair[1].news.Image
	pair[1] = pair[0]
	pair[0] = baseline{true, q.count, *n}
	pair[0].news.Image = append(memory[:0], n.Image...)
}

// Counted reads the packets that waited for the message that has come.
func (q *receiver) Counted() { q.early.Counted(q.state) }

// Image finds nothing: a client asks for no single entity anew.
func (q *receiver) Image(int32, uint32) ([]int32, bool) { return nil, false }

// Forget does nothing: a baseline is good until another is told.
func (q *receiver) Forget(int32) {}

func (q *receiver) Kept() int { return q.kept }
