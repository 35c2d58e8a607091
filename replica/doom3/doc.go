// Package doom3 makes snapshots as DOOM III did, to compare with. A program that imports it has the
// strategy replica.Doom3.
//
// It follows J.M.P. van Waveren, "The DOOM III network architecture" (2006), section 4.2. Server
// and client have one common base for each entity. When the server learns that a packet has
// arrived, it makes that packet's images the bases and tells the client to do the same, in a
// reliable message. Every packet says how many of these messages went before it, and is read
// against the bases as they are after just so many.
//
// What differs: an acknowledgement is the connection's, and one for each packet, since a packet
// here can be decoded alone; and several advances share a message if they come between two
// snapshots.
//
// It also has the strategy replica.Doom3Exact, which is the same in the paper's own form. Each
// packet has a string with a bit for each handle that says whether it is in view, 4096 of them or
// more, as a difference from that of a packet that has arrived, in pieces of 32; what left the view
// is told by that alone. A changed field that has its common value says so in a bit, as
// idBitMsgDelta of the released source does. Messages have their runs of zeros shortened as packets
// have. Which string is the base a packet says in nine bits, where the paper leaves it to the
// messages.
package doom3

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/doom3"
	"github.com/coeval-dev/coeval/replica"
)

func init() {
	replica.Register(replica.Doom3Exact, replica.Scheme{
		Codec: func(m *codec.Model) (codec.Strategy, error) { return doom3.NewExact(m.Schema()) },
		Sender: func(s replica.SenderState) replica.SenderBases {
			return &sender{state: s, views: new(sentViews)}
		},
		Receiver: func(r replica.ReceiverState) replica.ReceiverBases {
			return &receiver{state: r, views: new(gotViews)}
		},
		Repeats: true, Views: true, Shortens: true, Tail: 64,
	})
	replica.Register(replica.Doom3, replica.Scheme{
		Codec:  func(m *codec.Model) (codec.Strategy, error) { return doom3.New(m.Schema()) },
		Sender: func(s replica.SenderState) replica.SenderBases { return &sender{state: s} },
		Receiver: func(r replica.ReceiverState) replica.ReceiverBases {
			return &receiver{state: r}
		},
		Repeats: true, Tail: 64,
	})
}

// countBits is how much of the count of messages a packet carries: enough for
// all that can be under way.
const countBits = 10

// keep is for how many packets a client keeps what came in them.
const keep = 256

// window is how many packets may be made until a server learns that one arrived: the client does
// not keep what is older for certain.
const window = keep / 2
