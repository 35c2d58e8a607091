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
	countBits  = 4
	epochBits  = 8
	heldBits   = 8
	leadBits   = 7
	aheadBits  = 8
	lengthBits = 4

	mostItems  = 1<<countBits - 1
	longLength = 1<<lengthBits - 1 // eight more bits follow
	farBehind  = 1<<heldBits - 1   // so far that it is not said
	// ticks between what the other has and what can be told by its lowest bits
	farthest = 100
)

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
	if from > to && sealFrom > sealTo && !extras {
		return
	}
	w := &p.pace.w
	if cap(p.pace.buf) == 0 {
		p.pace.buf = make([]byte, 8192)
	}
	w.Reset(p.pace.buf)
	w.WriteBits(uint64(uint8(to)), newestBits)
	w.WriteBits(uint64(to+1-from), countBits)
	w.WriteBool(extras)
	if extras {
		q.extras = p.now
		w.WriteBits(uint64(uint8(p.council.Decree().Epoch)), epochBits)
		w.WriteBits(uint64(min(to-min(to, p.claim()), farBehind)), heldBits)
		w.WriteBits(uint64(p.lead(to)), leadBits)
		w.WriteBits(uint64(uint8(int8(p.ahead(q)))), aheadBits)
	}
	own := p.stream(p.self)
	if p.match.Commit {
		p.writeSeals(w, sealFrom, sealTo)
	}
	for t := from; t <= to; t++ {
		if p.match.Commit {
			w.WriteBits(p.nonce(t), nonceBits)
		}
		b := own.Item(uint64(t))
		if p.cheats != nil && p.cheats.item != nil {
			b = p.cheats.item(q.id, t, b)
		}
		w.WriteBits(uint64(min(len(b), longLength)), lengthBits)
		if len(b) >= longLength {
			w.WriteBits(uint64(len(b)), 8)
		}
		for _, x := range b {
			w.WriteBits(uint64(x), 8)
		}
	}
	n := q.conn.NextPacket()
	if q.conn.Send(chTurns, w.Bytes()) == nil {
		q.items.went(n, from, to)
		q.seals.went(n, sealFrom, sealTo)
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
		newest = min(newest, p.committed(), q.seals.acked) // and what commits to ours is there
	}
	from = q.items.next(world.Tick(own.From()), newest)
	first := q.items.acked + 1
	if p.match.Doom {
		if q.asked != 0 {
			from, q.asked = max(first, min(from, q.asked)), 0
		}
	} else if again := newest + 1 - min(newest, world.Tick(spares(q.conn))); from > again {
		from = max(first, again)
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

// spares is how many commands a packet has at least, the newest included, by what is lost.
func spares(c *conn.Conn) int {
	switch loss := c.Quality().LossOut; {
	case loss < 0.01:
		return 2
	case loss < 0.04:
		return 3
	case loss < 0.1:
		return 4
	}
	return 6
}

// takeTurns takes a packet of commands.
func (p *Peer) takeTurns(q *pair, b []byte) {
	var r bits.Reader
	r.Reset(b)
	st := p.stream(q.id)
	base := p.copy.Shown()
	if st != nil {
		base = world.Tick(st.Have())
	}
	to := near(r.ReadBits(newestBits), base)
	count := world.Tick(r.ReadBits(countBits))
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
	if p.match.Commit {
		p.readSeals(&r, st)
	}
	if count == 0 || count > to {
		return
	}
	before := st.Have()
	var item [256]byte
	for t := to - count + 1; t <= to; t++ {
		nonce := uint64(0)
		if p.match.Commit {
			nonce = r.ReadBits(nonceBits)
		}
		n := int(r.ReadBits(lengthBits))
		if n == longLength {
			n = int(r.ReadBits(8))
		}
		for i := range n {
			item[i] = byte(r.ReadBits(8))
		}
		if r.Err() != nil {
			p.stats.Malformed++
			return
		}
		if p.match.Commit && !p.opens(st, t, nonce, item[:n]) {
			p.stats.Unopened++
			continue
		}
		q.late.came(t, world.Tick(st.Have()), p.copy.Shown())
		p.put(st, t, item[:n])
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
	from := st.Have() + 1
	news, err := st.Put(uint64(t), item)
	if err != nil {
		p.stats.Refused++
		return
	}
	if news {
		st.moved = p.now
		p.copy.Learn(world.Tick(from))
	}
}

// takeItems takes commands that somebody has passed on.
func (p *Peer) takeItems(m *items) {
	st := p.stream(m.member)
	if st == nil || p.isFrozen(m.member) || m.member == p.self {
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
		return // what commits to them goes first
	}
	if b := p.itemsFrom(m.member, m.from); b != nil {
		q.small(b)
	}
}

// itemsFrom is a message with what is here of a member's commands from a tick on, or nil.
func (p *Peer) itemsFrom(id member.ID, from world.Tick) []byte {
	st := p.stream(id)
	if st == nil || !st.Holds(uint64(from)) {
		return nil
	}
	m := items{member: id, from: from}
	size := 0
	for t := uint64(from); st.Holds(t) && len(m.items) < maxItems && size < 900; t++ {
		m.items = append(m.items, st.Item(t))
		size += 1 + len(st.Item(t))
	}
	return message(kindItems, m.fields)
}
