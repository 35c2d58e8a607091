package replica

import (
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// Leading is what there is to say of a world that may be taken back, as that of a mirror may: how
// far it is certain, and what became known of its events.
type Leading struct {
	// Again says that the world was copied over, or stepped more or less than once, since it was
	// last published, so that everything is to be compared.
	Again bool
	// Settled is the last tick about which nothing changes any more.
	Settled world.Tick
	// Events is what became known since the last publication, in order.
	Events []Happening
}

// A Happening is what became known of an event. Each is announced as Provisional once, and later
// either Confirmed or Retracted, once.
type Happening struct {
	What  Standing
	Event world.Emitted
	// Image holds the event's fields, as Game.Events describes them. It is not needed of what is
	// Retracted.
	Image []int32
}

// A Standing says how much an event is to be believed.
type Standing uint8

const (
	// Provisional: it happened in a world that may be taken back.
	Provisional Standing = iota
	// Confirmed: it happened.
	Confirmed
	// Retracted: it did not happen after all.
	Retracted

	// settling is no standing; it stands in a message in the place of one, where the settled tick
	// follows.
	settling
)

func (s Standing) String() string {
	switch s {
	case Provisional:
		return "provisional"
	case Confirmed:
		return "confirmed"
	case Retracted:
		return "retracted"
	}
	return fmt.Sprintf("Standing(%d)", uint8(s))
}

// PublishLeading is Publish for a world that may be taken back: copied over and computed again, so
// that a tick is published anew, entities that were there never were, and what happened did not.
// Events are taken from what is said of it and not from the world. Clients are told of reliable
// ones at once, marked as provisional until the settled tick reaches them, or until they are
// retracted; those who join later are told only of confirmed ones, and of what is still provisional
// as such.
//
// The images of events are read before it returns. After an error nothing was published.
func (b *Publisher) PublishLeading(w *world.World, l Leading) error {
	if err := b.fits(w); err != nil {
		return err
	}
	log := &b.events
	for i := range l.Events {
		if err := log.check(&l.Events[i], b.protocol); err != nil {
			return err
		}
	}
	onward := !l.Again && b.world == w && w.Tick() == b.tick+1
	b.publish(w, onward, onward)
	log.leading = true
	for i := range l.Events {
		switch h := &l.Events[i]; h.What {
		case Provisional:
			log.announce(h, b.count)
		case Confirmed:
			log.confirm(h, b.count)
		case Retracted:
			log.retract(&h.Event, b.count)
		}
	}
	log.settle(l.Settled)
	log.tidy(w, b.count)
	return nil
}

// pendingEvent is one that was announced and is neither confirmed nor retracted.
type pendingEvent struct {
	loggedEvent
	number uint64 // in the log
	// of those that are saved, since they may be told for longer than the log keeps them
	fields []byte
}

// check refuses what is no event of the game.
func (l *eventLog) check(h *Happening, p *Protocol) error {
	kinds := p.game.Events()
	if int(h.Event.Kind) >= len(kinds) {
		return fmt.Errorf("replica: an event of kind %d, and the game %s has %d", h.Event.Kind,
			p.game.Name(), len(kinds))
	}
	if h.What > Retracted {
		return fmt.Errorf(
			"replica: an event %s that is neither provisional, confirmed nor retracted",
			kinds[h.Event.Kind].Name())
	}
	if n := kinds[h.Event.Kind].Layout().Len(); h.What != Retracted && len(h.Image) != n {
		return fmt.Errorf(
			"replica: the image of an event %s has %d numbers, and should have %d; take it from "+
				"its layout", kinds[h.Event.Kind].Name(), len(h.Image), n)
	}
	return nil
}

// read gives the event that an image describes, or nil if it describes none.
func (l *eventLog) read(h *Happening) (ok bool) {
	k := &l.kinds[h.Event.Kind]
	if k.blank == nil {
		k.blank = k.info.New()
	}
	if k.info.Layout().Unpack(&l.sync, k.blank, h.Image) != nil {
		l.large++
		return false
	}
	return true
}

// announce logs an event that may be retracted.
func (l *eventLog) announce(h *Happening, count uint64) {
	if !l.read(h) {
		return
	}
	e, ok := l.log(h.Event, l.kinds[h.Event.Kind].blank, Provisional, count)
	if !ok {
		return
	}
	n := len(l.pending)
	if n < cap(l.pending) {
		l.pending = l.pending[:n+1] // with the memory it had
	} else {
		l.pending = append(l.pending, pendingEvent{})
	}
	p := &l.pending[n]
	p.loggedEvent, p.number, p.fields = *e, l.end()-1, p.fields[:0]
	if p.delivery == world.Saved {
		p.fields = append(p.fields, l.fields(e)...)
	}
}

// confirm makes an event certain. One that no one heard of is logged as such.
func (l *eventLog) confirm(h *Happening, count uint64) {
	i := l.findPending(&h.Event)
	delivery := l.kinds[h.Event.Kind].delivery
	switch {
	case i >= 0:
		// What is kept for those who come later is as it was in the end.
		if delivery == world.Saved && l.read(h) {
			if data, n, ok := l.write(l.pending[i].fields[:0], l.kinds[h.Event.Kind].blank); ok {
				l.pending[i].fields, l.pending[i].bits = data, n
				l.pending[i].to = addressees(l.kinds[h.Event.Kind].blank)
			}
		}
		l.certain(i)
	case delivery == world.Unreliable:
	case slices.ContainsFunc(l.saved, func(e loggedEvent) bool { return e.Emitted == h.Event }):
	default:
		if !l.read(h) {
			return
		}
		if e, ok := l.log(h.Event, l.kinds[h.Event.Kind].blank, Confirmed, count); ok &&
			delivery == world.Saved {
			l.save(*e, l.fields(e))
		}
	}
}

// certain ends an event's wait: it happened.
func (l *eventLog) certain(i int) {
	p := &l.pending[i]
	if p.number >= l.first {
		l.list[p.number-l.first].standing = Confirmed
	}
	if p.delivery == world.Saved {
		p.standing = Confirmed
		l.save(p.loggedEvent, p.fields)
	}
	l.dropPending(i)
}

// retract ends an event's wait: it did not happen. Whoever was told of it must be told so; the
// others hear nothing of either.
func (l *eventLog) retract(e *world.Emitted, count uint64) {
	i := l.findPending(e)
	if i < 0 {
		return
	}
	p := &l.pending[i]
	if p.number >= l.first {
		l.list[p.number-l.first].standing = Retracted
	}
	if p.delivery != world.Unreliable {
		l.list = append(l.list,
			loggedEvent{
				Emitted: *e, delivery: p.delivery, standing: Retracted, at: l.from +
					uint64(len(l.data)), count: count, retracts: true, of: p.number})
	}
	l.dropPending(i)
}

// settle makes certain what has been neither confirmed nor retracted up to a tick, as clients will
// believe it to be.
func (l *eventLog) settle(t world.Tick) {
	if t <= l.settled {
		return
	}
	l.settled = t
	for i := 0; i < len(l.pending); {
		if l.pending[i].Tick <= t {
			l.certain(i)
		} else {
			i++
		}
	}
}

func (l *eventLog) findPending(e *world.Emitted) int {
	for i := range l.pending { // mostly it is the first, as they are confirmed in order
		if l.pending[i].Emitted == *e {
			return i
		}
	}
	return -1
}

// dropPending takes one out; its memory serves another.
func (l *eventLog) dropPending(i int) {
	spare, last := l.pending[i], len(l.pending)-1
	copy(l.pending[i:], l.pending[i+1:])
	l.pending[last] = spare
	l.pending = l.pending[:last]
}

// tellSettled lets the client know how far everything is certain, where it was told of something
// that now is, and now and then in any case.
func (s *Sender) tellSettled() {
	l := &s.pub.events
	if len(l.pending) == 0 {
		s.events.doubtful = s.events.doubtful[:0]
	} else {
		first := l.pending[0].number
		s.events.doubtful = slices.DeleteFunc(s.events.doubtful,
			func(n uint64) bool { return n < first })
	}
	if l.settled <= s.events.said {
		return
	}
	wait := uint64(s.options.Idle)
	if s.events.due != 0 && s.events.due <= l.settled {
		wait = uint64(s.pub.protocol.game.Rate()) / settledShare
	}
	if s.events.said != 0 && s.pub.count-s.events.saidAt < wait {
		return
	}
	s.messages.settled(l.settled)
	s.events.said, s.events.saidAt, s.events.due = l.settled, s.pub.count, 0
	if s.events.doubted > s.events.said {
		s.events.due = s.events.said + 1
	}
}

// settledShare is how many times a second at most a client is told what is settled.
const settledShare = 4

// doubts notes that the client was told of an event that may be retracted, by its tick and number.
func (s *Sender) doubts(t world.Tick, number uint64) {
	s.events.doubtful = append(s.events.doubtful, number)
	if s.events.due == 0 || t < s.events.due {
		s.events.due = t
	}
	s.events.doubted = max(s.events.doubted, t)
}
