package membership

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

// sorted lists the keys of a map in order, so that a run repeats from its seed.
func sorted[V any](m map[member.ID]V) []member.ID { return slices.Sorted(maps.Keys(m)) }

// asking is one that asks at doors: to be let in, for the state, or whether it still is a
// member.
type asking struct {
	m       *Membership
	targets []netip.AddrPort
	turn    int // which of them
	client  *conn.Client
	at      netip.AddrPort // whom the client talks to
	began   time.Duration
	started bool
	retryAt time.Duration // zero: not waiting
	rounds  int           // through all targets
	hops    int           // redirections in a row
	through bool          // the überserver was named, and is not reached
	inquiry bool          // only whether we are still in
	stopped bool          // there is nothing more to ask for
	refused map[netip.AddrPort]refusal
	start   *start
	state   []byte
	has     bool
}

func newAsking(m *Membership, targets []netip.AddrPort) *asking {
	return &asking{m: m, targets: targets, refused: map[netip.AddrPort]refusal{}}
}

type refusal struct {
	why  crimp.Reason
	text string
}

const (
	connectPatience = time.Second
	doorTimeout     = 4 * time.Second
	maxHops         = 4
)

// dial makes a connection to a door, with a token that this mirror issues to itself.
func (a *asking) dial(to netip.AddrPort) error {
	m := a.m
	a.hangUp()
	t, err := token.Issue(m.opt.Keys[0], token.Grant{
		Protocol: m.opt.Protocol, Client: m.client, Expires: m.opt.Wall + int64(m.now/time.Second) +
			tokenLife,
	}, m.random)
	if err != nil {
		return fmt.Errorf("membership: %w", err)
	}
	o := conn.ClientOptions{
		Token: t, Servers: []netip.AddrPort{to}, ConnectTimeout: connectPatience}
	o.Protocol, o.Version, o.Wall, o.Channels, o.MaxBulk = m.opt.Protocol, joinVersion, m.opt.Wall,
		channels, m.opt.MaxState
	o.Datagram, o.Timeout = max(m.opt.Datagram, 512), doorTimeout
	m.random.Read(o.Seed[:])
	c, err := conn.NewClient(o)
	if err != nil {
		return fmt.Errorf("membership: %w", err)
	}
	a.client, a.at, a.retryAt = c, to, 0
	a.start, a.state, a.has = nil, nil, false
	return nil
}

// hangUp drops the connection that there is.
func (a *asking) hangUp() {
	if a.client != nil {
		l := a.client.Ledger()
		a.m.bytes += l.Total()
		a.client = nil
	}
}

// close ends asking in good order: the goodbye goes out with the next Flush.
func (a *asking) close() {
	if a.client != nil {
		a.client.Close(conn.ReasonLeft, "")
	}
}

func (a *asking) deadline() time.Duration {
	switch {
	case a.retryAt != 0 && !a.stopped && !a.m.done:
		return a.retryAt
	case a.client != nil:
		return a.client.Deadline()
	}
	return a.m.now
}

// step does what doors say, and goes on to the next.
func (a *asking) step() {
	m := a.m
	if !a.started {
		a.started, a.began = true, m.now
	}
	if m.done || a.stopped {
		if a.client != nil {
			a.client.Events()
		}
		if a.client == nil || a.client.Done() {
			a.hangUp()
			m.asking = nil
		}
		return
	}
	if m.self == 0 && m.opt.Patience > 0 && m.now-a.began > m.opt.Patience {
		a.giveUp()
		return
	}
	if a.retryAt != 0 && m.now >= a.retryAt {
		a.retryAt = 0
		if err := a.dial(a.targets[a.turn%len(a.targets)]); err != nil {
			m.end(crimp.Denied, crimp.ReasonToken, err.Error())
			return
		}
	}
	if a.client == nil {
		return
	}
	client := a.client
	for _, e := range client.Events() {
		if a.client != client || m.done {
			return // it was left for another
		}
		switch e.Kind {
		case conn.Connected:
			j := join{m.self, m.Epoch(), m.opt.Witness, a.through, m.opt.Order, m.opt.History,
				m.opt.About, m.opt.Card}
			_ = e.Conn.Send(channel, write(messageJoin, &j))
		case conn.Message:
			a.message(e.Data)
		case conn.BulkReceived:
			if e.Tag == stateTag && !a.has {
				a.has, a.state = true, e.Data
				a.begin()
			}
		case conn.Disconnected:
			a.lost(e.Reason)
		}
	}
}

// message does what a door says.
func (a *asking) message(b []byte) {
	m := a.m
	if len(b) == 0 {
		return
	}
	switch b[0] {
	case messageDenied:
		if len(b) < 2 {
			return
		}
		kind := crimp.Denied
		if m.self != 0 {
			// A member that is in touch with the others hears from them, with proof, if it is out.
			if m.state && m.council.Quorum() {
				m.refusals.Door++
				return
			}
			kind = crimp.Dismissed
		}
		m.end(kind, crimp.Reason(b[1]), string(b[2:]))
	case messageWait:
		a.next()
	case messageRedirect:
		var to address
		a.hops++
		if !read(b, &to) || a.hops > maxHops || to.AddrPort == a.at ||
			to.AddrPort == m.opt.Card.Addr || a.dial(to.AddrPort) != nil {
			a.next()
		}
	case messageWelcome:
		var w welcome
		if !read(b, &w) || m.self != 0 {
			return
		}
		l, err := council.ReadLink(w.link)
		if err == nil {
			err = m.welcomed(w.member, &l)
		}
		if err != nil {
			m.end(crimp.Denied, crimp.ReasonMismatch, err.Error())
			return
		}
		if m.opt.Witness {
			m.state = true
			a.stop()
		} else if a.through {
			a.follow() // who has told it does not have the state to give
		}
	case messageDecree:
		if l, err := council.ReadLink(b[1:]); err == nil && m.self != 0 &&
			m.council.Teach(m.now, &l) {
			m.learn()
		}
	case messageStart:
		if s := new(start); a.start == nil && m.self != 0 && !m.state && read(b, s) {
			a.start = s
			m.g.Expect(m.now, s.Start)
			a.begin()
		}
	}
}

// begin takes up where the state ends. State and start may come in either order.
func (a *asking) begin() {
	m := a.m
	if a.start == nil || a.start.state && !a.has || m.state {
		return
	}
	if a.start.state {
		m.g.Tell(crimp.Event{Kind: crimp.State, Member: m.self, Data: a.state})
	}
	m.g.Begin(m.now, a.start.Start)
	m.state, m.sayAt = true, m.now
	a.stop()
}

// stop ends asking: there is nothing more to ask for.
func (a *asking) stop() {
	a.stopped = true
	a.close()
	a.state, a.start = nil, nil
}

// refusals are the ends of a connection that say that asking again does not help.
var refusals = map[conn.Reason]refusal{
	conn.ReasonWrongGame: {crimp.ReasonGame, "the mirror asked is of another game"},
	conn.ReasonWrongVersion: {
		crimp.ReasonProgram, "the mirror asked speaks another version of the protocol"},
	conn.ReasonBadToken: {crimp.ReasonToken, "the mirror asked has another key"},
	conn.ReasonExpired: {
		crimp.ReasonToken,
		"the mirror asked takes the token for out of date: check the clocks of both machines"},
	conn.ReasonBanned:      {crimp.ReasonRefused, ""},
	conn.ReasonWrongServer: {crimp.ReasonRefused, ""},
}

// lost deals with the end of a connection.
func (a *asking) lost(why conn.Reason) {
	a.through = a.through || a.hops > 0 && why == conn.ReasonTimeout
	r, refused := refusals[why]
	if refused && a.m.self == 0 {
		a.refused[a.at] = r
		if !slices.ContainsFunc(a.targets,
			func(t netip.AddrPort) bool { return a.refused[t].why == 0 }) {
			a.m.end(crimp.Denied, r.why, r.text)
			return
		}
	} else {
		delete(a.refused, a.at)
	}
	a.next()
}

// next goes on to the next door, after a pause that grows with each round.
func (a *asking) next() {
	m := a.m
	a.hangUp()
	a.hops = 0
	if m.self != 0 {
		a.targets = m.doors()
	}
	if a.turn++; a.turn%max(len(a.targets), 1) == 0 {
		a.rounds++
	}
	if len(a.targets) == 0 {
		m.asking = nil
		return
	}
	pause := 100 * time.Millisecond << min(a.rounds, 5)
	a.retryAt = m.now + pause/2 + time.Duration(m.random.Uint64()%uint64(pause))
}

// follow turns to a new überserver for the state, unless the old one is there and has begun to
// send it.
func (a *asking) follow() {
	m := a.m
	uber := m.charter.find(m.uber)
	if m.state || a.stopped || uber == nil || uber.Addr == a.at {
		return
	}
	there := slices.ContainsFunc(m.charter.roster.Members,
		func(o crimp.Member) bool { return o.Addr == a.at })
	if a.start != nil && there {
		return
	}
	if err := a.dial(uber.Addr); err != nil {
		a.next()
	}
}

// giveUp ends asking without success.
func (a *asking) giveUp() {
	r := refusal{
		crimp.ReasonUnreachable,
		fmt.Sprintf("none of %v let this mirror in within %v", a.targets, a.m.opt.Patience)}
	for _, t := range a.targets {
		if got, ok := a.refused[t]; ok {
			r = got
		}
	}
	a.m.end(crimp.Denied, r.why, r.text)
}

// doors lists where members may be found: the überserver first, then the others, then
// those who were asked in the beginning.
func (m *Membership) doors() (list []netip.AddrPort) {
	add := func(a netip.AddrPort) {
		if a.IsValid() && a != m.opt.Card.Addr && !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	if uber := m.charter.find(m.uber); uber != nil && m.uber != m.self {
		add(uber.Addr)
	}
	for i := range m.charter.roster.Members {
		add(m.charter.roster.Members[i].Addr)
	}
	for _, a := range m.opt.Ask {
		add(a)
	}
	return list
}

// inquire asks at the doors: for the state, where it was not had from whoever let this
// mirror in, or whether it still is a member.
func (m *Membership) inquire() {
	targets := m.doors()
	if len(targets) == 0 {
		return
	}
	a := newAsking(m, targets)
	a.began, a.started, a.inquiry = m.now, true, m.state
	m.asking = a
	if m.cutOff {
		m.cutAt = m.now // not again at once
	}
	if err := a.dial(targets[0]); err != nil {
		m.asking = nil
	}
}
