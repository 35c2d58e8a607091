package relay

import (
	"time"

	"github.com/coeval-dev/coeval/member"
)

// A match is some members that have met. In rows mode it has rows: the next is due by the relay's
// clock, counted from begin, once it is running.
type match struct {
	Match
	index   int // in Server.matches
	code    Code
	expires time.Duration // of the code
	source  *source       // that it counts for; nil: none
	peers   []*peer       // in the order in which they came
	watch   int           // how many of them have no seat
	seats   []seat
	last    member.ID // given out
	deserts time.Duration
	voter   Voter

	running  bool
	begin    time.Duration // when row 0 would be due
	mask     uint16        // of seats that play
	rows     history
	keep     uint32 // how many rows are kept
	absent   uint32 // rows without items after which a seat is absent
	grace    uint32 // rows after which an absent one has left
	unwaited uint32 // rows without items after which nobody waits for a seat
	every    uint32 // rows between two packets
	turn     uint32 // which of them its packets follow
	idle     uint32 // the same for those who watch
}

// A seat is held by a member from its entry on. It plays from the row on that says so, and is
// absent from one that says that until one that says otherwise; both are in the rows, so that all
// see the same.
type seat struct {
	state  seatPhase
	peer   *peer     // who is connected and has it, or nil
	member member.ID // whose stream the rows take
	secret [secretSize]byte
	silent uint32 // rows without an item
	leaves bool   // with the next row
	debt   uint32
	free   time.Duration // mesh: until when it is kept for someone who is gone
}

// streams says whether who is connected is the one whose stream the rows take.
func (x *seat) streams() bool { return x.peer != nil && x.peer.id == x.member }

type seatPhase uint8

const (
	seatFree   seatPhase = iota
	seatHeld             // by someone who does not play yet, or by a member of a mesh
	seatPlays            // is in the mask
	seatAbsent           // has played, and is kept
)

const (
	// keepTime is for how long rows are kept, beside what those who watch with a delay need.
	keepTime = 10 * time.Second
	// absentTime is after which silence a seat is absent, and unwaitedTime after which nobody waits
	// for it.
	absentTime   = 2 * time.Second
	unwaitedTime = 250 * time.Millisecond
	// desertTime is for how long a match without a member connected is kept, beside its grace.
	desertTime = 10 * time.Second
	// closeMost is how many rows are closed at one look, so that what has been missed does not come
	// all at once.
	closeMost = 4
)

func (s *Server) newMatch(asked *Match, now time.Duration) *match {
	m := &match{Match: *asked, index: len(s.matches), expires: now + s.opt.Limits.CodeLife}
	m.Patience = min(m.Patience, s.opt.Limits.Patience)
	m.Grace = min(m.Grace, s.opt.Limits.Grace)
	m.Params = append([]byte(nil), asked.Params...)
	m.seats = make([]seat, m.Seats)
	for {
		if m.code = makeCode(s.random.Uint64()); s.byCode[m.code] == nil {
			break
		}
	}
	rows := func(d time.Duration) uint32 { return uint32(d * time.Duration(m.Rate) / time.Second) }
	m.keep, m.absent = rows(keepTime)+1, rows(absentTime)+1
	m.grace, m.unwaited = rows(m.Grace), rows(unwaitedTime)+1
	m.every = uint32(m.Rate / m.SendRate)
	m.idle = max(m.every, uint32(int(m.Rate)/max(s.opt.Limits.WatchRate, 1)))
	m.rows.most = s.opt.Limits.History
	if m.Mode == Mesh && s.opt.Voter != nil {
		m.voter = s.opt.Voter(m.code, &m.Match)
	}
	s.matches = append(s.matches, m)
	s.wakes = append(s.wakes, now+time.Hour)
	s.byCode[m.code] = m
	s.stats.Created++
	return m
}

// over says whether nothing is left of a match.
func (s *Server) over(m *match) bool {
	for i := range m.seats {
		x := &m.seats[i]
		if x.state == seatHeld && x.peer == nil && s.now >= x.free {
			*x = seat{}
		}
	}
	return len(m.peers) == 0 && s.now-m.deserts > desertTime+m.Grace
}

func (s *Server) remove(m *match) {
	last := len(s.matches) - 1
	s.matches[m.index] = s.matches[last]
	s.matches[m.index].index = m.index
	s.wakes[m.index] = s.wakes[last]
	s.matches[last] = nil
	s.matches, s.wakes = s.matches[:last], s.wakes[:last]
	delete(s.byCode, m.code)
	if m.source != nil {
		m.source.matches--
	}
	s.stats.Over++
	s.tell(News{Kind: NewsOver, Code: m.code})
}

// due is when a row is due.
func (m *match) due(row uint32) time.Duration {
	return m.begin + time.Duration(row)*time.Second/time.Duration(m.Rate)
}

// early is how long before it is due a row may close, if everything for it is there.
func (m *match) early() time.Duration { return time.Second / time.Duration(m.Rate) / 2 }

// attend closes the rows of a match whose time has come, and sends them. Rows that go in one packet
// are closed together, when the last of them is due: nobody could hear of the others before.
func (s *Server) attend(m *match) {
	if m.voter != nil && len(m.peers) > 0 {
		s.deliberate(m)
	}
	if m.Mode != Rows || len(m.peers) == 0 {
		return
	}
	if !m.running && !s.start(m) {
		return
	}
	from := m.rows.next
	last := from + m.every - 1 - (from+m.turn)%m.every
	if at := m.due(last) - m.early(); s.now < at {
		s.wake(m, at)
		return
	}
	for {
		due := m.due(m.rows.next)
		if at := due - m.early(); s.now < at {
			s.wake(m, at)
			break
		}
		complete := m.complete()
		if at := due + m.Patience; s.now < at && !complete {
			s.wake(m, at)
			break
		}
		if m.rows.next-from >= max(closeMost, m.every) {
			s.wake(m, s.now)
			break
		}
		if s.now > due && !complete {
			s.stats.Late++
		}
		s.closeRow(m)
	}
	s.sendAll(m, from)
}

// start begins with the rows when as many as must be are ready.
func (s *Server) start(m *match) bool {
	ready := 0
	for i := range m.seats {
		if p := m.seats[i].peer; p != nil && p.ready && p.stream.ready() {
			ready++
		}
	}
	if ready < int(m.Start) {
		return false
	}
	m.running, m.begin = true, s.spread(m)
	return true
}

// spread chooses when the first row is due, within the next row's length: matches take turns, so
// that the relay has as much to do at any time. The golden section spreads any number of them.
func (s *Server) spread(m *match) time.Duration {
	const golden = 0x9e3779b97f4a7c15
	length := time.Second / time.Duration(m.Rate)
	s.started++
	at := time.Duration(float64(length) * (float64(s.started*golden>>11) / (1 << 53)))
	m.turn = uint32(s.started)
	return s.now + (at-s.now%length+length)%length
}

// complete says whether the next item of everyone who is waited for is there.
func (m *match) complete() bool {
	for i := range m.seats {
		x := &m.seats[i]
		if x.state == seatPlays && x.silent < m.unwaited && x.streams() && !x.peer.stream.ready() {
			return false
		}
	}
	return true
}

// closeRow decides what counts in the next tick.
func (s *Server) closeRow(m *match) {
	before := m.mask
	flat := append(s.flat[:0], 0)
	for i := range m.seats {
		before, p := m.seats[i].member, m.seats[i].peer
		c, ok := m.change(uint8(i))
		if !ok {
			continue
		}
		flat = appendChange(flat, c, before)
		flat[0]++
		if c.Kind == Left && p != nil {
			s.drop(p, ReasonSilent, "sent no items for as long as its seat was kept")
		}
	}
	counts := m.choose()
	for i := range m.seats {
		x := &m.seats[i]
		if x.state == seatAbsent {
			x.silent++
			x.debt = owe(x.debt, 0)
			if x.streams() {
				x.peer.stream.debt = x.debt
			}
		}
		if x.state != seatPlays {
			continue
		}
		n := counts[i]
		flat = append(flat, byte(n))
		for range n {
			st := &x.peer.stream
			item := st.item(st.taken)
			st.taken++
			flat = append(append(flat, byte(len(item))), item...)
		}
		x.debt = owe(x.debt, n)
		if n == 0 {
			x.silent++
			s.stats.Repeated++
		} else {
			x.silent = 0
			s.stats.Caught += uint64(n - 1)
		}
		if x.streams() {
			x.peer.stream.advance()
			x.peer.stream.debt = x.debt
		}
	}
	m.rows.put(flat, before, m.keep)
	s.flat = flat
	s.stats.Rows++
}

// change says what happens to a seat with the next row.
func (m *match) change(i uint8) (c Change, ok bool) {
	x := &m.seats[i]
	c = Change{Seat: i, Member: x.member}
	switch p := x.peer; {
	case x.leaves && x.state >= seatPlays:
		c.Kind = Left
	case x.leaves:
		*x = seat{}
		return c, false
	case x.state == seatPlays && (x.silent >= m.absent || !x.streams()):
		c.Kind = Absent
		x.state = seatAbsent
		x.silent = 0
		m.mask &^= 1 << i
		return c, true
	case (x.state == seatHeld || x.state == seatAbsent) && p != nil && p.ready && p.stream.ready():
		c.Kind = Joined
		if x.state == seatAbsent {
			c.Kind = Returned
		}
		if x.member != p.id { // whoever goes on with the same stream owes as before
			x.debt = 0
		}
		c.Member, x.member = p.id, p.id
		x.state, x.silent = seatPlays, 0
		m.mask |= 1 << i
		if !p.playing {
			p.playing, p.ownFrom = true, m.rows.next
		}
		return c, true
	case x.state == seatAbsent && x.silent >= m.grace:
		c.Kind = Left
	default:
		return c, false
	}
	m.mask &^= 1 << i
	if x.peer != nil {
		x.peer.seat, x.peer.playing = -1, false
	}
	*x = seat{}
	return c, true
}

// choose says how many items each seat's stream gives to the row: one, if it is there, and of those
// that are late as many as there are. A row has only so much room; each has a share of it for its
// next item, and what is left goes to larger and further ones, each seat first in its turn.
func (m *match) choose() (counts [MaxSeats]int) {
	room := rowBytes
	share := rowBytes / max(len(m.seats), 1)
	for i := range m.seats {
		x := &m.seats[i]
		if x.state != seatPlays || !x.streams() || !x.peer.stream.ready() {
			continue
		}
		st := &x.peer.stream
		if n := 1 + len(st.item(st.taken)); n <= share {
			counts[i] = 1
			room -= n
		}
	}
	for k := range m.seats {
		i := (int(m.rows.next) + k) % len(m.seats)
		x := &m.seats[i]
		if x.state != seatPlays || !x.streams() {
			continue
		}
		st := &x.peer.stream
		most := min(1+int(x.debt), MaxTaken, int(st.had-st.taken))
		for counts[i] < most {
			n := 1 + len(st.item(st.taken+uint32(counts[i])))
			if n > room {
				break
			}
			counts[i]++
			room -= n
		}
	}
	return counts
}
