package seamless

import (
	"cmp"
	"slices"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// A seat says which player a client of a gateway is, and at which gateway. Home keeps all of them,
// so that gateways have nothing that is worth saving: who goes on at another one is the same player
// there.
type seat struct {
	client  uint64
	player  world.Player
	gate    zone.ServerID
	hops    uint32     // how often it changed its gateway
	renewed world.Tick // when its gateway was known to have it last
	asked   [4]uint64  // by which numbers it was asked for lately, so that to ask twice is nothing
}

// seats are in order of client.
type seats []seat

// keepSeats is for how many seconds a player stays whose gateway says nothing of it any more.
const keepSeats = 90

// renewEvery is how often gateways say whom they have, in seconds.
const renewEvery = 10

func (s seats) find(client uint64) (int, bool) {
	return slices.BinarySearchFunc(s, client, func(x seat, c uint64) int {
		return cmp.Compare(x.client, c)
	})
}

// seated gives a client a player at a gateway: the same as before, if it has one.
func (b *body) seated(r *reader) {
	client, gate, nonce := r.fixed(), zone.ServerID(r.fixed()), r.fixed()
	if !r.done() || !b.home() || client == 0 || gate == 0 {
		b.faults.strange++
		return
	}
	i, ok := b.seats.find(client)
	if !ok {
		who, free := b.number()
		if !free {
			b.tellSeat(nonce, &seat{client: client, gate: gate}, 0)
			return
		}
		b.in.Join(who)
		b.seats = slices.Insert(b.seats, i, seat{client: client, player: who})
	}
	s, was := &b.seats[i], zone.ServerID(0)
	if !slices.Contains(s.asked[:], nonce) {
		if was = s.gate; was != gate {
			s.hops++
		}
		s.gate, s.renewed = gate, b.w.Tick()
		copy(s.asked[1:], s.asked[:3])
		s.asked[0] = nonce
	}
	b.tellSeat(nonce, s, was)
}

func (b *body) tellSeat(nonce uint64, s *seat, was zone.ServerID) {
	data := putFixed(putFixed(putFixed([]byte{eventSeated}, nonce), s.client), uint64(s.gate))
	data = putUint(putUint(data, uint64(s.player)), uint64(s.hops))
	b.out.out.Event(putFixed(data, uint64(was)))
}

// unseated gives up a client's seat, unless it is at another gateway by now.
func (b *body) unseated(r *reader) {
	client, gate := r.fixed(), zone.ServerID(r.fixed())
	if !r.done() || !b.home() {
		b.faults.strange++
		return
	}
	if i, ok := b.seats.find(client); ok && b.seats[i].gate == gate {
		b.left(b.seats[i].player)
	}
	b.out.out.Event(putFixed(putFixed([]byte{eventUnseated}, client), uint64(gate)))
}

// renewed notes whom a gateway has.
func (b *body) renewed(r *reader) {
	gate := zone.ServerID(r.fixed())
	for len(r.b) > 0 && !r.bad {
		if i, ok := b.seats.find(r.fixed()); ok && b.seats[i].gate == gate {
			b.seats[i].renewed = b.w.Tick()
		}
	}
}

// vacate gives up the seat of a player who leaves.
func (b *body) vacate(who world.Player) {
	b.seats = slices.DeleteFunc(b.seats, func(s seat) bool { return s.player == who })
}

// expireSeats has those leave of whom no gateway has said anything for long.
func (b *body) expireSeats() {
	rate := world.Tick(b.game.Rate())
	if now := b.w.Tick(); b.home() && now%rate == 0 {
		for i := 0; i < len(b.seats); i++ {
			if s := b.seats[i]; s.renewed+keepSeats*rate < now {
				b.left(s.player)
				i--
			}
		}
	}
}

func (s seats) save(dst []byte) []byte {
	dst = putUint(dst, uint64(len(s)))
	for i := range s {
		x := &s[i]
		dst = putFixed(putFixed(dst, x.client), uint64(x.gate))
		dst = putUint(putUint(dst, uint64(x.player)), uint64(x.hops))
		dst = putUint(dst, uint64(x.renewed))
		for _, n := range x.asked {
			dst = putFixed(dst, n)
		}
	}
	return dst
}

func (s *seats) load(r *reader) {
	*s = nil
	for range r.count() {
		x := seat{client: r.fixed(), gate: zone.ServerID(r.fixed()),
			player: world.Player(r.below(1 << 16)), hops: uint32(r.below(1 << 32)),
			renewed: world.Tick(r.uint())}
		for i := range x.asked {
			x.asked[i] = r.fixed()
		}
		*s = append(*s, x)
	}
}
