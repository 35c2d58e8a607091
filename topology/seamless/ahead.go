package seamless

import (
	"slices"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// ahead are the commands that a zone was given for ticks to come, or for ticks that are over of
// players who may be on their way here: what they own then catches up by them. It is part of what
// the zone is.
type ahead []intents

// intents are what one player commands, by rising ticks. What lies behind is memory for more.
type intents struct {
	who  world.Player
	list []intent
}

// intent is one of them: an image and a sight, as writeIntent has written them.
type intent struct {
	tick world.Tick
	data []byte
}

const (
	maxIntents = 160 // of a player
	// aheadMost is for how many ticks to come a zone takes commands.
	aheadMost = 128
)

// writeIntent appends what a player commands at a tick, and what was shown with it.
func writeIntent(dst []byte, t world.Tick, image []int32, s *world.Sight) []byte {
	dst = putUint(dst, uint64(t))
	for _, v := range image {
		dst = putInt(dst, int64(v))
	}
	if *s == (world.Sight{}) {
		return dst
	}
	dst = putUint(putUint(dst, uint64(s.Ago)), uint64(s.Base))
	for _, c := range s.Claims[:min(s.Claimed, world.MaxClaims)] {
		dst = putUint(dst, uint64(c.Target))
		for _, v := range c.Place {
			dst = putInt(dst, int64(v))
		}
	}
	return dst
}

// readIntent reads one behind its tick, into an image of the right size.
func readIntent(data []byte, image []int32) (s world.Sight, ok bool) {
	r := reader{b: data}
	for i := range image {
		v := r.int()
		if v != int64(int32(v)) {
			r.fail()
		}
		image[i] = int32(v)
	}
	if len(r.b) == 0 {
		return s, !r.bad
	}
	s.Ago, s.Base = uint16(r.below(1<<16)), uint16(r.below(1<<16))
	for len(r.b) > 0 {
		c := world.Claim{Target: world.ID(r.uint())}
		for k := range c.Place {
			c.Place[k] = int32(r.int())
		}
		if !s.Add(c) {
			r.fail()
		}
	}
	return s, !r.bad
}

// find is where a player's commands are, or would be.
func (a ahead) find(who world.Player) (int, bool) {
	return slices.BinarySearchFunc(a, who, func(o intents, who world.Player) int {
		return int(o.who) - int(who)
	})
}

// put keeps a command, unless there is one for that tick. The data is copied.
func (a *ahead) put(who world.Player, t world.Tick, data []byte) {
	i, ok := a.find(who)
	if !ok {
		if len(*a) < cap(*a) { // with the memory of one that is gone
			last := len(*a)
			*a = (*a)[:last+1]
			spare := (*a)[last]
			copy((*a)[i+1:], (*a)[i:last])
			(*a)[i] = spare
		} else {
			*a = slices.Insert(*a, i, intents{})
		}
		(*a)[i].who, (*a)[i].list = who, (*a)[i].list[:0]
	}
	o := &(*a)[i]
	at, there := slices.BinarySearchFunc(o.list, t, func(x intent, t world.Tick) int {
		return int(int64(x.tick) - int64(t))
	})
	if there || len(o.list) >= maxIntents {
		return
	}
	n := len(o.list)
	if n < cap(o.list) {
		o.list = o.list[:n+1]
	} else {
		o.list = append(o.list, intent{})
	}
	spare := o.list[n]
	copy(o.list[at+1:], o.list[at:n])
	o.list[at] = intent{t, append(spare.data[:0], data...)}
}

// at gives a player's command of a tick, or nil.
func (a ahead) at(who world.Player, t world.Tick) []byte {
	if i, ok := a.find(who); ok {
		for k := range a[i].list {
			if a[i].list[k].tick == t {
				return a[i].list[k].data
			}
		}
	}
	return nil
}

// forget gives up the commands before a tick, but for each player's last, which is kept until
// another.
func (a *ahead) forget(before, last world.Tick) {
	kept := 0
	for i := range *a {
		o := &(*a)[i]
		n := 0
		for n < len(o.list)-1 && o.list[n].tick < before {
			n++
		}
		if n == len(o.list)-1 && o.list[n].tick < last {
			n++
		}
		if n > 0 {
			slices.Reverse(o.list[:n]) // to the end, with their memory
			slices.Reverse(o.list[n:])
			slices.Reverse(o.list)
			o.list = o.list[:len(o.list)-n]
		}
		if len(o.list) > 0 {
			(*a)[kept], (*a)[i] = (*a)[i], (*a)[kept]
			kept++
		}
	}
	*a = (*a)[:kept]
}

// save appends all of it; load is the reverse.
func (a ahead) save(dst []byte) []byte {
	dst = putUint(dst, uint64(len(a)))
	for i := range a {
		dst = putUint(putUint(dst, uint64(a[i].who)), uint64(len(a[i].list)))
		for _, x := range a[i].list {
			dst = putBytes(putUint(dst, uint64(x.tick)), x.data)
		}
	}
	return dst
}

func (a *ahead) load(r *reader) {
	*a = nil
	for range r.count() {
		who := world.Player(r.below(1 << 16))
		for range r.count() {
			t := world.Tick(r.uint())
			a.put(who, t, r.bytes())
		}
	}
}

// ordered takes a command for a tick.
func (b *body) intended(r *reader) {
	who, t := world.Player(r.below(1<<16)), world.Tick(r.uint())
	b.intent(who, t, r.rest(), r.bad)
}

func (b *body) intent(who world.Player, t world.Tick, data []byte, bad bool) {
	schema, now := b.game.Commands(), b.w.Tick()+1
	if bad || who == world.Nobody || schema == nil {
		b.faults.strange++
		return
	}
	if _, ok := readIntent(data, b.shows.room(len(schema.Slots))); !ok {
		b.faults.strange++
		return
	}
	if t+b.letGo() > now && t < now+aheadMost {
		b.ahead.put(who, t, data)
	}
}

// takeIntents takes those commands of a tick's input that are for a tick. They come before all
// else, as what arrives may catch up by them.
func (b *body) takeIntents(in *zone.Input) {
	for _, c := range in.Commands {
		if len(c) > 0 && c[0] == commandAt {
			b.intended(&reader{b: c[1:]})
		}
	}
	for i := range in.Actions {
		a := &in.Actions[i]
		if a.Entity == control && len(a.Data) > 0 && a.Data[0] == controlIntents {
			b.carried(&reader{b: a.Data[1:]})
		}
	}
}

// giveIntents gives the commands of the tick that is about to be computed to those who are here.
func (b *body) giveIntents() {
	schema, now := b.game.Commands(), b.w.Tick()+1
	if schema == nil {
		return
	}
	image := b.shows.room(len(schema.Slots))
	for i := range b.ahead {
		o := &b.ahead[i]
		if !b.w.Present(o.who) {
			continue
		}
		if o.list[len(o.list)-1].tick+b.letGo() == now {
			for k := range schema.Slots {
				image[k] = schema.Slots[k].Absent
			}
			_ = b.in.GiveImage(o.who, image) // as no more comes, what was held down is let go
		}
		for k := range o.list {
			if o.list[k].tick != now {
				continue
			}
			s, _ := readIntent(o.list[k].data, image) // intent has tried
			if b.in.GiveImage(o.who, image) == nil && b.game.Rewinds() > 0 &&
				(s != (world.Sight{}) || b.w.Sight(o.who).Ago != 0) {
				_ = b.in.Show(o.who, s)
			}
		}
	}
}

// letGo is after how many ticks without a command what a player holds down is let go.
func (b *body) letGo() world.Tick { return world.Tick(b.game.Rate()/2 + 1) }

// endIntents gives up the commands that are over.
func (b *body) endIntents() {
	next := b.w.Tick() + 1
	b.ahead.forget(next-min(next, world.MaxCatch), next-min(next, b.letGo()))
}

// carry gives the commands for ticks to come of a player along, who goes to another zone, and the
// last one, by which that knows when to let go.
func (b *body) carry(who world.Player, to zone.ID) {
	i, ok := b.ahead.find(who)
	if !ok {
		return
	}
	data := putUint(nil, uint64(who))
	list := b.ahead[i].list
	for k, x := range list {
		if x.tick > b.w.Tick() || k == len(list)-1 {
			data = putBytes(putUint(data, uint64(x.tick)), x.data)
		}
	}
	b.out.tell(to, controlIntents, data)
}

func (b *body) carried(r *reader) {
	who := world.Player(r.below(1 << 16))
	for len(r.b) > 0 && !r.bad {
		t := world.Tick(r.uint())
		b.intent(who, t, r.bytes(), r.bad)
	}
}

// missed gives the commands of what an entity's owner did in the ticks that it missed on its way,
// the oldest first.
func (b *body) missed(id world.ID, ticks int) [][]int32 {
	schema, who := b.game.Commands(), b.w.Owner(id)
	if schema == nil || who == world.Nobody || ticks == 0 {
		return nil
	}
	list := make([][]int32, ticks)
	for k := range list {
		t := b.w.Tick() - world.Tick(ticks-1-k)
		if data := b.ahead.at(who, t); data != nil {
			image := make([]int32, len(schema.Slots))
			if _, ok := readIntent(data, image); ok {
				list[k] = image
			}
		}
	}
	return list
}
