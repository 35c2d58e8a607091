package paths

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// entry is one line of a vector: whom a member reaches, in how many steps, and who is next.
type entry struct {
	id, via member.ID
	hops    int
}

const (
	entrySize = 5
	// MaxVector is how long a vector is at most.
	MaxVector = 128 * entrySize

	sayEvery   = time.Second
	saySoon    = 50 * time.Millisecond
	sayAgain   = 100 * time.Millisecond
	sayTimes   = 3 // after a change
	vectorGood = 3500 * time.Millisecond
	tableEvery = 500 * time.Millisecond
)

// tables is what is computed from vectors, and what we said last.
type tables struct {
	stale  bool
	due    time.Duration
	said   time.Duration
	ever   bool // something was said
	again  int  // how often the last change is still to be said, in case it is lost
	last   []byte
	vector []byte
}

// Vector appends to b what to tell every other member, over its connection and unreliably: whom we
// reach and in how many steps. It is true when that is due, once a second and three times soon
// after a change; otherwise nothing needs to be sent.
func (p *Paths) Vector(now time.Duration, b []byte) ([]byte, bool) {
	p.advance(now)
	t := &p.table
	v := t.vector[:0]
	for _, q := range p.peers {
		x := q.current
		if x == nil || x.doubted || x.hops >= maxHops || len(v)+entrySize > MaxVector {
			continue
		}
		via := x.via
		if x.kind == Direct {
			via = q.id
		}
		v = be.AppendUint16(v, uint16(q.id))
		v = append(v, byte(x.hops))
		v = be.AppendUint16(v, uint16(via))
	}
	t.vector = v
	if !bytes.Equal(v, t.last) {
		t.again = sayTimes
	}
	if p.now < p.sayDue() {
		return b, false
	}
	t.again = max(t.again-1, 0)
	t.last, t.said, t.ever = append(t.last[:0], v...), p.now, true
	return append(b, v...), true
}

// sayDue is when a vector is to be sent, unless it changes before.
func (p *Paths) sayDue() time.Duration {
	t := &p.table
	switch {
	case !t.ever:
		return p.now
	case t.again == sayTimes:
		return t.said + saySoon
	case t.again > 0:
		return t.said + sayAgain
	}
	return t.said + sayEvery
}

// Errors of TakeVector.
var (
	ErrVector = errors.New("paths: vector is damaged")
	ErrMember = errors.New("paths: vector of a member that is not known")
)

// TakeVector takes what a member told by Vector.
func (p *Paths) TakeVector(now time.Duration, from member.ID, b []byte) error {
	p.advance(now)
	q := p.byID[from]
	if q == nil {
		return ErrMember
	}
	if len(b)%entrySize != 0 || len(b) > MaxVector {
		return ErrVector
	}
	last := member.ID(0)
	for e := range slices.Chunk(b, entrySize) {
		id, hops, via := member.ID(be.Uint16(e)), e[2], member.ID(be.Uint16(e[3:]))
		if id <= last || id == RelayID || id == from || hops == 0 || hops >= maxHops || via == 0 ||
			via == from {
			return ErrVector
		}
		last = id
	}
	q.vector = q.vector[:0]
	for e := range slices.Chunk(b, entrySize) {
		q.vector = append(q.vector,
			entry{member.ID(be.Uint16(e)), member.ID(be.Uint16(e[3:])), int(e[2])})
	}
	q.vectorAt = p.now
	p.table.stale = true
	return nil
}

// renewTable finds for each member who could carry to it: those near us who say that they reach it
// in few enough steps and not over us.
func (p *Paths) renewTable() {
	p.table.stale, p.table.due = false, p.now+tableEvery
	for _, q := range p.peers {
		var best [maxOver]entry
		for _, c := range p.peers {
			if c == q || !c.near() || p.now-c.vectorAt > vectorGood {
				continue
			}
			if e, ok := c.claims(q.id); ok && e.via != p.opt.Self &&
				c.current.hops+e.hops <= maxHops {
				put(&best, entry{q.id, c.id, c.current.hops + e.hops})
			}
		}
		p.setOver(q, best)
	}
}

// claims finds what a member says of another.
func (q *peer) claims(id member.ID) (entry, bool) {
	k, ok := slices.BinarySearchFunc(q.vector, id,
		func(e entry, id member.ID) int { return cmp.Compare(e.id, id) })
	if !ok {
		return entry{}, false
	}
	return q.vector[k], true
}

// put keeps the shortest of some, and of equals those that came first.
func put(best *[maxOver]entry, e entry) {
	for i := range best {
		if best[i].hops == 0 || e.hops < best[i].hops {
			best[i], e = e, best[i]
		}
		if e.hops == 0 {
			return
		}
	}
}

// setOver makes the paths over members what the table says. One in use that answers is kept if
// nothing was said of it lately.
func (p *Paths) setOver(q *peer, best [maxOver]entry) {
	for i := 0; i < len(q.paths); i++ {
		x := q.paths[i]
		if x.kind != Over || slices.ContainsFunc(best[:],
			func(e entry) bool { return e.hops > 0 && e.via == x.via }) {
			continue
		}
		if hop := p.byID[x.via]; x == q.current && x.good() && hop != nil && hop.near() &&
			p.now-hop.vectorAt > vectorGood {
			continue
		}
		p.drop(x)
		i--
	}
	for _, e := range best {
		if e.hops == 0 {
			break
		}
		k := slices.IndexFunc(q.paths,
			func(x *path) bool { return x.kind == Over && x.via == e.via })
		if k >= 0 {
			q.paths[k].hops = e.hops
			continue
		}
		x := p.newPath(q, Over, e.hops)
		x.via = e.via
		q.paths = append(q.paths, x)
	}
	p.choose(q)
}
