package lbrm

import (
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/link"
)

// Options are what all of a group agree on. Key and Group have no default.
type Options struct {
	Key   Key
	Group netip.AddrPort // where the source speaks to all
	// Primary is the log that has all that the source has said.
	Primary netip.AddrPort

	// Beat is the time from something new to the first heartbeat, and Slowest that to which they
	// slow down, each taking twice as long as the one before. Zero means 250 ms and 32 s.
	Beat, Slowest time.Duration
	// Fixed has all heartbeats come at Beat, to compare with.
	Fixed bool

	// Ackers is how many logs the source would have acknowledge, and Epoch for how many packets.
	// Zero means 8 and 16.
	Ackers, Epoch int
	// Wait is how long acknowledgements may take, and repairs, before they are missed. Zero means
	// 250 ms.
	Wait time.Duration
	// Many is for how many missing logs, as estimated, a packet is said again to all. Zero means 4.
	Many int

	// Keep is how many packets a log keeps. Zero means 4096.
	Keep int
}

func (o *Options) fill() error {
	if !o.Group.IsValid() || !o.Primary.IsValid() {
		return errors.New("lbrm: name the group's address and that of the primary log")
	}
	set := func(p *time.Duration, to time.Duration) {
		if *p <= 0 {
			*p = to
		}
	}
	set(&o.Beat, 250*time.Millisecond)
	set(&o.Slowest, 32*time.Second)
	set(&o.Wait, 250*time.Millisecond)
	o.Slowest = max(o.Slowest, o.Beat)
	for _, n := range []struct {
		p  *int
		to int
	}{{&o.Ackers, 8}, {&o.Epoch, 16}, {&o.Many, 4}, {&o.Keep, 4096}} {
		if *n.p <= 0 {
			*n.p = n.to
		}
	}
	return nil
}

// next is the time from one heartbeat to the next.
func (o *Options) next(after time.Duration) time.Duration {
	if o.Fixed {
		return o.Beat
	}
	return min(2*after, o.Slowest)
}

// Source is who speaks.
type Source struct {
	voice
	o       Options
	session uint32
	seq     uint64
	beat    time.Duration // how long until the next heartbeat
	due     time.Duration // when it is

	unsafe  []said // what the primary log has not confirmed
	waiting []said // what is waiting for acknowledgements
	ackers  []netip.AddrPort
	next    []netip.AddrPort // those of the next epoch, as they come
	epoch   uint32
	sent    int // packets in this epoch
	called  time.Duration
	calling bool
	logs    float64 // estimated number
	chance  uint16
}

// said is something that was said, until it is known to have arrived.
type said struct {
	seq   uint64
	data  []byte
	at    time.Duration
	epoch uint32
	from  []netip.AddrPort // who has acknowledged
}

// ErrBehind says that the primary log is too far behind for anything new to be safe.
var ErrBehind = errors.New("lbrm: the primary log does not keep up; try again later")

// NewSource makes a source. The session must be a fresh random number in each run.
func NewSource(o Options, session uint32) (*Source, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	return &Source{voice: newVoice(o.Key, session), o: o, session: session, chance: 65535,
		logs: 1}, nil
}

// Send says something to all. It is an error if it is too large, or if the primary log has not
// confirmed hundreds of packets.
func (s *Source) Send(now time.Duration, data []byte) error {
	if len(data) > MaxData {
		return errors.New("lbrm: more than MaxData bytes; say it in parts")
	}
	if len(s.unsafe) >= 512 {
		return ErrBehind
	}
	if s.sent == 0 {
		s.call(now)
	}
	if s.sent++; s.sent >= s.o.Epoch {
		s.sent = 0
	}
	s.seq++
	x := said{seq: s.seq, data: slices.Clone(data), at: now, epoch: s.epoch}
	s.unsafe = append(s.unsafe, x)
	if len(s.ackers) > 0 {
		s.waiting = append(s.waiting, x)
	}
	s.say(s.o.Group, &packet{kind: kindData, session: s.session, epoch: s.epoch, seq: s.seq,
		data: data})
	s.beat, s.due = s.o.Beat, now+s.o.Beat
	return nil
}

// call has logs volunteer to acknowledge, as many as are wanted by the number that there seem to
// be.
func (s *Source) call(now time.Duration) {
	chance := det.Clamp(float64(s.o.Ackers)/s.logs, 1.0/65536, 1)
	s.chance = uint16(min(int(float64(chance*65536)), 65535))
	s.calling, s.called, s.next = true, now, s.next[:0]
	s.say(s.o.Group, &packet{kind: kindCall, session: s.session, epoch: s.epoch + 1,
		chance: s.chance})
}

// Receive takes in what came.
func (s *Source) Receive(now time.Duration, batch []link.Datagram) {
	var p packet
	for _, d := range batch {
		if !s.hear(d.Data, &p) || p.session != s.session {
			continue
		}
		switch p.kind {
		case kindLogged:
			s.unsafe = slices.DeleteFunc(s.unsafe, func(x said) bool { return x.seq <= p.seq })
		case kindVolunteer:
			if s.calling && p.epoch == s.epoch+1 && len(s.next) < 8*s.o.Ackers &&
				!slices.Contains(s.next, d.Addr) {
				s.next = append(s.next, d.Addr)
			}
		case kindAck:
			for i := range s.waiting {
				x := &s.waiting[i]
				if x.seq == p.seq && slices.Contains(s.ackers, d.Addr) &&
					!slices.Contains(x.from, d.Addr) {
					x.from = append(x.from, d.Addr)
				}
			}
		case kindAsk:
			s.answer(d.Addr, p.asked)
		}
	}
}

// answer gives the primary log what it has missed. Nobody else is answered, so that the source is
// not asked by thousands.
func (s *Source) answer(to netip.AddrPort, asked []uint64) {
	if to != s.o.Primary {
		return
	}
	for _, seq := range asked {
		for i := range s.unsafe {
			if x := &s.unsafe[i]; x.seq == seq {
				s.Counters.Answered++
				s.say(to, &packet{kind: kindRepair, session: s.session, seq: seq, data: x.data})
			}
		}
	}
}

// Tick lets time pass.
func (s *Source) Tick(now time.Duration) {
	if s.seq > 0 && now >= s.due {
		s.Counters.Hearts++
		s.say(s.o.Group, &packet{kind: kindHeart, session: s.session, epoch: s.epoch, seq: s.seq})
		s.beat = s.o.next(s.beat)
		s.due = now + s.beat
	}
	if s.calling && now-s.called >= s.o.Wait {
		s.calling = false
		s.epoch++
		s.ackers = append(s.ackers[:0], s.next...)
		// How many volunteered, by the chance of each, says how many there are; smoothed, as it
		// is drawn by lot.
		seen := float64(len(s.next)) * 65536 / float64(s.chance)
		s.logs = max(1, float64(0.5*s.logs)+float64(0.5*seen))
	}
	for i := range s.unsafe {
		if x := &s.unsafe[i]; now-x.at >= 4*s.o.Wait { // it may have missed it, and not know
			x.at = now
			s.say(s.o.Primary, &packet{kind: kindRepair, session: s.session, seq: x.seq,
				data: x.data})
		}
	}
	kept := s.waiting[:0]
	for _, x := range s.waiting {
		if now-x.at < s.o.Wait {
			kept = append(kept, x)
			continue
		}
		s.judge(&x)
	}
	s.waiting = kept
}

// judge says a packet again to all if the acknowledgements that are missing stand for many logs.
func (s *Source) judge(x *said) {
	if len(s.ackers) == 0 || x.epoch != s.epoch {
		return
	}
	missing := float64(len(s.ackers)-len(x.from)) * s.logs / float64(len(s.ackers))
	if missing >= float64(s.o.Many) {
		s.Counters.Again++
		s.say(s.o.Group, &packet{kind: kindRepair, session: s.session, seq: x.seq, data: x.data})
	}
}

// Logs is how many logs there seem to be.
func (s *Source) Logs() float64 { return s.logs }

// Safe says whether the primary log has all that was said.
func (s *Source) Safe() bool { return len(s.unsafe) == 0 }
