package lbrm

import (
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// Event is what happened at a receiver.
type Event struct {
	Kind EventKind
	Seq  uint64
	Data []byte
}

// EventKind is of which kind an event is.
type EventKind uint8

// The kinds of events.
const (
	// Delivered is a packet, which may come before one with a lower number.
	Delivered EventKind = 1 + iota
	// GaveUp is a packet that no log has any more.
	GaveUp
	// Stale says that the source was not heard for so long that something may be missing; Fresh
	// that it is heard again.
	Stale
	Fresh
	// Restarted says that another session of the source begins, with its own numbers.
	Restarted
)

// Receiver hears a source, and asks for what it has missed.
type Receiver struct {
	voice
	o       Options
	log     netip.AddrPort
	history uint64
	g       gaps
	events  []Event
	heard   time.Duration
	beat    time.Duration
	stale   bool
}

// NewReceiver makes a receiver whose site has a log; with none it asks the primary one. A newcomer
// asks for so many packets of what was said before. The id must be a fresh random number in each
// run.
func NewReceiver(o Options, id uint32, log netip.AddrPort, history int) (*Receiver, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	if !log.IsValid() {
		log = o.Primary
	}
	return &Receiver{voice: newVoice(o.Key, id), o: o, log: log,
		history: uint64(max(history, 0))}, nil
}

// Receive takes in what came.
func (r *Receiver) Receive(now time.Duration, batch []link.Datagram) {
	var p packet
	for _, d := range batch {
		if !r.hear(d.Data, &p) {
			continue
		}
		switch p.kind {
		case kindData, kindHeart:
			if !r.g.begun || r.g.session != p.session {
				if r.g.begun {
					r.events = append(r.events, Event{Kind: Restarted})
				}
				before := p.seq
				if p.kind == kindData {
					before-- // it is not asked for itself
				}
				r.g.begin(p.session, before, r.history)
				r.g.upTo(before, now)
			}
		case kindRepair:
		default:
			continue
		}
		if !r.g.begun || p.session != r.g.session {
			continue
		}
		r.take(now, &p)
	}
}

func (r *Receiver) take(now time.Duration, p *packet) {
	if p.kind != kindRepair {
		if r.stale {
			r.stale = false
			r.events = append(r.events, Event{Kind: Fresh})
		}
		r.heard = now
	}
	if p.kind == kindHeart {
		if r.beat == 0 {
			r.beat = r.o.Beat
		}
		r.beat = r.o.next(r.beat)
		r.g.upTo(p.seq, now)
		return
	}
	if p.kind == kindData {
		r.beat = r.o.Beat
	}
	if !r.g.take(p.seq, now) {
		r.Counters.Doubles++
		return
	}
	r.events = append(r.events, Event{Delivered, p.seq, slices.Clone(p.data)})
}

// Tries before the primary log is asked in place of the site's, and before it is given up.
const (
	siteTries = 4
	allTries  = 12
)

// Tick lets time pass.
func (r *Receiver) Tick(now time.Duration) {
	if !r.g.begun {
		return
	}
	gone := r.g.ask(now, r.o.Wait, allTries, func(tries int) netip.AddrPort {
		if tries < siteTries {
			return r.log
		}
		return r.o.Primary
	}, func(to netip.AddrPort, list []uint64) {
		r.Counters.Asked += uint64(len(list))
		r.say(to, &packet{kind: kindAsk, session: r.g.session, asked: list})
	})
	for _, seq := range gone {
		r.Counters.Skipped++
		r.events = append(r.events, Event{Kind: GaveUp, Seq: seq})
	}
	// The beats slow down; when one that was due is long past, something may be missing.
	if !r.stale && now-r.heard > 2*max(r.beat, r.o.Beat)+r.o.Wait {
		r.stale = true
		r.events = append(r.events, Event{Kind: Stale})
	}
}

// Events are what happened since the last call. They are good until the next.
func (r *Receiver) Events() []Event {
	e := r.events
	r.events = nil
	return e
}

// Missing is how many packets are being asked for.
func (r *Receiver) Missing() int { return len(r.g.missing) }
