package replica

import (
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// A Publisher takes from a world, after each tick, what changed: the images
// that all snapshots of all clients are then made of. An entity that changed is
// copied once, under a number that is never used for another image of it.
//
// Publish belongs to one goroutine, and while it runs no Sender may. Between
// two calls any number of senders may read it at once.
type Publisher struct {
	protocol *Protocol
	world    *world.World // the one published last
	tick     world.Tick
	count    uint64 // of publications
	jumps    uint64 // of those, after which something may be there again that was gone
	crowded  bool   // there was more than one publication of some tick

	slots    []slot
	free     [][]int32          // by class, since what had a slot before leaves memory of its size
	byIndex  [][]int32          // by class and index: slots of entities, -1 where there is none
	others   map[world.ID]int32 // and those of other allocators
	states   []int32            // slots that every client is sent
	commands []int32            // by player: slots of their commands, or -1
	removed  []removed          // entities that the last publication did not find any more
	unique   uint32

	// what the world starts with, which clients know without being told
	starts    map[world.ID]startImage
	startHash uint64

	events eventLog
	image  []int32 // of a command
}

// removed is an entity that is no more, for the events about its end.
type removed struct {
	id   world.ID
	born uint64   // the publication that first found it
	by   world.ID // what spawned it
}

// NewPublisher makes the publisher of a world. What the world holds now is what
// a client is expected to know without being told, if it starts from the same
// settings: call it when the world is new, before its first tick.
func NewPublisher(p *Protocol, w *world.World) (*Publisher, error) {
	b := &Publisher{
		protocol: p,
		byIndex:  make([][]int32, len(p.game.Classes())),
		others:   map[world.ID]int32{},
		starts:   map[world.ID]startImage{},
		free:     make([][]int32, len(p.classes)),
	}
	if err := b.fits(w); err != nil {
		return nil, err
	}
	if p.commands >= 0 {
		b.image = make([]int32, p.classes[p.commands].fields)
	}
	b.events.init(p, b)
	for class := range p.game.Classes() {
		for id := range w.Host().Of(class) {
			b.starts[id] = startImage{slices.Clone(w.Host().Image(id)), w.Owner(id)}
		}
	}
	b.publish(w, false, false)
	b.events.keep(w)
	b.startHash = startHash(w)
	return b, nil
}

// Publish takes what the last tick changed. It may be left out for some ticks, and the world may
// have been copied over from another in between: what counts is what differs from what was
// published before. Events are those of the world's last tick; where a world may be taken back, use
// PublishLeading.
func (b *Publisher) Publish(w *world.World) error {
	if err := b.fits(w); err != nil {
		return err
	}
	// Only if the world made exactly one step since then does it know what changed.
	onward := b.world == w && w.Tick() > b.tick
	b.publish(w, onward && w.Tick() == b.tick+1, onward)
	b.events.take(w, b.count)
	b.events.tidy(w, b.count)
	return nil
}

func (b *Publisher) fits(w *world.World) error {
	if w.Game() != b.protocol.game {
		return fmt.Errorf(
			"replica: a world of the game %s cannot be published by the protocol of %s",
			w.Game().Name(), b.protocol.game.Name())
	}
	return nil
}

// Tick is that of the world as it was published last.
func (b *Publisher) Tick() world.Tick { return b.tick }

// Protocol is what the publisher speaks.
func (b *Publisher) Protocol() *Protocol { return b.protocol }

// World is the world that was published last.
func (b *Publisher) World() *world.World { return b.world }

// publish takes the images of what changed. It trusts the world to know what that is, or compares
// everything. If the world did not go onward from what was published last, what clients hold of
// entities that they took over may never have been.
func (b *Publisher) publish(w *world.World, trust, onward bool) {
	b.count++
	b.removed = b.removed[:0]
	if !trust {
		b.jumps++
		b.crowded = b.crowded || b.world != nil && w.Tick() <= b.tick
	}
	b.world, b.tick = w, w.Tick()
	for class, info := range b.protocol.game.Classes() {
		takenOver := b.protocol.classes[class].policy.TakenOver
		for id := range w.Host().Of(class) {
			at := b.lookup(id)
			if at >= 0 && trust && !w.Host().Changed(id) {
				b.slots[at].seen = b.count
				continue
			}
			if at >= 0 && !trust && b.slots[at].origin != w.Origin(id) {
				b.leave(at) // another one that was given the same identifier
				at = -1
			}
			if at < 0 {
				at = b.enter(id, int32(class), info.State())
				b.slots[at].origin = w.Origin(id)
			}
			s := &b.slots[at]
			s.seen = b.count
			image, owner := w.Host().Image(id), w.Owner(id)
			anew := !onward
			if s.number != 0 {
				m, old := s.now()
				if m.owner != owner {
					anew = true
				} else if slices.Equal(old, image) {
					if takenOver != nil && anew {
						s.takeOver(takenOver(w, id), anew)
					}
					continue
				}
			}
			s.push(uint32(b.count), owner, image)
			if takenOver != nil {
				s.takeOver(takenOver(w, id), anew)
			}
		}
	}
	b.publishCommands(w)
	for i := range b.slots {
		if s := &b.slots[i]; s.unique != 0 && s.seen != b.count {
			b.leave(int32(i))
		}
	}
}

// publishCommands treats what others may know of each player's command as one more thing that
// changes.
func (b *Publisher) publishCommands(w *world.World) {
	if !b.protocol.relays {
		return
	}
	for p := range w.Players {
		if !w.Host().RelayImage(p, b.image) {
			continue
		}
		at := b.command(p)
		if at < 0 {
			at = b.take(int32(b.protocol.commands))
			b.slots[at].player = p
			for int(p) >= len(b.commands) {
				b.commands = append(b.commands, -1)
			}
			b.commands[p] = at
		}
		s := &b.slots[at]
		s.seen = b.count
		if s.number != 0 {
			if _, old := s.now(); slices.Equal(old, b.image) {
				continue
			}
		}
		s.push(uint32(b.count), p, b.image)
	}
}

// command finds the slot of a player's commands, or -1.
func (b *Publisher) command(p world.Player) int32 {
	if int(p) < len(b.commands) {
		return b.commands[p]
	}
	return -1
}

// lookup finds an entity's slot, or -1.
func (b *Publisher) lookup(id world.ID) int32 {
	if id.Allocator() != 0 {
		if at, ok := b.others[id]; ok {
			return at
		}
		return -1
	}
	c := id.Class()
	if c >= len(b.byIndex) || id.Index() >= len(b.byIndex[c]) {
		return -1
	}
	if at := b.byIndex[c][id.Index()]; at >= 0 && b.slots[at].id == id {
		return at
	}
	return -1
}

// state says whether an entity is a state, which all are shown.
func (b *Publisher) state(id world.ID) bool {
	classes := b.protocol.game.Classes()
	return id.Class() < len(classes) && classes[id.Class()].State()
}

func (b *Publisher) enter(id world.ID, class int32, state bool) int32 {
	at := b.take(class)
	s := &b.slots[at]
	s.id = id
	if start, ok := b.starts[id]; ok {
		s.first, s.firstOwner = start.image, start.owner
	}
	if id.Allocator() != 0 {
		b.others[id] = at
	} else {
		list := &b.byIndex[class]
		for len(*list) <= id.Index() {
			*list = append(*list, -1)
		}
		if old := (*list)[id.Index()]; old >= 0 { // the one before it had the same index
			b.leave(old)
		}
		(*list)[id.Index()] = at
	}
	if state && !slices.Contains(b.states, at) {
		b.states = append(b.states, at)
	}
	return at
}

// take gives a free slot.
func (b *Publisher) take(class int32) int32 {
	var at int32
	if free := b.free[class]; len(free) > 0 {
		at = free[len(free)-1]
		b.free[class] = free[:len(free)-1]
	} else {
		at = int32(len(b.slots))
		b.slots = append(b.slots, slot{})
	}
	s := &b.slots[at]
	if b.unique++; b.unique == 0 {
		b.unique = 1
	}
	*s = slot{
		unique: b.unique, class: class, born: b.count,
		fields: int32(b.protocol.classes[class].fields),
		images: s.images, meta: s.meta, pinned: s.pinned[:0],
		lasts: b.protocol.scheme.Lasting, oldest: pinnedImage{image: s.oldest.image},
	}
	clear(s.meta)
	return at
}

// leave frees the slot of what is no more. Senders notice by its unique number.
func (b *Publisher) leave(at int32) {
	s := &b.slots[at]
	if s.player == world.Nobody {
		b.removed = append(b.removed, removed{s.id, s.born, s.origin.By})
	}
	switch {
	case s.player != world.Nobody:
		b.commands[s.player] = -1
	case s.id.Allocator() != 0:
		delete(b.others, s.id)
	default:
		if list := b.byIndex[s.class]; list[s.id.Index()] == at {
			list[s.id.Index()] = -1
		}
	}
	s.unique = 0
	b.free[s.class] = append(b.free[s.class], at)
}
