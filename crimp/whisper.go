package crimp

import (
	"crypto/cipher"
	"errors"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// Whispers are datagrams from one member to one other, sealed with a key that only the two
// share. The key follows from their cards, not from a roster: so members that know different
// rosters can still talk, which is what they need to agree on one, and one that was left out
// can be told.
//
//	1  kind: a whisper, or one from authority to authority
//	1  zero
//	2  tag of the group
//	2  member that made it
//	4  number, counted for each receiver by itself
//	2  member it is for
//	   message, encrypted
//	12 tag of AES-GCM, over all that is before
const whisperHead = headerSize + 2

// listener is a member that whispers may go to and come from.
type listener struct {
	card     Card
	to, from cipher.AEAD // made when they are needed
	number   uint32
	window   replayWindow
	since    uint64 // by which the oldest is forgotten
}

// whispers is all that whispering needs.
type whispers struct {
	known map[member.ID]*listener
	self  member.ID
	group uint64
	count uint64
	// numbers up to here may have been used with members that are forgotten
	floor uint32
	hear  func(from member.ID, b []byte) // takes what is for the authority
}

// maxListeners bounds those that are known, the members of the past included.
const maxListeners = 2 * MaxMembers

var (
	// ErrStranger says that a whisper is for nobody who is known.
	ErrStranger  = errors.New("crimp: no such member is known here, or not where it is")
	errOtherCard = errors.New("crimp: a member is introduced with other keys than before")
	errOwnCard   = errors.New(
		"crimp: introduced under two identifiers, or to two groups: join anew for another")
)

func (w *whispers) forget() {
	for _, c := range w.known {
		w.floor = max(w.floor, c.number)
	}
	clear(w.known)
	w.self, w.group = 0, 0
}

// same says whether members have the keys by which they are known. A member has one pair of keys
// for as long as it is one: whispers are numbered under a key that follows from one of them, and no
// number may come twice.
func (w *whispers) same(members []Member) error {
	for i := range members {
		m := &members[i]
		if c := w.known[m.ID]; c != nil && (c.card.Sign != m.Sign || c.card.Agree != m.Agree) {
			return errOtherCard
		}
	}
	return nil
}

// Introduce makes members known for whispers, besides those of the rosters, and tells who
// this node is among them. Those of former rosters stay known for a while. It is for
// authorities whose voters are not all members.
func (g *Group) Introduce(group uint64, self member.ID, members []Member) error {
	w := &g.whispers
	if w.self != 0 && (w.self != self || w.group != group) {
		return errOwnCard
	}
	if err := w.same(members); err != nil {
		return err
	}
	w.self, w.group = self, group
	if g.self == nil {
		g.tag = groupTag(group)
	}
	for i := range members {
		m := &members[i]
		if m.ID == self {
			continue
		}
		c := w.known[m.ID]
		if c == nil {
			c = &listener{number: w.floor}
			w.known[m.ID] = c
		}
		w.count++
		c.card, c.since = m.Card, w.count
	}
	for len(w.known) > maxListeners {
		var oldest member.ID
		for id, c := range w.known {
			if oldest == 0 || c.since < w.known[oldest].since {
				oldest = id
			}
		}
		w.floor = max(w.floor, w.known[oldest].number)
		delete(w.known, oldest)
	}
	return nil
}

// keyed makes the keys for whispers with a member, the first time. It is false for one whose
// card shows a key that is none.
func (g *Group) keyed(id member.ID, c *listener) bool {
	if c.from != nil {
		return true
	}
	var secret []byte
	if p := g.byID[id]; p != nil && p.card.Agree == c.card.Agree {
		secret = p.secret
	}
	var err error
	if secret == nil {
		if secret, err = g.identity.shared(&c.card); err != nil {
			return false
		}
	}
	if c.to, err = whisperKey(secret, g.whispers.group, g.whispers.self, id); err != nil {
		return false
	}
	c.from, err = whisperKey(secret, g.whispers.group, id, g.whispers.self)
	return err == nil
}

// whisperKey is the key of whispers from one member to another. Identifiers are not given
// out twice in a group, and numbers go on from those of members that were forgotten.
func whisperKey(secret []byte, group uint64, from, to member.ID) (cipher.AEAD, error) {
	block, err := wayKey(secret, "whisper", group, from, to)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithTagSize(block, sealSize)
}

// MaxWhisper is the largest message that Whisper takes.
func (g *Group) MaxWhisper() int { return g.opt.Datagram - whisperHead - sealSize }

// Whisper sends a message to one member, who is told with Whispered. It may be lost. It
// is sent straight to the address in the member's card, or to the group's multicast address
// if there is none and both are of one site.
func (g *Group) Whisper(now time.Duration, to member.ID, message []byte) error {
	return g.whisper(now, kindWhisper, to, message)
}

// Confer is Whisper from one node's authority to another's; see Authority.Hear.
func (g *Group) Confer(now time.Duration, to member.ID, message []byte) error {
	return g.whisper(now, kindConfer, to, message)
}

func (g *Group) whisper(now time.Duration, kind byte, to member.ID, message []byte) error {
	g.advance(now)
	c := g.whispers.known[to]
	if c == nil {
		return ErrStranger
	}
	if len(message) > g.MaxWhisper() {
		return ErrTooLarge
	}
	return g.whisperTo(kind, to, c, g.whisperAddr(&c.card), message, SentWhisper)
}

// whisperTo sends a whisper of a kind to an address.
func (g *Group) whisperTo(kind byte, to member.ID, c *listener, addr netip.AddrPort,
	message []byte, purpose Purpose) error {
	if !addr.IsValid() {
		return ErrStranger
	}
	b, err := g.sealWhisper(kind, to, c, message)
	if err != nil {
		return err
	}
	g.post(b, to, purpose)
	g.ready[len(g.ready)-1].addr = addr
	return nil
}

// sealWhisper makes the datagram of a whisper.
func (g *Group) sealWhisper(kind byte, to member.ID, c *listener, message []byte) ([]byte, error) {
	switch {
	case !g.keyed(to, c):
		return nil, ErrStranger
	case c.number == 1<<32-1:
		return nil, ErrWornOut
	}
	c.number++
	w := &g.whispers
	h := header{kind: kind, group: groupTag(w.group), member: w.self, number: c.number}
	b := g.buffers.Get(whisperHead + len(message) + sealSize + sealSlack)[:headerSize]
	h.put(b)
	b = be.AppendUint16(b, uint16(to))
	b = append(b, message...)
	sealed := c.to.Seal(b[whisperHead:whisperHead], g.crypt.setNonce(&h, 0), b[whisperHead:],
		b[:whisperHead])
	return b[:whisperHead+len(sealed)], nil
}

func (g *Group) whisperAddr(c *Card) netip.AddrPort {
	if !c.Addr.IsValid() && g.self != nil && g.multicasts() && c.Site == g.self.card.Site {
		return g.opt.Multicast
	}
	return c.Addr
}

// isWhisper reports whether a kind of datagram is a whisper.
func isWhisper(kind byte) bool {
	return kind == kindWhisper || kind == kindConfer || kind == kindLine || kind == kindCarry
}

// takeWhisper takes a whisper as it came from the network.
func (g *Group) takeWhisper(b []byte) {
	w := &g.whispers
	if w.self == 0 {
		return
	}
	if len(b) < whisperHead+sealSize || b[1] != 0 {
		g.stats.Malformed++
		return
	}
	h := header{b[0], 0, be.Uint16(b[2:]), member.ID(be.Uint16(b[4:])), be.Uint32(b[6:])}
	if h.group != groupTag(w.group) {
		g.stats.OtherGroup++
		return
	}
	if member.ID(be.Uint16(b[headerSize:])) != w.self {
		return // by multicast, for another
	}
	c := w.known[h.member]
	if c == nil || !g.keyed(h.member, c) {
		g.stats.Strangers++
		return
	}
	if !c.window.fresh(h.number) {
		g.stats.Replayed++
		return
	}
	body, err := c.from.Open(b[whisperHead:whisperHead], g.crypt.setNonce(&h, 0), b[whisperHead:],
		b[:whisperHead])
	if err != nil {
		g.stats.Forged++
		return
	}
	c.window.note(h.number)
	switch h.kind {
	case kindLine:
		g.takeLines(h.member, body)
		return
	case kindCarry:
		g.heardDirectly(h.member)
		g.takeCarry(h.member, body)
		return
	}
	g.heardDirectly(h.member)
	if p := g.byID[h.member]; p != nil {
		p.heard = g.now
	}
	switch {
	case h.kind == kindWhisper:
		g.stats.Whispers++
		g.emit(Event{Kind: Whispered, Member: h.member, Data: body})
	case w.hear != nil:
		w.hear(h.member, body)
	}
}
