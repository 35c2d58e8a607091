package replica

import "github.com/coeval-dev/coeval/world"

// A Shown is something that a client is shown, and how far it has been told of it: for tools.
type Shown struct {
	// Entity is what is shown, or with a Player that player's commands are.
	Entity world.ID
	Player world.Player
	// Priority is how much it matters to the client, and Waiting what it has gained since it was
	// told last, by not being sent.
	Priority, Waiting float64
	// Current says that the newest packet of it has its newest image; otherwise something waits to
	// be sent.
	Current bool
	// Sends is how often it was sent, and UnderWay how many packets with it are not acknowledged.
	Sends, UnderWay int
}

// Shown goes through what the client is shown, as of its last turn. It belongs to whoever calls
// Encode, between two calls.
func (s *Sender) Shown(yield func(Shown) bool) {
	for _, v := range s.view.list {
		r := s.at(v.handle)
		if !yield(Shown{
			Entity: v.id, Player: v.player, Priority: float64(v.priority),
			Waiting: float64(r.waiting), Sends: int(r.sends), UnderWay: int(r.under),
			Current: r.heard() == s.pub.slots[v.slot].number,
		}) {
			return
		}
	}
}
