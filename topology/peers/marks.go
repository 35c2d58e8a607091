package peers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/world"
)

// marks is how peers find out that their worlds are no longer the same.
type marks struct {
	sent   world.Tick
	said   []saidMark // of all, this one included
	agreed world.Tick // the last at which all were the same
	wrong  bool       // this peer's world is not that of the others
	needAt time.Duration
	turn   int
	heads  []head // what others have signed, and fits what they have sent
	strike map[member.ID]int
}

// A saidMark is what a member says of a tick.
type saidMark struct {
	member      member.ID
	tick        world.Tick
	hash, turns uint64
	at          time.Duration
}

// keptMarks is of how many marks of each member is remembered what it said.
const keptMarks = 6

// signedHead is the text under which a member signs its commands up to a tick.
func (p *Peer) signedHead(id member.ID, t world.Tick, h turns.Head) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(id))
	b = binary.BigEndian.AppendUint64(b, uint64(t))
	return statement("head", &p.sum, b, h[:])
}

// compare tells the others the hash of each settled mark.
func (p *Peer) compare() {
	if p.council == nil || p.copy == nil || p.phase != Playing || p.now < p.pace.sendAt {
		return // it goes with the next commands
	}
	for _, m := range p.copy.Marks() {
		if m.Tick <= p.marks.sent || m.Tick > p.copy.Settled() || m.Tick == 0 {
			continue
		}
		p.marks.sent = m.Tick
		say := mark{tick: m.Tick, hash: m.Hash, turns: m.Turns}
		if own := p.stream(p.self); p.signs(m.Tick) && own.Holds(uint64(m.Tick)) {
			h := own.HeadAt(uint64(m.Tick))
			say.sign = p.id.signs(p.signedHead(p.self, m.Tick, h))
			p.marks.keep(head{p.self, m.Tick, h, say.sign})
		}
		for _, q := range p.pairs {
			to := say
			if p.cheats != nil && p.cheats.mark != nil {
				p.cheats.mark(q.id, &to)
			}
			q.control(message(kindMark, to.fields))
		}
		p.marks.add(saidMark{p.self, m.Tick, m.Hash, m.Turns, p.now})
		p.judge(m.Tick)
	}
	if p.marks.wrong && p.now >= p.marks.needAt {
		p.marks.needAt = p.now + second/2
		p.askForWorld()
	}
}

// signs says at which marks members sign: at every fourth, as a signature is under everything
// before.
func (p *Peer) signs(t world.Tick) bool { return t%world.Tick(4*p.match.Every) == 0 }

func (m *marks) add(s saidMark) {
	of, oldest := 0, -1
	for i := range m.said {
		if m.said[i].member == s.member {
			if m.said[i].tick == s.tick {
				return
			}
			if of++; oldest < 0 || m.said[i].tick < m.said[oldest].tick {
				oldest = i
			}
		}
	}
	if of >= keptMarks {
		m.said = slices.Delete(m.said, oldest, oldest+1)
	}
	m.said = append(m.said, s)
}

func (m *marks) keep(h head) {
	m.heads = slices.DeleteFunc(m.heads, func(o head) bool {
		return o.member == h.member && o.tick+1000 < h.tick
	})
	if len(m.heads) < keptMarks*MaxSeats*2 {
		m.heads = append(m.heads, h)
	}
}

// marked takes the word of another.
func (p *Peer) marked(id member.ID, m *mark) {
	if p.copy == nil || p.charter.span(id) == nil {
		return
	}
	e := p.charter.find(id)
	if st := p.stream(id); p.signs(m.tick) && st != nil && st.Holds(uint64(m.tick)) {
		h := st.HeadAt(uint64(m.tick))
		if e.card.signed(p.signedHead(id, m.tick, h), &m.sign) {
			p.marks.keep(head{id, m.tick, h, m.sign})
		} else {
			p.stats.Unsigned++
		}
	}
	p.marks.add(saidMark{id, m.tick, m.hash, m.turns, p.now})
	p.judge(m.tick)
}

// judge looks whether all say the same of a tick, once all have said it.
func (p *Peer) judge(t world.Tick) {
	if p.phase != Playing || t <= p.marks.agreed {
		return
	}
	var said []saidMark
	for _, s := range p.marks.said {
		if s.tick == t && (s.member == p.self || p.charter.span(s.member) != nil) {
			said = append(said, s)
		}
	}
	playing := 0
	for i := range p.charter.spans {
		if s := &p.charter.spans[i]; s.until == open && s.from <= t {
			playing++
		}
	}
	if len(said) < playing || playing < 2 {
		return
	}
	slices.SortFunc(said, func(a, b saidMark) int { return int(a.member) - int(b.member) })
	best, most := said[0], 0
	for _, a := range said { // most of them are right, or those with the lowest number
		n := 0
		for _, b := range said {
			if a.hash == b.hash && a.turns == b.turns {
				n++
			}
		}
		if n > most {
			best, most = a, n
		}
	}
	p.marks.agreed = t
	if most == len(said) {
		p.stats.Compared++
		clear(p.marks.strike)
		return
	}
	p.differ(t, said, best)
}

// differ is what follows when worlds are not the same.
func (p *Peer) differ(t world.Tick, said []saidMark, best saidMark) {
	p.stats.Differed++
	if p.marks.strike == nil {
		p.marks.strike = map[member.ID]int{}
	}
	for _, s := range said {
		if s.hash == best.hash && s.turns == best.turns {
			continue
		}
		if s.member == p.self {
			p.marks.wrong = true
		} else if p.marks.strike[s.member]++; p.marks.strike[s.member] >= 4 {
			p.office.liars = member.Insert(p.office.liars, s.member)
			p.tell(News{Kind: Differs, Member: s.member, Tick: t,
				Text: "its world is another again and again, and it is put out"})
		}
		if s.turns != best.turns {
			p.accuse()
		}
	}
	if p.match.End {
		_ = p.end(fmt.Errorf("%w at tick %d", ErrApart, t))
	}
}

// ErrApart says that the worlds of a match have come apart.
var ErrApart = errors.New("peers: the worlds have come apart")

// accuse tells all what was signed, so that who signed two things is found.
func (p *Peer) accuse() {
	b := []byte{kindHeads}
	for i := range p.marks.heads {
		c := bits.CursorTo(b)
		p.marks.heads[i].fields(&c)
		if b = c.Data(); len(b) > 60<<10 {
			break
		}
	}
	for _, q := range p.pairs {
		q.control(b)
	}
}

// heads takes what another says was signed.
func (p *Peer) heads(b []byte) {
	c := bits.CursorOver(b)
	for range keptMarks * MaxSeats * 2 {
		var h head
		if h.fields(&c); !c.OK() {
			return
		}
		e := p.charter.find(h.member)
		if e == nil || slices.Contains(p.office.liars, h.member) {
			continue
		}
		for _, own := range p.marks.heads {
			if own.member != h.member || own.tick != h.tick || own.head == h.head {
				continue
			}
			if !e.card.signed(p.signedHead(h.member, h.tick, h.head), &h.sign) {
				p.stats.Unsigned++
				break
			}
			p.office.liars = member.Insert(p.office.liars, h.member)
			p.council.Distrust(h.member)
			p.tell(News{Kind: TwoFaced, Member: h.member, Tick: h.tick,
				Text: "it has signed two different accounts of its commands"})
			p.accuse()
			break
		}
	}
}

// askForWorld asks one of those who are right for the world.
func (p *Peer) askForWorld() {
	for range p.pairs {
		p.marks.turn++
		q := p.pairs[p.marks.turn%len(p.pairs)]
		if q.open() && p.charter.span(q.id) != nil && !slices.Contains(p.office.liars, q.id) {
			q.control([]byte{kindNeed})
			return
		}
	}
}

// needed sends a member the world, since its own is wrong.
func (p *Peer) needed(q *pair) {
	if p.phase != Playing || p.marks.wrong || !q.open() || p.now < q.handAt {
		return
	}
	q.handAt = p.now + second/2
	if st := p.snapshot(); st != nil {
		c := bits.CursorTo(nil)
		st.fields(&c)
		if _, err := q.conn.SendBulk(1, c.Data()); err == nil {
			q.bulk = true
		}
	}
}

// repair takes the world of another in place of this one, and says in what they differ.
func (p *Peer) repair(q *pair, data []byte) {
	if !p.marks.wrong || p.phase != Playing {
		return
	}
	st, w, err := p.readState(data)
	if err != nil {
		p.tell(News{Kind: Differs, Member: q.id, Err: err})
		return
	}
	if d, ok := st.decree(); !ok || d.Epoch != p.council.Decree().Epoch {
		return // who plays is not what it is here: it is asked for again
	}
	var differs *world.Difference
	var mine []byte
	for _, m := range p.copy.Marks() {
		if m.Tick == st.tick {
			differs, mine = world.Differ(m.World, w), m.World.Host().Save(nil)
		}
	}
	for i := range st.flows {
		f := &st.flows[i]
		old := p.stream(f.member)
		if f.member == p.self || old == nil {
			continue
		}
		fresh := p.resume(f)
		for t := fresh.Have() + 1; old.Holds(t); t++ {
			if _, err := fresh.Put(t, old.Item(t)); err != nil {
				break
			}
		}
		old.Stream, old.moved = fresh.Stream, fresh.moved
		p.fill(old)
	}
	if err := p.copy.Replace(w, st.turns); err != nil {
		_ = p.end(err)
		return
	}
	p.marks.wrong, p.marks.sent = false, max(p.marks.sent, st.tick)
	p.stats.Repaired++
	text := fmt.Sprintf("tick %d", st.tick)
	if differs != nil {
		text = differs.String()
	}
	p.tell(News{Kind: Repaired, Member: q.id, Tick: st.tick, Text: text, Mine: mine,
		Theirs: st.world})
	for _, o := range p.pairs {
		o.control(append([]byte{kindDiffers}, text...))
	}
}

// resume makes a stream of what was sent of it.
func (p *Peer) resume(f *flow) *stream {
	s := &stream{Stream: turns.Resume(p.coder, uint64(f.have), f.image, f.head), id: f.member,
		moved: p.now, seals: &seals{}}
	for i, item := range f.items {
		if _, err := s.Put(uint64(f.have)+1+uint64(i), item); err != nil {
			break
		}
	}
	return s
}
