package crimp

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// ApplicantOptions are for NewApplicant.
type ApplicantOptions struct {
	// Options are those of the node that wants to join.
	Options
	// Card is what it shows of itself: where it is reached, and its site.
	Card Card
	// Protocol and Token are as in conn.ClientOptions; Coordinator is where to ask, if the
	// token does not name it.
	Protocol    uint64
	Token       token.Token
	Coordinator netip.AddrPort
	Wall        int64
	// MaxState is the largest state to take; zero means 64 MiB.
	MaxState int
	// Patience is how long to try to reach the coordinator each time, zero means 3 s;
	// Attempts is how often, with a longer pause each time. Zero means 4.
	Patience time.Duration
	Attempts int
}

// Applicant asks a Coordinator to be let into its group, and takes rosters, keys and the
// state from it.
type Applicant struct {
	opt     ApplicantOptions
	client  *conn.Client
	random  generator
	now     time.Duration
	tries   int
	retryAt time.Duration // zero: not waiting

	asked       bool
	established bool
	done        bool
	leaving     bool
	hasStart    bool
	needsState  bool
	hasState    bool
	state       []byte
	start       Start
	bytes       uint64 // of connections before this one
	id          member.ID
}

// NewApplicant makes an authority that joins a group.
func NewApplicant(o ApplicantOptions) (*Applicant, error) {
	if err := o.Options.fill(); err != nil {
		return nil, err
	}
	if o.Patience <= 0 {
		o.Patience = 3 * time.Second
	}
	if o.Attempts <= 0 {
		o.Attempts = 4
	}
	seed := o.Seed
	seed[0] ^= 0xa0 // not the group's own stream
	a := &Applicant{opt: o, random: newGenerator(seed)}
	if err := a.dial(); err != nil {
		return nil, err
	}
	return a, nil
}

// dial makes a new connection to the coordinator. The handshake repeats its requests with
// a growing pause.
func (a *Applicant) dial() error {
	o := conn.ClientOptions{Token: a.opt.Token, ConnectTimeout: a.opt.Patience}
	o.Protocol, o.Wall, o.Channels, o.MaxBulk = a.opt.Protocol, a.opt.Wall, membershipChannels, a.opt.MaxState
	o.Datagram = max(a.opt.Datagram, 512)
	if a.opt.Coordinator.IsValid() {
		o.Servers = []netip.AddrPort{a.opt.Coordinator}
	}
	a.random.Read(o.Seed[:])
	client, err := conn.NewClient(o)
	if err != nil {
		return fmt.Errorf("crimp: applicant: %w", err)
	}
	if a.client != nil {
		a.bytes += a.ledger()
	}
	a.client, a.asked = client, false
	return nil
}

func (a *Applicant) ledger() uint64 {
	l := a.client.Ledger()
	return l.Total()
}

// Receive takes the datagrams of the connection to the coordinator.
func (a *Applicant) Receive(now time.Duration, batch []link.Datagram) {
	a.now = now
	a.client.Receive(now, batch)
}

// Step asks, and does what the coordinator says.
func (a *Applicant) Step(now time.Duration, g *Group) {
	a.now = now
	if a.retryAt != 0 && now >= a.retryAt {
		a.retryAt = 0
		if err := a.dial(); err != nil {
			a.end(g, Denied, ReasonToken)
			return
		}
	}
	for _, e := range a.client.Events() {
		switch e.Kind {
		case conn.Connected:
			j := joinRequest{a.opt.Order, a.opt.History, a.opt.Identity.Card(a.opt.Card.Addr, a.opt.Card.Site)}
			_ = e.Conn.Send(membershipChannel, j.append(nil))
			a.asked = true
		case conn.Message:
			a.message(g, e.Data)
		case conn.BulkReceived:
			if e.Tag == stateTag && !a.hasState {
				a.hasState, a.state = true, e.Data
				a.begin(g)
			}
		case conn.Disconnected:
			a.lost(g, e.Reason)
		}
	}
}

// message does what the coordinator says.
func (a *Applicant) message(g *Group, b []byte) {
	if len(b) == 0 || a.done {
		return
	}
	switch b[0] {
	case messageDenied:
		if len(b) == 2 && !a.established {
			a.end(g, Denied, Reason(b[1]))
		}
	case messageEstablished:
		if len(b) == 3 {
			a.id = member.ID(be.Uint16(b[1:]))
		}
	case messageRoster:
		a.roster(g, b[1:])
	case messageStart:
		state, start, ok := readStart(b)
		if !ok || a.hasStart {
			return
		}
		a.hasStart, a.needsState, a.start = true, state, start
		g.Expect(a.now, start)
		a.begin(g)
	case messageDismissed:
		if len(b) == 2 {
			a.end(g, Dismissed, Reason(b[1]))
		}
	}
}

// begin takes up where the state ends. State and start may come in either order.
func (a *Applicant) begin(g *Group) {
	if !a.hasStart || a.needsState && !a.hasState {
		return
	}
	if a.needsState {
		g.Tell(Event{Kind: State, Member: a.id, Data: a.state})
		a.state = nil
	}
	g.Begin(a.now, a.start)
}

func (a *Applicant) roster(g *Group, b []byte) {
	r, err := readRoster(b)
	if err != nil {
		return
	}
	if !a.established {
		if g.SetRosterFloating(a.now, r) == nil && g.ID() != 0 {
			a.established = true
			g.Tell(Event{Kind: Established, Member: g.ID()})
		}
		return
	}
	_ = g.SetRoster(a.now, r)
}

// lost deals with the end of the connection.
func (a *Applicant) lost(g *Group, why conn.Reason) {
	switch {
	case a.done:
	case a.established && a.leaving:
		a.end(g, Dismissed, ReasonLeft)
	case a.established && (why == conn.ReasonLeft || why == conn.ReasonClosing):
		a.end(g, Dismissed, ReasonClosed)
	case a.established && why == conn.ReasonReplaced:
		a.end(g, Dismissed, ReasonReplaced)
	case a.established:
		a.end(g, Dismissed, ReasonSilent)
	case why == conn.ReasonTimeout || why == conn.ReasonNone:
		if a.tries++; a.tries >= a.opt.Attempts {
			a.end(g, Denied, ReasonUnreachable)
			return
		}
		pause := 250 * time.Millisecond << min(a.tries, 6)
		a.retryAt = a.now + pause/2 + scale(pause, a.random.unit())
	case why == conn.ReasonFull:
		a.end(g, Denied, ReasonFull)
	case why == conn.ReasonClosing || why == conn.ReasonLeft:
		a.end(g, Denied, ReasonClosed)
	default:
		a.end(g, Denied, ReasonToken)
	}
}

// end ends membership, or the wish for it.
func (a *Applicant) end(g *Group, kind EventKind, why Reason) {
	if a.done {
		return
	}
	a.done = true
	a.client.Close(conn.ReasonLeft, "")
	if g.ID() != 0 {
		g.dismiss(why)
		return
	}
	g.Tell(Event{Kind: kind, Member: a.id, Reason: why})
}

// Leave tells coordinator and members that this one goes.
func (a *Applicant) Leave(now time.Duration, g *Group) {
	if a.leaving || a.done {
		return
	}
	a.leaving = true
	if c := a.client.Conn(); c != nil && a.established {
		g.Leave(now)
		_ = c.Send(membershipChannel, be.AppendUint32([]byte{messageLeave}, uint32(g.self.next-1)))
		return
	}
	a.end(g, Denied, ReasonLeft)
}

// Flush appends what is to be sent to the coordinator.
func (a *Applicant) Flush(now time.Duration, out []link.Datagram) []link.Datagram {
	return a.client.Flush(now, out)
}

// Deadline is when Step and Flush should be called next.
func (a *Applicant) Deadline() time.Duration {
	at := a.client.Deadline()
	if a.retryAt != 0 {
		at = min(at, a.retryAt)
	}
	return at
}

// Bytes is how many bytes were handed out.
func (a *Applicant) Bytes() uint64 { return a.bytes + a.ledger() }
