package crimp

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/subtle"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/route"
)

// With Options.Carry, members tell each other directly which lines between them pass, and what
// cannot go directly is carried by those in between; carry.go does that.
//
// A member tells by whispers of their own kind, which are never carried. In each is
//
//	1  flags, bit 0: the receiver's multicast is heard; see site.go
//	   its state: see route.State
//	1  tags, then each: member 2, tag 8: for those who do not hear it, so that others can pass
//	   the state on
//	1  states that are passed on, then each: the state and its tags, as they were made
//
// A tag is made like those of data packets, with a key that only the two members have: so nobody
// can say of another's lines what that one has not said.

// lines is what a group knows of the lines between its members. The table is nil without
// Options.Carry.
type lines struct {
	table  *route.Table
	at     map[netip.AddrPort]member.ID // where members are, the newest of those at one place
	keys   map[member.ID]*lineKeys
	states map[member.ID]route.State // the newest of each, with its tags
	guests []member.ID               // whom KeepLines has named and who are in no roster
	turn   int                       // where passing on begins next, for what does not fit
	inner  bool                      // what is being taken was carried
	others []carried                 // what was carried here and is not ours
	paid   map[member.ID]*bucket     // for what is carried for others, by who hands it to us
}

// lineKeys are for the tags of states between this member and another.
type lineKeys struct {
	agree    [32]byte
	to, from cipher.Block
}

// KeepLines says between whom lines are kept: the members of the newest roster, and those that only
// vote. Groups that have a roster and nobody else need not call it.
func (g *Group) KeepLines(now time.Duration, ids []member.ID) {
	members := g.Members()
	g.lines.guests = slices.DeleteFunc(slices.Clone(ids),
		func(id member.ID) bool { return slices.Contains(members, id) })
	g.keepLines(now, ids)
}

// keepRosterLines is for a new roster. What is known of the lines to others is kept until KeepLines
// says who they are from now on.
func (g *Group) keepRosterLines(now time.Duration) {
	ids := g.Members()
	for _, id := range g.lines.guests {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	g.keepLines(now, ids)
}

func (g *Group) keepLines(now time.Duration, ids []member.ID) {
	g.advance(now)
	if !g.opt.Carry || g.whispers.self == 0 {
		return
	}
	l := &g.lines
	if l.table == nil {
		l.table = route.New(route.Options{Self: g.whispers.self, Dead: g.opt.History / 4})
		l.keys, l.states = map[member.ID]*lineKeys{}, map[member.ID]route.State{}
		l.paid = map[member.ID]*bucket{}
	}
	l.table.Members(g.now, ids)
	l.at = map[netip.AddrPort]member.ID{}
	in := map[member.ID]bool{}
	for _, id := range ids {
		in[id] = true
		if c := g.whispers.known[id]; c != nil && c.card.Addr.IsValid() {
			l.at[c.card.Addr] = max(l.at[c.card.Addr], id)
		}
	}
	for id := range l.keys {
		if !in[id] {
			delete(l.keys, id)
			delete(l.paid, id)
		}
	}
	for id := range l.states {
		if !in[id] {
			delete(l.states, id)
		}
	}
}

// Lines tells how each other member is reached, or nothing without Options.Carry.
func (g *Group) Lines() []route.Line {
	if g.lines.table == nil {
		return nil
	}
	return g.lines.table.Lines()
}

// Echoed is when a member last heard this one, as far as it has said; zero if it has not.
func (g *Group) Echoed(m member.ID) (at time.Duration) {
	if p := g.byID[m]; p != nil {
		at = p.echoed
	}
	if t := g.lines.table; t != nil {
		at = max(at, t.Echoed(m))
	}
	return at
}

// heardDirectly tells that something has come of a member as it sent it.
func (g *Group) heardDirectly(id member.ID) {
	if l := &g.lines; l.table != nil && !l.inner {
		l.table.Heard(g.now, id)
	}
}

// joined reports whether what is sent to a member directly comes to it.
func (g *Group) joined(id member.ID) bool {
	hop, ok := g.lines.table.Next(id)
	return ok && hop == id
}

// lineKeyed makes the keys for tags with a member, the first time.
func (g *Group) lineKeyed(id member.ID) *lineKeys {
	c := g.whispers.known[id]
	if c == nil {
		return nil
	}
	if k := g.lines.keys[id]; k != nil && k.agree == c.card.Agree {
		return k
	}
	secret, err := g.identity.shared(&c.card)
	if err != nil {
		return nil
	}
	k := &lineKeys{agree: c.card.Agree}
	self := g.whispers.self
	if k.to, err = wayKey(secret, "line", g.whispers.group, self, id); err != nil {
		return nil
	}
	if k.from, err = wayKey(secret, "line", g.whispers.group, id, self); err != nil {
		return nil
	}
	g.lines.keys[id] = k
	return k
}

// stateTag is one of the tags of a state.
type stateTag struct {
	member member.ID
	tag    [tagSize]byte
}

const (
	maxTags   = 32
	maxPassed = 255
)

// lineBody is what a member tells another of lines, taken apart.
type lineBody struct {
	flags  byte
	own    lineState
	passed []lineState
}

type lineState struct {
	route.State
	tags []stateTag
}

func (s *lineState) fields(c *bits.Cursor) {
	s.State.Fields(c)
	for t := range bits.List8(c, &s.tags, maxTags) {
		c.U16((*uint16)(&t.member))
		c.Raw(t.tag[:])
	}
}

func (b *lineBody) fields(c *bits.Cursor) {
	c.U8(&b.flags)
	c.Check(b.flags&^flagCast == 0)
	b.own.fields(c)
	for s := range bits.List8(c, &b.passed, maxPassed) {
		s.fields(c)
	}
}

// stateDigest is what the tags of a state are made of.
func stateDigest(s *route.State) [sha256.Size]byte {
	c := bits.CursorTo(nil)
	s.Fields(&c)
	return sha256.Sum256(c.Data())
}

func lineTag(key cipher.Block, digest *[sha256.Size]byte) (tag [tagSize]byte) {
	var block [aes.BlockSize]byte
	key.Encrypt(block[:], digest[:aes.BlockSize])
	copy(tag[:], block[:])
	return tag
}

// tellLines tells the others our state, when it is time.
func (g *Group) tellLines() {
	l := &g.lines
	if l.table == nil {
		return
	}
	l.table.Tick(g.now)
	if !l.table.Due(g.now) {
		return
	}
	list := l.table.Lines()
	own := lineState{State: l.table.State(g.now)}
	digest := stateDigest(&own.State)
	for i := range list {
		o := &list[(i+l.turn)%len(list)]
		if o.Hears && o.Heard || len(own.tags) == maxTags {
			continue
		}
		if k := g.lineKeyed(o.Member); k != nil {
			own.tags = append(own.tags, stateTag{o.Member, lineTag(k.to, &digest)})
		}
	}
	for i := range list {
		g.tellLine(&list[i], &own, list)
	}
	g.sendBeacon()
	l.turn++
}

// tellLine tells one member our state, and those of others that it does not hear itself.
func (g *Group) tellLine(to *route.Line, own *lineState, list []route.Line) {
	c := g.whispers.known[to.Member]
	if c == nil {
		return
	}
	out := bits.CursorTo(nil)
	flags := g.castFlags(to.Member)
	out.U8(&flags)
	own.fields(&out)
	head := out.Data()
	var passed []byte
	n := 0
	room := g.MaxWhisper() - len(head) - 1
	for i := 0; i < len(list) && to.Hears; i++ {
		o := list[(i+g.lines.turn)%len(list)].Member
		s, ok := g.lines.states[o]
		if !ok || o == to.Member || route.Hears(g.lines.table.Known(to.Member), o) {
			continue
		}
		if more := append(passed, s.Proof...); len(more) <= room && n < maxPassed {
			passed, n = more, n+1
		}
	}
	b := append(append(head, byte(n)), passed...)
	_ = g.whisperTo(kindLine, to.Member, c, c.card.Addr, b, SentLine)
}

// takeLines takes what a member says of its lines, directly.
func (g *Group) takeLines(from member.ID, body []byte) {
	l := &g.lines
	if l.table == nil || l.inner {
		return
	}
	c := bits.CursorOver(body)
	var b lineBody
	if b.fields(&c); !c.Done() || b.own.Member != from {
		g.stats.Malformed++
		return
	}
	l.table.Say(g.now, &b.own.State)
	g.saidCast(from, b.flags)
	g.keepState(&b.own)
	for i := range b.passed {
		g.passedState(&b.passed[i])
	}
	l.table.Tick(g.now)
}

// passedState takes a state that another than its maker passes on, if a tag proves it.
func (g *Group) passedState(s *lineState) {
	l := &g.lines
	known := l.table.Known(s.Member)
	if s.Member == g.whispers.self || known != nil && known.Number >= s.Number {
		return
	}
	k := g.lineKeyed(s.Member)
	if k == nil {
		g.stats.Strangers++
		return
	}
	digest := stateDigest(&s.State)
	want := lineTag(k.from, &digest)
	for i := range s.tags {
		if s.tags[i].member != g.whispers.self {
			continue
		}
		if subtle.ConstantTimeCompare(s.tags[i].tag[:], want[:]) != 1 {
			g.stats.Unproven++
		} else if l.table.Pass(g.now, &s.State) {
			g.keepState(s)
		}
		return
	}
}

// keepState keeps a state as it was made, to pass it on.
func (g *Group) keepState(s *lineState) {
	c := bits.CursorTo(nil)
	s.fields(&c)
	g.lines.states[s.Member] = route.State{Member: s.Member, Number: s.Number, Proof: c.Data()}
}
