package crimp

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// CoordinatorOptions are for NewCoordinator.
type CoordinatorOptions struct {
	// Options are those of the node that coordinates. Its Seed is drawn from for keys.
	Options
	// Card is what the coordinator shows of itself as a member.
	Card Card
	// Protocol names the program, see token.ProtocolID; Keys open the tokens by which
	// members come; Addresses are those under which they know this coordinator; Wall is
	// the Unix time at now = 0. All as in conn.ServerOptions.
	Protocol  uint64
	Keys      []token.Key
	Addresses []netip.AddrPort
	Wall      int64
	// MaxMembers bounds the group, the coordinator included. Zero means 64.
	MaxMembers int
	// Proof is how packets show who made them.
	Proof Proof
	// State says that newcomers need the state: StateWanted asks for it.
	State bool
	// Admit, if set, is asked about each candidate. False turns it away.
	Admit func(Candidate) bool
}

// Candidate is who wants to join.
type Candidate struct {
	Client   uint64 // as its token says
	UserData []byte // as its token says
	Addr     netip.AddrPort
	Card     Card
}

// Coordinator decides who is in a group, and is a member itself: the überserver of the
// paper. Members come to it over secured connections of package conn, and over these it
// hands out rosters, keys and the state. It drops a member that was silent for three
// quarters of the history.
type Coordinator struct {
	opt    CoordinatorOptions
	server *conn.Server
	random generator

	roster  Roster
	nextID  member.ID
	seats   []seat
	changed bool
	gone    []Departure // since the last roster
	closing bool
	now     time.Duration
	begun   bool
}

// seat is a member other than the coordinator.
type seat struct {
	id      member.ID
	conn    *conn.Conn
	card    Card
	since   time.Duration
	heard   bool
	waiting bool // for the state
	asked   bool // the application was asked for it
	leaving bool
	last    Sequence
}

// newcomerPatience is how long a new member may take to say its first word.
const newcomerPatience = 5 * time.Second

// membershipChannel carries all messages of membership.
const membershipChannel = 0

var membershipChannels = []conn.Channel{{Mode: conn.Ordered}}

// NewCoordinator makes an authority that founds a group.
func NewCoordinator(o CoordinatorOptions) (*Coordinator, error) {
	if err := o.Options.fill(); err != nil {
		return nil, err
	}
	if o.MaxMembers == 0 {
		o.MaxMembers = 64
	}
	if o.MaxMembers < 1 || o.MaxMembers > MaxMembers {
		return nil, fmt.Errorf("crimp: a group of at most %d members, choose 1 to %d", o.MaxMembers, MaxMembers)
	}
	if size := proofSize(o.Proof, o.MaxMembers); headerSize+dataFixed+1+sealSize+size+repairPrefix+64 > o.Datagram {
		return nil, fmt.Errorf("crimp: %v for %d members take %d of a datagram's %d bytes: use Signatures, fewer members or larger datagrams", o.Proof, o.MaxMembers, size, o.Datagram)
	}
	if len(o.Keys) == 0 {
		return nil, errors.New("crimp: a coordinator needs a key to open tokens with")
	}
	c := &Coordinator{opt: o, nextID: 1}
	seed := o.Seed
	seed[0] ^= 0xc0 // not the group's own stream
	c.random = newGenerator(seed)
	so := conn.ServerOptions{Keys: o.Keys, Addresses: o.Addresses, MaxClients: o.MaxMembers + 8, TicketLife: -1}
	so.Protocol, so.Wall, so.Channels, so.MaxBulk = o.Protocol, o.Wall, membershipChannels, -1
	so.Datagram = max(o.Datagram, 512)
	so.MaxRate, so.Rate = 64<<20, 1<<20
	c.random.Read(so.Seed[:])
	var err error
	if c.server, err = conn.NewServer(so); err != nil {
		return nil, fmt.Errorf("crimp: coordinator: %w", err)
	}
	return c, nil
}

// Receive takes the datagrams of members' connections.
func (c *Coordinator) Receive(now time.Duration, batch []link.Datagram) {
	c.now = now
	c.server.Receive(now, batch)
}

// Step takes candidates, drops the silent, and hands out rosters and states.
func (c *Coordinator) Step(now time.Duration, g *Group) {
	c.now = now
	if !c.begun {
		c.found(g)
	}
	for _, e := range c.server.Events() {
		switch e.Kind {
		case conn.Message:
			c.message(g, e.Conn, e.Data)
		case conn.Disconnected:
			if i := c.seatOf(e.Conn); i >= 0 {
				c.remove(g, i, ReasonSilent)
			}
		}
	}
	if c.closing {
		return
	}
	c.dropSilent(g)
	if c.changed {
		c.publish(g)
	}
	c.bring(g)
}

// found makes the group, with the coordinator as its only member.
func (c *Coordinator) found(g *Group) {
	c.begun = true
	c.roster.Group = c.random.uint64()
	c.roster.Proof = c.opt.Proof
	card := c.opt.Identity.Card(c.opt.Card.Addr, c.opt.Card.Site)
	c.roster.Members = []Member{{ID: c.takeID(), Card: card}}
	c.publish(g)
	g.Tell(Event{Kind: Established, Member: c.roster.Members[0].ID})
}

// takeID gives out identifiers one after the other, so that none comes again soon.
func (c *Coordinator) takeID() member.ID {
	for {
		id := c.nextID
		if c.nextID++; c.nextID > maxMember {
			c.nextID = 1
		}
		if c.roster.find(id) < 0 {
			return id
		}
	}
}

func (c *Coordinator) seatOf(k *conn.Conn) int {
	return slices.IndexFunc(c.seats, func(s seat) bool { return s.conn == k })
}

// message deals with what a member, or candidate, says.
func (c *Coordinator) message(g *Group, k *conn.Conn, b []byte) {
	if len(b) == 0 {
		return
	}
	at := c.seatOf(k)
	switch b[0] {
	case messageJoin:
		if at < 0 {
			c.consider(g, k, b)
		}
	case messageLeave:
		if at >= 0 && len(b) == 5 {
			c.seats[at].leaving, c.seats[at].last = true, Sequence(be.Uint32(b[1:]))
			c.remove(g, at, ReasonLeft)
		}
	}
}

// consider decides about a candidate.
func (c *Coordinator) consider(g *Group, k *conn.Conn, b []byte) {
	j, ok := readJoin(b)
	deny := func(why Reason) {
		_ = k.Send(membershipChannel, []byte{messageDenied, byte(why)})
	}
	switch {
	case c.closing:
		deny(ReasonClosed)
		return
	case !ok || j.order != c.opt.Order || j.history != c.opt.History.Truncate(time.Microsecond):
		deny(ReasonMismatch)
		return
	case c.opt.Admit != nil && !c.opt.Admit(Candidate{k.Client(), k.UserData(), k.Addr(), j.card}):
		deny(ReasonRefused)
		return
	case j.card.Sign == c.roster.Members[0].Sign:
		deny(ReasonReplaced)
		return
	}
	if _, err := c.opt.Identity.shared(&j.card); err != nil {
		deny(ReasonRefused)
		return
	}
	// One that comes again has lost its former self.
	for i := range c.seats {
		if c.seats[i].card.Sign == j.card.Sign {
			c.remove(g, i, ReasonReplaced)
			break
		}
	}
	if len(c.roster.Members) >= c.opt.MaxMembers {
		deny(ReasonFull)
		return
	}
	id := c.takeID()
	c.seats = append(c.seats, seat{id: id, conn: k, card: j.card, since: c.now, waiting: true})
	at, _ := slices.BinarySearchFunc(c.roster.Members, id, func(m Member, id member.ID) int { return int(m.ID) - int(id) })
	c.roster.Members = slices.Insert(c.roster.Members, at, Member{id, j.card})
	c.changed = true
	_ = k.Send(membershipChannel, be.AppendUint16([]byte{messageEstablished}, uint16(id)))
}

// remove takes a member out of the group.
func (c *Coordinator) remove(g *Group, i int, why Reason) {
	s := c.seats[i]
	c.seats = slices.Delete(c.seats, i, i+1)
	if at := c.roster.find(s.id); at >= 0 {
		c.roster.Members = slices.Delete(c.roster.Members, at, at+1)
	}
	d := Departure{ID: s.id, Reason: why}
	switch {
	case s.leaving:
		d.Last = s.last
	case c.opt.Order != Immediate:
		// What others deliver of it must be the same everywhere: what came here.
		d.Last = g.newest(s.id)
	}
	c.gone = append(c.gone, d)
	c.changed = true
	if s.conn.Open() {
		_ = s.conn.Send(membershipChannel, []byte{messageDismissed, byte(why)})
	}
}

// dropSilent drops members that nothing was heard of for three quarters of the
// history: after that they could hardly recover what they have missed.
func (c *Coordinator) dropSilent(g *Group) {
	limit := c.opt.History * 3 / 4
	for i := 0; i < len(c.seats); i++ {
		s := &c.seats[i]
		silent := g.Silent(s.id)
		if c.now-silent > s.since {
			s.heard = true
		}
		patience := limit
		if !s.heard {
			patience = max(limit, newcomerPatience)
		}
		if silent > patience {
			c.remove(g, i, ReasonSilent)
			i--
		}
	}
}

// publish gives all members a new roster, under a new key.
func (c *Coordinator) publish(g *Group) {
	c.changed = false
	c.roster.Epoch++
	c.random.Read(c.roster.Key[:])
	c.roster.Gone = append(c.roster.Gone[:0], c.gone...)
	c.gone = c.gone[:0]
	r := c.roster
	r.Members = slices.Clone(r.Members)
	r.Gone = slices.Clone(r.Gone)
	if err := g.SetRoster(c.now, r); err != nil {
		// A newcomer whose key is none was turned away above, so this cannot be.
		panic(err)
	}
	b := r.append([]byte{messageRoster})
	for i := range c.seats {
		_ = c.seats[i].conn.Send(membershipChannel, b)
	}
}

// bring gives newcomers what they need to begin.
func (c *Coordinator) bring(g *Group) {
	for i := range c.seats {
		s := &c.seats[i]
		if !s.waiting || s.asked || !g.Settled(s.id) {
			continue
		}
		if c.opt.State {
			s.asked = true
			g.Tell(Event{Kind: StateWanted, Member: s.id})
			continue
		}
		s.waiting = false
		start := g.Start()
		_ = s.conn.Send(membershipChannel, start.append(nil, false))
	}
}

// Provide sends a state to a newcomer; see Node.ProvideState.
func (c *Coordinator) Provide(now time.Duration, g *Group, m member.ID, state []byte) error {
	i := slices.IndexFunc(c.seats, func(s seat) bool { return s.id == m })
	if i < 0 || !c.seats[i].waiting {
		return ErrNotMember
	}
	s := &c.seats[i]
	s.waiting = false
	start := g.Start()
	if err := s.conn.Send(membershipChannel, start.append(nil, len(state) > 0)); err != nil {
		return fmt.Errorf("crimp: state for member %d: %w", m, err)
	}
	if len(state) == 0 {
		return nil
	}
	if _, err := s.conn.SendBulk(stateTag, state); err != nil {
		return fmt.Errorf("crimp: state for member %d: %w", m, err)
	}
	return nil
}

// Flush appends what is to be sent to members.
func (c *Coordinator) Flush(now time.Duration, out []link.Datagram) []link.Datagram {
	return c.server.Flush(now, out)
}

// Deadline is when Step and Flush should be called next.
func (c *Coordinator) Deadline() time.Duration {
	if !c.begun {
		return c.now
	}
	return c.server.Deadline()
}

// Leave ends the group: all members are told.
func (c *Coordinator) Leave(now time.Duration, g *Group) {
	if c.closing {
		return
	}
	c.closing = true
	for i := range c.seats {
		_ = c.seats[i].conn.Send(membershipChannel, []byte{messageDismissed, byte(ReasonClosed)})
	}
	c.server.Shutdown(conn.ReasonLeft, "")
	g.dismiss(ReasonClosed)
}

// Done reports whether all members of a group that has ended know.
func (c *Coordinator) Done() bool { return c.closing && c.server.Done() }

// Bytes is how many bytes were handed out.
func (c *Coordinator) Bytes() uint64 {
	l := c.server.Ledger()
	return l.Total()
}
