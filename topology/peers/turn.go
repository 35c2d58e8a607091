package peers

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

func bitsOver(b []byte) bits.Cursor { return bits.CursorOver(b) }

// Turn says what goes into a tick, as far as it is known; see turns.Source.
func (p *Peer) Turn(t world.Tick, in *world.Inputs) (known bool) {
	known = true
	ch := p.charter
	for i := range ch.spans {
		s := &ch.spans[i]
		if t < s.from {
			continue
		}
		if t == s.from && s.joins {
			in.Join(s.player)
		}
		if t > s.until {
			if !ch.relieved(s, t) {
				_ = in.GiveImage(s.player, p.start) // its body stands still
			}
			continue
		}
		if st := p.stream(s.member); st.Holds(uint64(t)) {
			_ = in.GiveImage(s.player, st.Image(uint64(t)))
		} else {
			known = false
			st.Guess(p.image)
			_ = in.GiveImage(s.player, p.image)
		}
	}
	for i := range ch.absent {
		if ch.absent[i].leaves == t {
			in.Leave(ch.absent[i].player)
		}
	}
	return known
}

// relieved says whether, in a tick, someone else commands the player of a span that has ended, or
// the player has left.
func (ch *charter) relieved(s *span, t world.Tick) bool {
	for i := range ch.spans {
		if o := &ch.spans[i]; o.player == s.player && o.from > s.from && o.from <= t {
			return true
		}
	}
	for i := range ch.absent {
		if a := &ch.absent[i]; a.player == s.player && a.leaves <= t {
			return true
		}
	}
	return false
}

// held is up to where the commands of everybody are here.
func (p *Peer) held() world.Tick {
	least := open
	for i := range p.charter.spans {
		s := &p.charter.spans[i]
		if have := world.Tick(p.stream(s.member).Have()); have < s.until {
			least = min(least, have)
		}
	}
	return least
}

// claim is what this peer says that it holds.
func (p *Peer) claim() world.Tick {
	h := p.held()
	if p.limited {
		h = min(h, p.limit)
	}
	return h
}

// settle finds up to where everybody holds everything.
func (p *Peer) settle() {
	least := p.claim()
	if p.council == nil {
		return // those who watch are told
	}
	epoch := uint8(p.council.Decree().Epoch)
	for i := range p.charter.members {
		e := &p.charter.members[i]
		if e.id == p.self || p.charter.span(e.id) == nil {
			continue
		}
		q := p.pair(e.id)
		if q == nil || !q.said || q.epoch != epoch {
			return
		}
		least = min(least, q.held)
	}
	if least != open {
		p.copy.Settle(least)
	}
}

// Bits of a packet of commands: the tick of the newest, how many there are, and whether more is
// said; then that; then for each command how many bytes it has, and the bytes.
const (
	newestBits = 8
	epochBits  = 8
	heldBits   = 8
	leadBits   = 7
	aheadBits  = 8
	fewBits    = 2
	moreBits   = 4
	eraBits    = 2

	mostItems = 15
	few       = 1<<fewBits - 1  // so many or more, see writeFew
	farBehind = 1<<heldBits - 1 // so far that it is not said
	// ticks between what the other has and what can be told by its lowest bits
	farthest = 100
)

// writeFew writes a number up to 255 that is small most of the time: up to two in two bits; from
// three to 17 three in those, and the rest in four more; others three, fifteen and the number in
// eight.
func writeFew(w *bits.Writer, n int) {
	const most = 1<<moreBits - 1
	w.WriteBits(uint64(min(n, few)), fewBits)
	if n < few {
		return
	}
	w.WriteBits(uint64(min(n-few, most)), moreBits)
	if n-few >= most {
		w.WriteBits(uint64(n), 8)
	}
}

func readFew(r *bits.Reader) int {
	n := int(r.ReadBits(fewBits))
	if n < few {
		return n
	}
	if more := int(r.ReadBits(moreBits)); more < 1<<moreBits-1 {
		return n + more
	}
	return int(r.ReadBits(8))
}

// near completes a tick of which the lowest eight bits are known.
func near(low uint64, to world.Tick) world.Tick {
	d := int64(int8(uint8(low) - uint8(to)))
	if d < 0 && world.Tick(-d) > to {
		return 0
	}
	return world.Tick(int64(to) + d)
}

// talk sends each of the others what it lacks of our commands.
func (p *Peer) talk() {
	if p.council == nil || p.now < p.pace.sendAt {
		return
	}
	p.pace.sent(p.now)
	p.pace.spoke = true
	for _, q := range p.pairs {
		if q.open() {
			q.items.landed(q.conn, !p.match.Doom)
			q.seals.landed(q.conn, true)
			p.send(q)
		}
	}
}

// extrasEvery is how many times a second more is said than commands.
const extrasEvery = 6

// send makes a packet of commands.
func (p *Peer) send(q *pair) {
	sealFrom, sealTo := p.chooseSeals(q)
	from, to := p.choose(q)

	extras := p.now-q.extras >= second/extrasEvery
	// Where all commit first, others wait for what this packet acknowledges.
	if from > to && sealFrom > sealTo && !extras && !(p.match.Commit && p.pace.late) {
		return
	}
	w := &p.pace.w
	if cap(p.pace.buf) == 0 {
		p.pace.buf = make([]byte, 8192)
	}
	w.Reset(p.pace.buf)
	w.WriteBits(uint64(uint8(to)), newestBits)
	writeFew(w, int(to+1-from))
	w.WriteBool(extras)
	if extras {
		q.extras = p.now
		w.WriteBits(uint64(uint8(p.council.Decree().Epoch)), epochBits)
		w.WriteBits(uint64(min(to-min(to, p.claim()), farBehind)), heldBits)
		w.WriteBits(uint64(p.lead(to)), leadBits)
		w.WriteBits(uint64(uint8(int8(p.ahead(q)))), aheadBits)
	}
	own := p.stream(p.self)
	if p.match.Commit && own != nil {
		p.writeSeals(w, p.width(q), sealFrom, sealTo)
		p.writeNonces(w, from, to)
	}
	for t := from; t <= to; t++ {
		b := own.Item(uint64(t))
		if p.cheats != nil && p.cheats.item != nil {
			b = p.cheats.item(q.id, t, b)
		}
		writeFew(w, len(b))
		for _, x := range b {
			w.WriteBits(uint64(x), 8)
		}
	}
	n := q.conn.NextPacket()
	if q.conn.Send(chTurns, w.Bytes()) == nil {
		q.items.went(n, 1, from, to)
		q.seals.went(n, p.width(q), sealFrom, sealTo)
	}
}

// lead is by how many ticks the newest command of a packet is ahead of what is shown.
func (p *Peer) lead(to world.Tick) uint8 {
	return uint8(max(0, min(int64(to)-int64(p.copy.Shown())+int64(1<<(leadBits-1)), 1<<leadBits-1)))
}

// choose finds which commands a packet should have: all that have not come and are not under way,
// and some that are, in case they are lost. If there are none, from is after to.
func (p *Peer) choose(q *pair) (from, to world.Tick) {
	newest := p.own.next - 1
	own := p.stream(p.self)
	if own == nil || !q.told || newest < world.Tick(own.From()) {
		return newest + 1, newest
	}
	if p.match.Commit {
		if c := p.cheats; !q.mayTell() || c != nil && c.withholds != nil && c.withholds(q.id) {
			return newest + 1, newest
		}
		newest = min(newest, p.committed(), q.seals.acked) // and what commits to ours is there
	}
	from = q.items.next(world.Tick(own.From()), newest)
	first := q.items.acked + 1
	if p.match.Doom {
		if q.asked != 0 {
			from, q.asked = max(first, min(from, q.asked)), 0
		}
	} else {
		if from <= newest {
			copy(q.fresh[1:], q.fresh[:])
			q.fresh[0] = from
		}
		from = max(first, min(from, q.fresh[spares(q.conn)-1]))
	}
	if from > newest {
		return newest + 1, newest
	}
	if !own.Holds(uint64(from)) || newest-from > farthest {
		// so far behind that it cannot tell which they are: it asks for them
		return newest + 1, newest
	}
	return from, min(newest, from+mostItems-1)
}

// mostSpares is the most that spares is.
const mostSpares = 6

// spares is of how many packets a packet has the commands at least, itself included, by what is
// lost.
func spares(c *conn.Conn) int {
	switch loss := c.Quality().LossOut; {
	case loss < 0.01:
		return 2
	case loss < 0.04:
		return 3
	case loss < 0.1:
		return 4
	}
	return mostSpares
}

// takeTurns takes a packet of commands.
func (p *Peer) takeTurns(q *pair, b []byte) {
	if q.turnA > 0 {
		q.gap += (p.now - q.turnA - q.gap) / 16
	}
	q.turnA = p.now
	var r bits.Reader
	r.Reset(b)
	st := p.stream(q.id)
	base := p.copy.Shown()
	if st != nil {
		base = world.Tick(st.Have())
	}
	to := near(r.ReadBits(newestBits), base)
	count := world.Tick(readFew(&r))
	if r.ReadBool() {
		q.epoch = uint8(r.ReadBits(epochBits))
		behind := world.Tick(r.ReadBits(heldBits))
		lead := int64(r.ReadBits(leadBits)) - 1<<(leadBits-1)
		ahead := int(int8(r.ReadBits(aheadBits)))
		if r.Err() != nil {
			p.stats.Malformed++
			return
		}
		if behind < farBehind && behind <= to {
			q.said, q.held = true, to-behind
		}
		q.shown, q.shownA = world.Tick(max(int64(to)-lead, 0)), p.now
		q.ahead, q.aheadN = ahead, true
	}
	if st == nil || p.charter.span(q.id) == nil || p.isFrozen(q.id) {
		return
	}
	var nonces [mostItems]uint64
	if p.match.Commit && !p.readSeals(&r, st) || count == 0 || count > to ||
		count > mostItems {
		return
	}
	if p.match.Commit {
		p.readNonces(&r, st.id, to, nonces[:count])
	}
	before := st.Have()
	var item [256]byte
	for t := to - count + 1; t <= to; t++ {
		n := readFew(&r)
		for i := range n {
			item[i] = byte(r.ReadBits(8))
		}
		if r.Err() != nil {
			p.stats.Malformed++
			return
		}
		if p.match.Commit {
			st.seals.reveal(world.Tick(st.Have()), t, nonces[t+count-1-to], item[:n])
			continue
		}
		q.late.came(t, world.Tick(st.Have()), p.copy.Shown())
		p.put(st, t, item[:n])
	}
	if p.match.Commit {
		p.openSeals(q, st)
	}
	if p.match.Doom && world.Tick(st.Have()) < to-count && st.Have() == before {
		m := want{member: q.id, from: world.Tick(st.Have()) + 1}
		q.small(message(kindWant, m.fields))
	}
}

// came counts a command that was not there before.
func (l *Lateness) came(t, have, shown world.Tick) {
	if t <= have {
		return
	}
	l.Commands++
	if t <= shown {
		l.Late++
		l.Most = max(l.Most, shown+1-t)
		l.Sum += shown + 1 - t
	}
}

// put takes a command.
func (p *Peer) put(st *stream, t world.Tick, item []byte) {
	if p.charter.repeats(st.id, t) {
		return
	}
	from := st.Have() + 1
	news, err := st.Put(uint64(t), item)
	if err != nil {
		p.stats.Refused++
		return
	}
	if news {
		st.moved = p.now
		p.fill(st)
		p.copy.Learn(world.Tick(from))
	}
}

// takeItems takes commands that somebody has passed on.
func (p *Peer) takeItems(m *items) {
	st := p.stream(m.member)
	if st == nil || p.isFrozen(m.member) || m.member == p.self || m.era != st.era {
		return
	}
	until := open
	for i := range p.charter.spans {
		if s := &p.charter.spans[i]; s.member == m.member {
			until = s.until
		}
	}
	for i, item := range m.items {
		if t := m.from + world.Tick(i); t <= until {
			p.put(st, t, item)
		}
	}
}

func (p *Peer) isFrozen(id member.ID) bool {
	for _, f := range p.frozen {
		if f == id {
			return true
		}
	}
	return false
}

// wanted answers one who lacks commands of a member.
func (p *Peer) wanted(q *pair, m *want) {
	if m.member == p.self && m.from > 0 && m.from < p.own.next {
		// it has what is before, whatever became of the packets
		q.items.acked = max(q.items.acked, m.from-1)
	}
	if m.member == p.self && p.match.Doom {
		q.asked = m.from
		return
	}
	if p.match.Commit && m.member == p.self {
		// If they have come, but could not be opened, what commits to them goes again, and first.
		if m.from > p.own.began && m.from <= q.items.acked && p.own.next-m.from < farthest {
			q.items, q.seals = outgoing{acked: m.from - 1}, outgoing{acked: m.from - 1}
		}
		return
	}
	if b := p.itemsFrom(m.member, m.from); b != nil {
		q.small(b)
	}
}

// open is up to which tick the commands of a member may be told to anyone. Where all commit first,
// this peer's own are not before everybody else has.
func (p *Peer) open(st *stream) uint64 {
	if p.match.Commit && st.id == p.self {
		return min(st.Have(), uint64(p.committed()))
	}
	return st.Have()
}

// itemsFrom is a message with what is here of a member's commands from a tick on, or nil.
func (p *Peer) itemsFrom(id member.ID, from world.Tick) []byte {
	st := p.stream(id)
	if st == nil || !st.Holds(uint64(from)) || uint64(from) > p.open(st) {
		return nil
	}
	m := items{member: id, era: st.era, from: from}
	size := 0
	last := p.open(st)
	for t := uint64(from); t <= last && st.Holds(t) && len(m.items) < maxItems && size < 900; t++ {
		m.items = append(m.items, st.Item(t))
		size += 1 + len(st.Item(t))
	}
	return message(kindItems, m.fields)
}
