package replica

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// classic is what Quake3 and Doom3 do in their own way at the server. All else,
// such as views, budgets, events and packets, they share with Coeval, so that
// a comparison shows what the choice of the base makes of it and nothing else.
//
// Both repeat what they say in every snapshot until they know that it was
// heard, where Coeval repeats only what was lost.
type classic interface {
	// prepare is called before a snapshot is collected, to mark what must be said again.
	prepare()
	// header says in a packet what it is a difference from.
	header(enc codec.PacketEncoder, seq uint32)
	// base fills the worker's history for an entity, and says in its record whether the client knows the entity.
	base(w *Worker, f *flight, r *record, sl *slot) (owner world.Player, old int64)
	// packed is called when all packets of a snapshot are staged; whole is false if something went wrong.
	packed(whole bool)
	// landed is called at the end of a packet's way, and says whether it counts as arrived.
	landed(f *flight, ok bool) bool
	// settled says whether the client is known to have heard that an entity is gone.
	settled(h int32) bool
	// distrust is called when the client says that it could not use something.
	distrust()
}

// classicTail is what a packet keeps free, where zeros in a row may take more
// bits than were counted so far.
const classicTail = 2 * tailBits

// classicReceiver is what Quake3 and Doom3 do in their own way at the client.
type classicReceiver interface {
	// header reads what a packet is a difference from, and gives how many messages went before it.
	header(dec codec.PacketDecoder, info packetInfo) (count uint32, err error)
	// base fills the history for an entity.
	base(info packetInfo, n *news, newOwner bool) error
	// commit takes over what a packet said.
	commit(info packetInfo, snap *Snapshot)
	// advance takes the content of a message that tells of new bases.
	advance(data []byte) error
	// counted is called when one more of the counted messages has come.
	counted()
}

// again marks what must be said in the next snapshot though it was said
// before.
func (r *record) again() { r.told = untold }

// whole says whether all packets of a snapshot up to a given one are here.
func (r *Receiver) whole(info packetInfo) bool {
	p, first := info.packet, info.first
	for !first {
		p--
		before := &r.packets[p%keepPackets]
		if !before.same(p) || before.tick != info.tick {
			return false
		}
		first = before.first
	}
	return true
}

// at gives what is held under a handle, or nil.
func (r *Receiver) at(handle int32) *entity {
	if int(handle) < len(r.entities) {
		return r.entities[handle]
	}
	return nil
}

// tell lists news of an entity in a snapshot, with an image that the snapshot
// keeps by itself. It reports false if something newer is known.
func (s *Snapshot) tell(e *entity, info packetInfo, n *news) bool {
	if e.what != untold && int32(info.packet-e.told) < 0 {
		return false
	}
	repeated := e.what != untold && e.what != held && n.what != held
	e.say(info.packet, n.what)
	if e.passed || e.id == world.None && e.player == world.Nobody {
		return true
	}
	if repeated {
		return true // that it is gone is said until the server knows that it was heard
	}
	u := Update{ID: e.id, What: What(n.what), Entry: world.Entry{Origin: e.origin}}
	if n.what == held {
		from := len(s.images)
		s.images = append(s.images, n.image...)
		u.Image, u.Entry.Owner = s.images[from:len(s.images):len(s.images)], n.owner
	}
	if e.player != world.Nobody {
		s.Commands = append(s.Commands, Relayed{e.player, u.Image})
	} else {
		s.Updates = append(s.Updates, u)
	}
	return true
}
