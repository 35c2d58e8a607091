package peerlab

import (
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/world"
)

// A machine is one player's: a peers.Peer or a peers.Relayed.
type machine interface {
	Poll(now time.Duration) error
	Deadline() time.Duration
	Close() error
	World() *world.World
	Copy() *turns.Copy
	Phase() peers.Phase
	Player() world.Player
	Delay() int
	Stats() peers.Stats
	Ledger() conn.Ledger
}

// A seat is one player's machine, a bot, and what is measured of them.
type seat struct {
	machine
	match *match
	end   *netsim.Endpoint
	line  *line
	bot   game.Bot
	image []int32 // scratch
	sat   time.Duration
	from  world.Tick // the first tick that it plays

	marked world.Tick
	showed time.Duration // when it last showed a new tick
	first  [peers.MaxSeats + 1]session.Ring[seen]

	before counts // when measuring began
	tally
	spent, thought time.Duration // processor time in Poll, and of that in bots
}

// seen is what a seat was shown of another's command for a tick.
type seen struct {
	image []int32 // what it was shown first
	right bool    // it was shown what was given
}

// tally is what was measured of a seat.
type tally struct {
	own, others, settled times
	ahead, asked         int // ticks until own commands count, over so many of them
	stills               int
	still, longest       time.Duration
	shown                int
	guesses, wrong       int
	sent                 sentTo
}

// counts are those of the machines below.
type counts struct {
	peer  peers.Stats
	copy  turns.Stats
	sent  conn.Ledger
	lines map[netip.AddrPort]sentTo
}

func (s *seat) counts() counts {
	c := counts{peer: s.Stats(), sent: s.Ledger(), lines: s.line.counts()}
	if s.Copy() != nil {
		c.copy = s.Copy().Stats()
	}
	return c
}

func (s *seat) begin() {
	s.before, s.tally, s.spent, s.thought = s.counts(), tally{}, 0, 0
	s.showed = s.match.net.Now()
}

// plays says whether the seat shows a tick in which it takes part.
func (s *seat) plays() bool {
	return s.Phase() == peers.Playing && s.World() != nil && s.World().Tick() >= s.from
}

// poll drives the peer as Run does, and comes again when that is due.
func (s *seat) poll() {
	m := s.match
	now := m.net.Now()
	before := m.now()
	err := s.Poll(now)
	s.spent += m.now() - before
	m.fail(err)
	s.compare()
	if err == nil {
		const least = 100 * time.Microsecond
		s.end.After(max(s.Deadline()-now, least), s.poll)
	}
}

func (s *seat) news(n peers.News) {
	if n.Kind == peers.Entered {
		s.from = n.Tick
	}
}

// command asks the bot, who is shown the world as it is on this machine.
func (s *seat) command(w *world.World, me world.Player, t world.Tick, in *world.Inputs) {
	m := s.match
	if w.Tick() >= s.from {
		before := m.now()
		m.fail(s.bot(w, me, t, in))
		s.thought += m.now() - before
	}
	if in.Image(me, s.image) {
		m.give(me, t, s.image)
	} else if g := &m.given[me]; g.image != nil && g.last < t {
		copy(s.image, g.image)
		m.coder.Repeat(s.image)
		m.give(me, t, s.image)
	}
	if m.on {
		s.ahead += int(t) - int(w.Tick())
		if m.hub == nil { // the next tick is shown at once; by rows commands are given in between
			s.ahead--
		}
		s.asked++
	}
}

// after looks at a tick that was computed: for the first time, or again.
func (s *seat) after(w *world.World, in *world.Inputs, again bool) {
	m, t, now := s.match, w.Tick(), s.match.net.Now()
	me := s.Player()
	for _, p := range in.Players() {
		if int(p) < len(m.given) && in.Image(p, s.image) {
			s.watch(p, t, now, p == me)
		}
	}
	if again || me == world.Nobody {
		return
	}
	if m.on {
		s.shown++
		s.waited(now)
		if c := s.Copy(); c != nil {
			behind := time.Duration(t-c.Settled()) * m.rules.TickLength()
			s.settled = append(s.settled, behind)
		}
	}
	s.showed = now
}

// waited counts the time since the last tick, if it was longer than it should be.
func (s *seat) waited(now time.Duration) {
	if late := now - s.showed - s.match.rules.TickLength(); late > stillness {
		s.stills++
		s.still += late
		s.longest = max(s.longest, late)
	}
}

// stillness is by how much a tick may be late without having waited: peers that are ahead make
// their ticks a little longer.
const stillness = 2 * time.Millisecond

// watch notes what this seat is shown of a command, its own or another's, whose image is in
// s.image.
func (s *seat) watch(p world.Player, t world.Tick, now time.Duration, own bool) {
	m, ring := s.match, &s.first[p]
	if old := ring.At(t); old == nil {
		if !own {
			s.judge(p, t)
		}
		e := ring.Put(t)
		e.image, e.right = append(e.image[:0], s.image...), false
	} else if old.right {
		return
	}
	c := m.given[p].ring.At(t)
	if c == nil || !equal(c.image, s.image) {
		return
	}
	s.show(p, t, now, own)
	// A relay takes what comes late together with the next. So what was not to be seen in its own
	// tick is now, unless this tick is guessed.
	if k := s.Copy(); k == nil || t > k.Known() {
		return
	}
	for before := t - min(t, lateMost); before < t; before++ {
		if e := ring.At(before); e != nil && !e.right && m.given[p].ring.At(before) != nil {
			s.show(p, before, now, own)
		}
	}
}

// lateMost is how many ticks late a command may be taken and is still looked for.
const lateMost = 16

// show notes that a command is to be seen now. Of others count those that nobody could guess.
func (s *seat) show(p world.Player, t world.Tick, now time.Duration, own bool) {
	m, c := s.match, s.match.given[p].ring.At(t)
	s.first[p].At(t).right = true
	switch {
	case !m.on || !c.asked || c.at < m.since:
	case own:
		s.own = append(s.own, now-c.at)
	case c.fresh:
		s.others = append(s.others, now-c.at)
	}
}

// judged is after how many ticks it is known what was guessed wrong.
const judged = peers.MaxDepth + peers.MaxDelay + 4

// judge looks whether the guess for a tick that is some time ago was right.
func (s *seat) judge(p world.Player, t world.Tick) {
	if t < judged {
		return
	}
	t -= judged
	c, e := s.match.given[p].ring.At(t), s.first[p].At(t)
	if c == nil || e == nil || !s.match.on || c.at < s.match.since {
		return
	}
	s.guesses++
	if !equal(c.image, e.image) {
		s.wrong++
	}
}

// compare holds settled worlds against those of the others.
func (s *seat) compare() {
	c, m := s.Copy(), s.match
	if c == nil {
		return
	}
	for _, k := range c.Marks() {
		if k.Tick <= s.marked || k.Tick > c.Settled() {
			continue
		}
		s.marked = k.Tick
		if hash, ok := m.hashes[k.Tick]; !ok {
			m.hashes[k.Tick] = k.Hash
		} else if m.count.Compared++; hash != k.Hash {
			m.count.Different++
		}
	}
}

// A line is a link that counts what goes where.
type line struct {
	*netsim.Endpoint
	to map[netip.AddrPort]*sentTo
}

// sentTo is what was sent to one address.
type sentTo struct{ Datagrams, Bytes uint64 }

func (n sentTo) withHeaders() uint64 { return n.Bytes + headers*n.Datagrams }

func (l *line) counts() map[netip.AddrPort]sentTo {
	all := make(map[netip.AddrPort]sentTo, len(l.to))
	for to, n := range l.to {
		all[to] = *n
	}
	return all
}

// Send counts what the endpoint has taken.
func (l *line) Send(batch []link.Datagram) (int, error) {
	n, err := l.Endpoint.Send(batch)
	for i := range batch[:n] {
		to := l.to[batch[i].Addr]
		if to == nil {
			to = new(sentTo)
			if l.to == nil {
				l.to = map[netip.AddrPort]*sentTo{}
			}
			l.to[batch[i].Addr] = to
		}
		to.Datagrams++
		to.Bytes += uint64(len(batch[i].Data))
	}
	return n, err
}
