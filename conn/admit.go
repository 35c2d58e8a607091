package conn

import (
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
)

// receiveHandshake handles whatever is not a data packet.
func (s *Server) receiveHandshake(d *link.Datagram) {
	if d.Data == nil {
		return // the link has taken it
	}
	if len(d.Data) == 0 {
		s.stats.Malformed++
		return
	}
	switch d.Data[0] {
	case kindRequest:
		s.receiveRequest(d)
	case kindResponse:
		s.receiveResponse(d)
	default:
		s.stats.Malformed++
	}
}

// receiveRequest notes who asks. Flush answers with a challenge, so many at a time; what is stored
// is bounded, and gone by then.
func (s *Server) receiveRequest(d *link.Datagram) {
	var r request
	if !r.parse(d.Data) {
		s.stats.Malformed++
		return
	}
	s.stats.Requests++
	if s.strangers.ask(d.Addr, s.origin(d.Addr), &r.nonce) {
		s.stats.Flooded++
	}
}

// receiveResponse takes the response of a client whose cookie shows that it is where it says. What
// becomes of it is found out before the next Flush, for so many at a time.
func (s *Server) receiveResponse(d *link.Datagram) {
	var r response
	if !r.parse(d.Data) {
		s.stats.Malformed++
		return
	}
	if !s.cookies.good(r.cookie[:], d.Addr, r.nonce[:], s.now) {
		s.stats.BadCookies++
		return
	}
	if _, ok := s.exchanges.asked[stranger{d.Addr, r.nonce}]; ok {
		s.stats.Duplicates++ // it is about to be let in
		return
	}
	if s.respond(d, &r) {
		s.stats.Crowded++
	}
}

// openResponse lets in whoever has a token that is good here, or says why not.
func (s *Server) openResponse(d *link.Datagram, r *response) {
	grant, ok := s.openToken(r.sealed)
	if !ok {
		s.stats.BadTokens++
		s.refuse(d.Addr, r, nil, ReasonBadToken)
		return
	}
	keys := deriveHandshake(&grant.Secret)
	if !r.proved(&keys) {
		s.stats.BadProofs++
		return
	}
	if u := s.used.find(&grant); u != nil && u.conn != nil && u.conn.server == s &&
		u.conn.clientNonce == r.nonce {
		s.acceptAgain(d, u.conn)
		return
	}
	if _, ok := s.exchanges.by[grant.ID]; ok {
		s.stats.Duplicates++ // it is about to be let in
		return
	}
	if reason := s.judge(d, r, &grant); reason != ReasonNone {
		s.refuse(d.Addr, r, &keys, reason)
		return
	}
	if len(s.exchanges.by) >= entrantsMost {
		s.stats.Flooded++ // it will ask again
		return
	}
	if s.used.turnedAway(&grant, r.nonce) || !s.used.enter(&grant, s) {
		s.refuse(d.Addr, r, &keys, ReasonUnready)
		return
	}
	s.enter(d.Addr, r, &grant)
}

func (s *Server) openToken(sealed []byte) (token.Grant, bool) {
	for i := range s.so.Keys {
		if g, err := token.Open(s.so.Keys[i], sealed); err == nil {
			return g, true
		}
	}
	return token.Grant{}, false
}

// judge says what speaks against letting a client in.
func (s *Server) judge(d *link.Datagram, r *response, g *token.Grant) Reason {
	switch {
	case g.Protocol != s.opt.Protocol || r.protocol != s.opt.Protocol:
		return ReasonWrongGame
	case r.version != s.opt.Version:
		return ReasonWrongVersion
	case g.Expires <= s.wall() || g.Resumed && g.End(seconds(s.so.TicketsFor)) <= s.wall():
		return ReasonExpired
	case len(s.so.Addresses) > 0 && !g.Names(s.so.Addresses):
		return ReasonWrongServer
	case s.shut:
		return ReasonClosing
	}
	if s.used.has(g) {
		return ReasonTokenUsed
	}
	room := s.so.MaxClients - s.clients - len(s.exchanges.by)
	if s.byClient[g.Client] != nil {
		room++ // it gives its own up
	}
	if room <= 0 || len(s.free) == 0 && len(s.slots) == maxSlots {
		return ReasonFull
	}
	if s.crowded(s.sourceOf(d.Addr), g.Client) {
		return ReasonCrowded
	}
	if s.so.Admit != nil {
		return s.so.Admit(Candidate{Client: g.Client, Addr: d.Addr, UserData: g.UserData,
			Resumed: g.Resumed})
	}
	return ReasonNone
}

func (s *Server) refuse(to netip.AddrPort, r *response, keys *handshakeKeys, reason Reason) {
	s.stats.Refusals[min(reason, ReasonGame-1)]++
	no := refusal{nonce: r.nonce, reason: reason}
	s.reply(to, refusalSize, func(b []byte) []byte { return no.append(b, keys) })
}

// admit makes the connection of a client with whom a secret was agreed on. It counts as connected
// when the client is first heard with the new keys.
func (s *Server) admit(e *entrant) {
	g, r := &e.grant, &e.response
	if old := s.byClient[g.Client]; old != nil {
		old.end(ReasonReplaced, nil, true)
	}
	slot := s.takeSlot()
	own := identifier(slot) |
		identifier(s.random.Uint64()&(1<<(identifierBits-slotBits)-1))<<slotBits
	datagram := min(s.opt.Datagram, int(r.datagram))
	if s.so.DatagramTo != nil {
		datagram = max(min(datagram, s.so.DatagramTo(e.addr)), minDatagram)
	}
	c := newConn(&s.machine, phaseHalfOpen, own, r.client, e.addr, datagram)
	c.admission = admission{server: s, slot: slot, clientNonce: r.nonce, source: e.source}
	known := *g
	known.Secret = [token.SecretSize]byte{}
	c.player = player{clientID: g.Client, grant: &known}
	c.beginKeys(e.chain)
	a := accept{client: r.client, serverNonce: e.nonce, share: e.share, server: own,
		datagram: uint16(c.datagram)}
	handshake := deriveHandshake(&g.Secret)
	c.accept = a.append(make([]byte, 0, acceptSize), &c.seal, &handshake, r.nonce[:])

	s.slots[slot] = c
	s.active = append(s.active, c)
	s.clients++
	s.count(c.source, 1)
	s.byClient[g.Client] = c
	s.used.add(g, c)
	s.stats.Accepted++
	s.answer(e.addr, c)
}

// acceptAgain answers a response that has come before.
func (s *Server) acceptAgain(d *link.Datagram, c *Conn) {
	s.stats.Duplicates++
	s.answer(d.Addr, c)
}

func (s *Server) answer(to netip.AddrPort, c *Conn) {
	if c.accept == nil {
		return // the client has been heard since, so it knows
	}
	s.reply(to, acceptSize, func(b []byte) []byte { return append(b, c.accept...) })
}

// takeSlot finds a slot, the one free for longest, so that identifiers are not
// used again soon.
func (s *Server) takeSlot() int {
	if len(s.free) > 0 && (len(s.free) >= 64 || len(s.slots) == maxSlots) {
		slot := s.free[0]
		s.free = s.free[:copy(s.free, s.free[1:])]
		return slot
	}
	s.slots = append(s.slots, nil)
	return len(s.slots) - 1
}

// confirm opens a connection whose client has shown that it has the keys.
func (c *Conn) confirm() {
	c.phase = phaseOpen
	c.accept = nil
	c.lastAck = c.m.now
	c.m.emit(Connected, c)
	c.server.issueTicket(c)
}

// issueTicket gives the client a token by which it can return: to this server, or
// another that the token before names, or that belongs to this one's group.
func (s *Server) issueTicket(c *Conn) {
	if s.so.TicketLife < 0 {
		s.used.markTicket(c)
		return
	}
	c.renewAt, c.grouped = 0, s.grouped
	now := max(s.wall(), 0)
	g, ok := c.grant.Ticket(now, seconds(s.so.TicketLife), seconds(s.so.TicketsFor), s.so.Group)
	if !ok {
		s.used.markTicket(c)
		return // the player has come back with tickets for as long as may be
	}
	c.grant.Issued = g.Issued
	t, err := token.Issue(s.so.Keys[0], g, s.random)
	if err != nil {
		return // what was read of a token fits into one that is written
	}
	c.ticket = t.Append(make([]byte, 0, token.MaxSize))
	c.control |= 1 << wantTicket
	if g.Expires == now+seconds(s.so.TicketLife) {
		c.renewAt = s.now + s.so.TicketLife/2
	}
}

// seconds rounds up.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// SetAddresses changes the addresses under which clients know this server; see
// ServerOptions.Addresses. Connections stay as they are.
func (s *Server) SetAddresses(addresses []netip.AddrPort) {
	s.so.Addresses = slices.Clone(addresses)
}

// SetGroup changes the servers that players may go on at; see ServerOptions.Group. Those who are
// connected get tickets for them, one after the other within a second.
func (s *Server) SetGroup(group []netip.AddrPort) {
	if slices.Equal(group, s.so.Group) {
		return
	}
	s.so.Group = slices.Clone(group)
	s.grouped++
	for _, c := range s.active {
		if c.phase == phaseOpen && len(c.grant.Servers) > 0 && s.so.TicketLife >= 0 {
			c.renewAt = s.now + 1 + time.Duration(c.slot%renewSpread)*time.Second/renewSpread
		}
	}
}

// RenewTicket hands out a ticket now if the group has changed since the last one: for a player who
// is about to be sent to one of its servers. At a client it does nothing.
func (c *Conn) RenewTicket() {
	if c.server != nil && c.phase == phaseOpen && len(c.grant.Servers) > 0 &&
		c.grouped != c.server.grouped {
		c.server.issueTicket(c)
	}
}

// renewSpread is how many parts of a second renewed tickets are spread over.
const renewSpread = 64
