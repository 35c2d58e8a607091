package peers

import (
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// sayings is how those in a match find out that their worlds are no longer the same. The rows are
// the same for all, so where worlds differ the game does not do twice what it did once, or somebody
// has changed it.
type sayings struct {
	sent   world.Tick
	said   []saidMark // of all, this one included
	agreed world.Tick // all up to here were looked at
	wrong  bool       // this peer's world is not that of the others
	strike map[member.ID]int
	sweep  int // how many others there were when it was last looked who is gone
}

// Words: the first byte tells which.
const (
	wordMark    = 1 // the hash of a world at a tick, and of the turns up to there
	wordDiffers = 2 // in what a world differed
)

// wordOfMark has of each number as many bits as tell two apart: it is said to all by all.
type wordOfMark struct {
	mark        uint16 // low bits of which one it is
	hash, turns uint32
	trip        uint16 // to the relay and back, in milliseconds
}

func (m *wordOfMark) fields(c *bits.Cursor) {
	c.U16(&m.mark)
	c.U32(&m.hash)
	c.U32(&m.turns)
	c.U16(&m.trip)
}

// tooOften is how many times on end somebody's world may be another before it is named.
const tooOften = 4

// compare tells the others the hash of each mark.
func (p *Relayed) compare() error {
	if p.copy == nil || p.line.in == nil || !p.rolls.valid {
		return nil
	}
	if p.says.sweep != len(p.line.members) { // of those who are gone nothing is kept
		p.says.sweep = len(p.line.members)
		p.says.said = slices.DeleteFunc(p.says.said, func(s saidMark) bool {
			return s.member != p.line.in.Self && p.line.member(s.member) == nil
		})
	}
	for _, m := range p.copy.Marks() {
		if m.Tick <= p.says.sent {
			continue
		}
		p.says.sent = m.Tick
		w := wordOfMark{uint16(int(m.Tick) / p.match.Every), uint32(m.Hash), uint32(m.Turns),
			uint16(min(p.roundTrip().Round(time.Millisecond)/time.Millisecond, 1<<16-1))}
		p.says.add(saidMark{p.line.in.Self, m.Tick, uint64(w.hash), uint64(w.turns), p.now},
			p.keptSayings())
		if p.phase == Playing {
			_ = p.line.client.Word(message(wordMark, w.fields)) // one of many
		}
		if err := p.judgeAll(); err != nil {
			return err
		}
	}
	return nil
}

// add notes what somebody says of a tick, in place of what it said of it before. Of each member so
// many are kept.
func (m *sayings) add(s saidMark, most int) {
	of, oldest := 0, -1
	for i := range m.said {
		if o := &m.said[i]; o.member == s.member {
			if o.tick == s.tick {
				*o = s
				return
			}
			if of++; oldest < 0 || o.tick < m.said[oldest].tick {
				oldest = i
			}
		}
	}
	if of >= most {
		m.said[oldest] = s
	} else if len(m.said) < 4*relay.MaxSeats*most {
		m.said = append(m.said, s)
	}
}

// keptSayings is how many marks of each member are remembered: who watches from behind hears of
// them long before it comes to them.
func (p *Relayed) keptSayings() int {
	return keptMarks + int(p.opt.Behind/p.game.TickLength())/p.match.Every
}

// word takes what another says.
func (p *Relayed) word(from member.ID, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	switch b[0] {
	case wordMark:
		var m wordOfMark
		c := bits.CursorOver(b[1:])
		if m.fields(&c); !c.Done() {
			p.stats.Malformed++
			return nil
		}
		if p.line.member(from) != nil {
			p.line.known.told(from, time.Duration(m.trip)*time.Millisecond)
		}
		if p.copy == nil {
			return nil
		}
		near := int64(p.rolls.newest) / int64(p.match.Every)
		t := world.Tick(max(near+int64(int16(m.mark-uint16(near))), 0)) * world.Tick(p.match.Every)
		p.says.add(saidMark{from, t, uint64(m.hash), uint64(m.turns), p.now}, p.keptSayings())
		return p.judgeAll()
	case wordDiffers:
		p.tell(News{Kind: Differs, Member: from, Text: string(b[1:])})
	default:
		p.stats.Malformed++
	}
	return nil
}

// playing is how many play and are there.
func (p *Relayed) playing() (n int) {
	for i := range p.rolls.seats {
		if p.rolls.seats[i].state == seatPlays {
			n++
		}
	}
	return n
}

func (p *Relayed) plays(id member.ID) bool {
	for i := range p.rolls.seats {
		if x := &p.rolls.seats[i]; x.state == seatPlays && x.member == id {
			return true
		}
	}
	return false
}

// judgeAll looks at each mark of which all who play have spoken, or that is so old that nobody else
// will.
func (p *Relayed) judgeAll() error {
	if p.copy == nil || !p.rolls.valid || p.line.in == nil {
		return nil
	}
	every := world.Tick(p.match.Every)
	for t := p.says.agreed/every*every + every; t <= p.says.sent; t += every {
		spoke, mine := 0, false
		for _, s := range p.says.said {
			if s.tick == t {
				mine = mine || s.member == p.line.in.Self
				if p.plays(s.member) {
					spoke++
				}
			}
		}
		if spoke < p.playing() && t+3*every > p.copy.Known() {
			return nil
		}
		p.says.agreed = t
		if mine {
			if err := p.judge(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// judge compares what was said of a tick.
func (p *Relayed) judge(t world.Tick) error {
	var said []saidMark
	self := p.line.in.Self
	for _, s := range p.says.said {
		if s.tick == t && (p.plays(s.member) || s.member == self) {
			said = append(said, s)
		}
	}
	slices.SortFunc(said, func(a, b saidMark) int { return int(a.member) - int(b.member) })
	best, most := saidMark{}, 0
	for _, a := range said { // most of those who play are right, or those with the lowest number
		n := 0
		for _, b := range said {
			if a.hash == b.hash && a.turns == b.turns && p.plays(b.member) {
				n++
			}
		}
		if n > most {
			best, most = a, n
		}
	}
	if len(said) < 2 || most == 0 {
		return nil
	}
	var right, others []member.ID
	for _, s := range said {
		if s.hash == best.hash && s.turns == best.turns {
			right = append(right, s.member)
		} else {
			others = append(others, s.member)
		}
	}
	if len(others) == 0 {
		p.stats.Compared++
		clear(p.says.strike)
		return nil
	}
	return p.differ(t, right, others)
}

// differ is what follows when worlds are not the same.
func (p *Relayed) differ(t world.Tick, right, others []member.ID) error {
	p.stats.Differed++
	if p.match.End {
		return fmt.Errorf("%w at tick %d", ErrApart, t)
	}
	if p.says.strike == nil {
		p.says.strike = map[member.ID]int{}
	}
	for _, id := range others {
		if p.says.strike[id]++; p.says.strike[id] >= tooOften && id != p.line.in.Self {
			p.tell(News{Kind: Differs, Member: id, Tick: t,
				Text: p.line.name(id) + ": its world is another again and again"})
		}
		if id == p.line.in.Self && !p.says.wrong {
			p.says.wrong = true
			p.fetch.from, p.fetch.want, p.fetch.only = t, t, right
		}
	}
	return nil
}

// repaired takes the world of another in place of this one, and says in what they differ.
func (p *Relayed) repaired(from member.ID, st *relayedState, w *world.World) error {
	p.fetch.done()
	if !p.says.wrong {
		return nil
	}
	for t := st.tick + 1; t <= p.rolls.newest; t++ {
		if !p.rolls.holds(t) { // too old to go on from
			p.fetch.from, p.fetch.want = p.rolls.recent(), open
			return nil
		}
	}
	text := fmt.Sprintf("tick %d", st.tick)
	var mine []byte
	for _, m := range p.copy.Marks() {
		if m.Tick == st.tick {
			mine = m.World.Host().Save(nil)
			if d := world.Differ(m.World, w); d != nil {
				text = d.String()
			}
		}
	}
	if err := p.copy.Replace(w, st.turns); err != nil {
		return err
	}
	p.says.wrong, p.says.sent = false, st.tick
	p.stats.Repaired++
	p.tell(News{Kind: Repaired, Member: from, Tick: st.tick, Text: text, Mine: mine,
		Theirs: st.world})
	text = text[:min(len(text), relay.MaxWord-1)]
	_ = p.line.client.Word(append([]byte{wordDiffers}, text...))
	return nil
}
